"""Spells values for people, by the names of a schema."""

from __future__ import annotations

import json
from typing import Any

from ...model import Schema, Type

__all__ = ["spelled_value"]

_MOST_CHARACTERS = 120


def spelled_value(schema: Schema, type_: Type, value: Any) -> str:
    """Spell a value in a line; a long one is cut."""
    text = _spelled(schema, type_, value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def _spelled(schema: Schema, type_: Type, value: Any) -> str:
    if value is None:
        return "nothing"
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=True)
    if "enum" in value:
        assert type_.ref is not None
        names = [m.name for m in schema.enum(type_.ref).members if m.value == value["enum"]]
        return f"{names[0]} ({value['enum']})" if names else f"{value['enum']}, which has no name,"
    if "float" in value:
        return repr(float.fromhex(value["float"]))
    if "nested" in value:
        return f"a nested {_definition(schema, value['nested'])}"
    if "bytes" in value:
        return f"bytes {value['bytes'] or '(none)'}"
    if "items" in value:
        assert type_.element is not None
        return f"[{', '.join(_spelled(schema, type_.element, item) for item in value['items'])}]"
    if "tag" in value:
        return _member(schema, type_, value)
    return _definition(schema, value)


def _member(schema: Schema, type_: Type, value: Any) -> str:
    assert type_.ref is not None
    union = schema.union(type_.ref)
    member = next((m for m in union.members if m.tag == value["tag"]), None)
    if member is None:
        return f"tag {value['tag']}, which has no member,"
    return f"{member.name} {_spelled(schema, member.type, value['value'])}"


def _definition(schema: Schema, value: Any) -> str:
    is_table = "table" in value
    definition = schema.table(value["table"]) if is_table else schema.struct(value["struct"])
    parts = []
    for field in definition.fields:
        item = value["fields"].get(str(field.id if is_table else field.offset))
        if item is not None:
            parts.append(f"{field.name}: {_spelled(schema, field.type, item)}")
    return f"{definition.name} {{{', '.join(parts)}}}"
