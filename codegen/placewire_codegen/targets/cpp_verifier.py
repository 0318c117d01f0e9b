"""View of `<module>/verifier.h`: one function per table and union that checks what it refers to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model import (
    Field,
    Schema,
    TableDefinition,
    Type,
    TypeKind,
    UnionDefinition,
    UnionMember,
)
from .cpp_module import ModuleBuilder
from .cpp_names import CppNames
from .cpp_order import references
from .cpp_text import function, guard, signature, string_literal
from .cpp_view_class import union_of
from .cpp_views import header_magic, root_function


@dataclass(frozen=True)
class MemberCase:
    """What is checked for one tag of a union."""

    tag: str
    check: str


@dataclass(frozen=True)
class FunctionView:
    """The verifier of a table (`checks`, whole statements) or of a union (`cases`)."""

    signature: str
    is_union: bool
    checks: tuple[str, ...] = ()
    cases: tuple[MemberCase, ...] = ()


@dataclass(frozen=True)
class RootVerifierView:
    """`verify_...` of a root table: what it is for, and the whole function."""

    purpose: str
    code: str


@dataclass(frozen=True)
class VerifierView:
    """Everything that the template of verifier.h places.

    Attributes:
        late_includes: Headers of modules that in turn need this one, behind the declarations.
        declared: Signatures of functions that others call before they are defined.
    """

    includes: tuple[str, ...]
    late_includes: tuple[str, ...]
    declared: tuple[str, ...]
    functions: tuple[FunctionView, ...]
    roots: tuple[RootVerifierView, ...]


class VerifierBuilder(ModuleBuilder):
    """Builds the view of one module's verifier.h."""

    def __init__(self, schema: Schema, names: CppNames, namespace: str) -> None:
        super().__init__(schema, names, namespace)
        self._definitions = [
            definition
            for definition in self._module.definitions
            if isinstance(definition, TableDefinition | UnionDefinition)
        ]

    def build(self) -> VerifierView:
        """Return the view."""
        module = self._module
        own = (
            self._names.include(module.namespace, "views.h"),
            f"{self._names.include_prefix}/verify.h",
        )
        return VerifierView(
            includes=module.includes("verifier.h", own),
            late_includes=module.late_includes("verifier.h"),
            declared=tuple(self._declared(is_cyclic=bool(module.cyclic))),
            functions=tuple(self._function(definition) for definition in self._definitions),
            roots=tuple(map(self._root, self._roots())),
        )

    def _declared(self, *, is_cyclic: bool) -> Iterator[str]:
        """Yield what is called before it is defined; in a cycle of modules that may be all."""
        # A template that a function instantiates may look up the function itself.
        early = self._needed_early(self._definitions, references, by_itself=True)
        for definition in self._definitions:
            if is_cyclic or definition.full_name in early:
                yield self._signature(definition, is_named=True)

    def _signature(self, definition: TableDefinition | UnionDefinition, *, is_named: bool) -> str:
        name = self._names.local_type(definition)
        if isinstance(definition, UnionDefinition):
            parameters = ["wire::Verifier& verifier", "std::uint64_t place", f"{name} tag"]
            return signature("inline bool verify_member", parameters, " noexcept")
        parameters = ["wire::Verifier& verifier", "const wire::VerifiedTable& table"]
        if not is_named:
            parameters = [parameter.rpartition(" ")[0] for parameter in parameters]
        parameters.append(f"wire::Type<{name}>")
        return signature("inline bool verify_fields", parameters, " noexcept")

    def _function(self, definition: TableDefinition | UnionDefinition) -> FunctionView:
        if isinstance(definition, UnionDefinition):
            name = self._names.local_type(definition)
            return FunctionView(
                self._signature(definition, is_named=True),
                is_union=True,
                cases=tuple(
                    MemberCase(
                        f"{name}::{self._names.member(definition.full_name, member.name)}",
                        self._member_check(member),
                    )
                    for member in definition.members
                ),
            )
        checks = tuple(check for field in definition.fields for check in self._checks(field))
        return FunctionView(
            self._signature(definition, is_named=bool(checks)), is_union=False, checks=checks
        )

    def _member_check(self, member: UnionMember) -> str:
        if member.type.kind is TypeKind.STRING:
            return "verifier.string_member(place)"
        if member.type.kind is TypeKind.STRUCT:
            return f"verifier.struct_member<{self._extent(member.type)}>(place)"
        return f"verifier.table_member<{self._module.reference(member.type)}>(place)"

    def _checks(self, field: Field) -> Iterator[str]:
        action = f"return verifier.at({string_literal(field.name)});"
        if union_of(field.type) is not None:
            required = ", true" if field.required else ""
            union = self._module.reference(field.type.element or field.type)
            check = f"{'member' if field.type.element is None else 'members'}<{union}{required}>"
        else:
            if field.required:
                yield guard(f"!verifier.required(table, {field.offset})", action, indent=2)
            check = self._field_check(field)
        yield guard(f"!verifier.{check}(table, {field.offset})", action, indent=2)

    def _field_check(self, field: Field) -> str:
        type_ = field.type
        if field.nested is not None:
            return f"nested<{self._names.type(field.nested, seen_from=self._module.namespace)}>"
        match type_.kind:
            case TypeKind.STRING:
                return "string"
            case TypeKind.TABLE:
                return f"table<{self._module.reference(type_)}>"
            case TypeKind.VECTOR:
                assert type_.element is not None
                return self._vector_check(type_.element)
            case _:
                return f"inlined<{self._extent(type_)}>"

    def _vector_check(self, element: Type) -> str:
        if element.kind is TypeKind.STRING:
            return "strings"
        if element.kind is TypeKind.TABLE:
            return f"tables<{self._module.reference(element)}>"
        return f"vector<{self._extent(element)}>"

    def _extent(self, type_: Type) -> str:
        """Return size and alignment of an inline value, the alignment only if it differs."""
        if type_.kind is TypeKind.STRUCT:
            assert type_.ref is not None
            struct = self._schema.struct(type_.ref)
            return f"{struct.size}, {struct.alignment}"
        assert type_.scalar is not None
        return f"{type_.scalar.size}"

    def _root(self, table: TableDefinition) -> RootVerifierView:
        name = self._names.local_type(table)
        whole_file = " or a whole file with an extended header" if header_magic(table) else ""
        head = f"inline VerifyResult {root_function('verify', table)}(Bytes buffer) noexcept"
        return RootVerifierView(
            purpose=f"Verifies the FlatBuffer of a {name}{whole_file}.",
            code=function(head, f"return verify<{name}>(buffer);", indent=0),
        )
