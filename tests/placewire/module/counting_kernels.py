"""Torch's kernels, counting how often each of them is called."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from placewire._core import core
from placewire.kernels import find_operator

if TYPE_CHECKING:
    from collections.abc import Callable

    from placewire.kernels.call import Call, Specialized

__all__ = ["CountingKernels"]


class CountingKernels:
    """A source of kernels for `Module`.

    Attributes:
        calls: How often each operator was called.
        source: The source. It keeps the counts, but not this object, which keeps it.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.source = core.KernelSource(partial(_find, self.calls))


def _find(calls: Counter[str], name: str) -> object | None:
    operator = find_operator(name)
    if operator is None:
        return None
    for which in ("fixed_call", "changing_call"):
        # Both are cached properties: what is in the dictionary is what everybody gets.
        operator.__dict__[which] = _counted(calls, name, getattr(operator, which))
    return operator


def _counted(calls: Counter[str], name: str, call: Call) -> Call:
    wrapped = partial(_counting, calls, name)
    specialize = call.specialize

    def specialized(*arguments: object) -> Specialized | None:
        special = specialize and specialize(*arguments)
        return special and (wrapped(special[0]), *special[1:])

    return replace(call, function=wrapped(call.function), specialize=specialize and specialized)


def _counting(
    calls: Counter[str], name: str, function: Callable[..., object]
) -> Callable[..., object]:
    def counted(*positional: object, **keywords: object) -> object:
        calls[name] += 1
        return function(*positional, **keywords)

    return counted
