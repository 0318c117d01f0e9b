"""Tables and structs: syntax nodes to definitions, with slots and layout."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from . import syntax
from .attributes import attribute_place, integer_attribute, read_attributes
from .diagnostics import Note
from .features import Feature
from .field_rules import can_be_key, check_alignment
from .fields import ResolvedField, resolve_field
from .layout import (
    MAXIMUM_INLINE_SIZE,
    MAXIMUM_SLOTS,
    MAXIMUM_STRUCT_OFFSET,
    MAXIMUM_STRUCT_SIZE,
    Extent,
    lay_out_struct,
    vtable_offset,
)
from .model import Field, StructDefinition, TableDefinition, Type, TypeKind
from .scope import Context, Definitions

_LARGEST_STRUCT_ALIGNMENT = 32

# Names that flatc derives from that of a field, by what the field is.
_DERIVED_NAMES = {
    "_type": "union",
    "Type": "union",
    "_length": "vector",
    "Length": "vector",
    "_byte_vector": "string",
    "ByteVector": "string",
}
_SUFFIXES = tuple(_DERIVED_NAMES)
_ID = attrgetter("id")


def resolve_table(node: syntax.TableNode, context: Context, known: Definitions) -> TableDefinition:
    """Build a table; fields that are wrong are reported and left out."""
    attributes = read_attributes(node.attributes, context)
    fields = _resolve_fields(node, context, known)
    _check_clashes(fields, context)
    complete = node.complete and len(fields) == len(node.fields)
    ids = _assign_ids(fields, complete, context)
    made = [
        _field(field, id_, vtable_offset(id_), context)
        for field, id_ in zip(fields, ids, strict=True)
    ]
    made.sort(key=_ID)
    return TableDefinition.known(
        {
            "name": node.name.text,
            "namespace": context.namespace,
            "location": context.location(node.name),
            "doc": context.doc(node.doc),
            "attributes": attributes,
            "fields": tuple(made),
        }
    )


def resolve_struct(
    node: syntax.TableNode, context: Context, known: Definitions
) -> StructDefinition | None:
    """Build a struct with its layout; None if a field is wrong, so that nothing has a place."""
    context.require(Feature.STRUCTS, node.name)
    attributes = read_attributes(node.attributes, context)
    fields = _resolve_fields(node, context, known)
    force_align = integer_attribute("force_align", attributes, node.attributes, context)
    if not node.complete or len(fields) != len(node.fields):
        return None
    if not fields:
        context.error(node.name, f"struct `{node.name.text}` is empty", hint="only a table may be")
        return None
    extents = [_extent(field.type, known) for field in fields]
    layout = lay_out_struct(extents)
    if force_align is not None:
        alignment = check_alignment(
            force_align, layout.alignment, _LARGEST_STRUCT_ALIGNMENT, context
        )
        layout = lay_out_struct(extents, alignment)
    if layout.offsets[-1] > MAXIMUM_STRUCT_OFFSET:
        name = fields[-1].node.name
        context.error(
            name,
            f"field `{name.text}` lies at byte {layout.offsets[-1]} of the struct, "
            f"{MAXIMUM_STRUCT_OFFSET} is the maximum",
        )
    elif layout.size > MAXIMUM_STRUCT_SIZE:
        context.error(
            node.name,
            f"struct `{node.name.text}` has {layout.size} bytes, "
            f"{MAXIMUM_STRUCT_SIZE} is the maximum",
        )
    elif layout.size > MAXIMUM_INLINE_SIZE:
        context.require(
            Feature.LARGE_LAYOUTS,
            node.name,
            hint=f"struct `{node.name.text}` has {layout.size} bytes, more than a table can hold; "
            "use vectors",
        )
    for position, field in enumerate(fields):
        if field.written_id is not None and field.written_id[0] != position:
            context.error(
                field.written_id[1],
                f"field `{field.node.name.text}` is number {position} of the struct; "
                "an id does not move it",
                hint="the fields of a struct lie in the order in which they are declared",
            )
    return StructDefinition(
        name=node.name.text,
        namespace=context.namespace,
        location=context.location(node.name),
        doc=context.doc(node.doc),
        attributes=attributes,
        fields=tuple(
            _field(field, position, offset, context)
            for position, (field, offset) in enumerate(zip(fields, layout.offsets, strict=True))
        ),
        size=layout.size,
        alignment=layout.alignment,
    )


def _resolve_fields(
    node: syntax.TableNode, context: Context, known: Definitions
) -> list[ResolvedField]:
    fields: list[ResolvedField] = []
    names: dict[str, syntax.Identifier] = {}
    key: ResolvedField | None = None
    for field_node in node.fields:
        name = field_node.name
        resolved = resolve_field(field_node, in_struct=node.is_struct, context=context, known=known)
        previous = names.setdefault(name.text, name)
        if previous is not name:
            context.error(
                name,
                f"field `{name.text}` is declared twice",
                notes=[context.note("first declared here", previous)],
            )
            continue
        if name.text in context.scope.table_names:
            _check_type_name(name, context)
        if resolved is None:
            continue
        if "key" in resolved.attributes and can_be_key(resolved.type):
            if key is not None:
                context.error(
                    attribute_place("key", field_node.attributes),
                    "a table has one key at most",
                    notes=[context.note("this is the key already", key.node.name)],
                )
            key = key or resolved
        fields.append(resolved)
    return fields


def _check_type_name(name: syntax.Identifier, context: Context) -> None:
    """A field cannot have the name of a type that it sees: flatc's code would confuse them."""
    if context.tree.is_binary:
        return  # the order of declarations, on which it depends, is lost
    symbol = context.scope.earlier(name.text, context.prefixes, context.order)
    if symbol is not None and symbol.is_table:
        context.error(
            name,
            f"field `{name.text}` has the name of {symbol.article_and_kind}",
            notes=[Note(f"{symbol.kind} `{symbol.full_name}` is declared here", symbol.span)],
        )


def _check_clashes(fields: Sequence[ResolvedField], context: Context) -> None:
    """Report names that flatc derives from another field's, such as `x_type` beside a union `x`."""
    for field in fields:
        name = field.node.name
        if not name.text.endswith(_SUFFIXES):
            continue
        for suffix, kind in _DERIVED_NAMES.items():
            base = name.text.removesuffix(suffix)
            owner = next((each for each in fields if each.node.name.text == base), None)
            if base == name.text or owner is None:
                continue
            # A vector of unions has a vector of tags, whose name ends like that of a tag.
            if owner.type.kind.value == kind or (suffix == "_type" and owner.slots == 2):
                context.error(
                    name,
                    f"field `{name.text}` has a name that belongs to the {kind} `{base}`",
                    notes=[context.note("declared here", owner.node.name)],
                )


def _assign_ids(fields: Sequence[ResolvedField], complete: bool, context: Context) -> list[int]:
    """The id of each field: as written, else counted in order; a union's is that of its value.

    Unless `complete`, fields are missing here, and gaps prove nothing.
    """
    with_id = [field for field in fields if field.written_id is not None]
    without_id = [field for field in fields if "id" not in field.attributes]
    if with_id and not without_id:
        return _written_ids(fields, complete, context)
    if with_id and complete:
        context.error(
            without_id[0].node.name,
            f"field `{without_id[0].node.name.text}` has no id, but other fields have",
            hint="give an id to all fields of the table or to none",
            notes=[context.note("this field has one", with_id[0].node.name)],
        )
    ids: list[int] = []
    slots = 0
    for field in fields:
        slots += field.slots
        ids.append(slots - 1)
    if slots > MAXIMUM_SLOTS:
        context.error(
            fields[-1].node.name, f"the table has {slots} slots, {MAXIMUM_SLOTS} is the maximum"
        )
    return ids


def _written_ids(fields: Sequence[ResolvedField], complete: bool, context: Context) -> list[int]:
    owners: dict[int, ResolvedField] = {}
    ids: list[int] = []
    for field in fields:
        id_, place = field.written_id or (0, field.node.name)
        ids.append(id_)
        if not field.slots - 1 <= id_ < MAXIMUM_SLOTS:
            hint = None
            if id_ == 0:
                hint = "the tag of a union takes the id before the written one"
            context.error(place, f"{id_} is out of range for this field's id", hint=hint)
            complete = False
            continue
        for slot in range(id_ - field.slots + 1, id_ + 1):
            owner = owners.setdefault(slot, field)
            if owner is not field:
                tag = "the tag of " if slot != id_ else ""
                context.error(
                    place,
                    f"{tag}field `{field.node.name.text}` takes id {slot}, which is in use",
                    notes=[context.note("taken by this field", owner.node.name)],
                )
                complete = False
    if complete:
        _report_gap(owners, context)
    return ids


def _report_gap(owners: dict[int, ResolvedField], context: Context) -> None:
    for position, slot in enumerate(sorted(owners)):
        if slot != position:
            field = owners[slot]
            assert field.written_id is not None
            context.error(
                field.written_id[1],
                f"no field has the id {position}",
                hint="ids have no gaps; a union takes its own and the one before, for its tag",
            )
            return


def _field(field: ResolvedField, id_: int, offset: int, context: Context) -> Field:
    node, type_, default, attributes, _, _, force_align, nested = field
    value = None if default is None else default.value
    is_string_key = "key" in attributes and type_.kind is TypeKind.STRING
    return Field.known(
        {
            "name": node.name.text,
            "type": type_,
            "id": id_,
            "offset": offset,
            "location": context.location(node.name),
            "default": value if isinstance(value, (int, float)) else None,
            "default_content": value if isinstance(value, (str, tuple)) else None,
            "optional": default is not None and value is None,
            "required": "required" in attributes or is_string_key,
            "present": "present" in attributes,
            "deprecated": "deprecated" in attributes,
            "key": "key" in attributes,
            "force_align": force_align,
            "nested": nested,
            "doc": context.doc(node.doc),
            "attributes": attributes,
        }
    )


def _extent(type_: Type, known: Definitions) -> Extent:
    """Size and alignment of what a struct holds in place."""
    if type_.kind is TypeKind.ARRAY:
        assert type_.element is not None
        assert type_.length is not None
        element = _extent(type_.element, known)
        return Extent(element.size * type_.length, element.alignment)
    if type_.kind is TypeKind.STRUCT:
        assert type_.ref is not None
        struct = known.structs[type_.ref]
        return Extent(struct.size, struct.alignment)
    assert type_.scalar is not None
    return Extent(type_.scalar.size, type_.scalar.size)
