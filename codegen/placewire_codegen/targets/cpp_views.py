"""View of `<module>/views.h`: one reader class per struct and table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model import (
    Field,
    Root,
    ScalarKind,
    Schema,
    StructDefinition,
    TableDefinition,
    Type,
    TypeKind,
    UnionMember,
)
from ..names import Name
from .cpp_names import CppNames
from .cpp_text import comment, float_literal, function, integer_literal


@dataclass(frozen=True)
class MethodView:
    """A member function.

    Attributes:
        code: The whole definition as it stands in the class, or only the declaration.
        later: The definition behind all classes, if it needs one that is not complete before.
    """

    doc: tuple[str, ...]
    code: str
    later: str


@dataclass(frozen=True)
class VisitCase:
    """One alternative of `visit_...`: the enumerator and the expression that is passed on."""

    tag: str
    value: str


@dataclass(frozen=True)
class VisitView:
    """`visit_...` of a union field. `is_later`: its definition has to wait for a member's class."""

    class_name: str
    name: str
    is_later: bool
    field: str
    type_accessor: str
    none: str
    cases: tuple[VisitCase, ...]


@dataclass(frozen=True)
class ClassView:
    """A struct or table class. `size` is the bytes of a struct, 0 for a table."""

    name: str
    base: str
    size: int
    doc: tuple[str, ...]
    methods: tuple[MethodView, ...]
    visits: tuple[VisitView, ...]


@dataclass(frozen=True)
class RootView:
    """`view_...` of a root table."""

    function: str
    name: str
    identifier: str


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


class ViewBuilder:
    """Builds the view of one module's views.h."""

    def __init__(self, schema: Schema, names: CppNames, namespace: str) -> None:
        self._schema = schema
        self._names = names
        self._namespace = namespace
        self._definitions = _complete_first(schema, namespace)
        self._complete: set[str] = set()
        self._cyclic = cyclic_namespaces(schema, namespace)

    def build(self) -> ViewsView:
        """Return the view."""
        used = used_namespaces(self._schema, self._namespace)
        view_modules = [
            other
            for other in used
            if any(
                item.namespace == other for item in (*self._schema.structs, *self._schema.tables)
            )
        ]
        enum_modules = [
            other
            for other in (self._namespace, *used)
            if any(item.namespace == other for item in (*self._schema.enums, *self._schema.unions))
        ]
        early = [other for other in view_modules if other not in self._cyclic]
        late = [other for other in view_modules if other in self._cyclic]
        for definition in (*self._schema.structs, *self._schema.tables):
            if definition.namespace in early:
                self._complete.add(definition.full_name)
        return ViewsView(
            includes=tuple(
                sorted(
                    [self._names.include(other, "enums.h") for other in enum_modules]
                    + [self._names.include(other, "views.h") for other in early]
                    + [f"{self._names.include_prefix}/wire.h"]
                )
            ),
            late_includes=tuple(self._names.include(other, "views.h") for other in late),
            forward=tuple(self._forward(other) for other in late),
            declared=tuple(self._declared()),
            classes=tuple(self._class(definition) for definition in self._definitions),
            roots=tuple(self._roots()),
        )

    def _declared(self) -> Iterator[str]:
        """Yield the classes of this module that another one mentions before they are defined."""
        defined: set[str] = set()
        early: set[str] = set()
        for definition in self._definitions:
            defined.add(definition.full_name)
            early |= set(referenced_definitions(self._schema, definition.full_name)) - defined
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

    def _roots(self) -> Iterator[RootView]:
        for root in self._schema.roots:
            table = self._schema.table(root.table)
            if table.namespace == self._namespace:
                yield RootView(
                    function=root_function("view", root, self._schema, self._names),
                    name=self._names.local_type(table),
                    identifier=root.identifier or "",
                )

    def _class(self, definition: StructDefinition | TableDefinition) -> ClassView:
        name = self._names.local_type(definition)
        # A class may use itself in the bodies of its own functions.
        self._complete.add(definition.full_name)
        if isinstance(definition, StructDefinition):
            builder = _ClassBuilder(self._names, self._schema, self._namespace, name, self._complete)
            for field in definition.fields:
                builder.add_struct_field(field)
            return ClassView(
                name, "StructView", definition.size, comment(definition.doc), tuple(builder.methods), ()
            )
        builder = _ClassBuilder(self._names, self._schema, self._namespace, name, self._complete)
        for field in definition.fields:
            builder.add_table_field(field)
        return ClassView(
            name, "TableView", 0, comment(definition.doc), tuple(builder.methods), tuple(builder.visits)
        )


class _ClassBuilder:
    """Collects the member functions of one class."""

    def __init__(
        self, names: CppNames, schema: Schema, namespace: str, name: str, complete: set[str]
    ) -> None:
        self.methods: list[MethodView] = []
        self.visits: list[VisitView] = []
        self._names = names
        self._schema = schema
        self._namespace = namespace
        self._name = name
        self._complete = complete
        self._scope = names.field_scope(name, namespace, "table_", "position_", "kSize")

    def add_struct_field(self, field: Field) -> None:
        name = self._scope.claim(field.name)
        position = f"position_ + {field.offset}" if field.offset else "position_"
        type_ = field.type
        if type_.kind is TypeKind.ARRAY:
            assert type_.element is not None
            result = f"Vector<{self._element(type_.element)}>"
            body = f"return {{{position}, {type_.length}}};"
        elif type_.kind is TypeKind.STRUCT:
            result = self._reference(type_)
            body = f"return {result}({position});"
        else:
            result = self._names.value_type(type_, seen_from=self._namespace)
            body = f"return wire::load<{result}>({position});"
        self._add(field.doc, result, f"{name}()", body)

    def add_table_field(self, field: Field) -> None:
        if field.deprecated:
            return
        match field.type.kind:
            case TypeKind.UNION:
                self._add_union(field)
                return
            case TypeKind.SCALAR | TypeKind.ENUM:
                self._add_scalar(field)
                return
            case TypeKind.STRING:
                result, call = "std::string_view", "string"
            case TypeKind.VECTOR:
                assert field.type.element is not None
                result = f"Vector<{self._element(field.type.element)}>"
                call = f"vector<{self._element(field.type.element)}>"
            case TypeKind.STRUCT:
                result = self._reference(field.type)
                call = f"inlined<{result}>"
            case _:
                result = self._reference(field.type)
                call = f"value<{result}>"
        name = self._scope.claim(field.name)
        body = f"return table_.{call}({field.offset});"
        self._add(field.doc, result, f"{name}()", body, needs=field.type.ref)
        self._add_has(field)

    def _add_scalar(self, field: Field) -> None:
        name = self._scope.claim(field.name)
        type_ = self._names.value_type(field.type, seen_from=self._namespace)
        if field.optional:
            body = f"return table_.optional_scalar<{type_}>({field.offset});"
            self._add(field.doc, f"std::optional<{type_}>", f"{name}()", body)
            return
        default = self._default(field)
        arguments = f"{field.offset}, {default}" if default else f"{field.offset}"
        self._add(field.doc, type_, f"{name}()", f"return table_.scalar<{type_}>({arguments});")

    def _add_has(self, field: Field) -> None:
        name = self._scope.claim(f"has_{field.name}")
        self._add((), "bool", f"{name}()", f"return table_.has({field.offset});")

    def _add_union(self, field: Field) -> None:
        assert field.type.ref is not None
        union = self._schema.union(field.type.ref)
        tag_type = self._names.type(union.full_name, seen_from=self._namespace)
        type_accessor = self._scope.claim(f"{field.name}_type")
        tag_slot = field.offset - 2
        self._add(
            field.doc, tag_type, f"{type_accessor}()", f"return table_.scalar<{tag_type}>({tag_slot});"
        )
        self._add_has(field)
        cases = []
        is_later = False
        for member in union.members:
            result = self._union_value(member)
            is_later |= self._is_incomplete(member.type.ref)
            tag = f"{tag_type}::{self._names.member(union.full_name, member.name)}"
            accessor = self._scope.claim(f"{field.name}_as_{member.name}")
            body = f"return table_.member<{result}>({field.offset}, {tag});"
            self._add((), result, f"{accessor}()", body, needs=member.type.ref)
            cases.append(VisitCase(tag, f"table_.value<{result}>({field.offset})"))
        self.visits.append(
            VisitView(
                class_name=self._name,
                name=self._scope.claim(f"visit_{field.name}"),
                is_later=is_later,
                field=field.name,
                type_accessor=type_accessor,
                none=f"{tag_type}::NONE",
                cases=tuple(cases),
            )
        )

    def _union_value(self, member: UnionMember) -> str:
        if member.type.kind is TypeKind.STRING:
            return "std::string_view"
        return self._reference(member.type)

    def _element(self, element: Type) -> str:
        if element.kind is TypeKind.STRING:
            return "std::string_view"
        if element.kind in (TypeKind.TABLE, TypeKind.STRUCT):
            return self._reference(element)
        return self._names.value_type(element, seen_from=self._namespace)

    def _reference(self, type_: Type) -> str:
        assert type_.ref is not None
        return self._names.type(type_.ref, seen_from=self._namespace)

    def _default(self, field: Field) -> str:
        """Return the default as an expression, empty if it is zero."""
        default = field.default
        assert default is not None
        assert field.type.scalar is not None
        if field.type.kind is TypeKind.ENUM:
            return self._enum_default(field.type, int(default))
        if field.type.scalar.is_float:
            return float_literal(float(default), field.type.scalar)
        if field.type.scalar is ScalarKind.BOOL:
            return "true" if default else ""
        return integer_literal(int(default), field.type.scalar) if default else ""

    def _enum_default(self, type_: Type, value: int) -> str:
        if value == 0:
            return ""
        assert type_.ref is not None
        enum = self._schema.enum(type_.ref)
        name = self._reference(type_)
        for member in enum.members:
            if member.value == value:
                return f"{name}::{self._names.member(enum.full_name, member.name)}"
        return f"static_cast<{name}>({integer_literal(value, enum.underlying)})"

    def _add(
        self, doc: tuple[str, ...], result: str, call: str, body: str, *, needs: str | None = None
    ) -> None:
        if self._is_incomplete(needs):
            code = f"  {result} {call} const noexcept;"
            later = function(f"inline {result} {self._name}::{call} const noexcept", body, indent=0)
        else:
            code = function(f"{result} {call} const noexcept", body, indent=2)
            later = ""
        self.methods.append(MethodView(comment(doc, indent=2), code, later))

    def _is_incomplete(self, full_name: str | None) -> bool:
        """Return whether the class of a definition is only declared where this class stands."""
        if full_name is None or full_name in self._complete:
            return False
        return isinstance(
            self._schema.definitions[full_name], StructDefinition | TableDefinition
        )


def root_function(verb: str, root: Root, schema: Schema, names: CppNames) -> str:
    """Return the name of a function about a root table: `verify_program`."""
    return f"{verb}_{Name(schema.table(root.table).name).snake}"


def referenced_definitions(schema: Schema, full_name: str) -> Iterator[str]:
    """Yield the full names of what a definition's fields mention, members of unions included."""
    definition = schema.definitions[full_name]
    if not isinstance(definition, StructDefinition | TableDefinition):
        return
    for field in definition.fields:
        type_ = field.type.element or field.type
        if type_.ref is None:
            continue
        yield type_.ref
        if type_.kind is TypeKind.UNION:
            for member in schema.union(type_.ref).members:
                if member.type.ref is not None:
                    yield member.type.ref


def used_namespaces(schema: Schema, namespace: str) -> tuple[str, ...]:
    """Return the other namespaces that the classes of `namespace` mention, sorted."""
    return tuple(
        sorted(
            {
                schema.definitions[reference].namespace
                for definition in (*schema.structs, *schema.tables)
                if definition.namespace == namespace
                for reference in referenced_definitions(schema, definition.full_name)
            }
            - {namespace}
        )
    )


def cyclic_namespaces(schema: Schema, namespace: str) -> frozenset[str]:
    """Return the namespaces that `namespace` mentions and that lead back to it."""
    return frozenset(
        other
        for other in used_namespaces(schema, namespace)
        if namespace in _reachable_namespaces(schema, other)
    )


def _reachable_namespaces(schema: Schema, namespace: str) -> set[str]:
    reached: set[str] = set()
    pending = [namespace]
    while pending:
        for other in used_namespaces(schema, pending.pop()):
            if other not in reached:
                reached.add(other)
                pending.append(other)
    return reached


def _complete_first(
    schema: Schema, namespace: str
) -> tuple[StructDefinition | TableDefinition, ...]:
    """Return the classes of a namespace, each behind those that it needs, cycles aside."""
    ordered: dict[str, StructDefinition | TableDefinition] = {}
    entered: set[str] = set()

    def visit(full_name: str) -> None:
        definition = schema.definitions[full_name]
        if definition.namespace != namespace or full_name in entered:
            return
        entered.add(full_name)
        for reference in referenced_definitions(schema, full_name):
            visit(reference)
        if isinstance(definition, StructDefinition | TableDefinition):
            ordered[full_name] = definition

    for definition in (*schema.structs, *schema.tables):
        visit(definition.full_name)
    return tuple(ordered.values())
