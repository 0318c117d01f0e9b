"""Sends damaged copies of whole .pte files through PteFile and the validator.

    python -m tests.fuzz.mutate_pte FOLDER COUNT [SEED]

Nothing may come of it but findings and errors of placewire. For memory errors, see sanitized.py.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from placewire_schema import CodecError
from placewire_schema.errors import PlacewireError

from placewire.pte import PteFile
from placewire.validate import validate
from tests.schema.damage import damaged

from .mutate_codec import exactly

HEAD = 64
"""Bytes at the front that are damaged more often than others: the extended header is there."""


class Outcome(NamedTuple):
    """How many copies were read, valid, and loaded."""

    read: int
    valid: int
    loaded: int


def read_all(pte: PteFile) -> None:
    """Read all data of a file; what refers to nowhere may be refused, each time."""
    program = pte.program
    delegates = [delegate for plan in program.execution_plan for delegate in plan.delegates]
    reads: list[Callable[[], Any]] = [
        lambda: [bytes(constant) for constant in pte.constants],
        lambda: [bytes(value) for values in pte.mutable_data for value in values],
        lambda: [bytes(pte.named_data[key]) for key in pte.named_data],
        lambda: [bytes(segment) for segment in pte.segments],
        lambda: [bytes(pte.delegate_blob(delegate)) for delegate in delegates],
        pte.to_bytes,
    ]
    for read in reads:
        try:
            read()
        except (PlacewireError, CodecError):
            continue


def mutate(files: list[bytes], count: int, seed: int) -> Outcome:
    """Damage `count` copies, validate them and load them."""
    source = random.Random(seed)
    valid = loaded = 0
    for _ in range(count):
        original = source.choice(files)
        if source.randrange(4) == 0:
            data = damaged(original[:HEAD], source) + original[HEAD:]
        else:
            data = damaged(original, source)
        file = exactly(data)
        valid += not any(finding.level == "error" for finding in validate(file))
        try:
            pte = PteFile.from_bytes(file)
        except (PlacewireError, CodecError):
            continue
        loaded += 1
        read_all(pte)
    return Outcome(count, valid, loaded)


def main(folder: str, count: str, seed: str = "1") -> None:
    """Run as the command line says, and print what came out."""
    files = [path.read_bytes() for path in sorted(Path(folder).glob("*.pte"))]
    if not files:
        raise SystemExit(f"{folder} holds no .pte file")
    print(mutate(files, int(count), int(seed)))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
