"""Sends damaged copies of real files through a codec: verify, unpack both ways, view, pack again.

    python -m tests.fuzz.mutate_codec FOLDER COUNT [SEED] [native|pure]

Nothing may come of it but findings and errors of the codec. For memory errors, see sanitized.py.
"""

from __future__ import annotations

import importlib
import random
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from placewire_schema import PackError, UnknownMember, UnpackError, program
from placewire_schema.reflection import describe

from tests.schema.damage import damaged, flatbuffer_of

if TYPE_CHECKING:
    from placewire_schema._select import Codec


class Outcome(NamedTuple):
    """How many copies were read, found sound, equal to their views, and packed again.

    `walked` counts the values that the views showed.
    """

    read: int
    sound: int
    viewed: int
    packed: int
    walked: int


def exactly(data: bytes) -> memoryview:
    """Return a read-only copy in memory of exactly its size: bytes objects have one more."""
    return memoryview(array("B", data)[:]).toreadonly()


def walk(value: Any) -> int:
    """Read all of a view; return how many values it has."""
    if isinstance(value, memoryview):
        value = value.tobytes()  # reads every byte
    if value is None or isinstance(value, str | bytes | int | float | UnknownMember):
        return 1
    if isinstance(value, Sequence):
        return sum(map(walk, value))
    fields = describe(value.__class__).fields
    return 1 + sum(walk(getattr(value, field.name)) for field in fields)


def mutate(codec: Codec, files: list[bytes], count: int, seed: int) -> Outcome:
    """Damage `count` copies and let `codec` read them."""
    source = random.Random(seed)
    sound = viewed = packed = walked = 0
    for _ in range(count):
        data = exactly(damaged(source.choice(files), source))
        sound += not codec.verify(program.Program, data)
        for strict in (True, False):
            try:
                obj = codec.unpack(program.Program, data, strict, [])
                view = codec.view(program.Program, data)
                viewed += view == obj
                walked += walk(view)
                codec.pack(obj, {})
                packed += 1
            except (UnpackError, PackError):
                continue
    return Outcome(count, sound, viewed, packed, walked)


def main(folder: str, count: str, seed: str = "1", codec_name: str = "native") -> None:
    """Run as the command line says, and print what came out."""
    files = [flatbuffer_of(path.read_bytes()) for path in sorted(Path(folder).glob("*.pte"))]
    if not files:
        raise SystemExit(f"{folder} holds no .pte file")
    codec = cast("Codec", importlib.import_module(f"placewire_schema._{codec_name}"))
    print(mutate(codec, files, int(count), int(seed)))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
