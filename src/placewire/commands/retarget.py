"""`placewire retarget`: moves a file's program from one device to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import count, fail, printable, say
from .device_pairs import device_pairs
from .input_files import file_path

if TYPE_CHECKING:
    from placewire.retarget import Retargeted

__all__ = ["retarget"]


def retarget(
    file: Annotated[
        Path, typer.Argument(help="The .pte file to read.", metavar="IN", parser=file_path)
    ],
    moves: Annotated[
        list[str],
        typer.Argument(help="Old and new device, as in cuda:0=cuda:1.", metavar="OLD=NEW..."),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The file to write; it may be IN.", metavar="OUT")
    ],
    drop_unknown: Annotated[
        bool,
        typer.Option("--drop-unknown", help="Leave out what this version's schema does not know."),
    ] = False,
) -> None:
    """Move a program from one device to another, all moves at once.

    The devices of tensors and planned buffers, the target_device of delegates and the device table
    change; nothing else does.
    """
    devices = device_pairs(moves)
    from placewire.placement import device_texts
    from placewire.pte import PteFile
    from placewire.retarget import retarget_file

    pte = PteFile.load(file)
    used = ", ".join(device_texts(pte.program))
    result = retarget_file(pte, devices)
    if result.unmatched:
        missing = ", ".join(map(str, result.unmatched))
        raise fail(f"{file}: nothing is on {missing}; the program uses {used}")
    dropped = pte.unknown if pte.is_modified() else ()
    pte.save(out, drop_unknown=drop_unknown)
    for finding in dropped:
        say(f"dropped: {printable(str(finding))}")
    _report(out, result)


def _report(out: Path, result: Retargeted) -> None:
    for path in result.unreadable:
        say(f"warning: {path}: the value is not a device; left as it is")
    moved = ", ".join(
        (
            count(result.tensors, "tensor"),
            count(result.buffers, "buffer"),
            count(result.delegates, "delegate"),
            count(result.table_entries, "entry") + " of the device table",
        )
    )
    say(f"{out}: moved {moved}")
