"""What flatc understands of a schema, and the same facts from our model, in one form to compare."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from placewire_codegen.model import (
    AttributeValue,
    EnumDefinition,
    Field,
    ScalarKind,
    Schema,
    StructDefinition,
    TableDefinition,
    Type,
    TypeKind,
    UnionDefinition,
)

Facts = dict[str, Any]

REFLECTION = Path(__file__).with_name("reflection.fbs")
_WORDS = re.compile(r"(: )(-?)inf\b")  # how flatc writes what JSON has no word for
_BASE_TYPES = {
    ScalarKind.BOOL: "Bool",
    ScalarKind.INT8: "Byte",
    ScalarKind.UINT8: "UByte",
    ScalarKind.INT16: "Short",
    ScalarKind.UINT16: "UShort",
    ScalarKind.INT32: "Int",
    ScalarKind.UINT32: "UInt",
    ScalarKind.INT64: "Long",
    ScalarKind.UINT64: "ULong",
    ScalarKind.FLOAT32: "Float",
    ScalarKind.FLOAT64: "Double",
}


def flatc_facts(flatc: Path, schema: Path, folder: Path) -> Facts:
    """Let flatc compile a schema to .bfbs and that to JSON, and return what stands there."""
    # --cpp lets everything pass that any of flatc's languages can do.
    options = ["-b", "--schema", "--cpp", "--bfbs-comments", "--bfbs-builtins"]
    _run(flatc, *options, "-I", schema.parent, "-o", folder, schema)
    options = ["--json", "--strict-json", "--defaults-json", "--raw-binary"]
    _run(flatc, *options, "-o", folder, REFLECTION, "--", folder / f"{schema.stem}.bfbs")
    text = (folder / f"{schema.stem}.json").read_text(encoding="utf-8")
    binary = parse_json(text)
    reader = _FlatcReader(binary)
    return {
        "enums": {enum["name"]: reader.enum(enum) for enum in binary["enums"]},
        "objects": {object_["name"]: reader.object(object_) for object_ in binary["objects"]},
        "root": binary["root_table"]["name"] if "root_table" in binary else None,
        # Our model keeps these with the root; without one they mean nothing.
        "identifier": binary.get("file_ident") or None if "root_table" in binary else None,
        "extension": binary.get("file_ext") or None if "root_table" in binary else None,
    }


def parse_json(text: str) -> Any:
    """Parse what flatc writes, which has words of its own for some numbers."""
    return json.loads(_WORDS.sub(r"\1\2Infinity", text.replace(": nan", ": NaN")))


def _run(flatc: Path, *arguments: str | Path) -> None:
    subprocess.run([flatc, *arguments], check=True, capture_output=True)


class _FlatcReader:
    """Turns the indices of a .bfbs into names and leaves out what is derived."""

    def __init__(self, binary: dict[str, Any]) -> None:
        self._objects = [object_["name"] for object_ in binary["objects"]]
        self._enums = [enum["name"] for enum in binary["enums"]]

    def enum(self, enum: dict[str, Any]) -> Facts:
        return {
            "is_union": enum["is_union"],
            "underlying": enum["underlying_type"]["base_type"],
            "values": {
                value["name"]: (
                    value["value"],
                    self._type(value["union_type"]) if enum["is_union"] else None,
                    _attributes(value),
                    _doc(value),
                )
                for value in enum["values"]
            },
            "attributes": _attributes(enum),
            "doc": _doc(enum),
        }

    def object(self, object_: dict[str, Any]) -> Facts:
        facts: Facts = {
            "is_struct": object_["is_struct"],
            "fields": {field["name"]: self._field(field) for field in object_["fields"]},
            "attributes": _attributes(object_),
            "doc": _doc(object_),
        }
        if object_["is_struct"]:
            facts["layout"] = (object_["bytesize"], object_["minalign"])
        return facts

    def _field(self, field: dict[str, Any]) -> Facts:
        type_ = self._type(field["type"])
        is_scalar = field["type"]["base_type"] in _BASE_TYPES.values()
        is_float = field["type"]["base_type"] in ("Float", "Double")
        default = field["default_real" if is_float else "default_integer"]
        return {
            "id": field["id"],
            "offset": field["offset"],
            "type": type_,
            "default": _number(default) if is_scalar else None,
            "optional": field["optional"] if is_scalar else None,
            "required": field["required"],
            "deprecated": field["deprecated"],
            "key": field["key"],
            "attributes": _attributes(field),
            "doc": _doc(field),
        }

    def _type(self, type_: dict[str, Any]) -> tuple[Any, ...]:
        base, element, index = type_["base_type"], type_["element"], type_["index"]
        name = None
        if index >= 0:
            is_object = "Obj" in (base, element)
            name = (self._objects if is_object else self._enums)[index]
        return (base, element, name, type_["fixed_length"])


def our_facts(schema: Schema) -> Facts:
    """Return the facts of a model of one entry file."""
    root = schema.roots[0] if schema.roots else None
    tables_and_structs: list[TableDefinition | StructDefinition]
    tables_and_structs = [*schema.tables, *schema.structs]
    return {
        "enums": {
            **{enum.full_name: _our_enum(enum) for enum in schema.enums},
            **{union.full_name: _our_union(union) for union in schema.unions},
        },
        "objects": {object_.full_name: _our_object(object_) for object_ in tables_and_structs},
        "root": root.table if root else None,
        "identifier": root.identifier if root else None,
        "extension": root.extension if root else None,
    }


def _our_enum(enum: EnumDefinition) -> Facts:
    return {
        "is_union": False,
        "underlying": _BASE_TYPES[enum.underlying],
        "values": {
            member.name: (
                _signed(member.value),
                None,
                _our_attributes(member.attributes),
                list(member.doc),
            )
            for member in enum.members
        },
        "attributes": _our_attributes(enum.attributes),
        "doc": list(enum.doc),
    }


def _our_union(union: UnionDefinition) -> Facts:
    values = {
        member.name: (
            member.tag,
            _our_type(member.type),
            _our_attributes(member.attributes),
            list(member.doc),
        )
        for member in union.members
    }
    return {
        "is_union": True,
        "underlying": _tag_base(union),
        "values": {"NONE": (0, ("None", "None", None, 0), {}, []), **values},
        "attributes": _our_attributes(union.attributes),
        "doc": list(union.doc),
    }


def _our_object(object_: TableDefinition | StructDefinition) -> Facts:
    fields: Facts = {}
    for field in object_.fields:
        fields[field.name] = _our_field(field)
        if field.type.kind is TypeKind.UNION or _holds_unions(field.type):
            fields[f"{field.name}_type"] = _our_tag_field(field)
    facts: Facts = {
        "is_struct": isinstance(object_, StructDefinition),
        "fields": fields,
        "attributes": _our_attributes(object_.attributes),
        "doc": list(object_.doc),
    }
    if isinstance(object_, StructDefinition):
        facts["layout"] = (object_.size, object_.alignment)
    return facts


def _our_field(field: Field) -> Facts:
    is_scalar = field.type.kind in (TypeKind.SCALAR, TypeKind.ENUM)
    default = 0 if field.default is None else field.default
    if field.type.scalar is not None and field.type.scalar.is_float:
        default = float(default)
    return {
        "id": field.id,
        "offset": field.offset,
        "type": _our_type(field.type),
        "default": _number(default) if is_scalar else None,
        "optional": field.optional if is_scalar else None,
        "required": field.required,
        "deprecated": field.deprecated,
        "key": field.key,
        "attributes": _our_attributes(field.attributes),
        "doc": list(field.doc),
    }


def _our_tag_field(field: Field) -> Facts:
    """The field that holds the tag of a union, or the tags of a vector of unions."""
    is_vector = field.type.kind is TypeKind.VECTOR
    type_ = field.type.element if is_vector else field.type
    assert type_ is not None
    assert type_.scalar is not None
    tag = "UType"
    attributes = {}
    if "id" in field.attributes:
        attributes["id"] = str(field.id - 1)
    return {
        "id": field.id - 1,
        "offset": field.offset - 2,
        "type": ("Vector", tag, type_.ref, 0) if is_vector else (tag, "None", type_.ref, 0),
        "default": None,
        "optional": None,
        "required": is_vector and field.required,
        "deprecated": field.deprecated,
        "key": False,
        "attributes": attributes,
        "doc": [],
    }


def _our_type(type_: Type) -> tuple[Any, ...]:
    match type_.kind:
        case TypeKind.SCALAR | TypeKind.ENUM:
            assert type_.scalar is not None
            return (_BASE_TYPES[type_.scalar], "None", type_.ref, 0)
        case TypeKind.STRING:
            return ("String", "None", None, 0)
        case TypeKind.STRUCT | TypeKind.TABLE:
            return ("Obj", "None", type_.ref, 0)
        case TypeKind.UNION:
            return ("Union", "None", type_.ref, 0)
        case TypeKind.VECTOR | TypeKind.ARRAY:
            assert type_.element is not None
            element = _our_type(type_.element)
            name = "Vector" if type_.kind is TypeKind.VECTOR else "Array"
            return (name, element[0], element[2], type_.length or 0)


def _holds_unions(type_: Type) -> bool:
    return type_.element is not None and type_.element.kind is TypeKind.UNION


def _tag_base(union: UnionDefinition) -> str:
    """A union that does not say the type of its tag has one that flatc calls UType."""
    return _BASE_TYPES[union.underlying] if union.names_tag_type else "UType"


def _attributes(node: dict[str, Any]) -> dict[str, str]:
    pairs = node.get("attributes", [])
    return {pair["key"]: _number_text(pair.get("value", "")) for pair in pairs}


def _our_attributes(attributes: dict[str, AttributeValue]) -> dict[str, str]:
    return {
        name: "0" if value is True else _number_text(str(value))
        for name, value in attributes.items()
    }


def _number_text(text: str) -> str:
    """A number as decimal, so that `0x10` and `16` are one."""
    try:
        return str(int(text, 0))
    except ValueError:
        return text


def _doc(node: dict[str, Any]) -> list[str]:
    return [line.removeprefix(" ").rstrip() for line in node.get("documentation", [])]


def _number(value: float) -> int | str:
    """A number to compare: flatc's JSON has 12 digits, and leaves out -0.0 as it does 0.0."""
    if isinstance(value, int):
        return _signed(value)
    return f"{value or 0.0:.9g}"


def _signed(value: int) -> int:
    """The value as flatc's `long` holds it."""
    return value - (1 << 64) if value >= 1 << 63 else value
