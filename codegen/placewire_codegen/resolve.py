"""Schema files to the model: the public face of the front end."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from . import syntax
from .diagnostics import Diagnostics, Note, Span
from .enums import resolve_enum, resolve_union
from .features import SUPPORTED, Feature
from .file_facts import FileFacts
from .includes import SchemaFiles, Unit, read_bytes
from .model import Definition, Root, Schema, SchemaFile, ServiceDefinition, TableDefinition
from .presence import DeclaredTable, check_presence
from .scope import Context, DeclarationNode, Definitions, Scope, Symbol, collect, prefixes_of
from .services import resolve_service
from .sizes import check_sizes
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
    once. A binary schema repeats what it includes: what stands there may be declared elsewhere too,
    but alike.

    Args:
        entries: The files to begin with, each a .fbs or a .bfbs.
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
    return resolver.schema(files)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the garbage collector from visiting the growing trees, a quarter of the whole time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_freeze_count() == 0:
                # Both together make the trees old, or all of them would be visited right away.
                gc.freeze()
                gc.unfreeze()
            gc.enable()


_Definition = TypeVar("_Definition", bound=Definition)


@dataclass(slots=True)
class _File:
    """A file and what is known about it."""

    tree: syntax.SyntaxTree
    symbols: list[Symbol]
    attributes: set[str] = field(default_factory=set)
    facts: FileFacts = field(default_factory=FileFacts)
    resolved: bool = False


class _Resolver:
    def __init__(self, diagnostics: Diagnostics, features: frozenset[Feature]) -> None:
        self._diagnostics = diagnostics
        self._features = features
        self._files: dict[str, _File] = {}
        self._known = Definitions()
        self._tables: dict[str, TableDefinition] = {}
        self._declared_tables: dict[str, DeclaredTable] = {}
        self._services: dict[str, ServiceDefinition] = {}
        self._roots: dict[str, Root] = {}
        self._first_types: dict[str, Definition] = {}
        self._first_services: dict[str, tuple[syntax.SyntaxTree, Span]] = {}
        self._reported: set[str] = set()

    def schema(self, files: SchemaFiles) -> Schema:
        return Schema(
            files=tuple(files.paths),
            enums=tuple(self._known.enums.values()),
            unions=tuple(self._known.unions.values()),
            structs=tuple(self._known.structs.values()),
            tables=tuple(self._tables.values()),
            roots=tuple(self._roots.values()),
            services=tuple(self._services.values()),
            sources=tuple(self._sources(files)),
        )

    def _sources(self, files: SchemaFiles) -> Iterator[SchemaFile]:
        """Each file, behind those that a binary schema was made from."""
        said: set[str] = set(files.paths)
        for file in self._files.values():
            path = file.tree.source.model_path
            origins = dict(file.tree.origins or ())
            for origin, included in origins.items():
                if origin not in said:
                    yield SchemaFile(path=origin, includes=included)
            said |= origins.keys()
            yield SchemaFile(
                path=path,
                includes=tuple(origins or files.includes.get(path, ())),
                identifier=file.facts.identifier,
                extension=file.facts.extension,
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
            self._files[tree.source.path] = _File(tree, symbols)
            for symbol in symbols:
                previous = first.setdefault(symbol.full_name, symbol)
                if previous is not symbol and not _may_repeat(previous.tree, tree):
                    self._reported.add(symbol.full_name)
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
            root = self._files[path].facts.root()
            if root is not None:
                self._roots[path] = root

    def check(self) -> None:
        """Report what is wrong with the tables as a whole; each is resolved by now."""
        check_presence(self._declared_tables, self._known.unions)
        check_sizes(self._declared_tables.values(), self._known.structs)

    def _resolve_file(self, tree: syntax.SyntaxTree, file: _File, scope: Scope) -> None:
        symbols = iter(file.symbols)
        order = file.symbols[0].order - 1 if file.symbols else 0
        namespace, prefixes = "", prefixes_of("")
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
                self._take_service(statement, context)
            else:
                file.facts.take(statement, context)

    def _resolve_declaration(self, node: DeclarationNode, context: Context) -> None:
        known = self._known
        if isinstance(node, syntax.EnumNode):
            if not node.complete:
                known.unreadable.add(f"{context.prefixes[0]}{node.name.text}")
            self._keep(known.enums, resolve_enum(node, context), node.name, context)
        elif isinstance(node, syntax.UnionNode):
            self._keep(known.unions, resolve_union(node, context), node.name, context)
        elif isinstance(node, syntax.TableNode) and node.is_struct:
            self._keep(known.structs, resolve_struct(node, context, known), node.name, context)
        elif isinstance(node, syntax.TableNode):
            table = resolve_table(node, context, known)
            declared = DeclaredTable(table, node, context)
            self._declared_tables.setdefault(table.full_name, declared)
            self._keep(self._tables, table, node.name, context)

    def _keep(
        self,
        definitions: dict[str, _Definition],
        definition: _Definition | None,
        name: syntax.Identifier,
        context: Context,
    ) -> None:
        """Take up a type, unless it is there already; then it must be the same."""
        if definition is None:
            return
        first = self._first_types.setdefault(definition.full_name, definition)
        if first is definition:
            definitions[definition.full_name] = definition
        elif definition.full_name not in self._reported:
            self._check_repeated(first, definition, name, context)

    def _check_repeated(
        self, first: Definition, again: Definition, name: syntax.Identifier, context: Context
    ) -> None:
        if not again.means_the_same_as(first):
            context.error(
                name,
                f"`{again.full_name}` is not what `{first.location}` declares under that name",
                hint="make the binary schemas anew from the same files",
            )

    def _take_service(self, node: syntax.ServiceNode, context: Context) -> None:
        """Take up a service; the names of services are apart from those of types."""
        service = resolve_service(node, context)
        here = context.tree, context.tree.span(node.name)
        tree, span = self._first_services.setdefault(service.full_name, here)
        if span is here[1]:
            self._services[service.full_name] = service
        elif _may_repeat(tree, context.tree):
            self._check_repeated(self._services[service.full_name], service, node.name, context)
        else:
            context.error(
                node.name,
                f"service `{service.full_name}` is declared twice",
                notes=[Note("first declared here", span)],
            )


def _may_repeat(first: syntax.SyntaxTree, again: syntax.SyntaxTree) -> bool:
    """Whether both files may declare the same: a binary schema repeats what it includes."""
    return first is not again and (first.is_binary or again.is_binary)
