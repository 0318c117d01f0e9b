"""What the rows cannot say: renames, chains of types, places, and attributes of ours."""

from __future__ import annotations

from placewire_codegen.evolution import Affected, Finding, Level

from tests.codegen.evolution.conftest import Compare


def names(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.rule.name, finding.path) for finding in findings]


def test_a_field_that_becomes_present_breaks_strict_new_readers(compare: Compare) -> None:
    before = "attribute present; table T { a: string; }"
    after = "attribute present; table T { a: string (present); }"
    (finding,) = compare(before, after)
    assert finding.rule.name == "FIELD_SAME_PRESENT"
    assert finding.affected == (Affected.NEW_READERS,)
    (back,) = compare(after, before)
    assert back.affected == (Affected.OLD_READERS,)


def test_a_new_field_cannot_be_present_in_old_files(compare: Compare) -> None:
    before = "attribute present; table T { a: int; }"
    after = "attribute present; table T { a: int; b: string (present); }"
    assert names(compare(before, after)) == [("FIELD_SAME_PRESENT", "T.b")]


def test_the_header_of_a_root_stays(compare: Compare) -> None:
    plain = 'attribute extended_header; table T { a: int; } root_type T; file_identifier "AAAA";'
    headed = plain.replace("table T", 'table T (extended_header: "eh00")')
    assert names(compare(plain, headed)) == [("SCHEMA_SAME_HEADER", "T")]


def test_a_comment_changes_nothing(compare: Compare) -> None:
    assert compare("table T { a: int; }", "/// New.\ntable T { /* and */\n  a: int;\n}") == []


def test_the_order_of_declarations_changes_nothing(compare: Compare) -> None:
    one, other = "struct S { x: int; } ", "enum E: int { A } "
    assert compare(one + other, other + one) == []


def test_both_places_are_told(compare: Compare) -> None:
    (finding,) = compare("table T {\n  a: int = 1;\n}", "table T {\n\n   a: int = 2;\n}")
    assert str(finding.base) == "schema.fbs:2:3"
    assert str(finding.head) == "schema.fbs:3:4"


def test_what_is_gone_points_at_what_it_stood_in(compare: Compare) -> None:
    (finding,) = compare("table T {\n a: int;\n b: int;\n}", "\ntable T {\n a: int;\n}")
    assert str(finding.base) == "schema.fbs:3:2"
    assert str(finding.head) == "schema.fbs:2:7"


def test_a_renamed_type_that_grew_is_still_that_type(compare: Compare) -> None:
    before = "table A { x: int; } table T { a: A; }"
    after = "table B { x: int; y: int; } table T { a: B; }"
    assert names(compare(before, after)) == [("TYPE_SAME_NAME", "B")]


def test_another_content_under_another_name_is_another_type(compare: Compare) -> None:
    before = "table A { x: int; } table T { a: A; }"
    after = "table B { y: int; } table T { a: B; }"
    assert set(names(compare(before, after))) == {
        ("FIELD_SAME_WIRE_TYPE", "T.a"),
        ("TYPE_NO_DELETE", "A"),
    }


def test_a_renamed_type_inside_a_renamed_type_is_followed(compare: Compare) -> None:
    before = "enum E: int { X } table I { e: E; } table O { i: [I]; } union U { O } root_type O;"
    after = "enum F: int { X } table J { e: F; } table P { i: [J]; } union V { P } root_type P;"
    assert set(names(compare(before, after))) == {
        ("TYPE_SAME_NAME", "F"),
        ("TYPE_SAME_NAME", "J"),
        ("TYPE_SAME_NAME", "P"),
        ("TYPE_NO_DELETE", "U"),
    }


def test_a_namespace_that_moves_takes_all_its_types_along(compare: Compare) -> None:
    text = "enum E: int { X } struct S { e: E; } table T { s: S; t: T; } root_type T;"
    findings = compare(f"namespace a.b; {text}", f"namespace c; {text}")
    assert names(findings) == [("TYPE_SAME_NAME", f"c.{name}") for name in "EST"]


def test_two_empty_tables_are_not_told_apart_by_content(compare: Compare) -> None:
    findings = compare("table A {} table B {}", "table C {} table D {}")
    assert {finding.rule.name for finding in findings} == {"TYPE_NO_DELETE", "SCHEMA_SAME_ROOT"}


def test_an_alignment_that_there_is_anyway_changes_nothing(compare: Compare) -> None:
    before = "table T { a: [long]; b: [ubyte]; }"
    after = "table T { a: [long] (force_align: 8); b: [ubyte] (force_align: 4); }"
    assert compare(before, after) == []
    more = after.replace("force_align: 4", "force_align: 8")
    assert names(compare(after, more)) == [("FIELD_SAME_ALIGNMENT", "T.b")]


def test_a_nested_root_may_be_renamed(compare: Compare) -> None:
    before = 'table A { x: int; } table T { d: [ubyte] (nested_flatbuffer: "A"); }'
    after = 'table B { x: int; } table T { d: [ubyte] (nested_flatbuffer: "B"); }'
    assert names(compare(before, after)) == [("TYPE_SAME_NAME", "B")]


def test_nan_is_one_default_however_it_is_spelled(compare: Compare) -> None:
    assert compare("table T { a: float = nan; }", "table T { a: float = +nan; }") == []
    assert names(compare("table T { a: float = inf; }", "table T { a: float = -inf; }")) == [
        ("FIELD_SAME_DEFAULT", "T.a")
    ]


def test_two_spellings_of_one_float32_are_equal(compare: Compare) -> None:
    before, after = "table T { a: float = 0.1; }", "table T { a: float = 0.10000000149; }"
    assert compare(before, after) == []
    wide = "table T { a: double = 0.1; }", "table T { a: double = 0.10000000149; }"
    assert names(compare(*wide)) == [("FIELD_SAME_DEFAULT", "T.a")]


def test_a_struct_that_stays_while_its_enum_widens_is_reported_twice(compare: Compare) -> None:
    before = "enum E: byte { A } struct S { e: E; }"
    after = "enum E: int { A } struct S { e: E; }"
    assert set(names(compare(before, after))) == {
        ("ENUM_SAME_UNDERLYING_TYPE", "E"),
        ("STRUCT_SAME_LAYOUT", "S"),
    }


def test_an_array_that_grows_into_padding_has_another_form(compare: Compare) -> None:
    before = "struct S { a: int; b: [byte:3]; }"
    after = "struct S { a: int; b: [byte:4]; }"
    assert names(compare(before, after)) == [("FIELD_SAME_WIRE_TYPE", "S.b")]


def test_another_struct_of_the_same_layout_means_something_else(compare: Compare) -> None:
    structs = "struct A { x: int; } struct B { y: int; } "
    findings = compare(structs + "table T { s: A; }", structs + "table T { s: B; }")
    assert names(findings) == [("FIELD_SAME_VALUES", "T.s")]


def test_an_identifier_that_comes_is_as_bad_as_one_that_changes(compare: Compare) -> None:
    before = "table T { a: int; } root_type T;"
    (finding,) = compare(before, before + 'file_identifier "AAAA";')
    assert (finding.rule.name, finding.level) == ("SCHEMA_SAME_IDENTIFIER", Level.WIRE)


def test_structs_may_nest_deeper_than_python_calls(compare: Compare) -> None:
    depth = 1200
    nested = "".join(f"struct S{i} {{ a: S{i - 1}; }}\n" for i in range(1, depth))
    found = compare(f"struct S0 {{ a: int; }}\n{nested}", f"struct S0 {{ a: float; }}\n{nested}")
    assert names(found) == [("FIELD_SAME_WIRE_TYPE", "S0.a")]
