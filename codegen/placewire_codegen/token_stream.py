"""What the parser reads from: a position in a file's tokens, with messages and ways to skip."""

from __future__ import annotations

from collections.abc import Sequence

from . import syntax
from .diagnostics import Diagnostics, Note, Source, Span
from .lexer import END, IDENTIFIER, INVALID, STRING, Token, tokenize

# What must follow a keyword for it to begin a declaration.
KEYWORDS: dict[str, tuple[str, ...]] = {
    "table": (IDENTIFIER,),
    "struct": (IDENTIFIER,),
    "enum": (IDENTIFIER,),
    "union": (IDENTIFIER,),
    "namespace": (IDENTIFIER, ";"),
    "rpc_service": (IDENTIFIER,),
    "root_type": (IDENTIFIER,),
    "attribute": (IDENTIFIER, STRING),
    "include": (STRING,),
    "native_include": (STRING,),
    "file_identifier": (STRING,),
    "file_extension": (STRING,),
}


class UnreadableError(Exception):
    """The entry under the parser cannot be read; that is reported already."""


class TokenStream:
    """The tokens of a file from a position on.

    Attributes:
        token: The token at the position.
        damage: Number of defects so far; what was read while it grew is not complete.
    """

    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self.source = source
        self._diagnostics = diagnostics
        self._tokens, self._docs, self._behind_illegal = tokenize(source, diagnostics)
        self.position = 0
        self.token = self._tokens[0]
        self.damage = 0

    def advance(self) -> Token:
        """Step over the token and return it; the end of the file stays."""
        token = self.token
        if token.kind != END:
            self.position += 1
            self.token = self._tokens[self.position]
        return token

    def go_back(self, position: int) -> None:
        """Return to an earlier position."""
        self.position = position
        self.token = self._tokens[position]

    def peek(self) -> Token:
        """The token behind the one at the position."""
        return self._tokens[min(self.position + 1, len(self._tokens) - 1)]

    def coming(self, count: int) -> list[Token]:
        """The next tokens; fewer at the end of the file."""
        return self._tokens[self.position : self.position + count]

    def go_on(self, count: int) -> None:
        """Step over tokens that are known to be there, and not to be the last."""
        self.position += count
        self.token = self._tokens[self.position]

    @property
    def previous_end(self) -> int:
        """Offset behind the token before the position."""
        return self._tokens[self.position - 1].end if self.position else 0

    def doc(self, first: Token) -> syntax.Doc:
        """The doc comment of the declaration that begins with `first`."""
        return self._docs.get(first.start, ())

    # Where the position is

    def is_reported(self) -> bool:
        """Whether the lexer has reported what stands here or directly before."""
        return self.token.kind == INVALID or self.position in self._behind_illegal

    def begins_line(self) -> bool:
        """Whether the token is the first of its line."""
        return "\n" in self.source.text[self.previous_end : self.token.start]

    def begins_declaration(self) -> bool:
        """Whether a declaration begins here, so that whatever is still open was not closed."""
        following = KEYWORDS.get(self.token.text)
        if following is None or self.token.kind != IDENTIFIER:
            return False
        return self.peek().kind in following

    # Going on after a defect

    def skip_to_declaration(self) -> None:
        """Skip to the next declaration, or behind the end of the statement or block here."""
        while self.token.kind != END and not self.begins_declaration():
            if self.token.kind == "{":
                self.skip_block()
                return
            if self.advance().kind in (";", "}"):
                return

    def skip_block(self) -> None:
        """Skip from `{` behind its `}`, or to what looks like the next declaration."""
        depth = 0
        while self.token.kind != END:
            kind = self.advance().kind
            depth += (kind == "{") - (kind == "}")
            if depth == 0 or self.begins_declaration():
                return

    def skip_parentheses(self) -> None:
        """Skip behind the next `)`, but not out of the entry or block here."""
        while self.token.kind not in (")", ";", "{", "}", END):
            self.advance()
        if self.token.kind == ")":
            self.advance()

    # Messages

    def expect(
        self, kind: str, what: str, *, hint: str | None = None, notes: Sequence[Note] = ()
    ) -> Token:
        """Step over a token of that kind.

        Raises:
            UnreadableError: There is another one; that is reported.
        """
        if self.token.kind != kind:
            raise self.unexpected(what, hint=hint, notes=notes)
        return self.advance()

    def unexpected(
        self,
        what: str,
        *,
        hint: str | None = None,
        notes: Sequence[Note] = (),
        here: bool = False,
    ) -> UnreadableError:
        """Report that something else was expected, unless the lexer has reported what is here.

        The place is the token, or, if that begins a line, the end of the line before, where
        something is missing; with `here` it is always the token.
        """
        token = self.token
        if self.is_reported():
            self.damage += 1
            return UnreadableError()
        span = self.span(token)
        if self.position and not here and (token.kind == END or self.begins_line()):
            span = Span(self.source, self.previous_end, self.previous_end + 1)
        self.report(span, f"expected {what}, found {_shown(token)}", hint=hint, notes=notes)
        return UnreadableError()

    def error(
        self, token: Token, message: str, *, hint: str | None = None, notes: Sequence[Note] = ()
    ) -> None:
        """Report a defect at a token."""
        self.report(self.span(token), message, hint=hint, notes=notes)

    def report(
        self, span: Span, message: str, *, hint: str | None = None, notes: Sequence[Note] = ()
    ) -> None:
        """Report a defect."""
        self.damage += 1
        self._diagnostics.error(span, message, hint=hint, notes=notes)

    def span(self, token: Token) -> Span:
        """Where a token stands."""
        return Span(self.source, token.start, token.end)


def _shown(token: Token) -> str:
    if token.kind == END:
        return "the end of the file"
    if token.kind == STRING:
        return f'the string "{token.text}"'
    return f"`{token.text}`"
