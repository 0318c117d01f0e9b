"""Hypothesis strategies for objects of any generated package, made from what the schema says."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag
from functools import reduce
from importlib import import_module
from operator import or_
from typing import Any

from hypothesis import strategies as st

SPECIAL_FLOATS = [0.0, -0.0, float("inf"), float("-inf"), float("nan")]


def objects(type_: type[Any], *, largest_list: int = 3) -> st.SearchStrategy[Any]:
    """Return a strategy for objects of a table that can be packed.

    Integers reach their limits, floats are NaN and infinite, fields are absent where they may be.
    """
    return _Builder(type_, largest_list).table(type_)


class _Builder:
    """Makes the strategies of one package, whose `reflection` says what there is."""

    def __init__(self, type_: type[Any], largest_list: int, *, nests: bool = True) -> None:
        package = type_.__module__.rpartition(".")[0]
        # Buffers inside buffers end somewhere: what is in one has none itself.
        self._inner = _Builder(type_, largest_list, nests=False) if nests else None
        self._reflection = import_module(f"{package}.reflection")
        self._pack = import_module(package).pack
        self._largest_list = largest_list
        self._tables: dict[type[Any], st.SearchStrategy[Any]] = {}

    def table(self, type_: type[Any]) -> st.SearchStrategy[Any]:
        if type_ not in self._tables:
            # Deferred, so that a table may contain itself.
            self._tables[type_] = st.deferred(lambda: self._object(type_))
        return self._tables[type_]

    def _object(self, type_: type[Any]) -> st.SearchStrategy[Any]:
        table = self._reflection.describe(type_)
        fields = {field.name: self._field(field) for field in table.fields}
        return st.builds(lambda values: type_(**values), st.fixed_dictionaries(fields))

    def _struct(self, type_: type[Any]) -> st.SearchStrategy[Any]:
        struct = self._reflection.describe_struct(type_)
        return st.builds(type_, **{field.name: self._value(field.type) for field in struct.fields})

    def _member(self, union: Any, tag: int) -> st.SearchStrategy[Any]:
        type_ = union.members[tag]
        if tag in union.strings:
            return st.builds(type_, st.text(max_size=12))
        return self._struct(type_) if tag in union.structs else self.table(type_)

    def _field(self, field: Any) -> st.SearchStrategy[Any]:
        if field.nested is not None:
            return self._nested(field)
        value = self._value(field.type)
        may_be_none = field.default is None and not field.is_mandatory
        return st.none() | value if may_be_none else value

    def _nested(self, field: Any) -> st.SearchStrategy[Any]:
        if self._inner is None:
            return st.none()
        return st.none() | self._inner.table(field.nested.type).map(self._pack)

    def _value(self, type_: Any) -> st.SearchStrategy[Any]:
        match type(type_).__name__:
            case "ScalarInfo":
                return _scalar(type_)
            case "EnumInfo":
                return _enum(type_.type)
            case "StringInfo":
                return st.text(max_size=12)
            case "TableReference":
                return self.table(type_.type)
            case "StructReference":
                return self._struct(type_.type)
            case "UnionInfo":
                return st.one_of([self._member(type_, tag) for tag in type_.members])
            case "ArrayInfo" if type_.is_bytes:
                return st.binary(min_size=type_.length, max_size=type_.length)
            case "ArrayInfo":
                size = type_.length
                return st.lists(self._value(type_.element), min_size=size, max_size=size)
            case "VectorInfo" if type_.is_bytes:
                return st.binary(max_size=20)
            case "VectorInfo":
                items = self._value(type_.element)
                if type(type_.element).__name__ == "UnionInfo":
                    items = st.none() | items
                return st.lists(items, max_size=self._largest_list)
        raise NotImplementedError(f"no strategy for {type_}")


def _enum(enum: Any) -> st.SearchStrategy[Any]:
    if issubclass(enum, IntFlag):
        return st.lists(st.sampled_from(list(enum))).map(lambda flags: reduce(or_, flags, enum(0)))
    return st.sampled_from(list(enum))


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
