"""Damages sound files in the ways that matter: bytes, words, offsets, lengths."""

from __future__ import annotations

import random

_WORDS = [0, 1, 2, 4, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]


def flatbuffer_of(file: bytes) -> bytes:
    """Return the FlatBuffer at the head of a .pte file; what follows it is not read by a codec."""
    size = int.from_bytes(file[16:24], "little") if file[8:12] == b"eh00" else len(file)
    return file[:size]


def damaged(original: bytes, source: random.Random) -> bytes:
    """Return a copy with one to four changes; the same `source` gives the same copy."""
    data = bytearray(original)
    for _ in range(source.randint(1, 4)):
        _change(data, source)
    return bytes(data)


def _change(data: bytearray, source: random.Random) -> None:
    place, other = source.randrange(len(data)), source.randrange(len(data))
    word = place & ~3
    match source.randrange(8):
        case 0:
            data[place] ^= 1 << source.randrange(8)
        case 1:
            data[place] = source.choice(_WORDS) & 0xFF
        case 2:
            data[word : word + 4] = source.choice([*_WORDS, len(data)]).to_bytes(4, "little")
        case 3:
            half = place & ~1
            data[half : half + 2] = (source.choice(_WORDS) & 0xFFFF).to_bytes(2, "little")
        case 4:
            data[word : word + 4] = ((other - word) & 0xFFFFFFFF).to_bytes(4, "little")
        case 5:
            data[place : place + 4] = data[other : other + 4]
        case 6:
            del data[max(place, 1) :]
        case _:
            data[place:place] = bytes(source.randint(1, 8))
