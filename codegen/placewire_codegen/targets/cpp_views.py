"""View of `<module>/views.h`: one reader class per struct and table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model import (
    Schema,
    StructDefinition,
    TableDefinition,
)
from ..names import Name
from .cpp_module import ModuleBuilder
from .cpp_names import CppNames
from .cpp_order import class_references, structs_in_keys
from .cpp_text import (
    comment,
    function,
    string_literal,
)
from .cpp_view_class import ClassBuilder, ClassView


@dataclass(frozen=True)
class RootView:
    """`view_...` of a root table: the class, and the whole function."""

    name: str
    code: str


@dataclass(frozen=True)
class ForwardView:
    """Classes of another module that are used before its header can be included."""

    namespace: str
    classes: tuple[str, ...]


@dataclass(frozen=True)
class ViewsView:
    """Everything that the template of views.h places.

    Attributes:
        includes: Headers of other modules.
        late_includes: Headers of modules that in turn need this one; included behind the classes.
        forward: What the late headers will define.
    """

    includes: tuple[str, ...]
    late_includes: tuple[str, ...]
    forward: tuple[ForwardView, ...]
    declared: tuple[str, ...]
    classes: tuple[ClassView, ...]
    roots: tuple[RootView, ...]


class ViewBuilder(ModuleBuilder):
    """Builds the view of one module's views.h."""

    def __init__(self, schema: Schema, names: CppNames, namespace: str) -> None:
        super().__init__(schema, names, namespace)
        self._definitions = [
            definition
            for definition in self._module.definitions
            if isinstance(definition, StructDefinition | TableDefinition)
        ]
        self._complete = {
            definition.full_name
            for definition in (*schema.structs, *schema.tables)
            if definition.namespace in self._module.early
        }

        self._ordered = structs_in_keys(schema)

    def build(self) -> ViewsView:
        """Return the view."""
        module = self._module
        own = (*module.enum_includes(), f"{self._names.include_prefix}/wire.h")
        return ViewsView(
            includes=module.includes("views.h", own),
            late_includes=module.late_includes("views.h"),
            forward=tuple(self._forward(other) for other in module.late),
            declared=tuple(self._declared()),
            classes=tuple(self._class(definition) for definition in self._definitions),
            roots=tuple(map(self._root, self._roots())),
        )

    def _declared(self) -> Iterator[str]:
        """Yield the classes of this module that another one mentions before they are defined."""
        early = self._needed_early(self._definitions, class_references, by_itself=False)
        for definition in self._definitions:
            if definition.full_name in early:
                yield self._names.local_type(definition)

    def _forward(self, namespace: str) -> ForwardView:
        return ForwardView(
            f"{self._names.namespace}::{self._names.module(namespace)}",
            tuple(
                self._names.local_type(definition)
                for definition in (*self._schema.structs, *self._schema.tables)
                if definition.namespace == namespace
            ),
        )

    def _root(self, table: TableDefinition) -> RootView:
        name = self._names.local_type(table)
        head = f"[[nodiscard]] inline {name} {root_function('view', table)}(Bytes buffer)"
        body = f"return {name}(wire::follow(buffer.data()));"
        return RootView(name, function(f"{head} noexcept", body, indent=0))

    def _class(self, definition: StructDefinition | TableDefinition) -> ClassView:
        name = self._names.local_type(definition)
        # A class may use itself in the bodies of its own functions.
        self._complete.add(definition.full_name)
        builder = ClassBuilder(self._names, self._schema, definition, self._complete)
        is_struct = isinstance(definition, StructDefinition)
        for field in definition.fields:
            if is_struct:
                builder.add_struct_field(field)
            else:
                builder.add_table_field(field)
        for field in definition.fields:
            if field.key:
                builder.add_key(field)
        if definition.full_name in self._ordered:
            builder.add_order(definition.fields)
        roots = [root for root in self._schema.roots if root.table == definition.full_name]
        return ClassView(
            name=name,
            base="StructView" if is_struct else "TableView",
            size=definition.size if isinstance(definition, StructDefinition) else 0,
            slots=max((field.id + 1 for field in definition.fields), default=0),
            identifier=string_literal(roots[0].identifier or "") if roots else "",
            header_magic=header_magic(definition),
            doc=comment(definition.doc),
            methods=tuple(builder.methods),
            visits=tuple(builder.visits),
            visits_later=builder.has_later,
            has_union_vector=any(visit.is_vector for visit in builder.visits),
            fields=tuple(builder.fields),
        )


def header_magic(definition: StructDefinition | TableDefinition) -> str:
    """Return the magic of a table's extended header as a literal, empty if it has none."""
    magic = definition.attributes.get("extended_header")
    return string_literal(magic) if isinstance(magic, str) else ""


def root_function(verb: str, table: TableDefinition) -> str:
    """Return the name of a function about a root table: `verify_program`."""
    return f"{verb}_{Name(table.name).snake}"
