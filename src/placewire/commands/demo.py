"""`placewire demo`: adds a device to a copy of the schema and shows how everything follows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from . import fail, output

__all__ = ["demo"]


def demo(
    keep: Annotated[
        Path | None,
        typer.Option("--keep", help="New folder to work in and to leave behind.", metavar="DIR"),
    ] = None,
) -> None:
    """Add a kind of device to a copy of the schema and watch everything follow."""
    from placewire.demo import Demonstration

    if keep is None:
        with tempfile.TemporaryDirectory(prefix="placewire-demo-") as folder:
            Demonstration(Path(folder), output()).run()
        return
    try:
        keep.mkdir(parents=True)
    except FileExistsError:
        raise fail(f"{keep} is there already; name a folder that is not") from None
    Demonstration(keep.resolve(), output()).run()
