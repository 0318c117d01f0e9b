"""Content that the schema does not know: taking it out of a program, so that it can be written."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from placewire_schema import UnknownMember
from placewire_schema.errors import UnknownContentError
from placewire_schema.reflection import (
    EnumInfo,
    FieldInfo,
    TableReference,
    UnionInfo,
    VectorInfo,
    describe,
)

_Table = TypeVar("_Table")
_Values: TypeAlias = Any

__all__ = ["without_unknown_content"]


def without_unknown_content(table: _Table) -> _Table:
    """Leave out every field whose value the schema does not know.

    An unknown enum value becomes the field's default, an unknown union member becomes absent: both
    are what a reader finds where the field is not written. Fields beyond the schema were never
    read, so there is nothing to do for them.

    Args:
        table: An object of the generated package that was unpacked with `strict=False`. It is not
            changed.

    Returns:
        An object that shares with `table` all that needs no change.

    Raises:
        UnknownContentError: Something unknown cannot be left out, because it is an element of a
            list or a union that every file has.
    """
    places = _unknown(table, "")
    stuck = [path for path, field in places if field is None or field.is_mandatory]
    if stuck:
        raise UnknownContentError(
            f"{stuck[0]}: this version's schema does not know what stands here, and without it the "
            f"program would not be valid ({len(stuck)} places of this kind)"
        )
    return _cleared(table)


def _cleared(table: _Table) -> _Table:
    changes: dict[str, object] = {}
    for field in describe(type(table)).fields:
        value = getattr(table, field.name)
        new = value
        if value is None:
            continue
        if isinstance(field.type, VectorInfo):
            if isinstance(field.type.element, TableReference):
                new = [_cleared(element) for element in value]
                new = value if all(map(operator.is_, new, value)) else new
        elif _is_unknown(field.type, value):
            new = field.default
        elif isinstance(field.type, TableReference | UnionInfo):
            new = _cleared(value)
        if new is not value:
            changes[field.name] = new
    return replace(table, **changes) if changes else table  # type: ignore[type-var]


_Place = tuple[str, FieldInfo | None]
"""Path of an unknown value, and its field; `None` for the element of a list."""


def _unknown(table: object, path: str) -> list[_Place]:
    places: list[_Place] = []
    for field in describe(type(table)).fields:
        value = getattr(table, field.name)
        if value is None:
            continue
        where = f"{path}.{field.wire_name}" if path else field.wire_name
        if isinstance(field.type, VectorInfo):
            places += _unknown_elements(field.type, value, where)
        elif _is_unknown(field.type, value):
            places.append((where, field))
        elif isinstance(field.type, TableReference | UnionInfo):
            places += _unknown(value, where)
    return places


def _unknown_elements(type_: VectorInfo, values: _Values, path: str) -> list[_Place]:
    places: list[_Place] = []
    if isinstance(type_.element, TableReference):
        for index, value in enumerate(values):
            places += _unknown(value, f"{path}[{index}]")
    elif isinstance(type_.element, EnumInfo):
        for index, value in enumerate(values):
            if _is_unknown(type_.element, value):
                places.append((f"{path}[{index}]", None))
    return places


def _is_unknown(type_: object, value: object) -> bool:
    if isinstance(value, UnknownMember):
        return True
    return isinstance(type_, EnumInfo) and value not in list(type_.type)
