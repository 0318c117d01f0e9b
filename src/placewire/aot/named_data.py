"""Named data: what backends put beside their blobs, for their runtime's half to look up by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from placewire_schema.program import NamedData as NamedEntry

from placewire.pte import DEVICE_TABLE_KEY

from .wording import described

if TYPE_CHECKING:
    from placewire_schema.program import Program

__all__ = ["CompiledPart", "NamedData", "NamedDataError", "NamedDataPool"]


class NamedDataError(ValueError):
    """Data cannot have the name that a backend gives it."""


@dataclass(frozen=True, slots=True)
class NamedData:
    """Data that a backend keeps in the file under a name.

    Attributes:
        data: Its bytes.
        alignment: Bytes to which it is aligned in the file: a power of two. Default 1; a segment is
            aligned to 128 bytes at least.
    """

    data: bytes = field(repr=False)
    alignment: int = 1


@dataclass(frozen=True, slots=True)
class CompiledPart:
    """What a backend makes of a part of a graph.

    Attributes:
        blob: What the runtime's half of the backend gets.
        named_data: What it can look up besides, by name. Equal data is kept once in a file, so
            delegates and methods can share it under the same name or different ones.
    """

    blob: bytes = field(repr=False)
    named_data: Mapping[str, NamedData] = field(default_factory=dict)


@dataclass(slots=True)
class _Kept:
    data: bytes
    alignment: int


class NamedDataPool:
    """The named data of a program, equal data once."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[bytes, str]] = {}
        self._kept: dict[bytes, _Kept] = {}

    def add(self, owner: str, named_data: Any) -> None:
        """Take the data of a delegate.

        Args:
            owner: The delegate, as errors name it.
            named_data: The data by name.

        Raises:
            TypeError: It is no such mapping.
            NamedDataError: Another delegate has given other data this name, the name is that of the
                device table, or an alignment is no power of two.
        """
        if not isinstance(named_data, Mapping):
            found = described(named_data)
            raise TypeError(f"the named data of {owner} is {found}; expected a dictionary")
        for name, item in named_data.items():
            self._add(owner, name, item)

    def _add(self, owner: str, name: Any, item: Any) -> None:
        if not (isinstance(name, str) and isinstance(item, NamedData)) or not isinstance(
            item.data, bytes
        ):
            raise TypeError(
                f"{owner} names {name!r}: {item!r}; expected a string and NamedData of bytes"
            )
        if name == DEVICE_TABLE_KEY:
            raise NamedDataError(f"{owner} names data {name!r}, which is the device table's name")
        if item.alignment < 1 or item.alignment & (item.alignment - 1):
            raise NamedDataError(
                f"{owner} aligns {name!r} to {item.alignment} bytes; expected a power of two"
            )
        digest = hashlib.sha256(item.data).digest()
        known, first = self._names.setdefault(name, (digest, owner))
        if known != digest:
            raise NamedDataError(
                f"{first} and {owner} both name data {name!r}, and it differs: "
                f"{len(self._kept[known].data)} and {len(item.data)} bytes"
            )
        kept = self._kept.setdefault(digest, _Kept(item.data, item.alignment))
        kept.alignment = max(kept.alignment, item.alignment)

    def place(self, program: Program, first_segment: int) -> list[tuple[bytes, int]]:
        """Name the data in a program; its segments are counted from `first_segment`.

        Returns:
            The content of each segment and its alignment.
        """
        numbers = {digest: first_segment + place for place, digest in enumerate(self._kept)}
        if self._names:
            program.named_data = [
                NamedEntry(name, numbers[digest]) for name, (digest, _) in self._names.items()
            ]
        return [(kept.data, kept.alignment) for kept in self._kept.values()]
