"""What instructions of torch's operators share, and that nobody notices."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from placewire_schema import program as p
from placewire_schema.errors import InternalError, InvalidProgramError

from placewire import Module, ScopedKernel, export
from placewire._core import core
from placewire.kernels import find_operator
from tests.runtime.method_building import flat_file, planned

NEG, SUM = ("aten::neg", "out"), ("aten::sum", "IntList_out")
X = np.arange(4, dtype=np.float32).reshape(2, 2)


class Chain(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for _ in range(20):
            x = torch.add(x, y)
        return x


def watched(arguments: list[tuple[Any, ...]]) -> Any:
    """Kernels of torch's that note down what additions get, the result last."""

    def find(name: str) -> object:
        operator = find_operator(name)
        assert operator is not None

        def add(*positional: Any, out: torch.Tensor) -> None:
            arguments.append((*positional, out))
            torch.add(*positional, out=out)

        operator.__dict__["fixed_call"] = replace(operator.fixed_call, function=add)
        return operator

    return core.KernelSource(find)


def test_tensors_that_lie_alike_are_one_object() -> None:
    pte = bytes(export(Chain(), (torch.zeros(2), torch.ones(2))).pte)
    given: list[tuple[Any, ...]] = []
    with Module(pte, kernels=[watched(given)]) as module:
        assert module(torch.zeros(2), torch.ones(2)).tolist() == [20, 20]
    assert len(given) == 20
    found = {(each.data_ptr(), each.shape, each.dtype) for call in given for each in call}
    assert len({id(each) for call in given for each in call}) == len(found) < 5


def test_equal_calls_are_one() -> None:
    pte = bytes(export(Chain(), (torch.zeros(2), torch.ones(2))).pte)
    given: list[tuple[Any, ...]] = []
    with Module(pte, kernels=[watched(given)]) as module:
        module(torch.zeros(2), torch.ones(2))
        result = given[0][-1]
        given.clear()
        keywords = [each for each in gc.get_referrers(result) if each == {"out": result}]
        assert len(keywords) == 1


def test_tensors_of_other_types_or_sizes_at_one_place_are_others() -> None:
    values = [
        planned(0),
        planned(16),
        planned(16, (4,)),
        planned(32, (4,)),
        planned(16, type_=p.ScalarType.INT),
        planned(48, type_=p.ScalarType.INT),
    ]
    calls = [(NEG, [0, 1, 1]), (NEG, [2, 3, 3]), (NEG, [4, 5, 5])]
    with Module(flat_file(values, calls, [0], [1, 3, 5])) as module:
        first, flat, integers = module.method().run([X])
    np.testing.assert_array_equal(first, -X)
    np.testing.assert_array_equal(flat, X.reshape(4))
    np.testing.assert_array_equal(integers, -np.asarray(-X).view(np.int32))


def branching(dimension: int) -> bytes:
    """A program that negates its input twice, and sums up what comes out if it is told so.

    What lies in between is written as four numbers and read as a matrix. The sum is over one
    dimension and goes to that matrix.
    """
    values: list[Any] = [
        planned(0, (4,)),
        planned(16, (4,)),
        planned(16),
        planned(32),
        planned(48, (1,), p.ScalarType.BOOL),
        p.Int(dimension),
        p.IntList([5]),
        p.Bool(bool_val=False),
        p.Null(),
    ]
    first, second, total = (NEG, [0, 1, 1]), (NEG, [2, 3, 3]), (SUM, [3, 6, 7, 8, 2, 2])
    return flat_file(values, [first, second, p.JumpFalseCall(4, 4), total, second], [0, 4], [3])


NO, YES = np.array([False]), np.array([True])


def test_a_result_of_the_wrong_sizes_leaves_what_others_share_as_it_was() -> None:
    with Module(branching(0)) as module:
        run = module.method().run
        for factor in range(3):
            given = factor * X.reshape(4)
            np.testing.assert_array_equal(run([given, NO])[0], factor * X)
            with pytest.raises(InvalidProgramError, match=r"the result has sizes \[2\]"):
                run([given, YES])


def test_functions_of_users_are_called_outside_of_inference_mode() -> None:
    modes = []

    def square(x: torch.Tensor, out: torch.Tensor) -> None:
        modes.append(torch.is_inference_mode_enabled())
        leaf = x.clone().requires_grad_()
        with torch.enable_grad():
            torch.autograd.backward((leaf**2).sum())
        assert leaf.grad is not None
        out.copy_(leaf.grad / 2 * x)

    values = [planned(16 * i) for i in range(4)]
    calls = [(NEG, [0, 1, 1]), (("my::square", "out"), [1, 2, 2]), (NEG, [2, 3, 3])]
    pte = flat_file(values, calls, [0], [3])
    with ScopedKernel("my::square.out", square, views="torch"), Module(pte) as module:
        for _ in range(3):
            np.testing.assert_array_equal(module.method().run([X])[0], -(X**2))
    assert modes == [False] * 3


def test_operators_of_a_library_are_called_outside_of_inference_mode() -> None:
    with torch.library._scoped_library("placewire_tests", "DEF") as library:
        library.define("square.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")

        def square(x: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
            leaf = x.clone().requires_grad_()
            with torch.enable_grad():
                torch.autograd.backward((leaf**3).sum() / 3)
            assert leaf.grad is not None
            return out.copy_(leaf.grad)

        library.impl("square.out", square, "CompositeExplicitAutograd")
        values = [planned(16 * i) for i in range(4)]
        calls = [
            (NEG, [0, 1, 1]),
            (("placewire_tests::square", "out"), [1, 2, 2]),
            (NEG, [2, 3, 3]),
        ]
        with Module(flat_file(values, calls, [0], [3])) as module:
            for _ in range(3):
                np.testing.assert_allclose(module.method().run([X])[0], -(X**2))


def test_a_call_leaves_inference_mode_again() -> None:
    with Module(branching(5)) as module:
        (result,) = module.method().run([torch.arange(4.0), NO])
        assert not torch.is_inference_mode_enabled()
        assert not torch.as_tensor(result).is_inference()
        with pytest.raises(InternalError, match="Dimension out of range"):
            module.method().run([X.reshape(4), YES])
        assert not torch.is_inference_mode_enabled()
