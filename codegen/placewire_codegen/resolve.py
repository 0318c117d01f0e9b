"""Schema files to the model: the public face of the front end."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from . import syntax
from .diagnostics import Diagnostics, Note
from .enums import resolve_enum, resolve_union
from .features import SUPPORTED, Feature
from .file_facts import FileFacts
from .includes import SchemaFiles, Unit, read_bytes
from .model import Definition, Root, Schema
from .presence import DeclaredTable, check_presence
from .scope import Context, DeclarationNode, Definitions, Scope, Symbol, collect, prefixes_of
from .services import Services
from .tables import resolve_struct, resolve_table

__all__ = ["load_schema"]


def load_schema(
    entries: Sequence[Path],
    *,
    include_directories: Sequence[Path] = (),
    root: Path,
    messages_from: Path | None = None,
    features: frozenset[Feature] = SUPPORTED,
    read: Callable[[Path], bytes] = read_bytes,
) -> Schema:
    """Read schema files and all that they include.

    Each entry is read as flatc would read it: it sees what it declares and what it includes. All of
    them together make one schema, so a name may stand in several entries' includes but be declared
    once.

    Args:
        entries: The files to begin with.
        include_directories: Where an include is looked for if it is not beside its includer.
        root: Directory that the model's paths are relative to.
        messages_from: Directory that the paths in messages are relative to, `root` if not given.
        features: Parts of the language to accept though not all generated code can handle them.
        read: Returns the contents of a file.

    Raises:
        SchemaError: A file cannot be read or is wrong; all defects of all files are listed.
    """
    diagnostics = Diagnostics()
    files = SchemaFiles(
        include_directories,
        root=root,
        messages_from=root if messages_from is None else messages_from,
        diagnostics=diagnostics,
        read=read,
    )
    resolver = _Resolver(diagnostics, features)
    with _collector_paused():
        units = [files.unit(entry) for entry in entries]
        resolver.collect(units)
        for unit in units:
            resolver.resolve(unit)
        resolver.check()
    diagnostics.raise_if_any(files.message_paths)
    return resolver.schema(files.paths)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the garbage collector from visiting the growing trees, a quarter of the whole time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(slots=True)
class _File:
    """What is known about a file besides its syntax tree."""

    symbols: list[Symbol]
    attributes: set[str] = field(default_factory=set)
    root: Root | None = None
    resolved: bool = False


class _Resolver:
    def __init__(self, diagnostics: Diagnostics, features: frozenset[Feature]) -> None:
        self._diagnostics = diagnostics
        self._features = features
        self._files: dict[str, _File] = {}
        self._known = Definitions()
        self._tables: list[DeclaredTable] = []
        self._roots: dict[str, Root] = {}
        self._services = Services()

    def schema(self, paths: Sequence[str]) -> Schema:
        return Schema(
            files=tuple(paths),
            enums=tuple(self._known.enums.values()),
            unions=tuple(self._known.unions.values()),
            structs=tuple(self._known.structs.values()),
            tables=tuple(table.definition for table in self._tables),
            roots=tuple(self._roots.values()),
        )

    def collect(self, units: Sequence[Unit]) -> None:
        """Number all declarations, and report names that are declared twice."""
        first: dict[str, Symbol] = {}
        order = 0
        for tree in (tree for unit in units for tree in unit.trees):
            if tree.source.path in self._files:
                continue
            symbols = list(collect(tree, order))
            order += len(symbols)
            self._files[tree.source.path] = _File(symbols)
            for symbol in symbols:
                previous = first.setdefault(symbol.full_name, symbol)
                if previous is not symbol:
                    self._diagnostics.error(
                        symbol.span,
                        f"`{symbol.full_name}` is declared twice",
                        notes=[Note(f"first declared here, as {previous.kind}", previous.span)],
                    )

    def resolve(self, unit: Unit) -> None:
        """Resolve the files of a unit that no earlier unit had."""
        files = [self._files[tree.source.path] for tree in unit.trees]
        scope = Scope((symbol for file in files for symbol in file.symbols), complete=unit.complete)
        for tree, file in zip(unit.trees, files, strict=True):
            if not file.resolved:
                self._resolve_file(tree, file, scope)
                file.resolved = True
            scope.attributes |= file.attributes
        if unit.entry is not None:
            path = unit.entry.source.path
            root = self._files[path].root
            if root is not None:
                self._roots[path] = root

    def check(self) -> None:
        """Report what is wrong with the tables as a whole; each is resolved by now."""
        tables = {table.definition.full_name: table for table in self._tables}
        check_presence(tables, self._known.unions)

    def _resolve_file(self, tree: syntax.SyntaxTree, file: _File, scope: Scope) -> None:
        symbols = iter(file.symbols)
        order = file.symbols[0].order - 1 if file.symbols else 0
        namespace, prefixes = "", prefixes_of("")
        facts = FileFacts()
        for statement in tree.statements:
            if isinstance(statement, syntax.Namespace):
                namespace = statement.name.text
                prefixes = prefixes_of(namespace)
                continue
            if isinstance(statement, syntax.AttributeDeclaration):
                file.attributes.add(statement.name.text)
                scope.attributes.add(statement.name.text)
                continue
            if isinstance(statement, DeclarationNode):
                order = next(symbols).order
            context = Context(
                tree, namespace, prefixes, scope, order, self._diagnostics, self._features
            )
            if isinstance(statement, DeclarationNode):
                self._resolve_declaration(statement, context)
            elif isinstance(statement, syntax.ServiceNode):
                self._services.check(statement, context)
            else:
                facts.take(statement, context)
        file.root = facts.root()

    def _resolve_declaration(self, node: DeclarationNode, context: Context) -> None:
        known = self._known
        if isinstance(node, syntax.EnumNode):
            if not node.complete:
                known.unreadable.add(f"{context.prefixes[0]}{node.name.text}")
            _keep(known.enums, resolve_enum(node, context))
        elif isinstance(node, syntax.UnionNode):
            _keep(known.unions, resolve_union(node, context))
        elif isinstance(node, syntax.TableNode) and node.is_struct:
            _keep(known.structs, resolve_struct(node, context, known))
        elif isinstance(node, syntax.TableNode):
            table = resolve_table(node, context, known)
            self._tables.append(DeclaredTable(table, node, context))


_Definition = TypeVar("_Definition", bound=Definition)


def _keep(definitions: dict[str, _Definition], definition: _Definition | None) -> None:
    if definition is not None:
        definitions.setdefault(definition.full_name, definition)
