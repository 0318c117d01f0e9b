"""One field: its type, default and attributes, and the rules that tie them together."""

from __future__ import annotations

from typing import NamedTuple

from . import syntax
from .attributes import integer_attribute, read_attributes
from .diagnostics import Note
from .features import Feature
from .field_rules import (
    AttributedField,
    check_field_attributes,
    read_force_align,
    read_nested_root,
)
from .lexer import read_integer
from .model import AttributeValue, Type, TypeKind
from .scope import BUILTIN_SCALARS, Context, Definitions, Symbol
from .values import Default, read_default


class ResolvedField(NamedTuple):
    """A field whose place in the table or struct is not known yet.

    Attributes:
        slots: How many ids it takes: two for a union, whose tag has a slot of its own.
        written_id: The number of its `id` attribute, and where that stands.
        force_align: Alignment of its vector or string in bytes, 0 for the natural one.
        nested: Full name of the root of the FlatBuffer that it holds.
    """

    node: syntax.Field
    type: Type
    default: Default | None
    attributes: dict[str, AttributeValue]
    slots: int
    written_id: tuple[int, syntax.Place] | None
    force_align: int
    nested: str | None


_BUILTIN_TYPES = {
    **{name: Type(kind=TypeKind.SCALAR, scalar=kind) for name, kind in BUILTIN_SCALARS.items()},
    "string": Type(kind=TypeKind.STRING),
}
_BUILTIN_VECTORS = {
    name: Type(kind=TypeKind.VECTOR, element=element) for name, element in _BUILTIN_TYPES.items()
}
_ZERO = Default(0)
_ZERO_FLOAT = Default(0.0)


def resolve_type(node: syntax.TypeNode, context: Context, known: Definitions) -> Type | None:
    """The type that a node means; None if there is none, which is reported."""
    if isinstance(node, syntax.Identifier):
        return _named_type(node, context, known)
    element = _named_type(node.element, context, known)
    if element is None:
        return None
    if isinstance(node, syntax.VectorType):
        if element.kind is TypeKind.UNION:
            context.require(Feature.VECTORS_OF_UNIONS, node)
        return _vector_of(element, node.element.text, known)
    context.require(Feature.ARRAYS, node)
    length = read_integer(node.length.text)
    if not 1 <= length <= 0xFFFF:
        context.error(node.length, f"an array has 1 to 65535 elements, not {length}")
        return None
    return Type(kind=TypeKind.ARRAY, element=element, length=length)


def _vector_of(element: Type, spelling: str, known: Definitions) -> Type:
    """The type of a vector; there are far fewer than fields that have one."""
    if element.ref is None:
        return _BUILTIN_VECTORS[spelling]
    found = known.vectors.get(element.ref)
    if found is None:
        found = known.vectors[element.ref] = Type(kind=TypeKind.VECTOR, element=element)
    return found


def _named_type(name: syntax.Identifier, context: Context, known: Definitions) -> Type | None:
    builtin = _BUILTIN_TYPES.get(name.text)
    if builtin is not None:
        return builtin
    symbol = context.find(name, "type")
    if symbol is None:
        return None
    if symbol.full_name not in known.types:
        type_ = _type_of(symbol, known)
        if type_ is None:
            return None  # an enum or union that could not be resolved is reported already
        known.types[symbol.full_name] = type_
    return known.types[symbol.full_name]


def _type_of(symbol: Symbol, known: Definitions) -> Type | None:
    name = symbol.full_name
    if isinstance(symbol.node, syntax.TableNode):
        kind = TypeKind.STRUCT if symbol.node.is_struct else TypeKind.TABLE
        return Type(kind=kind, ref=name)
    if name in known.enums:
        return Type(kind=TypeKind.ENUM, scalar=known.enums[name].underlying, ref=name)
    if name in known.unions:
        return Type(kind=TypeKind.UNION, scalar=known.unions[name].underlying, ref=name)
    return None


def resolve_field(
    node: syntax.Field, *, in_struct: bool, context: Context, known: Definitions
) -> ResolvedField | None:
    """Build a field and check all that concerns it alone; None if its type is not known."""
    attributes = read_attributes(node.attributes, context)
    type_ = resolve_type(node.type, context, known)
    if type_ is None:
        return None
    if in_struct:
        if not _check_struct_field(node, type_, context, known):
            return None
    elif type_.kind is TypeKind.ARRAY:
        context.error(node.type, "a table cannot hold an array", hint="wrap the array in a struct")
        return None
    default = _default(node, type_, in_struct, context, known)
    force_align = 0
    written_id = None
    nested = None
    if attributes:
        attributed = AttributedField(node, type_, default, attributes, in_struct, context)
        check_field_attributes(attributed)
        force_align = read_force_align(attributed)
        nested = read_nested_root(attributed)
        written_id = integer_attribute("id", attributes, node.attributes, context)
    slots = 2 if (type_.element or type_).kind is TypeKind.UNION else 1
    return ResolvedField(node, type_, default, attributes, slots, written_id, force_align, nested)


def _check_struct_field(
    node: syntax.Field, type_: Type, context: Context, known: Definitions
) -> bool:
    """Whether a struct can hold the type: scalars, enums, earlier structs, and arrays of these."""
    inner = type_.element if type_.kind is TypeKind.ARRAY else type_
    assert inner is not None
    if inner.kind is TypeKind.SCALAR:
        return True
    if inner.kind is TypeKind.ENUM:
        if type_.kind is TypeKind.ARRAY:
            _check_enum_default(node, inner, _ZERO, context, known)
        return True
    if inner.kind is not TypeKind.STRUCT:
        context.error(
            node.type,
            f"a struct cannot hold {_described(type_)}",
            hint="a struct holds numbers, enums and other structs; use a table",
        )
        return False
    if inner.ref in known.structs:
        return True
    assert inner.ref is not None
    symbol = context.scope.symbol(inner.ref)
    if symbol is not None and symbol.order == context.order:
        context.error(node.type, "a struct cannot contain itself", hint="use a table")
    elif symbol is not None and symbol.order > context.order:
        context.error(
            node.type,
            f"struct `{inner.ref}` is used in a struct before it is declared",
            hint="move it in front; a struct must know the size of what it holds",
            notes=[Note("declared here", symbol.span)],
        )
    return False


def _default(
    node: syntax.Field, type_: Type, in_struct: bool, context: Context, known: Definitions
) -> Default | None:
    literal = node.default
    if type_.kind not in (TypeKind.SCALAR, TypeKind.ENUM):
        if literal is None or isinstance(literal, syntax.InvalidLiteral):
            return None
        return _default_content(literal, type_, context)
    if literal is None:
        assert type_.scalar is not None
        default = _ZERO_FLOAT if type_.scalar.is_float else _ZERO
    else:
        read = read_default(literal, type_, context, known)
        if read is None:
            return None
        default = read
        if in_struct and not _is_zero(literal, type_, default):
            context.error(literal, "a field of a struct has no default: it is always written")
            return None
    if type_.kind is TypeKind.ENUM:
        _check_enum_default(node, type_, default, context, known)
    return default


def _is_zero(literal: syntax.Value, type_: Type, default: Default) -> bool:
    """Whether a default is what a struct's field may have: as in flatc, a float is written `0`."""
    if type_.scalar is not None and type_.scalar.is_float:
        return isinstance(literal, (syntax.IntegerLiteral, syntax.StringLiteral)) and (
            literal.text == "0"
        )
    return default.value == 0


def _default_content(literal: syntax.Value, type_: Type, context: Context) -> Default | None:
    """Default of a string or vector; None if it is wrong, which is reported."""
    is_text = type_.kind is TypeKind.STRING and isinstance(literal, syntax.StringLiteral)
    is_empty = type_.kind is TypeKind.VECTOR and isinstance(literal, syntax.EmptyVectorLiteral)
    if is_text or is_empty:
        context.require(Feature.DEFAULT_CONTENTS, literal)
        return Default(literal.text if isinstance(literal, syntax.StringLiteral) else ())
    if type_.kind is TypeKind.VECTOR:
        context.error(literal, "the only default of a vector is `[]`")
    elif type_.kind is TypeKind.STRING:
        context.error(literal, "the default of a string must be a quoted string")
    else:
        context.error(
            literal,
            f"{_described(type_)} has no default",
            hint="a field that is not written is absent",
        )
    return None


def _check_enum_default(
    node: syntax.Field, type_: Type, default: Default, context: Context, known: Definitions
) -> None:
    assert type_.ref is not None
    enum = known.enums[type_.ref]
    if default.value is None:
        if any(member.name == "null" for member in enum.members):
            assert node.default is not None
            context.error(
                node.default, f"`null` is ambiguous: enum `{enum.name}` has a member of that name"
            )
        return
    if enum.bit_flags or type_.ref in known.unreadable:
        return
    values = known.values_of(type_.ref)
    if values is not None and default.value in values.values():
        return
    if node.default is not None:
        context.error(node.default, f"enum `{enum.name}` has no member of value {default.value}")
        return
    names = [f"`= {member.name}`" for member in enum.members[:1]]
    context.error(
        node.name,
        f"field `{node.name.text}` needs a default: enum `{enum.name}` has no member of value 0",
        hint="such as " + " or ".join([*names, "`= null`"]),
    )


def _described(type_: Type) -> str:
    name = type_.kind.value
    article = "an" if name[0] in "aeiou" and type_.kind is not TypeKind.UNION else "a"
    if type_.kind is TypeKind.ARRAY and type_.element is not None:
        return f"{article} {name} of {type_.element.kind.value}s"
    return f"{article} {name}"
