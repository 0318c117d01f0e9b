"""How a defect is shown: its place, the line, the mark below it."""

from __future__ import annotations

import pytest
from placewire_codegen.diagnostics import (
    Diagnostic,
    Diagnostics,
    Note,
    SchemaError,
    Source,
    Span,
    closest,
)


def quote(text: str, start: int, end: int) -> list[str]:
    return Span(Source("x.fbs", text), start, end).quote().split("\n")


def test_lines_and_columns_count_from_one() -> None:
    source = Source("x.fbs", "ab\ncd\n")
    assert [source.position(offset) for offset in (0, 1, 3, 6)] == [(1, 1), (1, 2), (2, 1), (3, 1)]


def test_the_mark_is_as_long_as_what_it_marks() -> None:
    assert quote("a bcd e", 2, 5) == ["   1 | a bcd e", "     |   ^^^"]


def test_a_span_over_several_lines_is_marked_on_the_first() -> None:
    assert quote("ab cd\nef", 3, 8) == ["   1 | ab cd", "     |    ^^"]


def test_a_place_behind_the_last_character_is_marked() -> None:
    assert quote("ab", 2, 3) == ["   1 | ab", "     |   ^"]


def test_tabs_and_wide_characters_keep_the_mark_in_place() -> None:
    assert quote("\t表e\u0301x", 4, 5) == ["   1 | \t表e\u0301x", "     | \t   ^"]


def test_a_carriage_return_is_not_part_of_a_line() -> None:
    assert quote("ab\r\ncd", 0, 2) == ["   1 | ab", "     | ^^"]


def test_characters_that_act_on_a_terminal_are_replaced() -> None:
    assert quote("a\x1b[31mb", 0, 1)[0] == "   1 | a\ufffd[31mb"


def test_a_long_line_is_quoted_around_the_mark() -> None:
    line, mark = quote("x" * 1000 + "HERE" + "y" * 1000, 1000, 1004)
    assert len(line) < 120
    start = mark.index("^")
    assert line[start : start + 4] == "HERE"
    assert mark.count("^") == 4


def test_a_long_span_is_cut_with_its_line() -> None:
    line, mark = quote("x" * 1000, 0, 1000)
    assert len(line) < 120
    assert mark.count("^") <= 100


def test_a_diagnostic_shows_hint_and_notes() -> None:
    source = Source("x.fbs", "one\ntwo\n")
    notes = (Note("here is the other", Span(source, 0, 3)),)
    diagnostic = Diagnostic("wrong", Span(source, 4, 7), "x.fbs", "do this", notes)
    assert str(diagnostic) == (
        "x.fbs:2:1: error: wrong\n"
        "   2 | two\n"
        "     | ^^^\n"
        "     = hint: do this\n"
        "x.fbs:1:1: note: here is the other\n"
        "   1 | one\n"
        "     | ^^^"
    )


def test_defects_are_sorted_by_file_and_place() -> None:
    one, two = Source("one.fbs", "abc"), Source("two.fbs", "abc")
    diagnostics = Diagnostics()
    diagnostics.error(Span(one, 1, 2), "third")
    diagnostics.error(Span(two, 0, 1), "first")
    diagnostics.error(Span(one, 0, 1), "second")
    with pytest.raises(SchemaError) as raised:
        diagnostics.raise_if_any(["two.fbs", "one.fbs"])
    assert [each.message for each in raised.value.diagnostics] == ["first", "second", "third"]


def test_no_defect_raises_nothing() -> None:
    Diagnostics().raise_if_any(["x.fbs"])


def test_a_misspelling_is_recognized_and_a_different_word_is_not() -> None:
    assert closest("strnig", ["string", "struct"]) == "string"
    assert closest("Table", ["table"]) == "table"
    assert closest("message", ["table", "struct"]) is None
