"""Hypothesis strategies for objects of any generated package, made from what the schema says."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag
from functools import cache, reduce
from importlib import import_module
from operator import or_
from typing import Any

from hypothesis import strategies as st

SPECIAL_FLOATS = [0.0, -0.0, float("inf"), float("-inf"), float("nan")]


@st.composite
def objects(draw: st.DrawFn, type_: type[Any], *, largest_list: int = 3, deepest: int = 6) -> Any:
    """Return an object of a table that can be packed.

    Integers reach their limits, floats are NaN and infinite, fields are absent where they may be.

    Args:
        draw: Makes the choices.
        type_: Class of the table.
        largest_list: Elements of the longest vector.
        deepest: Tables inside each other, below which only mandatory fields hold further ones.
    """
    return _Maker(draw, type_, largest_list).table(type_, deepest)


class _Maker:
    """Makes one object of a package, whose `reflection` says what there is.

    It draws the leaves alone: strategies that contain each other by levels have endless names.
    """

    def __init__(
        self, draw: st.DrawFn, type_: type[Any], largest_list: int, *, nests: bool = True
    ) -> None:
        package = type_.__module__.rpartition(".")[0]
        self._reflection = import_module(f"{package}.reflection")
        self._pack = import_module(package).pack
        self._draw = draw
        # Buffers inside buffers end somewhere: what is in one has none itself.
        self._inner = _Maker(draw, type_, largest_list, nests=False) if nests else None
        self._largest_list = largest_list

    def table(self, type_: type[Any], levels: int) -> Any:
        """An object of a table, below which there should be `levels - 1` more at most."""
        fields = self._reflection.describe(type_).fields
        return type_(**{field.name: self._field(field, levels - 1) for field in fields})

    def _struct(self, type_: type[Any]) -> Any:
        fields = self._reflection.describe_struct(type_).fields
        return type_(**{field.name: self._value(field.type, 0) for field in fields})

    def _field(self, field: Any, levels: int) -> Any:
        may_be_none = field.default is None and not field.is_mandatory
        is_too_deep = levels <= 0 and type(field.type).__name__ == "TableReference"
        ends_here = is_too_deep or (field.nested is not None and self._inner is None)
        if may_be_none and (ends_here or not self._draw(st.booleans())):
            return None
        if field.nested is not None:
            return self._pack((self._inner or self).table(field.nested.type, levels))
        return self._value(field.type, levels)

    def _union(self, union: Any, levels: int) -> Any:
        flat = sorted(union.strings | union.structs)
        tag = self._draw(st.sampled_from(flat if levels <= 0 and flat else list(union.members)))
        type_ = union.members[tag]
        if tag in union.strings:
            return type_(self._draw(_TEXT))
        return self._struct(type_) if tag in union.structs else self.table(type_, levels)

    def _list(self, element: Any, levels: int) -> list[Any]:
        kind = type(element).__name__
        if kind == "TableReference" and levels <= 0:
            return []
        if kind in ("ScalarInfo", "EnumInfo", "StringInfo"):
            return self._draw(st.lists(_leaf(element), max_size=self._largest_list))
        count = self._draw(st.integers(0, self._largest_list))
        may_be_none = kind == "UnionInfo"
        return [
            None if may_be_none and not self._draw(st.booleans()) else self._value(element, levels)
            for _ in range(count)
        ]

    def _value(self, type_: Any, levels: int) -> Any:
        match type(type_).__name__:
            case "TableReference":
                return self.table(type_.type, levels)
            case "StructReference":
                return self._struct(type_.type)
            case "UnionInfo":
                return self._union(type_, levels)
            case "ArrayInfo" if type_.is_bytes:
                return self._draw(st.binary(min_size=type_.length, max_size=type_.length))
            case "ArrayInfo":
                return [self._value(type_.element, 0) for _ in range(type_.length)]
            case "VectorInfo" if type_.is_bytes:
                return self._draw(st.binary(max_size=20))
            case "VectorInfo":
                return self._list(type_.element, levels)
        return self._draw(_leaf(type_))


_TEXT = st.text(max_size=12)


def _leaf(type_: Any) -> st.SearchStrategy[Any]:
    match type(type_).__name__:
        case "ScalarInfo":
            return _scalar(type_)
        case "EnumInfo":
            return _enum(type_.type)
        case "StringInfo":
            return _TEXT
    raise NotImplementedError(f"no strategy for {type_}")


@cache
def _enum(enum: Any) -> st.SearchStrategy[Any]:
    if issubclass(enum, IntFlag):
        return st.lists(st.sampled_from(list(enum))).map(lambda flags: reduce(or_, flags, enum(0)))
    return st.sampled_from(list(enum))


@cache
def _scalar(scalar: Any) -> st.SearchStrategy[Any]:
    if scalar.is_bool:
        return st.booleans()
    if scalar.is_float:
        return st.floats(width=64 if scalar.size == 8 else 32) | st.sampled_from(SPECIAL_FLOATS)
    limits = [scalar.minimum, scalar.maximum]
    return st.integers(*limits) | st.sampled_from([0, *limits])


JUNK: list[Callable[[], Any]] = [
    lambda: None,
    lambda: -1,
    lambda: 1,
    lambda: 2**63,
    lambda: 2**200,
    lambda: -(2**63) - 1,
    lambda: True,
    lambda: 0.5,
    lambda: 1e300,
    lambda: "text",
    lambda: "lone \ud800",
    lambda: b"bytes",
    lambda: bytearray(b"bytes"),
    lambda: memoryview(b"bytes")[::2],
    list,
    lambda: [None],
    lambda: [1, "text"],
    lambda: (1, 2),
    dict,
    object,
    lambda: range(3),
]
"""Makers of values that fit some fields and not others."""
