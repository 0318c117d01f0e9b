"""Names: what is declared where, and which declaration a reference means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from . import model, syntax
from .diagnostics import Diagnostics, Note, Span, closest
from .features import Feature

BUILTIN_SCALARS: dict[str, model.ScalarKind] = {
    "bool": model.ScalarKind.BOOL,
    "byte": model.ScalarKind.INT8,
    "ubyte": model.ScalarKind.UINT8,
    "short": model.ScalarKind.INT16,
    "ushort": model.ScalarKind.UINT16,
    "int": model.ScalarKind.INT32,
    "uint": model.ScalarKind.UINT32,
    "long": model.ScalarKind.INT64,
    "ulong": model.ScalarKind.UINT64,
    "float": model.ScalarKind.FLOAT32,
    "double": model.ScalarKind.FLOAT64,
    **{kind.value: kind for kind in model.ScalarKind},
}

_SPELLINGS = {kind: name for name, kind in reversed(BUILTIN_SCALARS.items())}

DeclarationNode: TypeAlias = (
    syntax.TableNode | syntax.EnumNode | syntax.UnionNode | syntax.UnreadableDeclaration
)


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A declared name.

    Attributes:
        order: Position among all declarations of all files.
        is_table: True for tables and structs, which have a name space of their own in flatc.
    """

    name: str
    namespace: str
    full_name: str
    node: DeclarationNode
    tree: syntax.SyntaxTree
    order: int
    is_table: bool

    @property
    def span(self) -> Span:
        return self.tree.span(self.node.name)

    @property
    def article_and_kind(self) -> str:
        """`an enum`, `a table`, ..."""
        return f"an {self.kind}" if self.kind == "enum" else f"a {self.kind}"

    @property
    def kind(self) -> str:
        """The keyword, for messages."""
        node = self.node
        if isinstance(node, syntax.TableNode):
            return "struct" if node.is_struct else "table"
        if isinstance(node, syntax.EnumNode):
            return "enum"
        return "union" if isinstance(node, syntax.UnionNode) else "declaration"


class Scope:
    """The names that the files of one unit see.

    Attributes:
        complete: False if a file could not be read, so that an unknown name proves nothing.
        attributes: Names of the attributes that the schema has declared so far.
        table_names: Names of all tables and structs, without their namespaces.
    """

    def __init__(self, symbols: Iterable[Symbol], *, complete: bool) -> None:
        self.complete = complete
        self.attributes: set[str] = set()
        self._symbols: dict[str, Symbol] = {}
        for symbol in symbols:
            self._symbols.setdefault(symbol.full_name, symbol)
        self.table_names = {symbol.name for symbol in self._symbols.values() if symbol.is_table}

    def symbol(self, full_name: str) -> Symbol | None:
        """The declaration of that full name."""
        return self._symbols.get(full_name)

    def earlier(self, reference: str, prefixes: Sequence[str], order: int) -> Symbol | None:
        """What `reference` means among the declarations up to `order`.

        As in flatc, an enum or union under any of the prefixes wins over a table or struct.
        """
        found: Symbol | None = None
        for prefix in prefixes:
            symbol = self._symbols.get(prefix + reference)
            if symbol is not None and symbol.order <= order:
                if not symbol.is_table:
                    return symbol
                found = found or symbol
        return found

    def anywhere(self, reference: str, prefixes: Sequence[str]) -> Symbol | None:
        """What `reference` means under the first prefix that gives something."""
        found = (self._symbols.get(prefix + reference) for prefix in prefixes)
        return next((symbol for symbol in found if symbol is not None), None)

    def later(self, reference: str, prefixes: Sequence[str], order: int) -> list[Symbol]:
        """What `reference` may mean among the declarations behind `order`, the likeliest first.

        flatc takes the first table or struct that comes under that name, in whatever namespace; a
        dotted reference must be the full name. What the usual search would find is listed too.
        """
        behind = [symbol for symbol in self._symbols.values() if symbol.order > order]
        taken = [
            symbol
            for symbol in behind
            if symbol.is_table and reference in (symbol.name, symbol.full_name)
        ]
        usual = [
            symbol
            for prefix in prefixes
            if (symbol := self._symbols.get(prefix + reference)) is not None
            and symbol.order > order
        ]
        return list(dict.fromkeys([*taken[:1], *usual[:1]]))

    def suggestion(self, reference: str, *, builtins: bool) -> str | None:
        """A hint for a reference that means nothing; `builtins` may be meant where types may."""
        last = reference.rpartition(".")[2]
        names = {name: name for name in (*BUILTIN_SCALARS, "string")} if builtins else {}
        for symbol in self._symbols.values():
            names.setdefault(symbol.name, symbol.full_name)
        guess = last if last in names else closest(last, names)
        return f"did you mean `{names[guess]}`?" if guess is not None else None


@dataclass(slots=True)
class Definitions:
    """What is resolved so far, by full name.

    Attributes:
        types: Types that refer to a definition, so that each is built once.
        vectors: Those of vectors, by what they hold.
        unreadable: Names of enums that have members which could not be read.
    """

    enums: dict[str, model.EnumDefinition] = field(default_factory=dict)
    unions: dict[str, model.UnionDefinition] = field(default_factory=dict)
    structs: dict[str, model.StructDefinition] = field(default_factory=dict)
    types: dict[str, model.Type] = field(default_factory=dict)
    vectors: dict[str, model.Type] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    _values: dict[str, dict[str, int]] = field(default_factory=dict)

    def values_of(self, full_name: str) -> dict[str, int] | None:
        """Members of an enum, or tags of a union, by name; None if it is neither."""
        values = self._values.get(full_name)
        if values is not None:
            return values
        if full_name in self.enums:
            values = {member.name: member.value for member in self.enums[full_name].members}
        elif full_name in self.unions:
            values = {"NONE": 0}
            values |= {member.name: member.tag for member in self.unions[full_name].members}
        else:
            return None
        self._values[full_name] = values
        return values


@dataclass(frozen=True, slots=True)
class Context:
    """Where a declaration stands: its file, its namespace, and the names that it sees.

    Attributes:
        prefixes: What may have to be put before a reference: the namespace and a dot, the same for
            its parents, and nothing for the global namespace.
        order: Position of the declaration; it sees those up to there, and some behind.
        features: Parts of the language to accept though not all generated code can handle them.
    """

    tree: syntax.SyntaxTree
    namespace: str
    prefixes: tuple[str, ...]
    scope: Scope
    order: int
    diagnostics: Diagnostics
    features: frozenset[Feature]

    def error(
        self,
        node: syntax.Place,
        message: str,
        *,
        hint: str | None = None,
        notes: Sequence[Note] = (),
    ) -> None:
        self.diagnostics.error(self.tree.span(node), message, hint=hint, notes=notes)

    def note(self, message: str, node: syntax.Place) -> Note:
        return Note(message, self.tree.span(node))

    def require(self, feature: Feature, node: syntax.Place, *, hint: str | None = None) -> None:
        """Report that a feature is used that generated code cannot handle yet."""
        if feature not in self.features:
            self.error(node, f"{feature.value} are not supported yet", hint=hint)

    def location(self, node: syntax.Place) -> model.Location:
        path, line, column = self.tree.source.declared_at(node.start)
        return model.Location(path, line, column)

    def doc(self, lines: syntax.Doc) -> tuple[str, ...]:
        """A doc comment without the blank that follows `///` and without blanks at line ends."""
        if not lines:
            return ()
        return tuple(line.removeprefix(" ").rstrip() for line in lines)

    def find(
        self, reference: syntax.Identifier, what: str, *, is_attribute: bool = False
    ) -> Symbol | None:
        """The declaration that a reference means; None if there is none, which is reported.

        `what` says in the message what the reference should name. In a binary schema, references
        are full names, but for those in attributes, and the order of declarations is lost.
        """
        if self.tree.is_binary:
            prefixes = self.prefixes if is_attribute else ("",)
            symbol = self.scope.anywhere(reference.text, prefixes)
        else:
            symbol = self.scope.earlier(reference.text, self.prefixes, self.order)
        if symbol is not None:
            return None if isinstance(symbol.node, syntax.UnreadableDeclaration) else symbol
        candidates = self.scope.later(reference.text, self.prefixes, self.order)
        if not candidates:
            if self.scope.complete:
                hint = self.scope.suggestion(reference.text, builtins=what == "type")
                self.error(reference, f"unknown {what} `{reference.text}`", hint=hint)
            return None
        if len(candidates) > 1:
            self._report_ambiguous(reference, candidates)
            return None
        return self._forward(reference, candidates[0])

    def _forward(self, reference: syntax.Identifier, symbol: Symbol) -> Symbol | None:
        """A declaration behind its use, if it is one of those that may stand there."""
        note = Note(f"{symbol.kind} `{symbol.full_name}` is declared here", symbol.span)
        if isinstance(symbol.node, syntax.UnreadableDeclaration):
            return None
        if not symbol.is_table:
            self.error(
                reference,
                f"{symbol.kind} `{reference.text}` is used before it is declared",
                hint=f"move the {symbol.kind} in front; only tables and structs may come later",
                notes=[note],
            )
            return None
        if reference.text not in (symbol.name, symbol.full_name):
            self.error(
                reference,
                f"`{reference.text}` is used before it is declared",
                hint=f"what comes later must be named in full: `{symbol.full_name}`",
                notes=[note],
            )
            return None
        return symbol

    def _report_ambiguous(self, reference: syntax.Identifier, candidates: Sequence[Symbol]) -> None:
        self.error(
            reference,
            f"`{reference.text}` is ambiguous before its declaration",
            hint="write the full name",
            notes=[
                Note(f"it may mean {symbol.kind} `{symbol.full_name}`", symbol.span)
                for symbol in candidates
            ],
        )


def collect(tree: syntax.SyntaxTree, first_order: int) -> Iterator[Symbol]:
    """The declarations of a file, numbered from `first_order` on."""
    namespace = ""
    order = first_order
    for statement in tree.statements:
        if isinstance(statement, syntax.Namespace):
            namespace = statement.name.text
        elif isinstance(statement, DeclarationNode):
            name = statement.name.text
            is_table = isinstance(statement, syntax.TableNode)
            full_name = f"{namespace}.{name}" if namespace else name
            yield Symbol(name, namespace, full_name, statement, tree, order, is_table)
            order += 1


def spelling_of(kind: model.ScalarKind) -> str:
    """The usual name of a scalar type in schemas, such as `ubyte`."""
    return _SPELLINGS[kind]


def prefixes_of(namespace: str) -> tuple[str, ...]:
    """The prefixes under which a name is looked for, the innermost first.

    >>> prefixes_of("a.b")
    ('a.b.', 'a.', '')
    """
    prefixes: list[str] = []
    while namespace:
        prefixes.append(namespace + ".")
        namespace = namespace.rpartition(".")[0]
    return (*prefixes, "")
