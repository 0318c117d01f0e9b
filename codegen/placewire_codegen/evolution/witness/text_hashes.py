"""The hashes of FlatBuffers' attribute `hash`, which turn a text in JSON into a number."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["HASHES"]

# Parameters of the Fowler-Noll-Vo hash: the prime and the basis for each number of bits.
_PARAMETERS = {32: (0x01000193, 0x811C9DC5), 64: (0x00000100000001B3, 0xCBF29CE484222325)}


def _fnv1(text: str, bits: int) -> int:
    prime, value = _PARAMETERS[bits]
    for byte in text.encode():
        value = value * prime % (1 << bits) ^ byte
    return value


def _fnv1a(text: str, bits: int) -> int:
    prime, value = _PARAMETERS[bits]
    for byte in text.encode():
        value = (value ^ byte) * prime % (1 << bits)
    return value


def _fnv1_16(text: str) -> int:
    return _folded(_fnv1(text, 32))


def _fnv1a_16(text: str) -> int:
    return _folded(_fnv1a(text, 32))


def _folded(value: int) -> int:
    return (value >> 16) ^ (value & 0xFFFF)


HASHES: dict[str, Callable[[str], int]] = {
    "fnv1_16": _fnv1_16,
    "fnv1a_16": _fnv1a_16,
    "fnv1_32": lambda text: _fnv1(text, 32),
    "fnv1a_32": lambda text: _fnv1a(text, 32),
    "fnv1_64": lambda text: _fnv1(text, 64),
    "fnv1a_64": lambda text: _fnv1a(text, 64),
}
"""The hash of a text, by the name that the attribute has."""
