"""Schema text to tokens, with doc comments attached to the token that follows them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .diagnostics import Diagnostics, Source, Span

IDENTIFIER: Final = "identifier"
INTEGER: Final = "integer"
FLOAT: Final = "float"
STRING: Final = "string"
INVALID: Final = "invalid"
END: Final = "end of file"


class Token(NamedTuple):
    """A word of the language.

    Attributes:
        kind: One of the constants of this module, or the character itself for punctuation and for
            a sign before a name. INVALID stands for a number or string that was reported already.
        text: The spelling; for STRING, the value.
        start: Character offset of the first character.
        end: Character offset behind the last one.
    """

    kind: str
    text: str
    start: int
    end: int


class Tokens(NamedTuple):
    """A tokenized file.

    Attributes:
        tokens: The last one is END.
        docs: Lines of doc comments by the offset of the token that follows them.
        behind_illegal: Indices of the tokens that follow characters which are no token.
    """

    tokens: list[Token]
    docs: dict[int, tuple[str, ...]]
    behind_illegal: set[int]


# The number pattern takes whatever begins like a number up to the next blank or punctuation, so
# that `1_000` is one wrong number and not a number and a name.
_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
    (?P<identifier>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<punctuation>[{}()\[\]:;,=])
  | (?P<number>[+-]?\.?[0-9](?:[eEpP][+-][0-9]|[A-Za-z0-9_.])*)
  | (?P<dot>\.)
  | (?P<sign>[+-](?=[A-Za-z_]))
  | (?P<doc>///[^\r\n]*)
  | (?P<comment>//[^\r\n]*|/\*.*?\*/)
  | (?P<string>"(?:[^"\\\r\n]|\\[^\r\n])*"|'(?:[^'\\\r\n]|\\[^\r\n])*')
  | (?P<open_string>["'][^\r\n]*)
  | (?P<open_comment>/\*.*)
  | (?P<end>\Z)
  | (?P<illegal>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
INTEGER_SPELLING: Final = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+)")
FLOAT_SPELLING: Final = re.compile(
    r"""[+-]?(?:
    (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?
  | 0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+
    )""",
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPE = re.compile(
    r"""\\(?:
    x[0-9a-fA-F]{2}
  | u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}  # a surrogate pair
  | u[0-9a-fA-F]{4}
  | .
    )""",
    re.VERBOSE | re.DOTALL,
)
_SIMPLE_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    '"': '"',
    "'": "'",
    "\\": "\\",
    "/": "/",
}


def tokenize(source: Source, diagnostics: Diagnostics) -> Tokens:
    """Split a file into tokens; the last one is always END.

    Whatever cannot be a token is reported once and left out, so that the parser does not report it
    again.
    """
    return _Lexer(source, diagnostics).run()


def read_integer(text: str) -> int:
    """Value of a decimal or hexadecimal spelling; a leading zero does not make it octal."""
    return int(text, 16) if "x" in text or "X" in text else int(text)


class _Lexer:
    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self._source = source
        self._diagnostics = diagnostics
        self._tokens: list[Token] = []
        self._docs: dict[int, tuple[str, ...]] = {}
        self._behind_illegal: set[int] = set()
        self._pending_doc: list[str] = []
        self._illegal_end = -1
        self._open_quote: str | None = None

    def run(self) -> Tokens:
        tokens = self._tokens
        new = tuple.__new__  # Token(...) does the same in three times the time
        for match in _TOKEN.finditer(self._source.text):
            group = match.lastgroup
            assert group is not None, "the pattern has no other alternatives"
            spelling, end = match[group], match.end()
            start = end - len(spelling)
            if group == "identifier":
                if self._pending_doc:
                    self._attach_doc(start)
                tokens.append(new(Token, (IDENTIFIER, spelling, start, end)))
            elif group == "punctuation":
                if self._pending_doc:
                    self._attach_doc(start)
                tokens.append(new(Token, (spelling, spelling, start, end)))
            elif group == "doc":
                self._take_doc(spelling, start, end)
            elif group == "end":
                tokens.append(Token(END, "", start, end))
                break
            elif group != "comment":
                self._take_other(group, spelling, start, end)
        return Tokens(tokens, self._docs, self._behind_illegal)

    def _take_other(self, group: str, spelling: str, start: int, end: int) -> None:
        """Handle the rarer tokens and all that is wrong."""
        if group == "illegal":
            self._report_illegal(spelling, start, end)
            return
        if group == "open_comment":
            self._error(start, start + 2, "comment is not closed", hint="close it with `*/`")
            self._behind_illegal.add(len(self._tokens))
            return
        self._attach_doc(start)
        if group == "number":
            self._tokens.append(self._number(spelling, start, end))
        elif group == "string":
            self._tokens.append(self._string(spelling, start, end))
        elif group == "open_string":
            self._report_open_string(spelling, start, end)
            self._tokens.append(Token(INVALID, spelling, start, end))
        else:
            self._tokens.append(Token(spelling, spelling, start, end))

    def _take_doc(self, comment: str, start: int, end: int) -> None:
        previous_end = self._tokens[-1].end if self._tokens else -1
        if previous_end >= 0 and "\n" not in self._source.text[previous_end:start]:
            self._error(
                start,
                end,
                "doc comment behind code; a doc comment has a line of its own",
                hint="put it on the line before, or write `//`",
            )
        self._pending_doc.append(comment[3:])

    def _attach_doc(self, start: int) -> None:
        if self._pending_doc:
            self._docs[start] = tuple(self._pending_doc)
            self._pending_doc.clear()

    def _number(self, spelling: str, start: int, end: int) -> Token:
        if INTEGER_SPELLING.fullmatch(spelling):
            return Token(INTEGER, spelling, start, end)
        if FLOAT_SPELLING.fullmatch(spelling):
            return Token(FLOAT, spelling, start, end)
        self._error(start, end, f"`{spelling}` is not a number", hint=_number_hint(spelling))
        return Token(INVALID, spelling, start, end)

    def _string(self, spelling: str, start: int, end: int) -> Token:
        self._open_quote = None
        control = _CONTROL.search(spelling)
        if control is not None:
            self._report_control(control.group(), start + control.start())
            return Token(INVALID, spelling, start, end)
        if "\\" not in spelling:
            return Token(STRING, spelling[1:-1], start, end)
        try:
            value = _unescape(spelling, start + 1)
        except _EscapeError as bad:
            self._error(bad.start, bad.end, str(bad))
            return Token(INVALID, spelling, start, end)
        return Token(STRING, value, start, end)

    def _report_control(self, character: str, start: int) -> None:
        code = ord(character)
        letters = {value: letter for letter, value in _SIMPLE_ESCAPES.items()}
        escape = "\\" + letters.get(character, f"x{code:02X}")
        self._error(
            start,
            start + 1,
            f"a string cannot hold the control character U+{code:04X} as such",
            hint=f"write it as `{escape}`",
        )

    def _report_open_string(self, spelling: str, start: int, end: int) -> None:
        quote, rest = spelling[0], spelling[1:]
        if self._open_quote == quote and not rest.strip(" \t;,)"):
            self._open_quote = None  # the end of a string that was begun on a line before
            return
        self._open_quote = quote
        hint = f"close it with `{quote}` on the same line"
        self._error(start, end, "string is not closed", hint=hint)

    def _report_illegal(self, character: str, start: int, end: int) -> None:
        if start != self._illegal_end:  # one message for a run of them
            shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
            hint = None
            if character in "+-":
                hint = "a sign stands directly before its number"
            elif character == "#":
                hint = "comments begin with `//`"
            self._error(start, end, f"{shown} has no meaning here", hint=hint)
        self._illegal_end = end
        self._behind_illegal.add(len(self._tokens))

    def _error(self, start: int, end: int, message: str, *, hint: str | None = None) -> None:
        self._diagnostics.error(Span(self._source, start, end), message, hint=hint)


class _EscapeError(Exception):
    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start = start
        self.end = end


def _unescape(spelling: str, offset: int) -> str:
    r"""Value of a quoted string with escapes; `offset` is that of its first character inside.

    `\xHH` gives a byte, and bytes must come together to UTF-8; `\uXXXX` gives a UTF-16 unit, and
    surrogates must come in pairs.
    """
    body = spelling[1:-1]
    parts: list[bytes] = []
    position = 0
    for escape in _ESCAPE.finditer(body):
        start, end = escape.span()
        parts.append(body[position:start].encode())
        position = end
        try:
            parts.append(_value_of_escape(escape))
        except ValueError as error:
            raise _EscapeError(str(error), offset + start, offset + end) from None
    parts.append(body[position:].encode())
    try:
        return b"".join(parts).decode()
    except UnicodeDecodeError:
        end = offset + len(body)
        raise _EscapeError("the bytes of this string are not UTF-8", offset, end) from None


def _value_of_escape(escape: re.Match[str]) -> bytes:
    """Bytes that an escape stands for; `ValueError` says why there are none."""
    text = escape.group()
    letter, digits = text[1], text[2:]
    if letter in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[letter].encode()
    if letter == "x" and digits:
        return bytes([int(digits, 16)])
    if letter == "u" and digits:
        high, _, low = digits.partition("\\u")
        if low:
            return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF)).encode()
        if 0xD800 <= int(high, 16) < 0xE000:
            raise ValueError(f"`{text}` is one half of a surrogate pair, the other is missing")
        return chr(int(high, 16)).encode()
    if letter in "xu":
        raise ValueError(f"`\\{letter}` needs {'two' if letter == 'x' else 'four'} hex digits")
    raise ValueError(f"unknown escape `{text}`")


def _number_hint(spelling: str) -> str:
    if "_" in spelling:
        return "digits cannot be grouped with `_`"
    digits = spelling.lstrip("+-").lower()
    if digits.startswith("0b"):
        return "binary numbers are not part of the language; write it as decimal or 0x..."
    if digits.startswith("0x") and "." in digits and "p" not in digits:
        return "a hexadecimal float needs an exponent, such as `0x1.8p3`"
    if digits.startswith("0x"):
        return "a hexadecimal number has the digits 0-9 and a-f"
    return "write it as 12, 0x1F, 1.5 or 1e-3; a name cannot begin with a digit"
