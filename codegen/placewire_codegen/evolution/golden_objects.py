"""Objects that say something in every field: what golden buffers hold.

They are made of what a generated package says about itself, so any package can make them. A value
is never the default, and no two neighbours are equal, so that a reader that takes a value from the
wrong place is seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from types import ModuleType
from typing import Any

__all__ = ["GoldenObjects"]

_FULL_DEPTH = 2
_LENGTH = 2


class GoldenObjects:
    """Makes the golden objects of the tables of a package, always the same ones.

    Args:
        package: A generated package, with its module `reflection`.
    """

    def __init__(self, package: ModuleType) -> None:
        self._package = package
        self._reflection = package.reflection
        self._count = 0
        self._variant = 0
        self._active: list[type[Any]] = []

    def variants(self, table: type[Any]) -> Iterator[tuple[str, object]]:
        """Yield a name and an object for each golden buffer of a table.

        `empty` has only what must be there. `1`, `2` and so on have everything, each with another
        member of the table's unions.
        """
        self._count = 0
        yield "empty", self._table(table, is_full=False)
        for number in range(self._members_of_unions(table)):
            self._count, self._variant = number, number
            yield str(number + 1), self._table(table, is_full=True)
        self._variant = 0

    def _members_of_unions(self, table: type[Any]) -> int:
        """Return how many objects it takes to have each member of each union; at least 1."""
        unions = (_union(field.type) for field in self._reflection.describe(table).fields)
        return max([1, *(len(_tags(union)) for union in unions if union is not None)])

    def _table(self, table: type[Any], *, is_full: bool) -> Any:
        self._active.append(table)
        values = {}
        for field in self._reflection.describe(table).fields:
            if not is_full and not field.is_mandatory:
                continue
            value = self._field(table, field, is_full=is_full)
            if value is not None:
                values[field.name] = value
        self._active.pop()
        return table(**values)

    def _field(self, table: type[Any], field: Any, *, is_full: bool) -> Any:
        if field.nested is not None and is_full:
            if not self._may_enter(field.nested.type):
                return None
            return self._package.pack(self._table(field.nested.type, is_full=is_full))
        name = f"{table.__name__}.{field.name}"
        return self._value(
            field.type, field.default, name, is_full=is_full, is_mandatory=field.is_mandatory
        )

    def _value(
        self,
        info: Any,
        default: Any,
        name: str,
        *,
        is_full: bool,
        is_mandatory: bool = False,
    ) -> Any:
        """Return a value of a type; None if it would have to contain itself."""
        kind = type(info).__name__
        if kind == "TableReference":
            if not is_mandatory and not self._may_enter(info.type):
                return None
            return self._table(info.type, is_full=is_full and len(self._active) < _FULL_DEPTH)
        if kind == "UnionInfo":
            return self._union_value(info, name, is_mandatory, is_full=is_full)
        if kind == "VectorInfo":
            return self._vector(info, name, is_full=is_full)
        if kind == "StringInfo":
            return self._text(name) if is_full else ""
        if kind == "StructReference":
            return self._struct(info.type)
        return self._number(info, default)

    def _may_enter(self, table: type[Any]) -> bool:
        return table not in self._active

    def _vector(self, info: Any, name: str, *, is_full: bool) -> Any:
        if info.is_bytes:
            return self._bytes(_LENGTH + 1) if is_full else b""
        if not is_full:
            return []
        union = _union(info)
        length = _LENGTH if union is None else max(_LENGTH, len(_tags(union)))
        elements = []
        for number in range(length):
            if union is None:
                element = self._value(info.element, None, name, is_full=True)
            else:
                element = self._member(union, _tags(union)[number % len(_tags(union))], name)
            if element is not None:
                elements.append(element)
        return elements

    def _union_value(self, info: Any, name: str, is_mandatory: bool, *, is_full: bool) -> Any:
        tags = _tags(info)
        first = self._variant % len(tags) if is_full else 0
        for tag in (*tags[first:], *tags[:first]):
            member = self._member(info, tag, name)
            if member is not None:
                return member
        assert not is_mandatory, f"{name} has no end"
        return None

    def _member(self, info: Any, tag: int, name: str) -> Any:
        type_ = info.members[tag]
        if tag in info.strings:
            return type_(value=self._text(name))
        if tag in info.structs:
            return self._struct(type_)
        if not self._may_enter(type_):
            return None
        return self._table(type_, is_full=len(self._active) <= _FULL_DEPTH)

    def _struct(self, type_: type[Any]) -> Any:
        fields = self._reflection.describe_struct(type_).fields
        return type_(**{field.name: self._struct_value(field.type) for field in fields})

    def _struct_value(self, info: Any) -> Any:
        kind = type(info).__name__
        if kind == "StructReference":
            return self._struct(info.type)
        if kind == "ArrayInfo":
            if info.is_bytes:
                return self._bytes(info.length)
            return [self._struct_value(info.element) for _ in range(info.length)]
        return self._number(info, None)

    def _number(self, info: Any, default: Any) -> Any:
        self._count += 1
        if type(info).__name__ == "EnumInfo":
            members = sorted(info.members.values())
            others = [member for member in members if member != default] or members
            return others[self._count % len(others)] if others else info.type(0)
        if info.is_bool:
            return not default
        if info.is_float:
            value = self._count + 0.5
            return value + 1 if value == default else value
        # Every byte of the number is another, so that a reader of the wrong bytes is seen.
        pattern = int.from_bytes(bytes(range(1, info.size + 1)), "big")
        number: int = (pattern + self._count) % (info.maximum + 1)
        return number if number not in (default, 0) else number + 1

    def _text(self, name: str) -> str:
        self._count += 1
        return f"{name} {self._count} \N{GREEK SMALL LETTER MU}"

    def _bytes(self, length: int) -> bytes:
        self._count += 1
        numbers = cycle(range(1, 256))
        return bytes((next(numbers) + self._count) % 256 for _ in range(length))


def _union(info: Any) -> Any:
    """Return the union that a type is, or is a vector of; None if it is neither."""
    element = getattr(info, "element", info)
    return element if type(element).__name__ == "UnionInfo" else None


def _tags(union: Any) -> list[int]:
    return sorted(tag for tag in union.members if tag)
