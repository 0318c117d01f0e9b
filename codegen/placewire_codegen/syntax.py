"""The syntax tree: what a schema file says, word for word, before any name is looked up.

All nodes are named tuples: immutable, and cheap to build by the thousand. `start` and `end` are
character offsets into the tree's source; `doc` holds the lines of the doc comment as written behind
`///`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias

from .diagnostics import Source, Span
from .lexer import IDENTIFIER, Token

Doc: TypeAlias = tuple[str, ...]


class Place(Protocol):
    """Any node that knows where it stands."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


Identifier: TypeAlias = Token
"""A name as written; a dotted reference is one token whose text has no blanks."""


def identifier(text: str, place: Place) -> Identifier:
    """A name that is not one word of the text: it is quoted, or put together."""
    return Token(IDENTIFIER, text, place.start, place.end)


class IntegerLiteral(NamedTuple):
    """A decimal or hexadecimal number, `text` with its sign."""

    text: str
    start: int
    end: int


class FloatLiteral(NamedTuple):
    """A number with a point or an exponent, decimal or hexadecimal, `text` with its sign."""

    text: str
    start: int
    end: int


class StringLiteral(NamedTuple):
    """A quoted string; `text` is its value, without quotes and escapes."""

    text: str
    start: int
    end: int


class NameLiteral(NamedTuple):
    """A word that stands for a value: an enum member, `true`, `null`, `inf`, `-nan`."""

    text: str
    start: int
    end: int


class CallLiteral(NamedTuple):
    """A function of a number, such as `rad(180)`."""

    text: str
    start: int
    end: int
    argument: Value


class EmptyVectorLiteral(NamedTuple):
    """`[]`."""

    start: int
    end: int


class InvalidLiteral(NamedTuple):
    """Stands where a value was wrong and is reported already."""

    start: int
    end: int


PlainLiteral: TypeAlias = IntegerLiteral | FloatLiteral | NameLiteral
"""A value of one word, which is not quoted."""

Value: TypeAlias = (
    IntegerLiteral
    | FloatLiteral
    | StringLiteral
    | NameLiteral
    | CallLiteral
    | EmptyVectorLiteral
    | InvalidLiteral
)


class VectorType(NamedTuple):
    """`[element]`."""

    element: Identifier
    start: int
    end: int


class ArrayType(NamedTuple):
    """`[element:length]`."""

    element: Identifier
    length: IntegerLiteral
    start: int
    end: int


TypeNode: TypeAlias = Identifier | VectorType | ArrayType
"""A type; an identifier stands for a builtin type or a definition."""


class Attribute(NamedTuple):
    """One entry of a metadata list; `value` is None where only the name stands."""

    name: Identifier
    value: Value | None


class Field(NamedTuple):
    """`name: type = default (attributes);` of a table or struct."""

    name: Identifier
    type: TypeNode
    default: Value | None
    attributes: tuple[Attribute, ...]
    doc: Doc


class TableNode(NamedTuple):
    """A table, or a struct where `is_struct` is set.

    Attributes:
        complete: False if part of it could not be read, so that nothing may be concluded from what
            is missing.
    """

    name: Identifier
    is_struct: bool
    fields: tuple[Field, ...]
    attributes: tuple[Attribute, ...]
    doc: Doc
    complete: bool


class EnumMember(NamedTuple):
    """`name = value (attributes)` of an enum."""

    name: Identifier
    value: Value | None
    attributes: tuple[Attribute, ...]
    doc: Doc


class EnumNode(NamedTuple):
    """An enum; `underlying` is None where the type was left out."""

    name: Identifier
    underlying: Identifier | None
    members: tuple[EnumMember, ...]
    attributes: tuple[Attribute, ...]
    doc: Doc
    complete: bool


class UnionMember(NamedTuple):
    """`alias: type = value (attributes)` of a union; `alias` is None where only the type stands."""

    alias: Identifier | None
    type: Identifier
    value: Value | None
    attributes: tuple[Attribute, ...]
    doc: Doc


class UnionNode(NamedTuple):
    """A union; `underlying` is None where the tag has its usual type, `ubyte`."""

    name: Identifier
    underlying: Identifier | None
    members: tuple[UnionMember, ...]
    attributes: tuple[Attribute, ...]
    doc: Doc
    complete: bool


class Method(NamedTuple):
    """`name(request): response (attributes);` of a service."""

    name: Identifier
    request: Identifier
    response: Identifier
    attributes: tuple[Attribute, ...]
    doc: Doc


class ServiceNode(NamedTuple):
    """An `rpc_service`."""

    name: Identifier
    methods: tuple[Method, ...]
    attributes: tuple[Attribute, ...]
    doc: Doc
    complete: bool


class Include(NamedTuple):
    """`include "path";`, or `native_include`, which is meant for a C++ compiler."""

    path: StringLiteral
    is_native: bool


class Namespace(NamedTuple):
    """`namespace a.b;`; an empty name returns to the global namespace."""

    name: Identifier


class AttributeDeclaration(NamedTuple):
    """`attribute "name";`."""

    name: Identifier


class RootType(NamedTuple):
    """`root_type Name;`."""

    name: Identifier


class FileIdentifier(NamedTuple):
    """`file_identifier "ABCD";`."""

    value: StringLiteral


class FileExtension(NamedTuple):
    """`file_extension "ext";`."""

    value: StringLiteral


class UnreadableDeclaration(NamedTuple):
    """A declaration that was reported; its name exists, but nothing is known about it."""

    name: Identifier


Statement: TypeAlias = (
    Include
    | Namespace
    | AttributeDeclaration
    | RootType
    | FileIdentifier
    | FileExtension
    | TableNode
    | EnumNode
    | UnionNode
    | ServiceNode
    | UnreadableDeclaration
)


class SyntaxTree(NamedTuple):
    """One schema file: its statements in the order in which they stand.

    Attributes:
        origins: The schema files that a binary schema was made from, as far as it names them, and
            what each includes; None for a file that is text.
    """

    source: Source
    statements: tuple[Statement, ...]
    origins: tuple[tuple[str, tuple[str, ...]], ...] | None = None

    @property
    def is_binary(self) -> bool:
        """True for a .bfbs."""
        return self.origins is not None

    @property
    def includes(self) -> tuple[Include, ...]:
        """The schema files that this one includes; `native_include` names none."""
        return tuple(
            statement
            for statement in self.statements
            if isinstance(statement, Include) and not statement.is_native
        )

    def span(self, node: Place) -> Span:
        """Where a node stands."""
        return Span(self.source, node.start, node.end)
