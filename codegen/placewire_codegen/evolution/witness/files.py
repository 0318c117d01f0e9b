"""Writes witnesses into a folder, with what is needed to read them again."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from .packages import READER
from .witness import PACKAGES, Witness

__all__ = ["folder_name", "write_witnesses"]

_SIDES = {False: "base", True: "head"}


def write_witnesses(
    witnesses: Sequence[Witness], packages: Path, folder: Path, names: tuple[str, str]
) -> None:
    """Write each witness into a folder of its own.

    Args:
        witnesses: What to write.
        packages: Holds the generated packages.
        folder: Where to; an empty folder.
        names: What the user calls BASE and HEAD.

    Raises:
        OSError: Something cannot be written.
    """
    for package in PACKAGES.values():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(packages / package, folder / package, ignore=ignored)
    shutil.copyfile(READER, folder / READER.name)
    for number, witness in enumerate(witnesses, 1):
        place = folder / folder_name(number, witness)
        place.mkdir()
        if witness.buffer:
            (place / "buffer.bin").write_bytes(witness.buffer)
        text = json.dumps(_described(witness, names), indent=2, ensure_ascii=True)
        (place / "witness.json").write_text(f"{text}\n", encoding="utf-8")
        (place / "README").write_text(_told(witness, place.name), encoding="utf-8")


def folder_name(number: int, witness: Witness) -> str:
    """Return the name of the folder of a witness."""
    path = re.sub(r"[^A-Za-z0-9_.]", "_", witness.finding.path)[:100]
    return f"{number:02}-{witness.finding.rule.name}-{path}"


def _described(witness: Witness, names: tuple[str, str]) -> dict[str, object]:
    finding = witness.finding

    def side(of_head: bool, table: str) -> dict[str, object]:
        place = finding.head if of_head else finding.base
        return {
            "schema": _SIDES[of_head],
            "name": names[of_head],
            "place": None if place is None else str(place),
            "table": table,
        }

    return {
        "rule": finding.rule.name,
        "level": finding.level.value,
        "path": finding.path,
        "message": finding.message,
        "verdict": witness.verdict.value,
        "breaks": witness.broken.value if witness.buffer else None,
        "reason": witness.reason,
        "writer": side(witness.from_head, witness.table),
        "reader": side(not witness.from_head, witness.reader_table),
        "buffer": "buffer.bin" if witness.buffer else None,
        "as_file": witness.as_file,
        "check_identifier": witness.check_identifier,
        "written": witness.value,
        "read": witness.read,
        "differences": [
            {
                "path": each.path,
                "written": each.written,
                "read": each.read,
                "rule": each.rule,
                "text": str(each),
            }
            for each in witness.differences
        ],
    }


def _told(witness: Witness, name: str) -> str:
    """Return the witness for people."""
    finding = witness.finding
    lines = [f"{finding}", ""]
    if witness.buffer:
        old, new = ("HEAD", "BASE") if witness.from_head else ("BASE", "HEAD")
        lines.append(f"buffer.bin was written under {old} and read under {new}.")
    if witness.reason:
        lines.append(f"{witness.reason[0].upper()}{witness.reason[1:]}.")
    lines += [f"{each}." for each in witness.differences]
    if witness.table:
        lines += ["", "Read it again:", f"    python {READER.name} {name}"]
    return "\n".join(lines) + "\n"
