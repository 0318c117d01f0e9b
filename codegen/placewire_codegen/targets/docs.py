"""The schema reference: one Markdown page per module, and an index of the modules.

Reads the resolved schema; writes `<docs>/<module>.md` and `<docs>/README.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ..attributes import KNOWN
from ..config import ProjectConfig
from ..features import Feature
from ..model import (
    Definition,
    EnumDefinition,
    EnumMember,
    Field,
    Method,
    Schema,
    ServiceDefinition,
    StructDefinition,
    TableDefinition,
    Type,
    TypeKind,
    UnionDefinition,
    UnionMember,
)
from ..nested import vector_alignment
from ..render import GeneratedFile, Templates
from .docs_text import (
    attribute_list,
    attribute_value,
    code,
    count,
    escape,
    literal,
    one_line,
    paragraphs,
)

_SECTIONS = ("Tables", "Structs", "Enums", "Unions", "Services")

_NOTES = {
    "Tables": '"vtable +n" names the 16-bit entry, n bytes into a table\'s vtable, that holds the'
    " place of the field in the table.",
    "Structs": "A struct is stored in place; offsets count from its first byte.",
    "Enums": "The values of an enum are the numbers on the wire.",
    "Unions": "The tag of a union says which member its value is.",
    "Services": "A service is a set of methods that are called from elsewhere; no code is generated"
    " for it.",
}

Cells: TypeAlias = tuple[str, ...]
"""One row of a table, ready to be placed."""


@dataclass(frozen=True)
class Entry:
    """One definition: its heading, paragraphs, facts, and a table with one row per part."""

    name: str
    paragraphs: tuple[str, ...]
    facts: tuple[str, ...]
    columns: Cells
    rows: tuple[Cells, ...]
    if_empty: str


@dataclass(frozen=True)
class Section:
    """All definitions of one kind in a module; only sections with entries are shown."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class RootView:
    """A root table as the index and the head of a page show it."""

    link: str
    identifier: str
    extension: str


@dataclass(frozen=True)
class Page:
    """One module; `notes` explain the columns that its tables have.

    Attributes:
        attributes: Those of the schema's own that its definitions have.
    """

    module: str
    namespace: str
    sources: str
    attributes: str
    roots: tuple[RootView, ...]
    sections: tuple[Section, ...]
    counts: str
    notes: tuple[str, ...]


FEATURES: frozenset[Feature] = frozenset(
    {
        Feature.ARRAYS,
        Feature.BIT_FLAGS,
        Feature.DEFAULT_CONTENTS,
        Feature.LARGE_LAYOUTS,
        Feature.NESTED_FLATBUFFERS,
        Feature.SERVICES,
        Feature.STRUCTS,
        Feature.UNION_STRINGS,
        Feature.UNION_STRUCTS,
        Feature.UNION_TAG_TYPES,
        Feature.VECTORS_OF_UNIONS,
    }
)
"""The optional parts of the language that this target handles."""


def render(schema: Schema, config: ProjectConfig, templates: Templates) -> Iterator[GeneratedFile]:
    """Render the page of every module, then the index."""
    pages = [_Reference(schema, config, module).page() for module in _modules(schema, config)]
    directory = config.output.docs.as_posix()
    for page in pages:
        text = templates.render("docs/module.md.jinja", page=page)
        yield GeneratedFile(f"{directory}/{page.module}.md", text)
    yield GeneratedFile(
        f"{directory}/README.md", templates.render("docs/README.md.jinja", pages=pages)
    )


def _modules(schema: Schema, config: ProjectConfig) -> list[str]:
    of_services = (service.namespace for service in schema.services)
    return sorted({config.module(namespace) for namespace in (*schema.namespaces, *of_services)})


class _Reference:
    """Builds the page of one module; knows where the heading of every definition is."""

    def __init__(self, schema: Schema, config: ProjectConfig, module: str) -> None:
        self._schema = schema
        self._config = config
        self._module = module
        self._anchors = {
            name: anchor
            for other in _modules(schema, config)
            for name, anchor in _anchors(schema, config, other)
        }
        self._users = _users(schema)

    def page(self) -> Page:
        """Return the finished page."""
        groups = _by_section(self._schema, self._config, self._module)
        definitions = [definition for group in groups.values() for definition in group]
        namespaces = sorted({definition.namespace for definition in definitions})
        sections = tuple(
            Section(title, tuple(self._entry(definition) for definition in group))
            for title, group in groups.items()
            if group
        )
        return Page(
            module=self._module,
            namespace=", ".join(f"`{name}`" for name in namespaces if name) or "the global one",
            sources=", ".join(
                f"`{path}`" for path in sorted({item.location.path for item in definitions})
            ),
            attributes=code(sorted({name for each in definitions for name in _own(each)})),
            roots=tuple(self._roots()),
            sections=sections,
            counts=", ".join(count(len(s.entries), s.title.lower()) for s in sections),
            notes=tuple(_NOTES[title] for title, group in groups.items() if group),
        )

    def _roots(self) -> Iterator[RootView]:
        for root in self._schema.roots:
            table = self._schema.table(root.table)
            if self._config.module(table.namespace) == self._module:
                yield RootView(
                    link=self._link(root.table),
                    identifier=f"`{root.identifier}`" if root.identifier else "none",
                    extension=f"`.{root.extension}`" if root.extension else "none",
                )

    def _entry(self, definition: Definition) -> Entry:
        if isinstance(definition, TableDefinition):
            columns, rows = self._table(definition)
        elif isinstance(definition, StructDefinition):
            columns, rows = self._struct(definition)
        elif isinstance(definition, EnumDefinition):
            columns, rows = _enum(definition)
        elif isinstance(definition, ServiceDefinition):
            columns, rows = self._service(definition)
        else:
            assert isinstance(definition, UnionDefinition)
            columns, rows = self._union(definition)
        return Entry(
            name=definition.name,
            paragraphs=paragraphs(definition.doc),
            facts=tuple(self._facts(definition)),
            columns=columns,
            rows=tuple(rows),
            if_empty="" if rows else "It has no fields.",
        )

    def _facts(self, definition: Definition) -> Iterator[str]:
        if isinstance(definition, EnumDefinition):
            flags = ", bit flags" if definition.bit_flags else ""
            yield f"Stored as `{definition.underlying.value}`{flags}."
        elif isinstance(definition, UnionDefinition):
            yield f"Its tag is stored as `{definition.underlying.value}`."
        elif isinstance(definition, StructDefinition):
            yield f"{definition.size} bytes, aligned to {definition.alignment}, stored in place."
        attributes = attribute_list(definition.attributes)
        if attributes:
            yield f"Attributes: {attributes}."
        is_service = isinstance(definition, ServiceDefinition)
        users = () if is_service else self._users.get(definition.full_name, ())
        if users:
            yield f"Used by {', '.join(self._part_link(*user) for user in users)}."

    def _part_link(self, owner: Definition, part: str) -> str:
        return f"[`{owner.name}.{part}`]({self._target(owner)})"

    def _table(self, table: TableDefinition) -> tuple[Cells, list[Cells]]:
        columns: Cells = ("id", "field", "type", "if absent", "on the wire", "meaning")
        rows: list[Cells] = [
            (
                str(field.id),
                f"`{field.name}`",
                self._type(field.type),
                self._if_absent(field),
                self._wire(field),
                _meaning(field.doc, field),
            )
            for field in table.fields
        ]
        return columns, rows

    def _struct(self, struct: StructDefinition) -> tuple[Cells, list[Cells]]:
        columns = ("offset", "field", "type", "meaning")
        rows: list[Cells] = [
            (
                str(field.offset),
                f"`{field.name}`",
                self._type(field.type),
                _meaning(field.doc, field),
            )
            for field in struct.fields
        ]
        return columns, rows

    def _union(self, union: UnionDefinition) -> tuple[Cells, list[Cells]]:
        rows: list[Cells] = [("0", "`NONE`", "", "No value.")]
        rows += [
            (str(member.tag), f"`{member.name}`", self._type(member.type), one_line(member.doc))
            for member in union.members
        ]
        return ("tag", "member", "type", "meaning"), rows

    def _service(self, service: ServiceDefinition) -> tuple[Cells, list[Cells]]:
        rows: list[Cells] = []
        for method in service.methods:
            attributes = attribute_list(method.attributes)
            remark = f"Attributes: {attributes}." if attributes else ""
            rows.append(
                (
                    f"`{method.name}`",
                    self._link(method.request),
                    self._link(method.response),
                    " ".join(filter(None, (one_line(method.doc), remark))),
                )
            )
        return ("method", "takes", "returns", "meaning"), rows

    def _type(self, of: Type) -> str:
        """Spell a type as the schema does, with links to definitions."""
        if of.kind is TypeKind.STRING:
            return "`string`"
        if of.kind is TypeKind.SCALAR:
            assert of.scalar is not None
            return f"`{of.scalar.value}`"
        if of.kind in (TypeKind.VECTOR, TypeKind.ARRAY):
            assert of.element is not None
            element = self._type(of.element)
            length = f":{of.length}" if of.kind is TypeKind.ARRAY else ""
            if element.startswith("`"):
                return f"`[{element.strip('`')}{length}]`"
            return f"\\[{element}{length}\\]"
        assert of.ref is not None
        return self._link(of.ref)

    def _link(self, full_name: str) -> str:
        definition = self._schema.definitions[full_name]
        return f"[{escape(definition.name)}]({self._target(definition)})"

    def _target(self, definition: Definition) -> str:
        module = self._config.module(definition.namespace)
        page = "" if module == self._module else f"{module}.md"
        return f"{page}#{self._anchors[_anchor_key(definition)]}"

    def _wire(self, field: Field) -> str:
        """Say where a field of a table is found and how it is stored."""
        kind = field.type.kind
        entry = f"vtable +{field.offset}"
        if kind is TypeKind.UNION:
            assert field.type.scalar is not None
            tag = f"{field.type.scalar.value} tag by vtable +{field.offset - 2}"
            return f"{tag}, offset by {entry}"
        if kind in (TypeKind.SCALAR, TypeKind.ENUM):
            assert field.type.scalar is not None
            return f"{entry}: {count(field.type.scalar.size, 'bytes')}"
        if kind is TypeKind.STRUCT:
            return f"{entry}: in place"
        if field.type.element is not None and field.type.element.kind is TypeKind.UNION:
            return f"offset to the tags by vtable +{field.offset - 2}, to the values by {entry}"
        alignment = vector_alignment(self._schema, field)
        what = "bytes" if kind is TypeKind.STRING else "elements"
        aligned = f", {what} aligned to {alignment}" if alignment else ""
        if field.nested is not None:
            return f"{entry}: offset to a FlatBuffer of {self._link(field.nested)}{aligned}"
        return f"{entry}: offset{aligned}"

    def _if_absent(self, field: Field) -> str:
        if field.required:
            return "an error"
        if field.present:
            return "a finding"
        if field.reads_default:
            return f"`{literal(field.default_content)}`"
        if field.default is None:
            return "nothing"
        if field.type.kind is TypeKind.ENUM:
            assert field.type.ref is not None
            names = {m.value: m.name for m in self._schema.enum(field.type.ref).members}
            name = names.get(int(field.default))
            return f"`{name}`" if name else f"`{field.default}`"
        if field.type.scalar is not None and field.type.scalar.value == "bool":
            return "`true`" if field.default else "`false`"
        return f"`{field.default}`"


def _enum(enum: EnumDefinition) -> tuple[Cells, list[Cells]]:
    """One column for every attribute that any member has, in order of first appearance."""
    attributes = list(dict.fromkeys(key for member in enum.members for key in member.attributes))
    columns = ("value", "member", *(f"`{name}`" for name in attributes), "meaning")
    rows: list[Cells] = [
        (
            str(member.value),
            f"`{member.name}`",
            *(
                attribute_value(member.attributes[a]) if a in member.attributes else ""
                for a in attributes
            ),
            one_line(member.doc),
        )
        for member in enum.members
    ]
    return columns, rows


def _meaning(doc: tuple[str, ...], field: Field) -> str:
    remarks = [
        text
        for text, applies in (
            ("Deprecated: never written, not read.", field.deprecated),
            ("Key: elements of a sorted vector are found by it.", field.key),
        )
        if applies
    ]
    attributes = attribute_list(field.attributes)
    if attributes:
        remarks.append(f"Attributes: {attributes}.")
    return " ".join(filter(None, (one_line(doc), *remarks)))


def _own(definition: Definition) -> Iterator[str]:
    """Yield the attributes of a definition and of its parts that the language does not know."""
    parts: tuple[Field | EnumMember | UnionMember | Method, ...] = ()
    if isinstance(definition, ServiceDefinition):
        parts = definition.methods
    elif isinstance(definition, EnumDefinition | UnionDefinition):
        parts = definition.members
    elif isinstance(definition, TableDefinition | StructDefinition):
        parts = definition.fields
    for attributes in (definition.attributes, *(part.attributes for part in parts)):
        yield from attributes.keys() - KNOWN


def _users(schema: Schema) -> dict[str, tuple[tuple[Definition, str], ...]]:
    """For each definition, who refers to it: the owner, and the field, member or method."""
    users: dict[str, list[tuple[Definition, str]]] = {}
    owners: tuple[Definition, ...] = (
        *schema.tables,
        *schema.structs,
        *schema.unions,
        *schema.services,
    )
    for owner in owners:
        for part, reference in _references(owner):
            users.setdefault(reference, []).append((owner, part))
    return {name: tuple(pairs) for name, pairs in users.items()}


def _references(owner: Definition) -> Iterator[tuple[str, str]]:
    """Yield the parts of a definition, each with a definition that it refers to."""
    if isinstance(owner, ServiceDefinition):
        for method in owner.methods:
            for reference in dict.fromkeys((method.request, method.response)):
                yield method.name, reference
        return
    assert isinstance(owner, TableDefinition | StructDefinition | UnionDefinition)
    parts = owner.members if isinstance(owner, UnionDefinition) else owner.fields
    for part in parts:
        references = [(part.type.element or part.type).ref]
        if isinstance(part, Field):
            references.append(part.nested)
        for reference in filter(None, references):
            yield part.name, reference


def _by_section(schema: Schema, config: ProjectConfig, module: str) -> dict[str, list[Definition]]:
    """Return the definitions of a module in the order of its page: by kind, then by name."""
    groups: tuple[Iterable[Definition], ...] = (
        schema.tables,
        schema.structs,
        schema.enums,
        schema.unions,
        schema.services,
    )
    return {
        title: sorted(
            (item for item in group if config.module(item.namespace) == module),
            key=lambda item: (item.name.lower(), item.full_name),
        )
        for title, group in zip(_SECTIONS, groups, strict=True)
    }


def _anchors(
    schema: Schema, config: ProjectConfig, module: str
) -> Iterator[tuple[tuple[bool, str], str]]:
    """Number the headings of a page as Markdown renderers do: the second `x` becomes `x-1`."""
    taken: dict[str, int] = {}

    def claim(heading: str) -> str:
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = taken.get(slug, 0)
        taken[slug] = count + 1
        return f"{slug}-{count}" if count else slug

    claim(f"Module {module}")
    for title, group in _by_section(schema, config, module).items():
        if group:
            claim(title)
        for definition in group:
            yield _anchor_key(definition), claim(definition.name)


def _anchor_key(definition: Definition) -> tuple[bool, str]:
    """What tells definitions apart: a service may have the name of a type."""
    return isinstance(definition, ServiceDefinition), definition.full_name
