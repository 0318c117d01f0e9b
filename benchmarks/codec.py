"""Packing and unpacking a large program with both codecs, against ExecuTorch's own; and a big blob.

The program is a 96-layer transformer: 35,539 tables in 781,600 bytes. Before anything is timed, all
codecs have to agree on its bytes. Our times include every check: ranges, enums and mandatory fields
on the way out; structure, enums, unions and unknown fields on the way in.
"""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from .measure import Comparison, NotMeasured, at_most, faster, interleaved_minimums

if TYPE_CHECKING:
    from placewire_schema._select import Codec

LAYERS = 96
BLOB_SIZE = 64 << 20
CODECS = {"native": "placewire_schema._native", "Python": "placewire_schema._pure"}
PEER = "ExecuTorch"
PEER_MODULE = "executorch.exir._serialize._flatbuffer_program"
PACK_GOALS = {"native": faster(250), "Python": faster(3)}
UNPACK_GOALS = {"native": faster(300), "Python": faster(3)}
BLOB_GOALS = {"native": at_most(2), "Python": at_most(4)}


def run() -> list[Comparison | NotMeasured]:
    """Measure the codecs; what is not installed is named."""
    codecs: dict[str, Codec] = {}
    missing: list[Comparison | NotMeasured] = []
    for name, module in CODECS.items():
        try:
            codecs[name] = cast("Codec", importlib.import_module(module))
        except ImportError as error:
            missing.append(NotMeasured(f"the {name} codec", str(error)))
    return [*_large_program(codecs), *_large_blob(codecs), *_imports(), *missing]


def _large_program(codecs: dict[str, Codec]) -> list[Comparison | NotMeasured]:
    try:
        from executorch.exir._serialize import _flatbuffer_program as peer

        from .transformer import transformer_pte

        file = transformer_pte(LAYERS)
    except ImportError as error:
        return [NotMeasured("pack_program and unpack_program", f"{error.name} is not installed")]
    from placewire_schema import program

    program_size = int.from_bytes(file[16:24], "little")
    buffer = file[:program_size]
    peer_pack, peer_unpack = peer._program_to_flatbuffer, peer._flatbuffer_to_program  # noqa: SLF001
    peer_object = peer_unpack(buffer)
    packed = bytes(peer_pack(peer_object).data)
    tasks: dict[str, Callable[[], object]] = {
        f"pack {PEER}": lambda: peer_pack(peer_object),
        f"unpack {PEER}": lambda: peer_unpack(buffer),
    }
    for name, codec in codecs.items():
        unpack = _unpacking(codec, program.Program, buffer)
        pack = _packing(codec, unpack())
        if pack() != packed:
            raise AssertionError(f"the {name} codec does not write the bytes that {PEER} does")
        tasks |= {f"pack {name}": pack, f"unpack {name}": unpack}
    best = interleaved_minimums(tasks, rounds=5, turn_seconds=0.3)
    return [
        Comparison(
            f"{verb}_program, {name}",
            PEER,
            best[f"{verb} {name}"],
            best[f"{verb} {PEER}"],
            goals[name],
        )
        for verb, goals in (("pack", PACK_GOALS), ("unpack", UNPACK_GOALS))
        for name in codecs
    ]


def _large_blob(codecs: dict[str, Codec]) -> list[Comparison | NotMeasured]:
    """Pack one [ubyte] of 64 MiB; the peer is one copy of it into new memory."""
    from placewire_schema import program

    blob = bytes(range(256)) * (BLOB_SIZE // 256)
    peer = f"a copy of {BLOB_SIZE >> 20} MiB"
    tasks: dict[str, Callable[[], object]] = {peer: lambda: bytearray(blob)}
    for name, codec in codecs.items():
        tasks[name] = _packing(codec, program.Buffer(blob))
    best = interleaved_minimums(tasks, rounds=9)
    return [
        Comparison(
            f"pack a [ubyte] of {BLOB_SIZE >> 20} MiB, {name}",
            peer,
            best[name],
            best[peer],
            BLOB_GOALS[name],
        )
        for name in codecs
    ]


def _imports() -> list[Comparison | NotMeasured]:
    """Start a process that imports the codec."""
    ours, peer = "import placewire_schema", f"import {PEER_MODULE}"
    if importlib.util.find_spec("executorch") is None:
        return [NotMeasured(ours, "executorch is not installed")]

    def importing(statement: str) -> Callable[[], object]:
        command = [sys.executable, "-c", statement]
        return lambda: subprocess.run(command, check=True, capture_output=True)

    best = interleaved_minimums({name: importing(name) for name in (ours, peer)}, rounds=3)
    return [Comparison(ours, PEER, best[ours], best[peer], faster(10))]


def _packing(codec: Codec, obj: object) -> Callable[[], bytes]:
    return lambda: codec.pack(obj, {})


def _unpacking(codec: Codec, type_: type[object], buffer: bytes) -> Callable[[], object]:
    return lambda: codec.unpack(type_, buffer, True, None)  # noqa: FBT003
