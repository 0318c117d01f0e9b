"""Which attributes may stand on which field."""

from __future__ import annotations

from . import syntax
from .attributes import attribute_place, integer_attribute
from .features import Feature
from .model import AttributeValue, Type, TypeKind
from .scope import Context
from .values import Default

_INLINE_SCALARS = (TypeKind.SCALAR, TypeKind.ENUM)


def check_field_attributes(
    node: syntax.Field,
    type_: Type,
    default: Default | None,
    attributes: dict[str, AttributeValue],
    in_struct: bool,
    context: Context,
) -> None:
    """Report attributes that contradict the field's type or each other."""
    if not attributes:
        return

    def report(name: str, message: str, *, hint: str | None = None) -> None:
        context.error(attribute_place(name, node.attributes), message, hint=hint)

    is_scalar = type_.kind in _INLINE_SCALARS
    for name in ("required", "present"):
        if name not in attributes:
            continue
        if in_struct:
            report(name, f"`{name}` says nothing in a struct: its fields are always there")
        elif is_scalar:
            report(
                name,
                f"`{name}` cannot stand on a scalar: an absent one reads as its default",
                hint="to tell whether it was written, give it the default `null`",
            )
    if "deprecated" in attributes and in_struct:
        report("deprecated", "a field of a struct cannot be deprecated: it keeps its place")
    if "key" in attributes:
        element = type_.element if type_.kind is TypeKind.ARRAY else type_
        assert element is not None
        if element.kind not in (*_INLINE_SCALARS, TypeKind.STRING, TypeKind.STRUCT):
            report("key", "a key must be a scalar, a string or a struct")
        elif default is not None and default.value is None:
            report("key", "a key cannot have the default `null`")
    if "shared" in attributes and type_.kind is not TypeKind.STRING:
        report("shared", "only strings can be shared")
    _check_features(node, type_, attributes, context)


def _check_features(
    node: syntax.Field, type_: Type, attributes: dict[str, AttributeValue], context: Context
) -> None:
    for name, feature in (
        ("nested_flatbuffer", Feature.NESTED_FLATBUFFERS),
        ("flexbuffer", Feature.FLEXBUFFERS),
        ("hash", Feature.HASHES),
        ("offset64", Feature.OFFSETS_64),
        ("vector64", Feature.OFFSETS_64),
    ):
        if name in attributes:
            place = attribute_place(name, node.attributes)
            if name in ("nested_flatbuffer", "flexbuffer") and not type_.is_bytes:
                context.error(place, f"`{name}` can only stand on `[ubyte]`")
            else:
                context.require(feature, place)


def read_force_align(
    node: syntax.Field, type_: Type, attributes: dict[str, AttributeValue], context: Context
) -> int:
    """Alignment that a vector field asks for, 0 for none.

    As in flatc, the attribute has no effect on fields that are neither vectors nor strings.
    """
    found = integer_attribute("force_align", attributes, node.attributes, context)
    if found is None:
        return 0
    if type_.kind is TypeKind.STRING:
        context.require(Feature.STRING_ALIGNMENT, found[1])
    if type_.kind is not TypeKind.VECTOR:
        return 0
    return checked_alignment(found, 1, LARGEST_VECTOR_ALIGNMENT, context)


LARGEST_VECTOR_ALIGNMENT = 1 << 15


def checked_alignment(
    found: tuple[int, syntax.Place], least: int, most: int, context: Context
) -> int:
    """An alignment, 0 if it is none, which is reported."""
    alignment, place = found
    if least <= alignment <= most and alignment & (alignment - 1) == 0:
        return alignment
    context.error(
        place, f"an alignment must be a power of two from {least} to {most}, not {alignment}"
    )
    return 0
