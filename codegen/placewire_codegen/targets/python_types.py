"""View of one Python module of types: its enums, exceptions, dataclasses and union aliases."""

from __future__ import annotations

import json

from ..model import (
    AttributeValue,
    EnumDefinition,
    EnumMember,
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
from ..names import Name, NameScope
from ..nested import vector_alignment
from ..presence import finite_tables
from .python_docstrings import LINE_LENGTH, docstring, paragraph
from .python_names import Definitions, PythonNames, scalar_literal, sort_key, string_literal
from .python_type_views import (
    EnumAttributeView,
    EnumView,
    ExceptionClassView,
    FieldView,
    MemberView,
    NestedFieldView,
    TableView,
    TypeModule,
    UnionView,
)


def type_module(schema: Schema, names: PythonNames, module: str) -> TypeModule:
    """Describe the types of `module`."""
    return _TypeWriter(schema, names, module).module()


class _TypeWriter:
    def __init__(self, schema: Schema, names: PythonNames, module: str) -> None:
        self._schema = schema
        self._names = names
        self._module = module
        self._partners = names.import_cycles.get(module, frozenset())
        self._imports: set[str] = set()
        self._tables = NameScope(
            {
                names.type_name(d.full_name)
                for d in schema.definitions.values()
                if names.module_of(d.full_name) == module
            }
        )
        self._defined: set[str] = set()
        unions = {union.full_name: union for union in schema.unions}
        self._finite_tables = finite_tables(schema.tables, unions)

    def module(self) -> TypeModule:
        here = self._names.definitions_of(self._module)
        enums = [self._enum(enum) for enum in here.enums]
        structs = [self._struct(struct) for struct in here.structs]
        tables = [self._table(table) for table in here.tables]
        members = [
            self._member_class(union, member)
            for union in here.unions
            for member in union.members
            if self._names.member_class(union, member) is not None
        ]
        classes = [*structs, *tables, *members]
        unions = [self._union(union) for union in here.unions]
        typing_names = set()
        if any(enum.attributes or enum.exception_base for enum in enums):
            typing_names.add("Final")
        if any(enum.exception_base for enum in enums):
            typing_names.add("ClassVar")
        if unions:
            typing_names.add("TypeAlias")
        return TypeModule(
            summary=_summary(here),
            imports=_import(self._imports - self._partners),
            late_imports=_import(self._imports & self._partners),
            exports=sorted(_exported(enums, classes, unions), key=sort_key),
            enum_bases=sorted({enum.base for enum in enums}),
            typing_names=sorted(typing_names),
            needs_field=any("field(" in f.default for c in classes for f in c.fields),
            needs_codec=any(table.nested for table in tables),
            enums=enums,
            tables=[*structs, *tables],
            members=members,
            unions=unions,
        )

    def _enum(self, enum: EnumDefinition) -> EnumView:
        members = self._names.member_names(enum)
        base = enum.attributes.get("exception_base")
        return EnumView(
            name=self._names.type_name(enum.full_name),
            base="IntFlag" if enum.bit_flags else "IntEnum",
            docstring=docstring(enum.doc, [f"Wire: {enum.underlying.value}."], indent=4),
            members=[
                MemberView(
                    members[member.name],
                    str(member.value),
                    docstring(member.doc, [], indent=4) if member.doc else None,
                )
                for member in enum.members
            ],
            attributes=self._enum_attributes(enum),
            exception_base=None if base is None else str(base),
            exception_table=f"{Name(str(base)).upper_snake}S",
            exceptions=[
                _exception(member, members[member.name], str(base))
                for member in enum.members
                if base is not None and "exception" in member.attributes
            ],
        )

    def _enum_attributes(self, enum: EnumDefinition) -> list[EnumAttributeView]:
        if "exception_base" in enum.attributes:
            return []
        attributes = self._names.attribute_names(enum).items()
        return [self._enum_attribute(enum, attribute, name) for attribute, name in attributes]

    def _enum_attribute(
        self, enum: EnumDefinition, attribute: str, property_name: str
    ) -> EnumAttributeView:
        python_names = self._names.member_names(enum)
        having = [member for member in enum.members if attribute in member.attributes]
        types = sorted({type(member.attributes[attribute]).__name__ for member in having})
        is_total = len(having) == len(enum.members)
        name = self._names.type_name(enum.full_name)
        return EnumAttributeView(
            name=property_name,
            type=" | ".join(types if is_total else [*types, "None"]),
            summary=f"The attribute `{attribute}` of the schema"
            + ("." if is_total else "; None where it has none."),
            table=self._tables.claim(f"_{Name(name).upper_snake}_{Name(attribute).upper_snake}"),
            lookup="[self]" if is_total else ".get(self)",
            members=[
                MemberView(python_names[m.name], _attribute_literal(m.attributes[attribute]))
                for m in having
            ],
        )

    def _table(self, table: TableDefinition) -> TableView:
        attributes = self._names.field_names(table)
        notes = [
            paragraph(
                f"{attributes[f.name]}: {' '.join((*f.doc, _wire_note(f, self._schema)))}",
                indent=8,
                hanging=4,
            )
            for f in table.fields
        ]
        fields = [
            FieldView(attributes[f.name], self._annotation(f), self._default(f))
            for f in table.fields
        ]
        self._defined.add(table.full_name)
        sections = ["Attributes:\n" + "\n".join(notes)] if notes else []
        return TableView(
            name=self._names.type_name(table.full_name),
            docstring=docstring(table.doc or (f"The table `{table.name}`.",), sections, indent=4),
            bases="",
            fields=fields,
            nested=[self._nested(table, f) for f in table.fields if f.nested is not None],
        )

    def _nested(self, table: TableDefinition, field: Field) -> NestedFieldView:
        methods = self._names.nested_methods(table)[field.name]
        return NestedFieldView(
            name=self._names.field_names(table)[field.name],
            root=self._reference(field.nested or ""),
            none="" if field.is_mandatory else " | None",
            unpack=methods.unpack,
            view=methods.view,
            pack=methods.pack,
        )

    def _struct(self, struct: StructDefinition) -> TableView:
        attributes = self._names.field_names(struct)
        notes = [
            paragraph(
                f"{attributes[f.name]}: {' '.join((*f.doc, _struct_note(f)))}", indent=8, hanging=4
            )
            for f in struct.fields
        ]
        self._defined.add(struct.full_name)
        size = f"Wire: {struct.size} bytes, aligned to {struct.alignment}."
        return TableView(
            name=self._names.type_name(struct.full_name),
            docstring=docstring(struct.doc, [size, "Attributes:\n" + "\n".join(notes)], indent=4),
            bases="",
            fields=[
                FieldView(attributes[f.name], self._spelling(f.type), self._empty_value(f.type))
                for f in struct.fields
            ],
            nested=[],
        )

    def _member_class(self, union: UnionDefinition, member: UnionMember) -> TableView:
        """Return the class that stands for a member which goes by a name of its own."""
        name = self._names.member_class(union, member) or ""
        doc = member.doc or (f"The member `{member.name}` of the union `{union.name}`.",)
        if member.type.ref is None:
            text = [FieldView("value", "str", '""')]
            return TableView(name, docstring(doc, [], indent=4), "", text, [])
        base = self._reference(member.type.ref)
        return TableView(name, docstring(doc, [], indent=4), f"({base})", [], [])

    def _annotation(self, field: Field) -> str:
        spelled = self._spelling(field.type)
        is_plain = field.type.kind in (TypeKind.SCALAR, TypeKind.ENUM) and not field.optional
        is_never_none = field.is_mandatory and self._is_finite(field.type)
        is_never_none |= field.reads_default
        return spelled if is_plain or is_never_none else f"{spelled} | None"

    def _spelling(self, type_: Type) -> str:
        if type_.is_bytes or type_.is_byte_array:
            return "bytes"
        if type_.element is not None:
            item = self._spelling(type_.element)
            may_be_none = " | None" if type_.element.kind is TypeKind.UNION else ""
            return f"list[{item}{may_be_none}]"
        if type_.kind is TypeKind.STRING:
            return "str"
        if type_.kind is TypeKind.SCALAR:
            assert type_.scalar is not None
            if type_.scalar is ScalarKind.BOOL:
                return "bool"
            return "float" if type_.scalar.is_float else "int"
        return self._reference(type_.ref or "")

    def _reference(self, full_name: str) -> str:
        module = self._names.module_of(full_name)
        name = self._names.type_name(full_name)
        if module == self._module:
            return name
        self._imports.add(module)
        return f"{module}.{name}"

    def _default(self, field: Field) -> str:
        if field.type.kind is TypeKind.ENUM and field.default is not None:
            return self._enum_default(field.type, int(field.default))
        if field.default is not None:
            return scalar_literal(field.type, field.default)
        if field.reads_default and isinstance(field.default_content, str):
            return string_literal(field.default_content)
        has_value = field.reads_default or (field.is_mandatory and self._is_finite(field.type))
        return self._empty_value(field.type) if has_value else "None"

    def _empty_value(self, type_: Type) -> str:
        """Return what a mandatory field holds in an object that says nothing about it."""
        if type_.is_bytes:
            return 'b""'
        if type_.kind is TypeKind.SCALAR:
            return scalar_literal(type_, 0)
        if type_.kind is TypeKind.ENUM:
            return self._enum_default(type_, 0)
        if type_.kind is TypeKind.ARRAY:
            return self._empty_array(type_)
        if type_.kind is TypeKind.STRING:
            return '""'
        if type_.kind is TypeKind.VECTOR:
            return "field(default_factory=list)"
        if type_.kind is TypeKind.UNION:
            return self._empty_union(self._schema.union(type_.ref or ""))
        return self._factory(self._reference(type_.ref or ""), type_.ref)

    def _empty_union(self, union: UnionDefinition) -> str:
        finite = [member for member in union.members if self._is_finite(member.type)]
        # The shallowest, so that a member does not begin with itself.
        first = min(finite, key=lambda member: self._finite_tables.get(member.type.ref or "", 0))
        return self._factory(self._member(union, first), first.type.ref)

    def _is_finite(self, type_: Type) -> bool:
        """Whether a value of `type_` can be made without an end: with all its mandatory fields."""
        if type_.kind is TypeKind.UNION:
            members = self._schema.union(type_.ref or "").members
            return any(self._is_finite(member.type) for member in members)
        return type_.kind is not TypeKind.TABLE or type_.ref in self._finite_tables

    def _factory(self, reference: str, definition: str | None) -> str:
        """Return a default that makes an empty object, also if its class comes further down."""
        is_above = definition in self._defined and reference == self._names.type_name(
            definition or ""
        )
        module = reference.rpartition(".")[0]
        is_defined = is_above or (module != "" and module not in self._partners)
        factory = reference if is_defined else f"lambda: {reference}()"
        return f"field(default_factory={factory})"

    def _empty_array(self, array: Type) -> str:
        """Return an array of zeros, of which each object needs its own."""
        element = array.element
        assert element is not None
        if element.kind is TypeKind.STRUCT:
            made = f"[{self._reference(element.ref or '')}() for _ in range({array.length})]"
        elif array.is_byte_array:
            return f"bytes({array.length})"
        else:
            zero = (
                self._enum_literal(element, 0)
                if element.kind is TypeKind.ENUM
                else scalar_literal(element, 0)
            )
            made = f"[{zero}] * {array.length}"
        return f"field(default_factory=lambda: {made})"

    def _enum_literal(self, type_: Type, value: int) -> str:
        enum = self._schema.enum(type_.ref or "")
        member = self._names.member_with_value(enum, value)
        reference = self._reference(enum.full_name)
        return f"{reference}({value})" if member is None else f"{reference}.{member}"

    def _enum_default(self, type_: Type, value: int) -> str:
        """Return a member as a default; one of a module that is imported late is looked up late."""
        literal = self._enum_literal(type_, value)
        if self._names.module_of(type_.ref or "") in self._partners:
            return f"field(default_factory=lambda: {literal})"
        return literal

    def _member(self, union: UnionDefinition, member: UnionMember) -> str:
        """Return how this module refers to the class of a union's member."""
        name = self._names.member_class(union, member)
        if name is None:
            return self._reference(member.type.ref or "")
        module = self._names.module_of(union.full_name)
        if module == self._module:
            return name
        self._imports.add(module)
        return f"{module}.{name}"

    def _union(self, union: UnionDefinition) -> UnionView:
        members = [self._member(union, member) for member in union.members]
        name = self._names.type_name(union.full_name)
        return UnionView(
            name,
            _alternatives(members, len(name)),
            docstring(union.doc or (f"The union `{union.name}`.",), [], indent=0),
        )


def _import(modules: set[str]) -> list[str]:
    return [f"from . import {', '.join(sorted(modules))}"] if modules else []


def _summary(here: Definitions) -> str:
    namespaces = sorted(
        {definition.namespace for definitions in here for definition in definitions}
    )
    spelled = " and ".join(f"`{name}`" if name else "the global one" for name in namespaces)
    return f"Types of the schema namespace {spelled}."


def _alternatives(members: list[str], name_length: int) -> str:
    """Return a union type, in parentheses and on several lines if one is too short for it."""
    line = " | ".join(members)
    if name_length + len(": TypeAlias = ") + len(line) <= LINE_LENGTH:
        return line
    return "(\n    " + "\n    | ".join(members) + "\n)"


def _exported(enums: list[EnumView], tables: list[TableView], unions: list[UnionView]) -> list[str]:
    exceptions = [
        name
        for enum in enums
        if enum.exception_base is not None
        for name in (
            enum.exception_base,
            enum.exception_table,
            *(exception.name for exception in enum.exceptions),
        )
    ]
    return [item.name for group in (enums, tables, unions) for item in group] + exceptions


def _exception(member: EnumMember, python_name: str, base: str) -> ExceptionClassView:
    builtin = member.attributes.get("builtin")
    return ExceptionClassView(
        name=str(member.attributes["exception"]),
        bases=base if builtin is None else f"{base}, {builtin}",
        member=python_name,
        docstring=docstring(member.doc, [], indent=4),
    )


def _attribute_literal(value: AttributeValue) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _wire_note(field: Field, schema: Schema) -> str:
    """Return the sentence about a field's place and form on the wire."""
    facts = [f"slot {field.id}", _wire_type(field.type)]
    if field.default is not None:
        facts.append(f"default {_wire_default(field, schema)}")
    if isinstance(field.default_content, str):
        facts.append(f"default {string_literal(field.default_content)}")
    elif field.default_content is not None:
        facts.append("default []")
    facts += [flag for flag in ("required", "present", "key", "deprecated") if getattr(field, flag)]
    alignment = vector_alignment(schema, field)
    if alignment:
        facts.append(f"aligned to {alignment}")
    if field.nested is not None:
        facts.append(f"a FlatBuffer of `{field.nested.rpartition('.')[2]}`")
    return f"Wire: {', '.join(facts)}."


def _struct_note(field: Field) -> str:
    key = ", key" if field.key else ""
    return f"Wire: byte {field.offset}, {_wire_type(field.type)}{key}."


def _wire_type(type_: Type) -> str:
    if type_.element is not None:
        length = "" if type_.length is None else f":{type_.length}"
        return f"[{_wire_type(type_.element)}{length}]"
    if type_.ref is not None:
        return type_.ref.rpartition(".")[2]
    return type_.kind.value if type_.scalar is None else type_.scalar.value


def _wire_default(field: Field, schema: Schema) -> str:
    assert field.default is not None
    if field.type.kind is TypeKind.ENUM:
        members = schema.enum(field.type.ref or "").members
        return next((m.name for m in members if m.value == field.default), str(field.default))
    return scalar_literal(field.type, field.default)
