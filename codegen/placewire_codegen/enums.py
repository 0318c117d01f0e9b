"""Enums and unions: syntax nodes to definitions."""

from __future__ import annotations

from . import syntax
from .attributes import read_attributes
from .diagnostics import Note
from .features import Feature
from .lexer import read_integer
from .model import (
    EnumDefinition,
    EnumMember,
    ScalarKind,
    Type,
    TypeKind,
    UnionDefinition,
    UnionMember,
)
from .scope import BUILTIN_SCALARS, Context, spelling_of


def resolve_enum(node: syntax.EnumNode, context: Context) -> EnumDefinition | None:
    """Build an enum; None if its underlying type is wrong, so that nothing fits it."""
    attributes = read_attributes(node.attributes, context)
    if node.underlying is None:
        context.error(
            node.name,
            f"enum `{node.name.text}` does not say which integers it consists of",
            hint=f"write it as `enum {node.name.text} : byte`",
        )
        return None
    underlying = _integer_type(node.underlying, context)
    if underlying is None:
        return None
    bit_flags = "bit_flags" in attributes
    if bit_flags:
        context.require(Feature.BIT_FLAGS, node.name)
    members: list[EnumMember] = []
    values = _Values(underlying, context, bit_flags=bit_flags)
    for member in node.members:
        value = values.take(member.name, member.value)
        if value is None:
            continue
        members.append(
            EnumMember(
                name=member.name.text,
                value=value,
                location=context.location(member.name),
                doc=context.doc(member.doc),
                attributes=read_attributes(member.attributes, context),
            )
        )
    if not node.members and node.complete:
        members.append(_none_of(node, context))
    return EnumDefinition(
        name=node.name.text,
        namespace=context.namespace,
        location=context.location(node.name),
        doc=context.doc(node.doc),
        attributes=attributes,
        underlying=underlying,
        bit_flags=bit_flags,
        members=tuple(sorted(members, key=lambda member: member.value)),
    )


def _none_of(node: syntax.EnumNode, context: Context) -> EnumMember:
    """The member that flatc gives to an enum that lists none."""
    return EnumMember(name="NONE", value=0, location=context.location(node.name))


def resolve_union(node: syntax.UnionNode, context: Context) -> UnionDefinition | None:
    """Build a union; members whose type is unknown are left out."""
    attributes = read_attributes(node.attributes, context)
    underlying: ScalarKind | None = ScalarKind.UINT8
    if node.underlying is not None:
        underlying = _integer_type(node.underlying, context)
        context.require(Feature.UNION_TAG_TYPES, node.underlying)
    if underlying is None:
        return None
    members: list[UnionMember] = []
    tags = _Values(underlying, context)
    tags.reserve_none(node.name)
    for member in node.members:
        name = member.alias or member.type
        # A member named by its type alone, in another namespace, is called `other_Type`.
        plain = syntax.identifier(name.text.replace(".", "_"), name)
        tag = tags.take(plain, member.value)
        type_ = None if plain.text == "NONE" else _member_type(member, context)
        if tag is None or type_ is None:
            continue
        members.append(
            UnionMember(
                name=plain.text,
                tag=tag,
                type=type_,
                location=context.location(name),
                doc=context.doc(member.doc),
                attributes=read_attributes(member.attributes, context),
            )
        )
    return UnionDefinition(
        name=node.name.text,
        namespace=context.namespace,
        location=context.location(node.name),
        doc=context.doc(node.doc),
        attributes=attributes,
        underlying=underlying,
        names_tag_type=node.underlying is not None,
        members=tuple(sorted(members, key=lambda member: member.tag)),
    )


def _member_type(member: syntax.UnionMember, context: Context) -> Type | None:
    name = member.type
    if name.text == "string" and member.alias is not None:
        context.require(Feature.UNION_STRINGS, name)
        return Type(kind=TypeKind.STRING)
    if name.text in BUILTIN_SCALARS or name.text == "string":
        hint = "give it a name: `text: string`" if name.text == "string" else None
        context.error(name, f"a union cannot hold `{name.text}` as such", hint=hint)
        return None
    symbol = context.find(name, "table or struct")
    if symbol is None:
        return None
    if not isinstance(symbol.node, syntax.TableNode):
        note = Note(f"{symbol.kind} `{symbol.full_name}` is declared here", symbol.span)
        context.error(
            name, f"a union holds tables, structs and strings, not {symbol.kind}s", notes=[note]
        )
        return None
    if symbol.node.is_struct:
        context.require(Feature.UNION_STRUCTS, name)
        return Type(kind=TypeKind.STRUCT, ref=symbol.full_name)
    return Type(kind=TypeKind.TABLE, ref=symbol.full_name)


def _integer_type(name: syntax.Identifier, context: Context) -> ScalarKind | None:
    kind = BUILTIN_SCALARS.get(name.text)
    if kind is not None and kind.is_integer:
        return kind
    context.error(
        name,
        f"expected an integer type, found `{name.text}`",
        hint="such as `byte`, `ubyte`, `short`, `int` or `uint64`",
    )
    return None


class _Values:
    """Gives members their numbers: the written one, else the previous one plus 1."""

    def __init__(
        self, underlying: ScalarKind, context: Context, *, bit_flags: bool = False
    ) -> None:
        self._kind = underlying
        self._bit_flags = bit_flags
        self._minimum, self._maximum = underlying.minimum, underlying.maximum
        if bit_flags:
            self._minimum, self._maximum = 0, 8 * underlying.size - 1 - underlying.is_signed
        self._context = context
        self._next: int | None = 0  # None behind a member whose number is unknown or does not fit
        self._none: syntax.Identifier | None = None
        self._names: dict[str, syntax.Identifier] = {}
        self._owners: dict[int, syntax.Identifier] = {}

    def reserve_none(self, union: syntax.Identifier) -> None:
        """Take the tag 0 and the name NONE, which every union has."""
        self._none = syntax.identifier("NONE", union)
        self._names["NONE"] = self._owners[0] = self._none
        self._next = 1

    def take(self, name: syntax.Identifier, written: syntax.Value | None) -> int | None:
        """The value of the next member; None if its name is taken or its number unknown.

        A number that does not fit or is taken is reported and returned all the same: nothing else
        should be reported because the member is missing.
        """
        number = self._number(written)
        fits = number is not None and self._minimum <= number <= self._maximum
        self._next = number + 1 if number is not None and fits else None
        previous = self._names.setdefault(name.text, name)
        if previous is not name:
            self._report_name(name, previous)
            return None
        if number is None:
            return None
        if not fits:
            self._report_range(number, name, written)
            return number
        owner = self._owners.setdefault(number, name)
        if owner is not name:
            self._report_value(number, name, written, owner)
        return 1 << number if self._bit_flags else number

    def _number(self, written: syntax.Value | None) -> int | None:
        if written is None:
            return self._next
        return read_integer(written.text) if isinstance(written, syntax.IntegerLiteral) else None

    def _report_name(self, name: syntax.Identifier, previous: syntax.Identifier) -> None:
        if previous is self._none:
            self._context.error(name, "every union has the member `NONE` by itself")
            return
        note = self._context.note("first declared here", previous)
        self._context.error(name, f"member `{name.text}` is declared twice", notes=[note])

    def _report_value(
        self,
        number: int,
        name: syntax.Identifier,
        written: syntax.Value | None,
        owner: syntax.Identifier,
    ) -> None:
        is_none = owner is self._none
        where = "every union has it, for no value" if is_none else "declared here"
        self._context.error(
            written or name,
            f"`{name.text}` has the value {number}, which `{owner.text}` has already",
            notes=[self._context.note(f"`{owner.text}`: {where}", owner)],
        )

    def _report_range(
        self, number: int, name: syntax.Identifier, written: syntax.Value | None
    ) -> None:
        what, hint = "value", None
        if self._bit_flags:
            what, hint = "bit", "with `bit_flags` a member's number is the position of its bit"
        self._context.error(
            written or name,
            f"{what} {number} of `{name.text}` is out of range for {spelling_of(self._kind)} "
            f"({self._minimum}..{self._maximum})",
            hint=hint,
        )
