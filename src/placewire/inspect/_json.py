"""The JSON that `flatc --json --strict-json` prints for a FlatBuffer, from the objects in it.

What flatc does, and so does this: keys are the names of the schema; a union has a second key,
`..._type`; enum values are names, if they have one; a scalar that equals its default is left out
(flatc looks for its absence in the buffer, and writers leave defaults out); two blanks of
indentation; every element of a vector on a line of its own, and an empty line in an empty one.

One thing differs: flatc cuts floating-point numbers to a fixed number of digits. Here a number
whose cut text does not read back as the same number is written with as many digits as it takes.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any, TypeAlias

from placewire_schema import UnknownMember
from placewire_schema.reflection import (
    EnumInfo,
    FieldInfo,
    ScalarInfo,
    StringInfo,
    TableReference,
    TypeInfo,
    UnionInfo,
    VectorInfo,
    describe,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["to_json"]

_Value: TypeAlias = Any
"""What a field holds; its `TypeInfo` says what that is."""

_STEP = "  "
_TO_ESCAPE = re.compile(r"[^ !#-\[\]-~]")
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\b": "\\b",
    "\f": "\\f",
}


def to_json(table: object) -> str:
    """Write an object as flatc writes it, with a newline at the end.

    Floating-point numbers that are not finite are `inf`, `-inf` and `nan`, as flatc has them; that
    is the only case in which the text is not strict JSON.

    Args:
        table: An object of the generated package, such as a `Program`.

    Raises:
        TypeError: `table` is not a table of the generated package.
    """
    return _table(table, "") + "\n"


def _table(table: object, indent: str) -> str:
    inner = indent + _STEP
    entries = [
        f'{inner}"{key}": {value}'
        for field in describe(type(table)).fields
        for key, value in _entries(field, getattr(table, field.name), inner)
    ]
    return "{\n" + "".join([",\n".join(entries), "\n"] if entries else []) + indent + "}"


def _entries(field: FieldInfo, value: _Value, indent: str) -> Iterable[tuple[str, str]]:
    """The keys and values that one field contributes: none, one, or two for a union."""
    if value is None or _is_default(field, value):
        return
    if isinstance(field.type, UnionInfo):
        tag = _tag(field.type, value)
        yield f"{field.wire_name}_type", _tag_text(field.type, tag)
        if not isinstance(value, UnknownMember):
            yield field.wire_name, _table(value, indent)
        return
    yield field.wire_name, _value(field.type, value, indent)


def _is_default(field: FieldInfo, value: _Value) -> bool:
    if not isinstance(field.type, ScalarInfo | EnumInfo) or field.default is None:
        return False
    if isinstance(field.type, ScalarInfo) and field.type.is_float:
        # By bits, as the codec compares: -0.0 is not 0.0.
        return struct.pack("<d", value) == struct.pack("<d", field.default)
    return bool(value == field.default)


def _value(type_: TypeInfo, value: _Value, indent: str) -> str:
    match type_:
        case ScalarInfo():
            return _scalar(type_, value)
        case EnumInfo():
            return _enum(type_, value)
        case StringInfo():
            return _string(value)
        case TableReference():
            return _table(value, indent)
        case VectorInfo():
            return _vector(type_, value, indent)
    raise NotImplementedError(f"no JSON for {type_!r}")


def _vector(type_: VectorInfo, values: _Value, indent: str) -> str:
    inner = indent + _STEP
    texts = (_value(type_.element, value, inner) for value in values)
    return "[\n" + ",\n".join(inner + text for text in texts) + "\n" + indent + "]"


def _scalar(type_: ScalarInfo, value: _Value) -> str:
    if type_.is_float:
        return _float(type_, float(value))
    if type_.is_bool:
        return "true" if value else "false"
    return str(int(value))


def _float(type_: ScalarInfo, value: float) -> str:
    """Flatc's text, fixed notation without trailing zeros, where it means the same number."""
    digits = 12 if type_.size == 8 else 6
    text = f"{value:.{digits}f}"
    if "." not in text:
        return text
    text = text.rstrip("0")
    text += "0" if text.endswith(".") else ""
    if type_.size == 8:
        return text if float(text) == value else repr(value)
    return text if _single(float(text)) == _single(value) else _shortest_single(value)


def _single(value: float) -> bytes:
    return struct.pack("<f", value)


def _shortest_single(value: float) -> str:
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next(text for text in texts if _single(float(text)) == _single(value))


def _enum(type_: EnumInfo, value: _Value) -> str:
    try:
        return f'"{type_.type(value).name}"'
    except ValueError:
        return str(int(value))


def _tag(type_: UnionInfo, value: _Value) -> int:
    if isinstance(value, UnknownMember):
        return value.tag
    return next(tag for tag, member in type_.members.items() if isinstance(value, member))


def _tag_text(type_: UnionInfo, tag: int) -> str:
    name = type_.member_names.get(tag)
    return f'"{name}"' if name is not None else str(tag)


def _string(text: str) -> str:
    return f'"{_TO_ESCAPE.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _ESCAPES:
        return _ESCAPES[character]
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex().upper()}" for i in range(0, len(units), 2))
