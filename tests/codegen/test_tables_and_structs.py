"""Tables and structs: slots, layout, defaults, attributes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from placewire_codegen.layout import Extent, lay_out_struct
from placewire_codegen.model import Field, ScalarKind, Schema, TypeKind

Read = Callable[[str], Schema]
Messages = Callable[[str], list[str]]


def fields_of(schema: Schema, name: str = "T") -> dict[str, Field]:
    """Return the fields of a table or struct by name, in their order."""
    is_table = any(table.full_name == name for table in schema.tables)
    fields = schema.table(name).fields if is_table else schema.struct(name).fields
    return {field.name: field for field in fields}


def test_slots_are_counted_in_order(read: Read) -> None:
    fields = fields_of(read("table T { a: int; b: string; c: [int]; }"))
    assert [(field.id, field.offset) for field in fields.values()] == [(0, 4), (1, 6), (2, 8)]


def test_a_union_takes_two_slots_and_has_the_second(read: Read) -> None:
    fields = fields_of(read("union U { T } table T { a: int; u: U; b: int; v: [U]; }"))
    assert {name: field.id for name, field in fields.items()} == {"a": 0, "u": 2, "b": 3, "v": 5}


def test_fields_are_sorted_by_their_written_id(read: Read) -> None:
    fields = fields_of(
        read("union U { T } table T { c: int (id: 3); u: U (id: 2); a: int (id: 0); }")
    )
    assert [(name, field.id) for name, field in fields.items()] == [("a", 0), ("u", 2), ("c", 3)]


def test_a_field_left_out_makes_no_gap(messages: Messages) -> None:
    text = "table T { a: int (id: 0); b int (id: 1); c: int (id: 2); }"
    assert messages(text) == ["expected `:` and the type of `b`, found `int`"]


def test_struct_fields_lie_at_multiples_of_their_alignment(read: Read) -> None:
    schema = read("struct S { a: byte; b: double; c: short; d: byte; }")
    assert [field.offset for field in fields_of(schema, "S").values()] == [0, 8, 16, 18]
    assert (schema.struct("S").size, schema.struct("S").alignment) == (24, 8)


def test_force_align_pads_a_struct(read: Read) -> None:
    schema = read("struct S (force_align: 16) { a: int; } struct O { a: byte; s: S; }")
    assert (schema.struct("S").size, schema.struct("S").alignment) == (16, 16)
    assert [field.offset for field in fields_of(schema, "O").values()] == [0, 16]
    assert (schema.struct("O").size, schema.struct("O").alignment) == (32, 16)


def test_arrays_are_laid_out_element_by_element(read: Read) -> None:
    schema = read("struct P { x: short; y: byte; } struct S { a: byte; p: [P: 3]; n: [int: 2]; }")
    assert [field.offset for field in fields_of(schema, "S").values()] == [0, 2, 16]
    assert schema.struct("S").size == 24


def test_layout_of_nothing_is_nothing() -> None:
    assert lay_out_struct([]) == ((), 0, 1)
    assert lay_out_struct([Extent(1, 1)], force_align=8) == ((0,), 8, 8)


@pytest.mark.parametrize(
    ("field", "default"),
    [
        ("int", 0),
        ("int = 5", 5),
        ("int = -0x10", -16),
        ("int = 010", 10),
        ('int = "7"', 7),
        ("bool = true", 1),
        ("bool = 7", 1),
        ("bool = false", 0),
        ("ulong = 18446744073709551615", (1 << 64) - 1),
        ("float = 1", 1.0),
        ("float = .5", 0.5),
        ("double = 0x1.8p3", 12.0),
        ("double = 1e400", math.inf),
        ("double = -0x1p5000", -math.inf),
        ("double = -inf", -math.inf),
        ('double = "1e3"', 1000.0),
        ("double = rad(180)", 3.14159265359),  # flatc keeps 12 decimals of what it computes
        ("double = sin(0.0000012345)", 0.0000012345),
        ("double = cos(rad(180))", -1.0),
        ("E = B", 2),
        ('E = "B"', 2),
        ("E = 2", 2),
        ('int = "E.B"', 2),
        ("F = B", 2),
        ('F = "A C"', 5),
        ("F = 64", 64),
        ("F", 0),
    ],
)
def test_defaults(read: Read, field: str, default: float) -> None:
    schema = read(
        "enum E: byte { A, B = 2 } enum F: ubyte (bit_flags) { A, B, C }"
        f"table T {{ a: {field}; }}"
    )
    value = fields_of(schema)["a"].default
    assert value == default
    assert isinstance(value, float) == isinstance(default, float)


def test_what_no_function_gives_is_not_a_number(read: Read) -> None:
    default = fields_of(read("table T { a: double = asin(2); }"))["a"].default
    assert default is not None
    assert math.isnan(default)


def test_null_makes_a_scalar_optional(read: Read) -> None:
    fields = fields_of(read("table T { a: int = null; b: int; c: string; }"))
    assert [(field.optional, field.default) for field in fields.values()] == [
        (True, None),
        (False, 0),
        (False, None),
    ]


def test_a_field_knows_its_type(read: Read) -> None:
    fields = fields_of(
        read("enum E: ushort { A } struct S { x: int; } table T { e: E; s: [S]; b: [ubyte]; }")
    )
    assert (fields["e"].type.kind, fields["e"].type.scalar) == (TypeKind.ENUM, ScalarKind.UINT16)
    element = fields["s"].type.element
    assert element is not None
    assert (element.kind, element.ref) == (TypeKind.STRUCT, "S")
    assert fields["b"].type.is_bytes


def test_attributes_of_the_wire_are_lifted(read: Read) -> None:
    fields = fields_of(
        read(
            'attribute "present";'
            "table T { a: string (required); b: [ubyte] (force_align: 16, present);"
            " c: int (deprecated); d: int (key); }"
        )
    )
    assert fields["a"].required
    assert fields["b"].present
    assert fields["b"].force_align == 16
    assert fields["c"].deprecated
    assert fields["d"].key
    assert fields["b"].attributes == {"force_align": 16, "present": True}


def test_a_string_key_is_required(read: Read) -> None:
    assert fields_of(read("table T { a: string (key); }"))["a"].required


def test_attributes_of_ones_own_keep_their_values(read: Read) -> None:
    schema = read(
        'attribute "a"; attribute b; attribute "c";'
        'table T (a: -5) { x: int (b: "text", c); } enum E: byte { A (a: 0x10) }'
    )
    assert schema.table("T").attributes == {"a": -5}
    assert fields_of(schema)["x"].attributes == {"b": "text", "c": True}
    assert schema.enum("E").members[0].attributes == {"a": 16}


def test_a_doc_comment_loses_the_blank_before_it(read: Read) -> None:
    schema = read("/// One.\n///\n///   Two.  \ntable T {\n  /// Field.\n  a: int;\n}\n")
    assert schema.table("T").doc == ("One.", "", "  Two.")
    assert fields_of(schema)["a"].doc == ("Field.",)


def test_a_definition_knows_where_its_name_stands(read: Read) -> None:
    schema = read("\ntable T {\n\ta: int;\n}\n")
    assert str(schema.table("T").location) == "schema.fbs:2:7"
    assert str(fields_of(schema)["a"].location) == "schema.fbs:3:2"
