"""Which attributes may stand on which field, and what their values may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from . import syntax
from .attributes import attribute_place, integer_attribute
from .features import Feature
from .model import AttributeValue, Type, TypeKind
from .scope import Context, spelling_of
from .values import Default

_LARGEST_ALIGNMENT = 1 << 15
_HASHES: Mapping[int, tuple[str, ...]] = {
    2: ("fnv1_16", "fnv1a_16"),
    4: ("fnv1_32", "fnv1a_32"),
    8: ("fnv1_64", "fnv1a_64"),
}


class AttributedField(NamedTuple):
    """A field with what its attributes are checked against."""

    node: syntax.Field
    type: Type
    default: Default | None
    attributes: Mapping[str, AttributeValue]
    in_struct: bool
    context: Context

    @property
    def is_scalar(self) -> bool:
        return self.type.kind in (TypeKind.SCALAR, TypeKind.ENUM)

    @property
    def innermost(self) -> Type:
        """The element type of a vector or array, else the type itself."""
        return self.type.element or self.type

    def report(self, attribute: str, message: str, *, hint: str | None = None) -> None:
        """Report a defect at an attribute's value, or at its name if it has none."""
        place = attribute_place(attribute, self.node.attributes)
        self.context.error(place, message, hint=hint)

    def require(self, feature: Feature, attribute: str) -> None:
        self.context.require(feature, attribute_place(attribute, self.node.attributes))


def check_field_attributes(field: AttributedField) -> None:
    """Report attributes that contradict the field's type or each other."""
    for name in field.attributes:
        check = _CHECKS.get(name)
        if check is not None:
            check(field, name)


def read_force_align(field: AttributedField) -> int:
    """Alignment that a vector or string field asks for, 0 for none.

    As in flatc, the attribute has no effect on other fields. flatc's code forgets strings, too.
    """
    attributes = field.node.attributes
    found = integer_attribute("force_align", field.attributes, attributes, field.context)
    if found is None:
        return 0
    if field.type.kind not in (TypeKind.VECTOR, TypeKind.STRING):
        return 0
    return check_alignment(found, 1, _LARGEST_ALIGNMENT, field.context)


def read_nested_root(field: AttributedField) -> str | None:
    """Full name of the table that a `[ubyte]` is a FlatBuffer of, None for no table."""
    name = "nested_flatbuffer"
    if name not in field.attributes:
        return None
    root = field.attributes[name]
    if not field.type.is_bytes:
        field.report(name, f"`{name}` can only stand on `[ubyte]`")
        return None
    if not isinstance(root, str):
        field.report(
            name, f"`{name}` needs the name of the root table", hint=f'write `{name}: "Table"`'
        )
        return None
    field.require(Feature.NESTED_FLATBUFFERS, name)
    place = attribute_place(name, field.node.attributes)
    symbol = field.context.find(syntax.identifier(root, place), "table", is_attribute=True)
    if symbol is None:
        return None
    if symbol.kind != "table":
        field.report(name, f"the root must be a table; `{root}` is {symbol.article_and_kind}")
        return None
    return symbol.full_name


def can_be_key(type_: Type) -> bool:
    """Whether vectors of tables can be sorted by a field of that type."""
    kinds = (TypeKind.SCALAR, TypeKind.ENUM, TypeKind.STRUCT)
    inner = type_.element if type_.kind is TypeKind.ARRAY else type_
    return type_.kind is TypeKind.STRING or (inner is not None and inner.kind in kinds)


def check_alignment(
    found: tuple[int, syntax.Place], least: int, most: int, context: Context
) -> int:
    """Return a written alignment, or 0 if it is none, which is reported."""
    alignment, place = found
    if least <= alignment <= most and alignment & (alignment - 1) == 0:
        return alignment
    context.error(
        place, f"an alignment must be a power of two from {least} to {most}, not {alignment}"
    )
    return 0


def _check_presence(field: AttributedField, name: str) -> None:
    if field.in_struct:
        field.report(name, f"`{name}` says nothing in a struct: its fields are always there")
    elif field.is_scalar:
        field.report(
            name,
            f"`{name}` cannot stand on a scalar: an absent one reads as its default",
            hint="to tell whether it was written, give it the default `null`",
        )


def _check_deprecated(field: AttributedField, name: str) -> None:
    if field.in_struct:
        field.report(name, "a field of a struct cannot be deprecated: it keeps its place")
    elif "present" in field.attributes:
        field.report(
            name,
            "a deprecated field is not written any more; `present` says that it always is",
            hint="take `present` away",
        )


def _check_key(field: AttributedField, name: str) -> None:
    if not can_be_key(field.type):
        field.report(name, "a key must be a scalar, a string or a struct")
    elif field.default is not None and field.default.value is None:
        field.report(name, "a key cannot have the default `null`")


def _check_shared(field: AttributedField, name: str) -> None:
    if field.type.kind is not TypeKind.STRING:
        field.report(name, "only strings can be shared")


def _check_flexbuffer(field: AttributedField, name: str) -> None:
    if not field.type.is_bytes:
        field.report(name, f"`{name}` can only stand on `[ubyte]`")
    else:
        field.require(Feature.FLEXBUFFERS, name)


def _check_hash(field: AttributedField, name: str) -> None:
    scalar = field.innermost.scalar
    is_number = field.innermost.kind in (TypeKind.SCALAR, TypeKind.ENUM)
    algorithms = _HASHES.get(scalar.size) if scalar is not None and is_number else None
    if algorithms is None or scalar is None or not scalar.is_integer:
        field.report(name, "only integers of 16, 32 and 64 bits can be hashes")
    elif field.attributes[name] not in algorithms:
        choice = " or ".join(f'"{algorithm}"' for algorithm in algorithms)
        field.report(name, f"the hash of {spelling_of(scalar)} must be {choice}")
    else:
        field.require(Feature.HASHES, name)


def _check_offset64(field: AttributedField, name: str) -> None:
    element = field.innermost
    if field.type.kind is TypeKind.STRING and name == "offset64":
        field.require(Feature.OFFSETS_64, name)
    elif field.type.kind is not TypeKind.VECTOR:
        what = "strings and vectors" if name == "offset64" else "vectors"
        field.report(name, f"`{name}` can only stand on {what}")
    elif element.kind not in (TypeKind.SCALAR, TypeKind.STRUCT):
        field.report(name, f"`{name}` can only stand on vectors of numbers and structs")
    else:
        field.require(Feature.OFFSETS_64, name)


def _check_cpp_type(field: AttributedField, name: str) -> None:
    if "hash" not in field.attributes:
        field.report(name, f"`{name}` can only stand beside `hash`")


def _check_native_custom_alloc(field: AttributedField, name: str) -> None:
    field.report(name, f"`{name}` can only stand on a table or struct")


def _check_native_inline(field: AttributedField, name: str) -> None:
    is_vector = field.type.kind is TypeKind.VECTOR
    kinds = (TypeKind.STRUCT, TypeKind.TABLE) if is_vector else (TypeKind.STRUCT,)
    if field.innermost.kind not in kinds:
        field.report(
            name, f"`{name}` can only stand on structs and on vectors of them or of tables"
        )


_CHECKS: Mapping[str, Callable[[AttributedField, str], None]] = {
    "required": _check_presence,
    "present": _check_presence,
    "deprecated": _check_deprecated,
    "key": _check_key,
    "shared": _check_shared,
    "flexbuffer": _check_flexbuffer,
    "hash": _check_hash,
    "offset64": _check_offset64,
    "vector64": _check_offset64,
    "cpp_type": _check_cpp_type,
    "native_custom_alloc": _check_native_custom_alloc,
    "native_inline": _check_native_inline,
}
