"""Text to tokens."""

from __future__ import annotations

import pytest
from placewire_codegen.diagnostics import Diagnostics, Source
from placewire_codegen.lexer import (
    END,
    FLOAT,
    IDENTIFIER,
    INTEGER,
    INVALID,
    STRING,
    Tokens,
    read_integer,
    tokenize,
)


def tokens_of(text: str) -> Tokens:
    """Tokenize a text that has no defects."""
    diagnostics = Diagnostics()
    tokens = tokenize(Source("x.fbs", text), diagnostics)
    assert len(diagnostics) == 0
    return tokens


def kinds(text: str) -> list[str]:
    return [token.kind for token in tokens_of(text).tokens]


def value(text: str) -> str:
    """Return the value of a text that is one string."""
    string, _ = tokens_of(text).tokens
    assert string.kind == STRING
    return string.text


def test_an_empty_file_has_only_its_end() -> None:
    assert kinds("") == [END]


def test_a_field_is_six_tokens() -> None:
    assert kinds("a: [int];") == [IDENTIFIER, ":", "[", IDENTIFIER, "]", ";", END]


def test_tokens_know_where_they_stand() -> None:
    text = 'table\n  Tensor // x\n"ab"'
    assert [text[token.start : token.end] for token in tokens_of(text).tokens] == [
        "table",
        "Tensor",
        '"ab"',
        "",
    ]


def test_comments_and_line_ends_of_windows_are_blanks() -> None:
    assert kinds("a // b\r\n/* c\r\n * d */ e") == [IDENTIFIER, IDENTIFIER, END]


@pytest.mark.parametrize("text", ["0", "007", "-5", "+5", "0x1F", "0Xff", "-0x1"])
def test_integers(text: str) -> None:
    assert kinds(text) == [INTEGER, END]


def test_a_leading_zero_does_not_make_a_number_octal() -> None:
    assert read_integer("010") == 10
    assert read_integer("-0x10") == -16


@pytest.mark.parametrize("text", ["1.", ".5", "1e3", "-1.5E-3", "+.5", "0x1p4", "0x.8P-3", "1.e3"])
def test_floats(text: str) -> None:
    assert kinds(text) == [FLOAT, END]


@pytest.mark.parametrize("text", ["1_000", "0b1", "0x", "1e", "1.5.2", "0x1.8", "1f", "5a"])
def test_what_begins_like_a_number_and_is_none_is_one_defect(text: str) -> None:
    diagnostics = Diagnostics()
    tokens = tokenize(Source("x.fbs", f"a {text} b"), diagnostics).tokens
    assert [token.kind for token in tokens] == [IDENTIFIER, INVALID, IDENTIFIER, END]
    assert len(diagnostics) == 1


def test_a_sign_before_a_name_is_a_token() -> None:
    assert kinds("-inf") == ["-", IDENTIFIER, END]


def test_strings_stand_in_either_quotes() -> None:
    assert value('"it\'s"') == "it's"
    assert value("'say \"x\"'") == 'say "x"'


def test_every_escape() -> None:
    assert value(r'"\n\t\r\b\f\"\'\\\/"') == "\n\t\r\b\f\"'\\/"


def test_hexadecimal_escapes_are_bytes_of_utf_8() -> None:
    assert value(r'"\x41\xC3\xA9"') == "Aé"


def test_unicode_escapes_are_units_of_utf_16() -> None:
    assert value(r'"\u00e9\uD83D\uDE00"') == "é😀"


@pytest.mark.parametrize(
    "text", [r'"\q"', r'"\x4"', r'"\u12"', r'"\uD83D"', r'"\uDE00"', r'"\uD83D\n"', r'"\xFF"']
)
def test_wrong_escapes_are_one_defect(text: str) -> None:
    diagnostics = Diagnostics()
    tokens = tokenize(Source("x.fbs", text), diagnostics).tokens
    assert [token.kind for token in tokens] == [INVALID, END]
    assert len(diagnostics) == 1


def test_a_doc_comment_belongs_to_the_token_that_follows() -> None:
    tokens, docs, _ = tokens_of("/// one\n/// two\n// not doc\ntable T {}\n/// end\n")
    assert docs == {tokens[0].start: (" one", " two")}


def test_a_run_of_illegal_characters_is_one_defect() -> None:
    diagnostics = Diagnostics()
    tokens, _, behind_illegal = tokenize(Source("x.fbs", "a @@@ b"), diagnostics)
    assert len(diagnostics) == 1
    assert [tokens[index].text for index in behind_illegal] == ["b"]
