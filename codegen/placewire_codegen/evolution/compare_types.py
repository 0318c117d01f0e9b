"""How far two types differ: on the wire, in what the bytes mean, or only in code."""

from __future__ import annotations

from ..model import ScalarKind, Type, TypeKind
from .comparison import Comparison
from .rules import Level
from .struct_layout import struct_scalars

__all__ = ["type_difference"]

_NUMBERS = (TypeKind.SCALAR, TypeKind.ENUM)


def type_difference(base: Type, head: Type, comparison: Comparison) -> Level | None:
    """Return the level on which two types differ, None if they are the same.

    What is inside a type that both name is not looked at: it is compared by itself.
    """
    if base is head:
        return None  # both have the same number, or vector of numbers
    if base.kind in _NUMBERS and head.kind in _NUMBERS:
        return _number_difference(base, head, comparison)
    if base.kind is not head.kind:
        return Level.WIRE
    if base.kind is TypeKind.STRING:
        return None
    if base.kind is TypeKind.VECTOR:
        assert base.element is not None
        assert head.element is not None
        return type_difference(base.element, head.element, comparison)
    if base.kind is TypeKind.ARRAY:
        assert base.element is not None
        assert head.element is not None
        if base.length != head.length:
            return Level.WIRE
        return type_difference(base.element, head.element, comparison)
    if comparison.is_same(base.ref, head.ref):
        return None
    if base.kind is TypeKind.STRUCT and _have_one_layout(base, head, comparison):
        return Level.SEMANTIC
    return Level.WIRE


def scalar_difference(base: ScalarKind, head: ScalarKind) -> Level | None:
    """Return the level on which two numbers differ: sign is meaning, width and floats are bytes."""
    if base is head:
        return None
    if base.size != head.size or base.is_float or head.is_float:
        return Level.WIRE
    return Level.SEMANTIC


def _number_difference(base: Type, head: Type, comparison: Comparison) -> Level | None:
    if base.kind is head.kind is TypeKind.ENUM and comparison.is_same(base.ref, head.ref):
        return None  # a change of the enum itself is reported there
    assert base.scalar is not None
    assert head.scalar is not None
    difference = scalar_difference(base.scalar, head.scalar)
    if difference is not None or base.kind is head.kind is TypeKind.SCALAR:
        return difference
    if head.kind is TypeKind.SCALAR:
        return Level.SOURCE
    if base.kind is TypeKind.SCALAR:
        return Level.SEMANTIC  # old files may hold numbers that the enum has no name for
    return Level.SOURCE if _have_the_same_members(base, head, comparison) else Level.SEMANTIC


def _have_the_same_members(base: Type, head: Type, comparison: Comparison) -> bool:
    assert base.ref is not None
    assert head.ref is not None
    members = (comparison.base.enum(base.ref).members, comparison.head.enum(head.ref).members)
    old, new = ({member.value: member.name for member in side} for side in members)
    return old.items() <= new.items()


def _have_one_layout(base: Type, head: Type, comparison: Comparison) -> bool:
    assert base.ref is not None
    assert head.ref is not None
    old, new = comparison.base.struct(base.ref), comparison.head.struct(head.ref)
    return (old.size, old.alignment) == (new.size, new.alignment) and [
        (scalar.offset, scalar.kind) for scalar in struct_scalars(comparison.base, base.ref)
    ] == [(scalar.offset, scalar.kind) for scalar in struct_scalars(comparison.head, head.ref)]
