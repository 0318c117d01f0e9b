"""Tokens to a syntax tree, and what is left of it after defects."""

from __future__ import annotations

from placewire_codegen import syntax
from placewire_codegen.diagnostics import Diagnostics, Source
from placewire_codegen.parser import parse


def tree_of(text: str) -> syntax.SyntaxTree:
    """Parse a text that has no defects."""
    tree, defects = parse_with_defects(text)
    assert defects == 0
    return tree


def parse_with_defects(text: str) -> tuple[syntax.SyntaxTree, int]:
    """Return the tree of a text, and how many defects were found."""
    diagnostics = Diagnostics()
    tree = parse(Source("x.fbs", text), diagnostics)
    return tree, len(diagnostics)


def fields_of(tree: syntax.SyntaxTree, name: str) -> list[str]:
    """Return the names of the fields of one table of a tree."""
    tables = [node for node in tree.statements if isinstance(node, syntax.TableNode)]
    (table,) = [table for table in tables if table.name.text == name]
    return [field.name.text for field in table.fields]


def test_a_field_keeps_what_was_written() -> None:
    (table,) = tree_of("/// Doc.\ntable T { /*x*/ a : [ int : 0x3 ] = 5 (id: 1, key); }").statements
    assert isinstance(table, syntax.TableNode)
    (field,) = table.fields
    assert table.doc == (" Doc.",)
    assert isinstance(field.type, syntax.ArrayType)
    assert field.type.length.text == "0x3"
    assert isinstance(field.default, syntax.IntegerLiteral)
    assert [attribute.name.text for attribute in field.attributes] == ["id", "key"]


def test_nodes_know_where_they_stand() -> None:
    text = 'table T { a: [ns . Name] = "x"; }'
    (table,) = tree_of(text).statements
    assert isinstance(table, syntax.TableNode)
    (field,) = table.fields
    assert text[field.type.start : field.type.end] == "[ns . Name]"
    assert field.default is not None
    assert text[field.default.start : field.default.end] == '"x"'


def test_dotted_names_lose_their_blanks() -> None:
    (root,) = tree_of("root_type a . b .c;").statements
    assert isinstance(root, syntax.RootType)
    assert root.name.text == "a.b.c"


def test_keywords_are_names_wherever_no_declaration_begins() -> None:
    tree = tree_of("table table { struct: int; namespace: table; null: string; include: bool; }")
    assert fields_of(tree, "table") == ["struct", "namespace", "null", "include"]


def test_a_parenthesis_behind_a_blank_begins_attributes() -> None:
    (table,) = tree_of("table T { a: E = CPU (key); b: float = rad(180) (key); }").statements
    assert isinstance(table, syntax.TableNode)
    first, second = table.fields
    assert isinstance(first.default, syntax.NameLiteral)
    assert isinstance(second.default, syntax.CallLiteral)
    assert len(first.attributes) == len(second.attributes) == 1


def test_a_field_that_cannot_be_read_costs_only_itself() -> None:
    tree, defects = parse_with_defects("table T { a: int; b int; c: int; }")
    assert defects == 1
    assert fields_of(tree, "T") == ["a", "c"]


def test_a_missing_semicolon_costs_no_field() -> None:
    tree, defects = parse_with_defects("table T { a: int\n b: int c: int; d: int }")
    assert defects == 3
    assert fields_of(tree, "T") == ["a", "b", "c", "d"]


def test_a_missing_type_does_not_eat_the_next_field() -> None:
    tree, defects = parse_with_defects("table T {\n a:\n b: int;\n}")
    assert defects == 1
    assert fields_of(tree, "T") == ["b"]


def test_a_missing_brace_costs_no_declaration() -> None:
    tree, defects = parse_with_defects("table A { a: int;\ntable B { b: int; }\ntable C d: int; }")
    assert defects == 2
    assert [fields_of(tree, name) for name in "ABC"] == [["a"], ["b"], ["d"]]


def test_only_what_was_damaged_is_incomplete() -> None:
    tree, _ = parse_with_defects("table A { a int; }\ntable B { b: int; }\nenum E : int { X Y }")
    nodes = [node for node in tree.statements if isinstance(node, syntax.TableNode)]
    assert [node.complete for node in nodes] == [False, True]
    enum = tree.statements[-1]
    assert isinstance(enum, syntax.EnumNode)
    assert not enum.complete
    assert [member.name.text for member in enum.members] == ["X", "Y"]


def test_a_misspelt_keyword_still_declares_its_name() -> None:
    tree, defects = parse_with_defects("tabel A { a: int; }\ntable B { b: A; }")
    assert defects == 1
    unreadable, table = tree.statements
    assert isinstance(unreadable, syntax.UnreadableDeclaration)
    assert unreadable.name.text == "A"
    assert isinstance(table, syntax.TableNode)


def test_deep_nesting_is_a_defect_and_no_crash() -> None:
    for text in ("sin(" * 10_000, "[" * 10_000, "{" * 10_000, "a." * 10_000):
        _, defects = parse_with_defects(f"table T {{ a: float = {text}; b: int; }}")
        assert defects >= 1
