"""`placewire verify`: lists what is wrong with files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from . import FAILURE, count, printable, say
from .input_files import file_path

__all__ = ["verify"]


def verify(
    files: Annotated[
        list[Path],
        typer.Argument(help="Files to check, .pte.", metavar="FILE...", parser=file_path),
    ],
    json: Annotated[bool, typer.Option("--json", help="Write the findings as JSON.")] = False,
) -> None:
    """List everything that is wrong with files, with the place of each finding.

    Exits with 1 if a file cannot be read or has an error; warnings alone are no failure.
    """
    from placewire.verification import verify_file

    results: list[dict[str, object]] = []
    failed = False
    for file in files:
        try:
            findings = verify_file(file)
        except OSError as error:
            reason = error.strerror or str(error)
            say(f"error: {file}: {reason}")
            results.append({"file": str(file), "error": reason, "findings": []})
            failed = True
            continue
        results.append({"file": str(file), "findings": [asdict(finding) for finding in findings]})
        failed = failed or any(finding.level == "error" for finding in findings)
        if not json:
            for finding in findings:
                typer.echo(printable(f"{file}: {finding.level}: {finding}"))
            say(f"{file}: {count(len(findings), 'finding') if findings else 'no findings'}")
    if json:
        from json import dumps

        typer.echo(dumps(results, indent=2))
    if failed:
        raise typer.Exit(FAILURE)
