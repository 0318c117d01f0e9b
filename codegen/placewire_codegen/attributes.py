"""Attributes: which the language knows, and what the values of those that matter must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import syntax
from .diagnostics import closest
from .lexer import INTEGER_SPELLING, read_integer
from .model import AttributeValue, ScalarKind
from .scope import Context

KNOWN = frozenset(
    {
        "bit_flags",
        "deprecated",
        "flexbuffer",
        "force_align",
        "hash",
        "id",
        "key",
        "nested_flatbuffer",
        "offset64",
        "original_order",
        "required",
        "shared",
        "vector64",
        # These steer code of flatc's for other languages or its own object API.
        "cpp_ptr_type",
        "cpp_ptr_type_get",
        "cpp_str_flex_ctor",
        "cpp_str_type",
        "cpp_type",
        "csharp_partial",
        "idempotent",
        "native_custom_alloc",
        "native_default",
        "native_inline",
        "native_type",
        "native_type_pack_name",
        "private",
        "streaming",
    }
)
"""Attributes that need no declaration. The second group is kept in the model, without effect."""


def read_attributes(
    nodes: Sequence[syntax.Attribute], context: Context
) -> dict[str, AttributeValue]:
    """The attributes of a declaration, in order; one without a value is `True`.

    Unknown names, repetitions and values that are neither an integer nor a string are reported.
    """
    if not nodes:
        return {}
    attributes: dict[str, AttributeValue] = {}
    first: dict[str, syntax.Attribute] = {}
    for node in nodes:
        name = node.name.text
        if name not in KNOWN and name not in context.scope.attributes:
            _report_undeclared(node, context)
        if name in first:
            context.error(
                node.name,
                f"attribute `{name}` is given twice",
                notes=[context.note("first given here", first[name].name)],
            )
            continue
        first[name] = node
        attributes[name] = _value(node, context)
    return attributes


def _report_undeclared(node: syntax.Attribute, context: Context) -> None:
    name = node.name.text
    if not context.scope.complete:
        return
    guess = closest(name, sorted(KNOWN | context.scope.attributes))
    declare = f'declare it with `attribute "{name}";`'
    context.error(
        node.name,
        f"attribute `{name}` is not declared",
        hint=f"did you mean `{guess}`? Else {declare}" if guess else declare,
    )


def _value(node: syntax.Attribute, context: Context) -> AttributeValue:
    value = node.value
    if value is None:
        return True
    if isinstance(value, syntax.IntegerLiteral):
        number = read_integer(value.text)
        if not ScalarKind.INT32.minimum <= number <= ScalarKind.INT32.maximum:
            context.error(
                value,
                f"{number} is out of range for an attribute, whose integers have 32 bits",
                hint=f'quote it: "{value.text}"',
            )
        return number
    if isinstance(value, syntax.StringLiteral):
        return value.text
    if not isinstance(value, syntax.InvalidLiteral):
        hint = f'quote it: "{value.text}"' if isinstance(value, syntax.NameLiteral) else None
        context.error(
            value, "the value of an attribute must be an integer or a quoted string", hint=hint
        )
    return None


def attribute_place(name: str, nodes: Sequence[syntax.Attribute]) -> syntax.Place:
    """Where the value of an attribute stands, or its name if it has none."""
    node = next(node for node in nodes if node.name.text == name)
    return node.name if node.value is None else node.value


def integer_attribute(
    name: str,
    attributes: Mapping[str, AttributeValue],
    nodes: Sequence[syntax.Attribute],
    context: Context,
) -> tuple[int, syntax.Place] | None:
    """Value and place of an attribute that must be an integer, None if it is not given.

    As in flatc, the number may stand in quotes.
    """
    if name not in attributes:
        return None
    place = attribute_place(name, nodes)
    value = attributes[name]
    if isinstance(value, str) and INTEGER_SPELLING.fullmatch(value):
        value = read_integer(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value, place
    if value is not None:
        context.error(
            place,
            f"attribute `{name}` needs an integer",
            hint=f"write it as `{name}: 1`",
        )
    return None
