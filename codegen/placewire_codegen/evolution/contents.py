"""What an object says, by slots and numbers: the same under every version of a schema.

A table is an object whose keys are slot and name (`3 buffer_count`), a struct one whose keys are
offset and name, a union one with `tag` and `value`. Enums are numbers, bytes are hex digits. Names
are there to be read; they are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

__all__ = ["contents", "differences"]


def contents(obj: object, package: ModuleType) -> dict[str, Any]:
    """Return what an object of a generated package says, ready for JSON.

    A field that is absent and has no default is left out.
    """
    table = package.reflection.describe(type(obj))
    return {
        f"{field.id} {field.wire_name}": _value(value, field.type, package)
        for field in table.fields
        if (value := getattr(obj, field.name)) is not None
    }


def _value(value: Any, info: Any, package: ModuleType) -> Any:
    kind = type(info).__name__
    if kind == "TableReference":
        return contents(value, package)
    if kind == "StructReference":
        return _struct(value, info.type, package)
    if kind == "UnionInfo":
        return _union(value, info, package)
    if kind in ("VectorInfo", "ArrayInfo"):
        if info.is_bytes:
            return bytes(value).hex()
        return [_value(element, info.element, package) for element in value]
    if kind == "StringInfo":
        return str(value)
    if kind == "EnumInfo":
        return int(value)
    return value


def _struct(value: Any, type_: type[Any], package: ModuleType) -> dict[str, Any]:
    fields = package.reflection.describe_struct(type_).fields
    return {
        f"{field.offset} {field.wire_name}": _value(getattr(value, field.name), field.type, package)
        for field in fields
    }


def _union(value: Any, info: Any, package: ModuleType) -> dict[str, Any]:
    if isinstance(value, package.UnknownMember):
        return {"tag": value.tag}
    tag = next(tag for tag, type_ in info.members.items() if tag and type_ is type(value))
    if tag in info.strings:
        return {"tag": tag, "value": value.value}
    if tag in info.structs:
        return {"tag": tag, "value": _struct(value, info.members[tag], package)}
    return {"tag": tag, "value": contents(value, package)}


def differences(older: Any, newer: Any, path: str = "") -> Iterator[str]:
    """Yield what the older version says and the newer one does not, a sentence each.

    Args:
        older: Contents by the version that knows less.
        newer: Contents by the version that knows more.
        path: Where they stand, for the sentences.
    """
    if isinstance(older, Mapping) and isinstance(newer, Mapping):
        found = {_key(name): value for name, value in newer.items()}
        for name, value in older.items():
            place = f"{path}.{name.partition(' ')[2] or name}".lstrip(".")
            if _key(name) in found:
                yield from differences(value, found[_key(name)], place)
            else:
                yield f"{place} is absent, expected {value!r}"
    elif isinstance(older, list) and isinstance(newer, list) and len(older) == len(newer):
        for number, (one, other) in enumerate(zip(older, newer, strict=True)):
            yield from differences(one, other, f"{path}[{number}]")
    elif older != newer or type(older) is not type(newer):
        yield f"{path} is {newer!r}, expected {older!r}"


def _key(name: str) -> str:
    return name.partition(" ")[0]
