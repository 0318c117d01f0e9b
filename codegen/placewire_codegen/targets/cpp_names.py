"""How schema names are spelled in the generated C++, and where each definition lives.

All C++ targets share one `CppNames`, so that what one header declares another can refer to.
"""

from __future__ import annotations

from functools import cached_property

from ..config import ProjectConfig
from ..model import (
    Definition,
    EnumDefinition,
    Field,
    ScalarKind,
    Schema,
    TableDefinition,
    Type,
    TypeKind,
    UnionDefinition,
)
from ..names import CPP_KEYWORDS, NameScope

SCALAR_TYPES = {
    ScalarKind.BOOL: "bool",
    ScalarKind.INT8: "std::int8_t",
    ScalarKind.UINT8: "std::uint8_t",
    ScalarKind.INT16: "std::int16_t",
    ScalarKind.UINT16: "std::uint16_t",
    ScalarKind.INT32: "std::int32_t",
    ScalarKind.UINT32: "std::uint32_t",
    ScalarKind.INT64: "std::int64_t",
    ScalarKind.UINT64: "std::uint64_t",
    ScalarKind.FLOAT32: "float",
    ScalarKind.FLOAT64: "double",
}

OVERLOADED_NAMES = frozenset(
    "audit audit_member describe is_valid name pack verify verify_fields verify_member".split()
)
"""Functions that the headers overload by type; a module has them all, a class may have its own."""

SUPPORT_NAMES = OVERLOADED_NAMES | frozenset(
    """AbsentUnion Alignments AuditFinding AuditRule Box Bytes PackResult Path Rule StructView
    TableView UnionVector UnknownUnionMember Vector VerifyResult kModelStamp kRootPath objects std
    wire""".split()
)
"""Names of the support headers, which no schema name may hide."""

_NAMESPACE_NAMES = frozenset("audit_tree bindings encode message text".split())
"""Further names beside the modules; no module can be called so."""

CLASS_NAMES = frozenset(
    """Visitor kFileIdentifier kHeaderMagic kSize kSlots position_ table_ visit_fields
    visitor""".split()
)
"""Names that a view has from its base or for itself, and those of parameters of its functions.

A type of such a name would be hidden, and a member would be.
"""

DESCRIPTION_NAMES = frozenset(
    "Object Visitor each_field kIdentifier kInlineSize kKey kNumber kSlots visit".split()
)
"""What a TableSchema itself declares or needs."""

_DESCRIBING_TYPES = frozenset(
    """Alignments ChildField NestedField Presence ScalarField StructField StructMember StructSchema
    TableSchema UnionField UnionVectorField VectorField kAlignment kSize std wire""".split()
)
"""What the members of a TableSchema or StructSchema are made of."""

PARAMETER_NAMES = frozenset(
    """alignments buffer index object out path place position run table tag value verifier view
    visitor""".split()
)
"""Parameters of functions that mention types; a type of such a name would be hidden."""


class CppNames:
    """Spellings of all definitions of a schema.

    Attributes:
        namespace: C++ namespace around the modules.
    """

    def __init__(self, schema: Schema, config: ProjectConfig) -> None:
        """Claim a name for every definition, enum member and union member, in schema order."""
        self.namespace = config.cpp_namespace
        self.include_prefix = config.include_prefix
        self._schema = schema
        modules = NameScope(CPP_KEYWORDS | SUPPORT_NAMES | _NAMESPACE_NAMES)
        self._modules = {
            namespace: modules.claim(config.module(namespace)) for namespace in schema.namespaces
        }
        self._scopes = {
            namespace: NameScope(
                CPP_KEYWORDS
                | SUPPORT_NAMES
                | CLASS_NAMES
                | DESCRIPTION_NAMES
                | PARAMETER_NAMES
                | set(self._modules.values())
            )
            for namespace in schema.namespaces
        }
        definitions = schema.definitions.values()
        self._types = {
            definition.full_name: self.scope(definition.namespace).claim(definition.name)
            for definition in definitions
        }
        with_members: tuple[EnumDefinition | UnionDefinition, ...] = (
            *schema.enums,
            *schema.unions,
        )
        self._members = {
            definition.full_name: _member_names(definition) for definition in with_members
        }

    def module(self, namespace: str) -> str:
        """Name of the folder and C++ namespace that hold `namespace`."""
        return self._modules[namespace]

    @property
    def modules(self) -> frozenset[str]:
        """The names of all modules."""
        return frozenset(self._modules.values())

    def scope(self, namespace: str) -> NameScope:
        """The names of one module's C++ namespace, for further claims."""
        return self._scopes[namespace]

    def type(self, full_name: str, *, seen_from: str) -> str:
        """Spell a definition as code in the namespace `seen_from` must."""
        namespace = self._schema.definitions[full_name].namespace
        name = self._types[full_name]
        return name if namespace == seen_from else f"{self.module(namespace)}::{name}"

    def local_type(self, definition: Definition) -> str:
        """Spell a definition as code in its own namespace does."""
        return self._types[definition.full_name]

    def member(self, full_name: str, member: str) -> str:
        """Spell a member of an enum or a union, without its type."""
        return self._members[full_name][member]

    def value_type(self, type_: Type, *, seen_from: str) -> str:
        """Spell the type of a scalar or an enum."""
        if type_.kind is TypeKind.ENUM:
            assert type_.ref is not None
            return self.type(type_.ref, seen_from=seen_from)
        assert type_.kind is TypeKind.SCALAR
        assert type_.scalar is not None
        return SCALAR_TYPES[type_.scalar]

    def field_scope(self, class_name: str, namespace: str, *more: str) -> NameScope:
        """A scope for the members of a class in `namespace`.

        Names of types and of other modules are taken in it: a member that hides the type of another
        member does not compile.
        """
        types = {
            name
            for full_name, name in self._types.items()
            if self._schema.definitions[full_name].namespace == namespace
        }
        modules = {module for other, module in self._modules.items() if other != namespace}
        support = SUPPORT_NAMES - OVERLOADED_NAMES
        return NameScope(CPP_KEYWORDS | support | types | modules | {class_name, *more})

    def alignment(self, table: TableDefinition, field: Field) -> str:
        """Name of the member of `Alignments` for a vector."""
        return self._alignments[table.full_name, field.name]

    @cached_property
    def _alignments(self) -> dict[tuple[str, str], str]:
        scope = NameScope(CPP_KEYWORDS)
        return {
            (table.full_name, field.name): scope.claim(
                f"{self.module(table.namespace)}_{self.local_type(table)}_{field.name}"
            )
            for table in self._schema.tables
            for field in table.fields
            if field.type.kind is TypeKind.VECTOR
        }

    def description_scope(self) -> NameScope:
        """A scope for the members of a TableSchema or StructSchema."""
        modules = set(self._modules.values())
        return NameScope(CPP_KEYWORDS | DESCRIPTION_NAMES | _DESCRIBING_TYPES | modules)

    def attribute_scope(self, namespace: str) -> frozenset[str]:
        """Names that functions of `namespace` that are overloaded by type may not have."""
        types = {
            name
            for full_name, name in self._types.items()
            if self._schema.definitions[full_name].namespace == namespace
        }
        return CPP_KEYWORDS | SUPPORT_NAMES | types | set(self._modules.values())

    def include(self, namespace: str, header: str) -> str:
        """Return what follows `#include` to reach a header of a module."""
        return f"{self.include_prefix}/{self.module(namespace)}/{header}"


def _member_names(definition: EnumDefinition | UnionDefinition) -> dict[str, str]:
    scope = NameScope(CPP_KEYWORDS)
    if isinstance(definition, UnionDefinition):
        scope.claim("NONE")
    return {member.name: scope.claim(member.name) for member in definition.members}
