"""Recursive-descent parser: tokens to a syntax tree, with recovery after every defect.

A production that meets what it cannot read reports it and raises `_Abandoned`; the nearest list
(fields, members, statements) catches that and goes on with its next entry. Keywords count only
where a declaration can start, so fields and types may be called `table` or `null`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from . import syntax
from .diagnostics import Diagnostics, Note, Source, Span, closest
from .lexer import END, FLOAT, IDENTIFIER, INTEGER, INVALID, STRING, Token, tokenize
from .syntax import Identifier

# What must follow a keyword for it to begin a declaration.
_KEYWORDS: dict[str, tuple[str, ...]] = {
    "namespace": (IDENTIFIER, ";"),
    "table": (IDENTIFIER,),
    "struct": (IDENTIFIER,),
    "enum": (IDENTIFIER,),
    "union": (IDENTIFIER,),
    "rpc_service": (IDENTIFIER,),
    "root_type": (IDENTIFIER,),
    "attribute": (IDENTIFIER, STRING),
    "include": (STRING,),
    "native_include": (STRING,),
    "file_identifier": (STRING,),
    "file_extension": (STRING,),
}
_DEEPEST_CALL = 64

_Entry = TypeVar("_Entry")


class _Abandoned(Exception):
    """The entry under the parser cannot be read; it is reported already."""


def parse(source: Source, diagnostics: Diagnostics) -> syntax.SyntaxTree:
    """Read one schema file.

    Every defect is recorded once. The tree always comes, without the entries that had to be left
    out; declarations that lost one are marked as not `complete`.
    """
    return _Parser(source, diagnostics).run()


class _Parser:
    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self._source = source
        self._diagnostics = diagnostics
        self._tokens, self._docs = tokenize(source, diagnostics)
        self._index = 0
        self._token = self._tokens[0]
        self._damage = 0  # grows with each entry that could not be read

    def run(self) -> syntax.SyntaxTree:
        statements: list[syntax.Statement] = []
        after_declaration = False
        while self._token.kind != END:
            start = self._token
            try:
                statement = self._statement()
            except _Abandoned:
                self._skip_to_declaration()
                continue
            if not isinstance(statement, syntax.Include):
                after_declaration = True
            elif after_declaration:
                self._error(start, f"`{start.text}` behind a declaration; includes come first")
            statements.append(statement)
        return syntax.SyntaxTree(self._source, tuple(statements))

    # Statements

    def _statement(self) -> syntax.Statement:
        keyword = self._token.text if self._token.kind == IDENTIFIER else ""
        if keyword in ("table", "struct"):
            return self._table()
        if keyword == "enum":
            return self._enum()
        if keyword == "union":
            return self._union()
        if keyword == "namespace":
            return self._namespace()
        if keyword == "rpc_service":
            return self._service()
        if keyword in _KEYWORDS:
            return self._one_word_statement(keyword)
        return self._unreadable_statement()

    def _one_word_statement(self, keyword: str) -> syntax.Statement:
        self._advance()
        statement: syntax.Statement
        if keyword == "root_type":
            statement = syntax.RootType(self._reference("the name of a table"))
        elif keyword == "attribute":
            statement = syntax.AttributeDeclaration(self._attribute_name())
        else:
            token = self._expect(STRING, "a quoted string")
            text = syntax.StringLiteral(token.text, token.start, token.end)
            if keyword == "file_identifier":
                statement = syntax.FileIdentifier(text)
            elif keyword == "file_extension":
                statement = syntax.FileExtension(text)
            else:
                statement = syntax.Include(text, is_native=keyword == "native_include")
        self._expect_semicolon(f"`{keyword}`")
        return statement

    def _namespace(self) -> syntax.Namespace:
        keyword = self._advance()
        if self._token.kind == ";":
            name = Identifier("", keyword.start, keyword.end)
        else:
            name = self._reference("a namespace or `;`")
        self._expect_semicolon("`namespace`")
        return syntax.Namespace(name)

    def _unreadable_statement(self) -> syntax.Statement:
        """Report what begins no declaration; a misspelt keyword still declares its name."""
        token = self._token
        if token.kind == "}":
            self._error(token, "`}` closes nothing", hint="no `{` is open here")
            self._advance()
            raise _Abandoned
        if token.kind == "{":
            self._error(token, "a JSON object in a schema file is not supported yet")
            self._skip_block()
            raise _Abandoned
        if token.kind != IDENTIFIER:
            raise self._unexpected("a declaration")
        guess = closest(token.text, _KEYWORDS)
        hint = f"did you mean `{guess}`?" if guess else "declarations begin with " + _alternatives(
            [f"`{keyword}`" for keyword in ("table", "struct", "enum", "union")]
        )
        self._error(token, f"expected a declaration, found `{token.text}`", hint=hint)
        following = self._peek()
        if following.kind != IDENTIFIER:
            raise _Abandoned
        self._advance()
        name = self._name("a name")
        self._skip_to_declaration()
        return syntax.UnreadableDeclaration(name)

    # Tables and structs

    def _table(self) -> syntax.TableNode:
        keyword = self._advance()
        damage = self._damage
        name = self._name(f"the name of the {keyword.text}")
        attributes = self._attributes()
        fields = self._block(f"{keyword.text} `{name.text}`", self._field, self._skip_field)
        return syntax.TableNode(
            name,
            keyword.text == "struct",
            tuple(fields),
            attributes,
            self._doc(keyword),
            complete=damage == self._damage,
        )

    def _field(self) -> syntax.Field:
        first = self._token
        name = self._name("a field or `}`")
        self._expect(":", f"`:` and the type of `{name.text}`")
        type_ = self._type()
        default: syntax.Value | None = None
        if self._token.kind == "=":
            self._advance()
            default = self._value()
        attributes = self._attributes()
        if self._token.kind == "=" and attributes:
            raise self._unexpected("`;`", hint="a default stands before the attributes")
        self._expect_semicolon(f"field `{name.text}`")
        return syntax.Field(name, type_, default, attributes, self._doc(first))

    def _skip_field(self) -> None:
        while self._token.kind not in ("}", END) and not self._begins_declaration():
            if self._token.kind == ";":
                self._advance()
                return
            if self._token.kind == "{":
                self._skip_block()
            else:
                self._advance()
                if self._begins_line() and self._peek().kind == ":":
                    return

    def _type(self) -> syntax.TypeNode:
        if self._token.kind != "[":
            name = self._reference("a type")
            return syntax.NamedType(name, name.start, name.end)
        opening = self._advance()
        if self._token.kind == "[":
            self._error(
                self._token,
                "a vector cannot hold vectors",
                hint="wrap the inner vector in a table",
            )
            raise _Abandoned
        name = self._reference("the type of the elements")
        element = syntax.NamedType(name, name.start, name.end)
        if self._token.kind != ":":
            end = self._expect("]", "`]`").end
            return syntax.VectorType(element, opening.start, end)
        self._advance()
        token = self._expect(INTEGER, "the number of elements")
        length = syntax.IntegerLiteral(token.text, token.start, token.end)
        end = self._expect("]", "`]`").end
        return syntax.ArrayType(element, length, opening.start, end)

    # Enums and unions

    def _enum(self) -> syntax.EnumNode:
        keyword = self._advance()
        damage = self._damage
        name = self._name("the name of the enum")
        underlying = self._underlying()
        attributes = self._attributes()
        members = self._block(f"enum `{name.text}`", self._enum_member, self._skip_member)
        return syntax.EnumNode(
            name,
            underlying,
            tuple(members),
            attributes,
            self._doc(keyword),
            complete=damage == self._damage,
        )

    def _enum_member(self) -> syntax.EnumMember:
        first = self._token
        name = self._name("a member or `}`")
        value = self._member_value()
        attributes = self._attributes()
        self._expect_comma(f"member `{name.text}`")
        return syntax.EnumMember(name, value, attributes, self._doc(first))

    def _union(self) -> syntax.UnionNode:
        keyword = self._advance()
        damage = self._damage
        name = self._name("the name of the union")
        underlying = self._underlying()
        attributes = self._attributes()
        members = self._block(f"union `{name.text}`", self._union_member, self._skip_member)
        return syntax.UnionNode(
            name,
            underlying,
            tuple(members),
            attributes,
            self._doc(keyword),
            complete=damage == self._damage,
        )

    def _union_member(self) -> syntax.UnionMember:
        first = self._token
        alias: Identifier | None = None
        name = self._reference("a member or `}`")
        if self._token.kind == ":":
            self._advance()
            alias, name = name, self._reference("a table, a struct or `string`")
        value = self._member_value()
        attributes = self._attributes()
        self._expect_comma(f"member `{(alias or name).text}`")
        type_ = syntax.NamedType(name, name.start, name.end)
        return syntax.UnionMember(alias, type_, value, attributes, self._doc(first))

    def _underlying(self) -> syntax.NamedType | None:
        if self._token.kind != ":":
            return None
        self._advance()
        name = self._reference("an integer type")
        return syntax.NamedType(name, name.start, name.end)

    def _member_value(self) -> syntax.Value | None:
        if self._token.kind != "=":
            return None
        self._advance()
        if self._token.kind not in (INTEGER, INVALID):
            raise self._unexpected("an integer", hint="a member's value is a number as such")
        return self._value()

    def _skip_member(self) -> None:
        while self._token.kind not in ("}", END) and not self._begins_declaration():
            if self._token.kind == ",":
                self._advance()
                return
            if self._token.kind == "(":
                self._skip_parentheses()
            else:
                self._advance()
            if self._begins_line() and self._token.kind == IDENTIFIER:
                return

    # Services

    def _service(self) -> syntax.ServiceNode:
        keyword = self._advance()
        damage = self._damage
        name = self._name("the name of the service")
        attributes = self._attributes()
        methods = self._block(f"service `{name.text}`", self._method, self._skip_field)
        return syntax.ServiceNode(
            name,
            tuple(methods),
            attributes,
            self._doc(keyword),
            complete=damage == self._damage,
        )

    def _method(self) -> syntax.Method:
        first = self._token
        name = self._name("a method or `}`")
        self._expect("(", "`(` and the request's type")
        request = self._reference("the request's type")
        self._expect(")", "`)`")
        self._expect(":", "`:` and the response's type")
        response = self._reference("the response's type")
        attributes = self._attributes()
        self._expect_semicolon(f"method `{name.text}`")
        return syntax.Method(name, request, response, attributes, self._doc(first))

    # Attributes and values

    def _attributes(self) -> tuple[syntax.Attribute, ...]:
        if self._token.kind != "(":
            return ()
        opening = self._advance()
        attributes: list[syntax.Attribute] = []
        try:
            while True:
                name = self._attribute_name()
                value = None
                if self._token.kind == ":":
                    self._advance()
                    value = self._value()
                attributes.append(syntax.Attribute(name, value))
                if self._token.kind == ")":
                    self._advance()
                    return tuple(attributes)
                self._expect(
                    ",", "`,` or `)`", notes=[Note("the list begins here", self._span(opening))]
                )
        except _Abandoned:
            self._damage += 1
            while self._token.kind not in (")", ";", "{", "}", END):
                self._advance()
            if self._token.kind == ")":
                self._advance()
            return tuple(attributes)

    def _attribute_name(self) -> Identifier:
        if self._token.kind == STRING:
            token = self._advance()
            return Identifier(token.text, token.start, token.end)
        return self._name("an attribute")

    def _value(self, depth: int = 0) -> syntax.Value:
        token = self._token
        if token.kind == INTEGER:
            self._advance()
            return syntax.IntegerLiteral(token.text, token.start, token.end)
        if token.kind == FLOAT:
            self._advance()
            return syntax.FloatLiteral(token.text, token.start, token.end)
        if token.kind == STRING:
            self._advance()
            return syntax.StringLiteral(token.text, token.start, token.end)
        if token.kind == INVALID:
            self._advance()
            self._damage += 1
            return syntax.InvalidLiteral(token.start, token.end)
        if token.kind in (IDENTIFIER, "+", "-"):
            return self._name_value(depth)
        if token.kind == "[":
            self._advance()
            end = self._expect("]", "`]`", hint="the only default of a vector is `[]`").end
            return syntax.EmptyVectorLiteral(token.start, end)
        raise self._unexpected("a value")

    def _name_value(self, depth: int) -> syntax.Value:
        start = self._token.start
        sign = self._advance().text if self._token.kind in ("+", "-") else ""
        word = self._name("a name")
        if self._token.kind == ".":
            member = self._reference_rest(word).text.rpartition(".")[2]
            end = self._tokens[self._index - 1].end
            self._report(
                Span(self._source, start, end),
                "a value cannot be a dotted name",
                hint=f"the field's type says which enum it is: write `{member}`" if member else None,
            )
            return syntax.InvalidLiteral(start, end)
        # Only a parenthesis without a blank makes a call; with one, a list of attributes begins.
        if self._token.kind == "(" and self._token.start == word.end:
            if depth == _DEEPEST_CALL:
                self._error(self._token, f"more than {_DEEPEST_CALL} calls inside each other")
                raise _Abandoned
            self._advance()
            argument = self._value(depth + 1)
            end = self._expect(")", "`)`").end
            return syntax.CallLiteral(sign + word.text, start, end, argument)
        return syntax.NameLiteral(sign + word.text, start, word.end)

    # Names

    def _name(self, what: str) -> Identifier:
        token = self._expect(IDENTIFIER, what)
        return Identifier(token.text, token.start, token.end)

    def _reference(self, what: str) -> Identifier:
        first = self._name(what)
        return self._reference_rest(first) if self._token.kind == "." else first

    def _reference_rest(self, first: Identifier) -> Identifier:
        text, end = first.text, first.end
        while self._token.kind == ".":
            self._advance()
            part = self._name("a name behind the dot")
            text, end = f"{text}.{part.text}", part.end
        return Identifier(text, first.start, end)

    def _doc(self, first: Token) -> syntax.Doc:
        return self._docs.get(first.start, ())

    # Lists in braces, and going on after a defect

    def _block(
        self, owner: str, entry: Callable[[], _Entry], skip: Callable[[], None]
    ) -> list[_Entry]:
        """Read `{ entry... }`; a missing `}` is reported where the next declaration begins."""
        opening = self._expect("{", f"`{{` after {owner}")
        entries: list[_Entry] = []
        while self._token.kind != "}":
            if self._token.kind == END or self._begins_declaration():
                self._error(
                    self._token,
                    f"expected `}}` to close {owner}, found {_shown(self._token)}",
                    notes=[Note("opened here", self._span(opening))],
                )
                return entries
            try:
                entries.append(entry())
            except _Abandoned:
                self._damage += 1
                skip()
        self._advance()
        return entries

    def _begins_declaration(self) -> bool:
        token = self._token
        if token.kind != IDENTIFIER or token.text not in _KEYWORDS:
            return False
        return self._peek().kind in _KEYWORDS[token.text]

    def _begins_line(self) -> bool:
        previous_end = self._tokens[self._index - 1].end if self._index else 0
        return "\n" in self._source.text[previous_end : self._token.start]

    def _skip_to_declaration(self) -> None:
        while self._token.kind != END and not self._begins_declaration():
            if self._token.kind == "{":
                self._skip_block()
                return
            ends_statement = self._token.kind in (";", "}")
            self._advance()
            if ends_statement:
                return

    def _skip_block(self) -> None:
        """Skip from `{` to the matching `}`, or to what looks like the next declaration."""
        depth = 0
        while self._token.kind != END:
            kind = self._advance().kind
            depth += (kind == "{") - (kind == "}")
            if depth == 0 or self._begins_declaration():
                return

    def _skip_parentheses(self) -> None:
        while self._token.kind not in (")", "}", END):
            self._advance()
        if self._token.kind == ")":
            self._advance()

    # Tokens and messages

    def _advance(self) -> Token:
        token = self._token
        if token.kind != END:
            self._index += 1
            self._token = self._tokens[self._index]
        return token

    def _peek(self) -> Token:
        return self._tokens[min(self._index + 1, len(self._tokens) - 1)]

    def _expect(
        self, kind: str, what: str, *, hint: str | None = None, notes: list[Note] | None = None
    ) -> Token:
        if self._token.kind != kind:
            raise self._unexpected(what, hint=hint, notes=notes)
        return self._advance()

    def _expect_semicolon(self, owner: str) -> None:
        self._expect_separator(";", f"`;` after {owner}")

    def _expect_comma(self, owner: str) -> None:
        """Expect `,` between members; the last one may stand without."""
        if self._token.kind != "}":
            self._expect_separator(",", f"`,` or `}}` after {owner}")

    def _expect_separator(self, kind: str, what: str) -> None:
        """Expect a separator; a line break or `}` in its place does not make the entry unreadable."""
        if self._token.kind == kind:
            self._advance()
            return
        error = self._unexpected(what)
        if not (self._begins_line() or self._token.kind in ("}", END)):
            raise error

    def _unexpected(
        self, what: str, *, hint: str | None = None, notes: list[Note] | None = None
    ) -> _Abandoned:
        """Report that something else was expected; INVALID tokens are reported already."""
        token = self._token
        if token.kind == INVALID:
            return _Abandoned()
        span = self._span(token)
        if self._index and (self._begins_line() or token.kind == END):
            # What is missing belongs to the end of the line before.
            end = self._tokens[self._index - 1].end
            span = Span(self._source, end, end + 1)
        self._report(span, f"expected {what}, found {_shown(token)}", hint=hint, notes=notes)
        return _Abandoned()

    def _error(
        self, token: Token, message: str, *, hint: str | None = None, notes: list[Note] | None = None
    ) -> None:
        self._report(self._span(token), message, hint=hint, notes=notes)

    def _report(
        self, span: Span, message: str, *, hint: str | None = None, notes: list[Note] | None = None
    ) -> None:
        self._damage += 1
        self._diagnostics.error(span, message, hint=hint, notes=notes or ())

    def _span(self, token: Token) -> Span:
        return Span(self._source, token.start, token.end)


def _shown(token: Token) -> str:
    if token.kind == END:
        return "the end of the file"
    if token.kind == STRING:
        return f'the string "{token.text}"'
    return f"`{token.text}`"


def _alternatives(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " or " + words[-1]
