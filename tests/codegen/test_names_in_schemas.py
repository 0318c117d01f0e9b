"""Which declaration a name in a schema means, as flatc looks it up."""

from __future__ import annotations

from collections.abc import Callable

from placewire_codegen.model import Schema

Read = Callable[[str], Schema]
Messages = Callable[[str], list[str]]


def type_of(schema: Schema, table: str, field: str) -> str | None:
    """Return the full name of what a field's type refers to."""
    (found,) = [each for each in schema.table(table).fields if each.name == field]
    return found.type.ref


def test_the_innermost_namespace_wins(read: Read) -> None:
    schema = read(
        "table V {} namespace a; table V {} namespace a.b; table V {} table T { x: V; y: a.V; }"
    )
    assert type_of(schema, "a.b.T", "x") == "a.b.V"
    assert type_of(schema, "a.b.T", "y") == "a.V"


def test_a_parent_namespace_is_searched(read: Read) -> None:
    schema = read("namespace a; table V {} namespace a.b.c; table T { x: V; }")
    assert type_of(schema, "a.b.c.T", "x") == "a.V"


def test_what_is_declared_before_wins_over_what_is_nearer_but_later(read: Read) -> None:
    schema = read(
        "namespace a; table V {} namespace a.b; table T { x: V; } table V {} table U { x: V; }"
    )
    assert type_of(schema, "a.b.T", "x") == "a.V"
    assert type_of(schema, "a.b.U", "x") == "a.b.V"


def test_an_enum_wins_over_a_nearer_table(read: Read) -> None:
    schema = read("namespace a; enum X: int { V } namespace a.b; table X {} table T { x: X; }")
    assert type_of(schema, "a.b.T", "x") == "a.X"


def test_a_table_may_be_declared_after_its_use(read: Read) -> None:
    schema = read("table T { x: V; y: T; z: [V]; } table V {}")
    assert type_of(schema, "T", "x") == "V"
    assert type_of(schema, "T", "y") == "T"


def test_a_later_table_of_that_name_is_taken_from_any_namespace(read: Read) -> None:
    schema = read("namespace a; table T { x: V; } namespace b; table V {}")
    assert type_of(schema, "a.T", "x") == "b.V"


def test_builtin_types_win_over_types_of_their_name(read: Read) -> None:
    schema = read("struct int { a: byte; } table T { x: int; }")
    assert type_of(schema, "T", "x") is None


def test_an_unknown_name_is_reported_at_each_use(messages: Messages) -> None:
    assert messages("table T { a: X; b: [X]; }") == ["unknown type `X`"] * 2


def test_a_damaged_declaration_is_not_unknown(messages: Messages) -> None:
    assert len(messages("table A { a int; } tabel B { b: int; } table T { a: A; b: B; }")) == 2


def test_members_that_could_not_be_read_are_not_missing(messages: Messages) -> None:
    assert messages("enum E: byte { A, B = x, C } table T { b: E = B; c: E = C; }") == [
        "expected an integer, found `x`"
    ]


def test_a_member_out_of_range_is_reported_once(messages: Messages) -> None:
    assert messages("enum E: byte { A, B = 300 } table T { b: E = B; }") == [
        "value 300 of `B` is out of range for byte (-128..127)"
    ]
