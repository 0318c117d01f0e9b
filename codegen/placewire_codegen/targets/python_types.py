"""View of one Python module of types: its enums, exceptions, dataclasses and union aliases."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass

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
from ..names import Name
from ..presence import finite_tables
from .python_names import Definitions, PythonNames, scalar_literal, sort_key, string_literal

_LINE_LENGTH = 100


@dataclass(frozen=True)
class _Member:
    name: str
    value: str
    docstring: str | None = None


@dataclass(frozen=True)
class _EnumAttribute:
    """A schema attribute of members, as a property that looks into a table."""

    name: str
    type: str
    summary: str
    table: str
    lookup: str
    members: list[_Member]


@dataclass(frozen=True)
class _ExceptionClass:
    name: str
    bases: str
    member: str
    docstring: str


@dataclass(frozen=True)
class _Enum:
    name: str
    base: str
    docstring: str
    members: list[_Member]
    attributes: list[_EnumAttribute]
    exception_base: str | None
    exception_table: str
    exceptions: list[_ExceptionClass]


@dataclass(frozen=True)
class _Field:
    name: str
    annotation: str
    default: str


@dataclass(frozen=True)
class _Table:
    name: str
    docstring: str
    bases: str
    fields: list[_Field]


@dataclass(frozen=True)
class _Union:
    name: str
    alternatives: str
    docstring: str


@dataclass(frozen=True)
class TypeModule:
    """One module, as finished strings in the order in which they are placed."""

    summary: str
    imports: list[str]
    exports: list[str]
    enum_bases: list[str]
    typing_names: list[str]
    needs_field: bool
    enums: list[_Enum]
    tables: list[_Table]
    unions: list[_Union]


def type_module(schema: Schema, names: PythonNames, module: str) -> TypeModule:
    """Describe the types of `module`."""
    return _TypeWriter(schema, names, module).module()


class _TypeWriter:
    def __init__(self, schema: Schema, names: PythonNames, module: str) -> None:
        self._schema = schema
        self._names = names
        self._module = module
        self._imports: set[str] = set()
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
            imports=[f"from . import {', '.join(sorted(self._imports))}"] if self._imports else [],
            exports=sorted(_exported(enums, classes, unions), key=sort_key),
            enum_bases=sorted({enum.base for enum in enums}),
            typing_names=sorted(typing_names),
            needs_field=any("field(" in f.default for c in classes for f in c.fields),
            enums=enums,
            tables=classes,
            unions=unions,
        )

    def _enum(self, enum: EnumDefinition) -> _Enum:
        members = self._names.member_names(enum)
        base = enum.attributes.get("exception_base")
        return _Enum(
            name=self._names.type_name(enum.full_name),
            base="IntFlag" if enum.bit_flags else "IntEnum",
            docstring=_docstring(enum.doc, [f"Wire: {enum.underlying.value}."], indent=4),
            members=[
                _Member(
                    members[member.name],
                    str(member.value),
                    _docstring(member.doc, [], indent=4) if member.doc else None,
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

    def _enum_attributes(self, enum: EnumDefinition) -> list[_EnumAttribute]:
        if "exception_base" in enum.attributes:
            return []
        python_names = self._names.member_names(enum)
        attributes = dict.fromkeys(name for m in enum.members for name in m.attributes)
        return [self._enum_attribute(enum, name, python_names) for name in attributes]

    def _enum_attribute(
        self, enum: EnumDefinition, attribute: str, python_names: dict[str, str]
    ) -> _EnumAttribute:
        having = [member for member in enum.members if attribute in member.attributes]
        types = sorted({type(member.attributes[attribute]).__name__ for member in having})
        is_total = len(having) == len(enum.members)
        name = self._names.type_name(enum.full_name)
        return _EnumAttribute(
            name=attribute,
            type=" | ".join(types if is_total else [*types, "None"]),
            summary=f"The attribute `{attribute}` of the schema"
            + ("." if is_total else "; None where it has none."),
            table=f"_{Name(name).upper_snake}_{Name(attribute).upper_snake}",
            lookup="[self]" if is_total else ".get(self)",
            members=[
                _Member(python_names[m.name], _attribute_literal(m.attributes[attribute]))
                for m in having
            ],
        )

    def _table(self, table: TableDefinition) -> _Table:
        attributes = self._names.field_names(table)
        notes = [
            _paragraph(
                f"{attributes[f.name]}: {' '.join((*f.doc, _wire_note(f, self._schema)))}",
                indent=8,
                hanging=4,
            )
            for f in table.fields
        ]
        fields = [
            _Field(attributes[f.name], self._annotation(f), self._default(f)) for f in table.fields
        ]
        self._defined.add(table.full_name)
        sections = ["Attributes:\n" + "\n".join(notes)] if notes else []
        return _Table(
            name=self._names.type_name(table.full_name),
            docstring=_docstring(table.doc, sections, indent=4),
            bases="",
            fields=fields,
        )

    def _struct(self, struct: StructDefinition) -> _Table:
        attributes = self._names.field_names(struct)
        notes = [
            _paragraph(
                f"{attributes[f.name]}: {' '.join((*f.doc, _struct_note(f)))}", indent=8, hanging=4
            )
            for f in struct.fields
        ]
        self._defined.add(struct.full_name)
        size = f"Wire: {struct.size} bytes, aligned to {struct.alignment}."
        return _Table(
            name=self._names.type_name(struct.full_name),
            docstring=_docstring(struct.doc, [size, "Attributes:\n" + "\n".join(notes)], indent=4),
            bases="",
            fields=[
                _Field(attributes[f.name], self._spelling(f.type), self._empty_value(f.type))
                for f in struct.fields
            ],
        )

    def _member_class(self, union: UnionDefinition, member: UnionMember) -> _Table:
        """Return the class that stands for a member which goes by a name of its own."""
        name = self._names.member_class(union, member) or ""
        doc = member.doc or (f"The member `{member.name}` of the union `{union.name}`.",)
        if member.type.ref is None:
            text = [_Field("value", "str", '""')]
            return _Table(name, _docstring(doc, [], indent=4), "", text)
        base = self._reference(member.type.ref)
        return _Table(name, _docstring(doc, [], indent=4), f"({base})", [])

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
            return self._enum_literal(field.type, int(field.default))
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
            return self._enum_literal(type_, 0)
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
        is_defined = definition in self._defined and reference.endswith(
            self._names.type_name(definition or "")
        )
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
            made = f"[{self._empty_value(element)}] * {array.length}"
        return f"field(default_factory=lambda: {made})"

    def _enum_literal(self, type_: Type, value: int) -> str:
        enum = self._schema.enum(type_.ref or "")
        member = self._names.member_with_value(enum, value)
        reference = self._reference(enum.full_name)
        return f"{reference}({value})" if member is None else f"{reference}.{member}"

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

    def _union(self, union: UnionDefinition) -> _Union:
        members = [self._member(union, member) for member in union.members]
        name = self._names.type_name(union.full_name)
        return _Union(
            name,
            _alternatives(members, len(name)),
            _docstring(union.doc or (f"The union `{union.name}`.",), [], indent=0),
        )


def _summary(here: Definitions) -> str:
    namespaces = sorted(
        {definition.namespace for definitions in here for definition in definitions}
    )
    spelled = " and ".join(f"`{name}`" if name else "the global one" for name in namespaces)
    return f"Types of the schema namespace {spelled}."


def _alternatives(members: list[str], name_length: int) -> str:
    """Return a union type, in parentheses and on several lines if one is too short for it."""
    line = " | ".join(members)
    if name_length + len(": TypeAlias = ") + len(line) <= _LINE_LENGTH:
        return line
    return "(\n    " + "\n    | ".join(members) + "\n)"


def _exported(enums: list[_Enum], tables: list[_Table], unions: list[_Union]) -> list[str]:
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


def _exception(member: EnumMember, python_name: str, base: str) -> _ExceptionClass:
    builtin = member.attributes.get("builtin")
    return _ExceptionClass(
        name=str(member.attributes["exception"]),
        bases=base if builtin is None else f"{base}, {builtin}",
        member=python_name,
        docstring=_docstring(member.doc, [], indent=4),
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
    facts += [flag for flag in ("required", "present", "deprecated") if getattr(field, flag)]
    if field.force_align:
        facts.append(f"aligned to {field.force_align}")
    return f"Wire: {', '.join(facts)}."


def _struct_note(field: Field) -> str:
    return f"Wire: byte {field.offset}, {_wire_type(field.type)}."


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


def _docstring(doc: tuple[str, ...], sections: list[str], *, indent: int) -> str:
    """Return a docstring of the schema's comment and further sections.

    The first line carries the summary; the caller indents what follows by `indent`.
    """
    paragraphs = "\n".join(line.strip() for line in doc).split("\n\n")
    blocks = [_paragraph(text, indent=indent) for text in paragraphs if text.strip()] + sections
    text = "\n\n".join(blocks).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if "\n" not in text and len(text) + indent + 6 <= _LINE_LENGTH:
        return f'"""{text}"""'
    return f'"""{text}\n"""'


def _paragraph(text: str, *, indent: int, hanging: int = 0) -> str:
    """Wrap `text` for a block that will stand `indent` columns in, four of them the caller's."""
    lead = " " * max(indent - 4, 0)
    return textwrap.fill(
        " ".join(text.split()),
        width=_LINE_LENGTH - 4 - (3 if indent <= 4 else 0),
        initial_indent=lead,
        subsequent_indent=lead + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
