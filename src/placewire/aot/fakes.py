"""Fake tensors: what a graph knows of tensors that do not exist yet, one object per distinct one.

Two tensors of a graph with the same dtype, shape and strides share one fake tensor, so that it can
be compared, and used as a key, by identity. Sharing says nothing about memory: what aliases what
follows from the operators' schemas.
"""

from __future__ import annotations

import copy
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import sympy
import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy.value_ranges import bound_sympy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["FakeValues", "Size"]

Size: TypeAlias = "int | torch.SymInt"

_Key: TypeAlias = tuple[object, ...]


class FakeValues:
    """The fake values of one exported program.

    Symbolic sizes live in a copy of the program's shape environment, so nothing that lowering asks
    or creates changes the caller's.

    Args:
        values: Values of the program's graphs; the first symbolic one leads to its environment.
    """

    def __init__(self, values: Iterable[object] = ()) -> None:
        environment = next(filter(None, map(_shape_environment, values)), None)
        self._environment = _copied(environment) if environment is not None else ShapeEnv()
        self.mode = FakeTensorMode(shape_env=self._environment, allow_non_fake_inputs=True)
        self._tensors: dict[_Key, FakeTensor] = {}
        self._numbers: dict[_Key, torch.SymInt | torch.SymFloat | torch.SymBool] = {}
        self._keys: dict[int, _Key] = {}

    def canonical(self, value: object) -> object:
        """The one object that stands for all values like this one; lists keep their form.

        A tensor is replaced by a fake one of its dtype, shape and strides on the CPU, a symbolic
        number by one of our own environment. Everything else is its own representative.
        """
        if isinstance(value, torch.Tensor):
            return self.tensor(value.dtype, value.shape, value.stride())
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            return self._number(value)
        if isinstance(value, list | tuple):
            return tuple(self.canonical(item) for item in value)
        return value

    def tensor(
        self, dtype: torch.dtype, sizes: Iterable[Size], strides: Iterable[Size] | None = None
    ) -> FakeTensor:
        """The fake tensor of a dtype, shape and strides; contiguous if no strides are given."""
        shape = [self._size(size) for size in sizes]
        steps = _contiguous_strides(shape) if strides is None else [*map(self._size, strides)]
        key = (dtype, *map(_expression, shape), "strides", *map(_expression, steps))
        found = self._tensors.get(key)
        if found is None:
            with self.tracing():
                made = torch.empty_strided(shape, steps, dtype=dtype, device="cpu")
            assert isinstance(made, FakeTensor)
            found = made
            self._tensors[key] = found
            self._keys[id(found)] = key
        return found

    def distinct(self, value: object) -> object:
        """A fake value like this one, but for a tensor another object, as a trace needs."""
        if not isinstance(value, FakeTensor):
            return value
        with self.tracing():
            return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cpu")

    def key(self, value: object) -> object:
        """A hashable stand-in that is equal for equal canonical values."""
        known = self._keys.get(id(value))
        if known is not None:
            return known
        if isinstance(value, list | tuple):
            return tuple(map(self.key, value))
        return (type(value), str(value) if isinstance(value, float) else value)

    def upper_bound(self, size: Size) -> int | None:
        """The greatest value that a size can have; None if nothing bounds it."""
        if isinstance(size, int):
            return size
        bound = bound_sympy(size.node.expr, self._environment.var_to_range).upper
        if not isinstance(bound, sympy.Integer) or abs(int(bound)) >= _UNBOUNDED:
            return None
        return int(bound)

    def is_natural(self, size: Size) -> bool:
        """Whether a number is known to be zero or more."""
        if isinstance(size, int):
            return size >= 0
        return bool(bound_sympy(size.node.expr, self._environment.var_to_range).lower >= 0)

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Run operators on fake tensors as a trace of inference does.

        Without gradients, since matmul folds its batch dimensions differently with them. Without
        mkldnn, whose fused LSTM has no kernel elsewhere. With the Python dispatcher, without which
        batch norm and dropout would be traced as their CPU kernels.
        """
        mkldnn = torch._C._get_mkldnn_enabled()
        torch._C._set_mkldnn_enabled(False)  # noqa: FBT003
        try:
            with torch.no_grad(), self.mode, enable_python_dispatcher():
                yield
        finally:
            torch._C._set_mkldnn_enabled(mkldnn)

    def _size(self, size: Size) -> Size:
        number = self._number(size) if isinstance(size, torch.SymInt) else size
        assert isinstance(number, int | torch.SymInt)
        return number

    def _number(
        self, value: torch.SymInt | torch.SymFloat | torch.SymBool
    ) -> int | float | bool | torch.SymInt | torch.SymFloat | torch.SymBool:
        node = value.node
        expression = node.expr
        if isinstance(expression, sympy.Integer):
            return int(expression)
        key = (type(value), expression)
        known = self._numbers.get(key)
        if known is None:
            known = value if node.shape_env is self._environment else self._adopted(value)
            self._numbers[key] = known
            self._keys[id(known)] = key
        return known

    def _adopted(
        self, value: torch.SymInt | torch.SymFloat | torch.SymBool
    ) -> torch.SymInt | torch.SymFloat | torch.SymBool:
        """The same number in our own environment."""
        node = copy.copy(value.node)
        node.shape_env = self._environment
        return type(value)(node)


_UNBOUNDED = 2**48
"""Bounds beyond this are torch's ways of saying that there is none."""


def _expression(size: Size) -> object:
    return size if isinstance(size, int) else size.node.expr


def _contiguous_strides(sizes: list[Size]) -> list[Size]:
    strides: list[Size] = []
    step: Size = 1
    for size in reversed(sizes):
        strides.append(step)
        step = step * size if not isinstance(size, int) or size > 1 else step
    return strides[::-1]


def _shape_environment(value: object) -> ShapeEnv | None:
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return value.node.shape_env  # type: ignore[no-any-return]
    if isinstance(value, FakeTensor):
        return value.fake_mode.shape_env
    return None


def _copied(environment: ShapeEnv) -> ShapeEnv:
    """A shape environment that knows what another does and shares no container with it."""
    copied = copy.copy(environment)
    for name, value in vars(environment).items():
        if isinstance(value, dict | list | set | Counter):
            setattr(copied, name, copy.copy(value))
    copied.fake_tensor_cache = {}
    copied.tracked_fakes = []
    return copied
