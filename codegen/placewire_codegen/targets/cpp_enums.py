"""View of `<module>/enums.h`: enums and union tags with their names, validity and attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model import (
    AttributeValue,
    EnumDefinition,
    EnumMember,
    ScalarKind,
    Schema,
    UnionDefinition,
    UnionMember,
)
from ..names import NameScope
from .cpp_names import SCALAR_TYPES, CppNames
from .cpp_text import comment, integer_literal, string_literal


@dataclass(frozen=True)
class MemberView:
    """One enumerator. `value` is a literal, `text` the schema's name as a string literal."""

    name: str
    value: str
    text: str
    doc: tuple[str, ...]


@dataclass(frozen=True)
class AttributeCase:
    """What an attribute function returns for some member; `member` is spelled with its type."""

    member: str
    value: str


@dataclass(frozen=True)
class AttributeView:
    """A function that gives an attribute of a member.

    Attributes:
        result: Return type, `std::optional<...>` if some member lacks the attribute.
        otherwise: Expression for members without it and for values that are no member.
        meaning: What `otherwise` says, in words.
    """

    attribute: str
    function: str
    result: str
    cases: tuple[AttributeCase, ...]
    otherwise: str
    meaning: str


@dataclass(frozen=True)
class EnumView:
    """An enum class. For flags, `mask` is the literal of all members combined."""

    name: str
    underlying: str
    doc: tuple[str, ...]
    members: tuple[MemberView, ...]
    count: str
    list: str
    is_union: bool
    is_flags: bool
    mask: str
    attributes: tuple[AttributeView, ...]


def enum_views(schema: Schema, names: CppNames, namespace: str) -> Iterator[EnumView]:
    """Yield the enums, then the union tags of one namespace, in schema order."""
    for enum in schema.enums:
        if enum.namespace == namespace:
            yield _enum_view(enum, names)
    for union in schema.unions:
        if union.namespace == namespace:
            yield _union_view(union, names)


def _enum_view(enum: EnumDefinition, names: CppNames) -> EnumView:
    name = names.local_type(enum)
    scope = names.scope(enum.namespace)
    mask = 0
    for member in enum.members:
        mask |= member.value
    return EnumView(
        name=name,
        underlying=SCALAR_TYPES[enum.underlying],
        doc=comment(enum.doc),
        members=tuple(
            _member_view(names.member(enum.full_name, member.name), member, enum.underlying)
            for member in enum.members
        ),
        count=scope.claim(f"k{name}Count"),
        list=scope.claim(f"k{name}Members"),
        is_union=False,
        is_flags=enum.bit_flags,
        mask=integer_literal(mask, enum.underlying),
        attributes=tuple(_attribute_views(enum, names)),
    )


def _union_view(union: UnionDefinition, names: CppNames) -> EnumView:
    name = names.local_type(union)
    scope = names.scope(union.namespace)
    return EnumView(
        name=name,
        underlying=SCALAR_TYPES[union.underlying],
        doc=comment(union.doc),
        members=tuple(
            _member_view(names.member(union.full_name, member.name), member, union.underlying)
            for member in union.members
        ),
        count=scope.claim(f"k{name}Count"),
        list=scope.claim(f"k{name}Members"),
        is_union=True,
        is_flags=False,
        mask="",
        attributes=(),
    )


def _member_view(name: str, member: EnumMember | UnionMember, kind: ScalarKind) -> MemberView:
    value = member.value if isinstance(member, EnumMember) else member.tag
    doc = comment(member.doc, indent=2)
    return MemberView(name, integer_literal(value, kind), f'"{member.name}"', doc)


def _attribute_views(enum: EnumDefinition, names: CppNames) -> Iterator[AttributeView]:
    """Yield one function per attribute, in the order in which the members first use them.

    Functions are overloaded by enum, so a name need only be free of keywords and types.
    """
    attributes = dict.fromkeys(key for member in enum.members for key in member.attributes)
    scope = NameScope(names.attribute_scope(enum.namespace))
    for attribute in attributes:
        having = [member for member in enum.members if attribute in member.attributes]
        values = [member.attributes[attribute] for member in having]
        result = _common_type(values)
        is_complete = len(having) == len(enum.members)
        yield AttributeView(
            attribute=attribute,
            function=scope.claim(attribute),
            result=result if is_complete else f"std::optional<{result}>",
            cases=tuple(
                AttributeCase(
                    f"{names.local_type(enum)}::{names.member(enum.full_name, member.name)}",
                    _attribute_literal(value),
                )
                for member, value in zip(having, values, strict=True)
            ),
            otherwise="{}" if is_complete else "std::nullopt",
            meaning=_EMPTY_VALUES[result] if is_complete else "nothing",
        )


_EMPTY_VALUES = {
    "bool": "false",
    "std::int64_t": "0",
    "double": "0",
    "std::string_view": "an empty string",
}


def _common_type(values: list[AttributeValue]) -> str:
    if all(isinstance(value, bool) or value is None for value in values):
        return "bool"
    if all(isinstance(value, int) for value in values):
        return "std::int64_t"
    if all(isinstance(value, int | float) for value in values):
        return "double"
    return "std::string_view"


def _attribute_literal(value: AttributeValue) -> str:
    match value:
        case None:
            return "true"
        case bool():
            return "true" if value else "false"
        case str():
            return string_literal(value)
        case _:
            return repr(value)
