"""Recursive-descent parser: tokens to a syntax tree, with recovery after every defect.

A production that meets what it cannot read reports it and raises `UnreadableError`; the nearest
list (fields, members, statements) catches that and goes on with its next entry. Keywords count only
where a declaration can start, so fields and types may be called `table` or `null`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from . import syntax
from .diagnostics import Diagnostics, Note, Source, Span, closest
from .lexer import END, FLOAT, IDENTIFIER, INTEGER, INVALID, STRING, Token
from .plain_fields import LONGEST, plain_field
from .syntax import Identifier
from .token_stream import KEYWORDS, TokenStream, UnreadableError

_DEEPEST_CALL = 64

_Entry = TypeVar("_Entry")


def parse(source: Source, diagnostics: Diagnostics) -> syntax.SyntaxTree:
    """Read one schema file.

    Every defect is recorded once. The tree always comes, without the entries that could not be
    read; declarations that lost one are marked as not `complete`.
    """
    return _Parser(source, diagnostics).run()


class _Parser(TokenStream):
    def run(self) -> syntax.SyntaxTree:
        statements: list[syntax.Statement] = []
        after_declaration = False
        if self.token.kind == END and not self.is_reported():
            self.unexpected("a declaration")
        while self.token.kind != END:
            start = self.token
            try:
                statement = self._statement()
            except UnreadableError:
                self.skip_to_declaration()
                continue
            if not isinstance(statement, syntax.Include):
                after_declaration = True
            elif after_declaration:
                self.error(start, f"`{start.text}` behind a declaration; includes come first")
            statements.append(statement)
        return syntax.SyntaxTree(self.source, tuple(statements))

    # Statements

    def _statement(self) -> syntax.Statement:
        keyword = self.token.text if self.token.kind == IDENTIFIER else ""
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
        if keyword in KEYWORDS:
            return self._one_word_statement(keyword)
        return self._unreadable_statement()

    def _one_word_statement(self, keyword: str) -> syntax.Statement:
        self.advance()
        statement: syntax.Statement
        if keyword == "root_type":
            statement = syntax.RootType(self._reference("the name of a table"))
        elif keyword == "attribute":
            statement = syntax.AttributeDeclaration(self._attribute_name())
        else:
            token = self.expect(STRING, "a quoted string")
            text = syntax.StringLiteral(token.text, token.start, token.end)
            if keyword == "file_identifier":
                statement = syntax.FileIdentifier(text)
            elif keyword == "file_extension":
                statement = syntax.FileExtension(text)
            else:
                statement = syntax.Include(text, is_native=keyword == "native_include")
        self._end_statement(keyword)
        return statement

    def _namespace(self) -> syntax.Namespace:
        keyword = self.advance()
        if self.token.kind == ";":
            name = syntax.identifier("", keyword)
        else:
            name = self._reference("a namespace or `;`")
        self._end_statement("namespace")
        return syntax.Namespace(name)

    def _end_statement(self, keyword: str) -> None:
        self._separator(
            ";",
            f"`;` after `{keyword}`",
            self.begins_declaration,
            self.skip_to_declaration,
            in_block=False,
        )

    def _unreadable_statement(self) -> syntax.Statement:
        """Report what begins no declaration; a misspelt keyword still declares its name."""
        token = self.token
        if token.kind == "}":
            self.error(token, "`}` closes nothing", hint="no `{` is open here")
            raise UnreadableError
        if token.kind == "{":
            self.error(token, "a JSON object in a schema file is not supported yet")
            raise UnreadableError
        if token.kind != IDENTIFIER:
            hint = "no `;` stands behind `}`" if token.kind == ";" else None
            raise self.unexpected("a declaration", hint=hint, here=True)
        if self.is_reported():
            raise self.unexpected("a declaration")
        guess = closest(token.text, KEYWORDS)
        self.error(
            token,
            f"expected a declaration, found `{token.text}`",
            hint=f"did you mean `{guess}`?"
            if guess
            else "declarations begin with `table`, `struct`, `enum`, `union`, `namespace`, ...",
        )
        self.advance()
        if self.token.kind != IDENTIFIER or self.peek().kind not in ("{", ":", "("):
            raise UnreadableError
        name = self._name("a name")
        self.skip_to_declaration()
        return syntax.UnreadableDeclaration(name)

    # Tables, structs and services

    def _table(self) -> syntax.TableNode:
        damage = self.damage
        keyword = self.advance()
        name = self._name(f"the name of the {keyword.text}")
        attributes = self._attributes()
        fields = self._block(f"{keyword.text} `{name.text}`", self._field, self._skip_field)
        return syntax.TableNode(
            name,
            keyword.text == "struct",
            fields,
            attributes,
            self.doc(keyword),
            complete=damage == self.damage,
        )

    def _field(self) -> syntax.Field:
        first = self.token
        plain = plain_field(self.coming(LONGEST), self.doc(first))
        if plain is not None:
            field, length = plain
            self.go_on(length)
            return field
        name = self._first_name("a field or `}`")
        self.expect(":", f"`:` and the type of `{name.text}`")
        if self._begins_field():
            raise self.unexpected("a type")
        type_ = self._type()
        default: syntax.Value | None = None
        if self.token.kind == "=":
            self.advance()
            default = self._value()
        attributes = self._attributes()
        if self.token.kind == "=" and attributes:
            self.unexpected("`;`", hint="the default stands before the attributes")
            self.advance()
            default = self._value()
        self._end_field(f"field `{name.text}`")
        return syntax.Field(name, type_, default, attributes, self.doc(first))

    def _begins_field(self) -> bool:
        return self.token.kind == IDENTIFIER and self.begins_line() and self.peek().kind == ":"

    def _end_field(self, owner: str) -> None:
        def continues() -> bool:
            return self.token.kind == IDENTIFIER and self.peek().kind in (":", "(")

        self._separator(";", f"`;` after {owner}", continues, self._skip_field)

    def _skip_field(self) -> None:
        while self.token.kind not in ("}", END) and not self.begins_declaration():
            if self._begins_field():
                return
            if self.token.kind == "{":
                self.skip_block()
            elif self.advance().kind == ";":
                return

    def _type(self) -> syntax.TypeNode:
        if self.token.kind != "[":
            return self._reference("a type")
        opening = self.advance()
        if self.token.kind == "[":
            self.error(
                self.token,
                "vectors and arrays cannot be nested",
                hint="wrap the inner one in a table",
            )
            raise UnreadableError
        element = self._reference("the type of the elements")
        if self.token.kind != ":":
            end = self.expect("]", "`]`").end
            return syntax.VectorType(element, opening.start, end)
        self.advance()
        token = self.expect(INTEGER, "the number of elements")
        length = syntax.IntegerLiteral(token.text, token.start, token.end)
        end = self.expect("]", "`]`").end
        return syntax.ArrayType(element, length, opening.start, end)

    def _service(self) -> syntax.ServiceNode:
        damage = self.damage
        keyword = self.advance()
        name = self._name("the name of the service")
        attributes = self._attributes()
        methods = self._block(f"service `{name.text}`", self._method, self._skip_field)
        return syntax.ServiceNode(
            name, methods, attributes, self.doc(keyword), complete=damage == self.damage
        )

    def _method(self) -> syntax.Method:
        first = self.token
        name = self._first_name("a method or `}`")
        self.expect("(", "`(` and the request's type")
        request = self._reference("the request's type")
        self.expect(")", "`)`")
        self.expect(":", "`:` and the response's type")
        response = self._reference("the response's type")
        attributes = self._attributes()
        self._end_field(f"method `{name.text}`")
        return syntax.Method(name, request, response, attributes, self.doc(first))

    # Enums and unions

    def _enum(self) -> syntax.EnumNode:
        return syntax.EnumNode(*self._members("enum", self._enum_member))

    def _union(self) -> syntax.UnionNode:
        return syntax.UnionNode(*self._members("union", self._union_member))

    def _members(
        self, kind: str, member: Callable[[], _Entry]
    ) -> tuple[
        Identifier,
        Identifier | None,
        tuple[_Entry, ...],
        tuple[syntax.Attribute, ...],
        syntax.Doc,
        bool,
    ]:
        """Read an enum or a union; return the fields of its node."""
        damage = self.damage
        keyword = self.advance()
        name = self._name(f"the name of the {kind}")
        underlying = self._underlying()
        attributes = self._attributes()
        members = self._block(f"{kind} `{name.text}`", member, self._skip_member)
        return name, underlying, members, attributes, self.doc(keyword), damage == self.damage

    def _enum_member(self) -> syntax.EnumMember:
        first = self.token
        name = self._first_name("a member or `}`")
        value = self._member_value()
        attributes = self._attributes()
        self._end_member(name)
        return syntax.EnumMember(name, value, attributes, self.doc(first))

    def _union_member(self) -> syntax.UnionMember:
        first = self.token
        alias: Identifier | None = None
        name = self._reference_rest(self._first_name("a member or `}`"))
        if self.token.kind == ":":
            self.advance()
            alias, name = name, self._reference("a table, a struct or `string`")
        value = self._member_value()
        attributes = self._attributes()
        self._end_member(alias or name)
        return syntax.UnionMember(alias, name, value, attributes, self.doc(first))

    def _underlying(self) -> Identifier | None:
        if self.token.kind != ":":
            return None
        self.advance()
        return self._reference("an integer type")

    def _member_value(self) -> syntax.Value | None:
        if self.token.kind != "=":
            return None
        self.advance()
        if self.token.kind not in (INTEGER, INVALID):
            raise self.unexpected("an integer", hint="a member's value is a number, not a formula")
        return self._value()

    def _end_member(self, name: Identifier) -> None:
        """Expect `,` between members; the last one may stand without."""
        if self.token.kind != "}":

            def continues() -> bool:
                return self.token.kind == IDENTIFIER

            what = f"`,` or `}}` after member `{name.text}`"
            self._separator(",", what, continues, self._skip_member)

    def _skip_member(self) -> None:
        while self.token.kind not in ("}", END) and not self.begins_declaration():
            if self.token.kind == IDENTIFIER and self.begins_line():
                return
            if self.token.kind == "(":
                self.skip_parentheses()
            elif self.token.kind == "{":
                self.skip_block()
            elif self.advance().kind == ",":
                return

    # Attributes and values

    def _attributes(self) -> tuple[syntax.Attribute, ...]:
        if self.token.kind != "(":
            return ()
        opening = self.advance()
        attributes: list[syntax.Attribute] = []
        try:
            while True:
                name = self._attribute_name()
                value = None
                if self.token.kind == ":":
                    self.advance()
                    value = self._value()
                attributes.append(syntax.Attribute(name, value))
                if self.token.kind == ")":
                    self.advance()
                    break
                notes = [Note("the list begins here", self.span(opening))]
                self.expect(",", "`,` or `)`", notes=notes)
        except UnreadableError:
            self.skip_parentheses()
        return tuple(attributes)

    def _attribute_name(self) -> Identifier:
        if self.token.kind == STRING:
            return self.advance()
        return self._name("an attribute")

    def _value(self, depth: int = 0) -> syntax.Value:
        token = self.token
        if token.kind == INTEGER:
            self.advance()
            return syntax.IntegerLiteral(token.text, token.start, token.end)
        if token.kind == FLOAT:
            self.advance()
            return syntax.FloatLiteral(token.text, token.start, token.end)
        if token.kind == STRING:
            self.advance()
            return syntax.StringLiteral(token.text, token.start, token.end)
        if token.kind == INVALID:
            self.advance()
            self.damage += 1
            return syntax.InvalidLiteral(token.start, token.end)
        if token.kind in (IDENTIFIER, "+", "-"):
            return self._name_value(depth)
        if token.kind == "[":
            self.advance()
            end = self.expect("]", "`]`", hint="the only default of a vector is `[]`").end
            return syntax.EmptyVectorLiteral(token.start, end)
        raise self.unexpected("a value")

    def _name_value(self, depth: int) -> syntax.Value:
        start = self.token.start
        sign = self.advance().text if self.token.kind in ("+", "-") else ""
        word = self._name("a name")
        if self.token.kind == ".":
            return self._dotted_value(word)
        # Only a parenthesis without a blank makes a call; with one, a list of attributes begins.
        if self.token.kind == "(" and self.token.start == word.end:
            if depth == _DEEPEST_CALL:
                self.error(self.token, f"more than {_DEEPEST_CALL} calls inside each other")
                raise UnreadableError
            self.advance()
            argument = self._value(depth + 1)
            end = self.expect(")", "`)`").end
            return syntax.CallLiteral(sign + word.text, start, end, argument)
        return syntax.NameLiteral(sign + word.text, start, word.end)

    def _dotted_value(self, first: Identifier) -> syntax.Value:
        dotted = self._reference_rest(first)
        member = dotted.text.rpartition(".")[2]
        self.report(
            Span(self.source, dotted.start, dotted.end),
            "a value cannot be a dotted name",
            hint=f"the field's type says which enum it is: write `{member}`",
        )
        return syntax.InvalidLiteral(dotted.start, dotted.end)

    # Names

    def _name(self, what: str) -> Identifier:
        return self.expect(IDENTIFIER, what)

    def _first_name(self, what: str) -> Identifier:
        """The name that an entry of a list begins with."""
        if self.token.kind != IDENTIFIER:
            raise self.unexpected(what, here=True)
        return self._name(what)

    def _reference(self, what: str) -> Identifier:
        first = self._name(what)
        return self._reference_rest(first) if self.token.kind == "." else first

    def _reference_rest(self, first: Identifier) -> Identifier:
        text, end = first.text, first.end
        while self.token.kind == ".":
            self.advance()
            part = self._name("a name behind the dot")
            text, end = f"{text}.{part.text}", part.end
        return Token(IDENTIFIER, text, first.start, end)

    # Lists

    def _block(
        self, owner: str, entry: Callable[[], _Entry], skip: Callable[[], None]
    ) -> tuple[_Entry, ...]:
        """Read `{ entry... }`; a missing `}` is reported where the next declaration begins."""
        opening = self.token
        if not self._open_block(owner):
            return ()
        entries: list[_Entry] = []
        while self.token.kind != "}":
            if self.token.kind == END or self.begins_declaration():
                note = Note("opened here", self.span(opening))
                self.unexpected(f"`}}` to close {owner}", notes=[note])
                return tuple(entries)
            start = self.position
            try:
                entries.append(entry())
            except UnreadableError:
                skip()
                if self.position == start:
                    self.advance()
        self.advance()
        return tuple(entries)

    def _open_block(self, owner: str) -> bool:
        """Expect `{`; return whether a block follows even so."""
        if self.token.kind == "{":
            self.advance()
            return True
        self.unexpected(f"`{{` after {owner}")
        start = self.position
        while self.token.kind not in ("{", ";", ",", "}", END) and not self.begins_declaration():
            self.advance()
        if self.token.kind == "{":
            self.advance()
            return True
        if self.position == start:
            if self.token.kind == ";":
                self.advance()
            return False
        self.go_back(start)
        return True

    def _separator(
        self,
        kind: str,
        what: str,
        continues: Callable[[], bool],
        skip: Callable[[], None],
        *,
        in_block: bool = True,
    ) -> None:
        """Expect what ends an entry; without it, go on where the next one seems to begin."""
        if self.token.kind == kind:
            self.advance()
            return
        if in_block and (self.token.kind == END or self.begins_declaration()):
            return  # the block will miss its `}`; that says enough
        self.unexpected(what)
        if not (self.begins_line() or self.token.kind in ("}", END) or continues()):
            skip()
