"""`placewire verify`: lists what is wrong with files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from . import FAILURE, printable, say

__all__ = ["verify"]


def verify(
    files: Annotated[list[Path], typer.Argument(help="Files to check, .pte.", metavar="FILE...")],
    json: Annotated[bool, typer.Option("--json", help="Write the findings as JSON.")] = False,
) -> None:
    """List everything that is wrong with files, with the place of each finding.

    A fault of the container or of the FlatBuffer's structure ends the check of its file, since what
    lies behind it cannot be trusted.
    """
    from placewire.verification import verify_file

    results = []
    failed = False
    for file in files:
        try:
            findings = verify_file(file)
        except OSError as error:
            say(f"error: {file}: {error.strerror or error}")
            failed = True
            continue
        results.append({"file": str(file), "findings": [asdict(finding) for finding in findings]})
        failed = failed or bool(findings)
        if not json:
            for finding in findings:
                typer.echo(f"{printable(str(file))}: {printable(str(finding))}")
            say(f"{file}: {len(findings) or 'no'} finding{'' if len(findings) == 1 else 's'}")
    if json:
        from json import dumps

        typer.echo(dumps(results, indent=2))
    if failed:
        raise typer.Exit(FAILURE)
