"""Enums and unions: numbers, tags and members."""

from __future__ import annotations

from collections.abc import Callable

from placewire_codegen.model import ScalarKind, Schema, TypeKind

Read = Callable[[str], Schema]


def values_of(schema: Schema, name: str) -> list[tuple[str, int]]:
    return [(member.name, member.value) for member in schema.enum(name).members]


def test_a_member_without_a_value_follows_the_one_written_before_it(read: Read) -> None:
    schema = read("enum E: byte { A = 5, B, C = 0, D }")
    assert values_of(schema, "E") == [("C", 0), ("D", 1), ("A", 5), ("B", 6)]


def test_members_are_sorted_by_value(read: Read) -> None:
    schema = read("enum E: byte { A = 1, B = -1, C = 0x7F }")
    assert values_of(schema, "E") == [("B", -1), ("A", 1), ("C", 127)]


def test_values_of_bit_flags_are_masks(read: Read) -> None:
    schema = read("enum E: ulong (bit_flags) { A, B = 63 }")
    assert schema.enum("E").bit_flags
    assert values_of(schema, "E") == [("A", 1), ("B", 1 << 63)]


def test_an_enum_without_members_has_none(read: Read) -> None:
    assert values_of(read("enum E: int {}"), "E") == [("NONE", 0)]


def test_an_enum_knows_its_integers(read: Read) -> None:
    assert read("enum E: uint16 { A }").enum("E").underlying is ScalarKind.UINT16


def test_tags_count_from_one(read: Read) -> None:
    union = read("union U { A, B } table A {} table B {}").union("U")
    assert [(member.name, member.tag) for member in union.members] == [("A", 1), ("B", 2)]
    assert union.underlying is ScalarKind.UINT8


def test_tags_may_be_written(read: Read) -> None:
    union = read("union U { A = 7, B, c: A = 3 } table A {} table B {}").union("U")
    assert [(member.name, member.tag) for member in union.members] == [
        ("c", 3),
        ("A", 7),
        ("B", 8),
    ]


def test_a_member_of_another_namespace_is_called_after_both(read: Read) -> None:
    union = read("namespace n; table A {} namespace; union U { n.A, other: n.A }").union("U")
    assert [(member.name, member.type.ref) for member in union.members] == [
        ("n_A", "n.A"),
        ("other", "n.A"),
    ]


def test_members_may_be_tables_structs_and_strings(read: Read) -> None:
    union = read("struct S { a: int; } table T {} union U { T, s: S, text: string }").union("U")
    assert [member.type.kind for member in union.members] == [
        TypeKind.TABLE,
        TypeKind.STRUCT,
        TypeKind.STRING,
    ]


def test_members_keep_doc_and_attributes(read: Read) -> None:
    schema = read('attribute "x";\nunion U {\n  /// Doc.\n  T (x: 1)\n}\ntable T {}\n')
    (member,) = schema.union("U").members
    assert member.doc == ("Doc.",)
    assert member.attributes == {"x": 1}
