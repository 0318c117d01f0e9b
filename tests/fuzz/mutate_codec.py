"""Sends damaged copies of real files through a codec: verify, unpack both ways, view, pack again.

    python -m tests.fuzz.mutate_codec FOLDER COUNT [SEED] [native|pure]

Nothing may come of it but findings and errors of the codec. For memory errors, build `_native` with
`-DPLACEWIRE_SANITIZE=address,undefined` and preload the sanitizers' libraries:

    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
        ASAN_OPTIONS=detect_leaks=0 python -m tests.fuzz.mutate_codec tests/corpus 1000000
"""

from __future__ import annotations

import importlib
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from placewire_schema import PackError, UnpackError, program

from tests.schema.damage import damaged, flatbuffer_of

if TYPE_CHECKING:
    from placewire_schema._select import Codec


class Outcome(NamedTuple):
    """How many copies were read, found sound, equal to their views, and packed again."""

    read: int
    sound: int
    viewed: int
    packed: int


def mutate(codec: Codec, files: list[bytes], count: int, seed: int) -> Outcome:
    """Damage `count` copies and let `codec` read them."""
    source = random.Random(seed)
    sound = viewed = packed = 0
    for _ in range(count):
        data = damaged(source.choice(files), source)
        sound += not codec.verify(program.Program, data)
        for strict in (True, False):
            try:
                obj = codec.unpack(program.Program, data, strict, [])
                viewed += codec.view(program.Program, data) == obj
                codec.pack(obj, {})
                packed += 1
            except (UnpackError, PackError):
                continue
    return Outcome(count, sound, viewed, packed)


def main(folder: str, count: str, seed: str = "1", codec_name: str = "native") -> None:
    """Run as the command line says, and print what came out."""
    files = [flatbuffer_of(path.read_bytes()) for path in sorted(Path(folder).glob("*.pte"))]
    if not files:
        raise SystemExit(f"{folder} holds no .pte file")
    codec = cast("Codec", importlib.import_module(f"placewire_schema._{codec_name}"))
    print(mutate(codec, files, int(count), int(seed)))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
