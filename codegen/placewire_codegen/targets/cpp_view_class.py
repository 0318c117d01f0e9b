"""Builds one reader class of `<module>/views.h`: its accessors, its visits, its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model import (
    Field,
    ScalarKind,
    Schema,
    StructDefinition,
    TableDefinition,
    Type,
    TypeKind,
    UnionDefinition,
    UnionMember,
)
from .cpp_names import CLASS_NAMES, CppNames
from .cpp_text import (
    comment,
    filled,
    float_literal,
    function,
    integer_literal,
    string_literal,
    string_view_literal,
)


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
    """`visit_...` of a union field, or of an element of a vector of unions.

    Attributes:
        is_later: Its definition has to wait for a member's class.
        parameters: As they are declared.
        tag: Expression for the tag.
    """

    class_name: str
    name: str
    is_later: bool
    field: str
    is_vector: bool
    parameters: str
    tag: str
    none: str
    cases: tuple[VisitCase, ...]


@dataclass(frozen=True)
class VisitedField:
    """What `visit_fields` does for one field.

    Attributes:
        text: The schema's name of the field, as a literal.
        accessor: Name of the accessor, or of the union's `visit_...`.
        tags: Of a vector of unions, the expression for its tags.
    """

    text: str
    accessor: str
    is_union: bool = False
    tags: str = ""


@dataclass(frozen=True)
class ClassView:
    """A struct or table class.

    Attributes:
        size: Bytes of a struct, 0 for a table.
        slots: Number of vtable slots that the schema knows of a table.
        identifier: File identifier of a root table as a literal, empty for all others.
        header_magic: Magic of the extended header that a root may carry as a literal, or empty.
        visits_later: The definition of `visit_fields` has to wait for the class of a field.
        has_union_vector: Whether a field is a vector of unions.
    """

    name: str
    base: str
    size: int
    slots: int
    identifier: str
    header_magic: str
    doc: tuple[str, ...]
    methods: tuple[MethodView, ...]
    visits: tuple[VisitView, ...]
    visits_later: bool
    has_union_vector: bool
    fields: tuple[VisitedField, ...]


class ClassBuilder:
    """Collects the member functions of one class."""

    def __init__(
        self,
        names: CppNames,
        schema: Schema,
        definition: StructDefinition | TableDefinition,
        complete: set[str],
    ) -> None:
        self.methods: list[MethodView] = []
        self.visits: list[VisitView] = []
        self.fields: list[VisitedField] = []
        self.has_later = False
        self._names = names
        self._schema = schema
        self._namespace = definition.namespace
        self._name = names.local_type(definition)
        self._complete = complete
        self._scope = names.field_scope(self._name, self._namespace, *CLASS_NAMES)
        # Fields come first: what is derived from one must not take the name of another.
        self._accessors = {
            field.name: self._scope.claim(field.name)
            for field in definition.fields
            if union_of(field.type) is None
        }

    def add_key(self, key: Field) -> None:
        """Add what `Vector::lookup` asks: how an object stands to another key."""
        type_ = self._key_type(key.type)
        head = f"int wire_compare_key({self._name} view, {type_} key) noexcept"
        body = f"return wire::compare(view.{self._accessors[key.name]}(), key);"
        doc = f"The order of `{key.name}`, the key, and another one; see Vector::lookup."
        self._add_friend(doc, head, body, needs=(key.type.element or key.type).ref)

    def add_order(self, fields: Sequence[Field]) -> None:
        """Add how two structs are ordered which keys consist of."""
        head = f"int wire_compare(const {self._name}& left, const {self._name}& right) noexcept"
        names = [self._accessors[field.name] for field in fields]
        orders = [f"wire::compare(left.{name}(), right.{name}())" for name in names]
        body = filled("return wire::first_order({", orders, "});", indent=4).lstrip()
        self._add_friend("The order of two keys.", head, body, needs=None)

    def _add_friend(self, doc: str, head: str, body: str, *, needs: str | None) -> None:
        if self._is_incomplete(needs):
            code, later = f"  friend {head};", function(f"inline {head}", body, indent=0)
        else:
            code, later = function(f"friend {head}", body, indent=2), ""
        self.methods.append(MethodView(comment((doc,), indent=2), code, later))

    def _key_type(self, type_: Type) -> str:
        match type_.kind:
            case TypeKind.STRING:
                return "std::string_view"
            case TypeKind.STRUCT:
                return self._reference(type_)
            case TypeKind.ARRAY:
                assert type_.element is not None
                return f"Vector<{self._element(type_.element)}>"
        return self._names.value_type(type_, seen_from=self._namespace)

    def add_struct_field(self, field: Field) -> None:
        name = self._accessors[field.name]
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
        self._add(field.doc, result, f"{name}()", body, needs=type_.ref)
        self._visit(field, name)

    def add_table_field(self, field: Field) -> None:
        if field.deprecated:
            return
        union = union_of(field.type)
        if union is not None:
            self._add_union(field, self._schema.union(union))
            return
        match field.type.kind:
            case TypeKind.SCALAR | TypeKind.ENUM:
                self._add_scalar(field)
                return
            case TypeKind.STRING:
                self._add_string(field)
                return
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
        name = self._accessors[field.name]
        body = f"return table_.{call}({field.offset});"
        self._add(field.doc, result, f"{name}()", body, needs=field.type.ref)
        self._add_has(field)
        if field.nested is not None:
            self._add_nested(field, field.nested)
        self._visit(field, name)

    def _add_nested(self, field: Field, root: str) -> None:
        name = self._scope.claim(f"{field.name}_nested_root")
        view = self._names.type(root, seen_from=self._namespace)
        doc = (f"The root of the FlatBuffer that `{field.name}` is.",)
        body = f"return table_.nested<{view}>({field.offset});"
        self._add(doc, view, f"{name}()", body, needs=root)

    def _add_scalar(self, field: Field) -> None:
        name = self._accessors[field.name]
        self._visit(field, name)
        type_ = self._names.value_type(field.type, seen_from=self._namespace)
        if field.optional:
            body = f"return table_.optional_scalar<{type_}>({field.offset});"
            self._add(field.doc, f"std::optional<{type_}>", f"{name}()", body)
            return
        default = self._default(field)
        arguments = f"{field.offset}, {default}" if default else f"{field.offset}"
        self._add(field.doc, type_, f"{name}()", f"return table_.scalar<{type_}>({arguments});")

    def _add_string(self, field: Field) -> None:
        name = self._accessors[field.name]
        default = text_default(field)
        arguments = f"{field.offset}, {default}" if default else f"{field.offset}"
        self._add(field.doc, "std::string_view", f"{name}()", f"return table_.string({arguments});")
        self._add_has(field)
        self._visit(field, name)

    def _add_has(self, field: Field) -> None:
        name = self._scope.claim(f"has_{field.name}")
        self._add((), "bool", f"{name}()", f"return table_.has({field.offset});")

    def _add_union(self, field: Field, union: UnionDefinition) -> None:
        """Add what reads a union, or a vector of unions: then all but the tags take an index."""
        is_vector = field.type.kind is TypeKind.VECTOR
        tag_type = self._names.type(union.full_name, seen_from=self._namespace)
        type_accessor = self._scope.claim(f"{field.name}_type")
        result, read = (f"Vector<{tag_type}>", "vector") if is_vector else (tag_type, "scalar")
        body = f"return table_.{read}<{tag_type}>({field.offset - 2});"
        self._add(field.doc, result, f"{type_accessor}()", body)
        self._add_has(field)
        parameter, index = ("std::size_t index", ", index") if is_vector else ("", "")
        present = "present_element" if is_vector else "present_value"
        cases = []
        is_later = False
        for member in union.members:
            result = self._union_value(member)
            is_later |= self._is_incomplete(member.type.ref)
            tag = f"{tag_type}::{self._names.member(union.full_name, member.name)}"
            accessor = self._scope.claim(f"{field.name}_as_{member.name}")
            body = f"return table_.member<{result}>({field.offset}, {tag}{index});"
            self._add((), result, f"{accessor}({parameter})", body, needs=member.type.ref)
            cases.append(VisitCase(tag, f"table_.{present}<{result}>({field.offset}{index})"))
        visit = self._scope.claim(f"visit_{field.name}")
        self.fields.append(VisitedField(string_literal(f"{field.name}_type"), type_accessor))
        tags = f"{type_accessor}()"
        self._visit(field, visit, tags=tags if is_vector else "")
        self.visits.append(
            VisitView(
                class_name=self._name,
                name=visit,
                is_later=is_later,
                field=field.name,
                is_vector=is_vector,
                parameters=f"{parameter}, Visitor&& visitor".removeprefix(", "),
                tag=f"{tags}[index]" if is_vector else tags,
                none=f"{tag_type}::NONE",
                cases=tuple(cases),
            )
        )

    def _visit(self, field: Field, accessor: str, *, tags: str = "") -> None:
        is_union = field.type.kind is TypeKind.UNION
        self.fields.append(VisitedField(string_literal(field.name), accessor, is_union, tags))

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
            self.has_later = True
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
        return isinstance(self._schema.definitions[full_name], StructDefinition | TableDefinition)


def text_default(field: Field) -> str:
    """Return what an absent string reads as, as an expression; nothing if it is empty."""
    if not field.reads_default or not isinstance(field.default_content, str):
        return ""
    return string_view_literal(field.default_content)


def union_of(type_: Type) -> str | None:
    """Return the union behind a union or a vector of unions; None for any other type."""
    value = type_.element or type_
    return value.ref if value.kind is TypeKind.UNION else None
