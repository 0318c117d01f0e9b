"""What would end the process in torch's code is an error, or has a result."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from placewire_schema import pack_program, unpack_program
from placewire_schema.errors import InternalError
from placewire_schema.program import Bool, Double, Int, IntList

from placewire.module import Module
from tests.placewire.kernels.operator_inputs import Inputs
from tests.placewire.kernels.operator_program import OneCall

INTEGERS = [torch.int32, torch.int64]


def run(name: str, built: tuple[Any, ...], *tensors: torch.Tensor, room: int = 0) -> Any:
    """Build a program of one call, and run it with other tensors of the same sizes."""
    with Module(OneCall(name, Inputs(built)).program(room=room)) as module:
        return module.method().run(tensors)[0]


@pytest.mark.parametrize("room", [0, 2])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_least_integer_divided_by_minus_one_is_itself(dtype: torch.dtype, room: int) -> None:
    least = torch.iinfo(dtype).min
    x = torch.tensor([least, least, 7, -8] * 4, dtype=dtype)
    divisors = torch.tensor([-1, 2, -2, -1] * 4, dtype=dtype)
    ones = torch.ones_like(x)
    found = run("aten::div.out_mode", (ones, ones, "trunc"), x, divisors, room=room)
    assert found.tolist() == [least, least // 2, -3, 8] * 4


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_divisor_that_is_a_number_is_looked_at_as_well(dtype: torch.dtype) -> None:
    x = torch.tensor([torch.iinfo(dtype).min, 5] * 8, dtype=dtype)
    found = run("aten::div.Scalar_mode_out", (torch.ones_like(x), -1, "trunc"), x)
    assert found.tolist() == [torch.iinfo(dtype).min, -5] * 8


def test_a_divisor_that_becomes_minus_one_in_a_smaller_type_is_looked_at_as_well() -> None:
    x = torch.tensor([torch.iinfo(torch.int32).min, 5] * 8, dtype=torch.int32)
    found = run("aten::div.Scalar_mode_out", (torch.ones_like(x), 2**63 - 1, "trunc"), x)
    assert found.tolist() == [torch.iinfo(torch.int32).min, -5] * 8


def test_other_divisions_are_torchs() -> None:
    x, y = torch.tensor([7.0, -7.0]), torch.tensor([-1.0, 2.0])
    for mode in ("trunc", "floor", None):
        found = run("aten::div.out_mode", (x, y, mode), x, y)
        torch.testing.assert_close(found, torch.div(x, y, rounding_mode=mode))
    numbers = torch.tensor([7, -7])
    found = run("aten::div.out_mode", (numbers, numbers, "floor"), numbers, torch.tensor([-1, 2]))
    assert found.tolist() == [-7, -4]


@pytest.mark.parametrize("index", [-1, 16, 10**6])
def test_an_index_outside_of_the_plane_is_an_error(index: int) -> None:
    x = torch.randn(1, 2, 4, 4)
    pooled, indices = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    arguments = (pooled, x, [2, 2], [2, 2], [0, 0], [1, 1], False, indices)
    name = "aten::max_pool2d_with_indices_backward.grad_input"
    wrong = indices.clone()
    wrong[0, 1, 1, 1] = index
    with pytest.raises(InternalError, match=rf"an index is {index}; expected 0 to 15"):
        run(name, arguments, pooled, x, wrong)
    assert run(name, arguments, pooled, x, indices).sum() == pooled.sum()


@pytest.mark.parametrize("number", [2**31, -(2**31), 2**62])
@pytest.mark.parametrize("place", range(5))
def test_numbers_with_which_a_convolution_overflows_are_errors(number: int, place: int) -> None:
    x, weight = torch.randn(1, 2, 5, 5), torch.randn(3, 2, 3, 3)
    lists = [[1, 1], [1, 1], [1, 1], [0, 0]]
    arguments = (x, weight, None, *lists[:3], False, lists[3], 1)
    program = OneCall("aten::convolution.out", Inputs(arguments)).program()
    unpacked = unpack_program(program)
    values = unpacked.execution_plan[0].values
    numbers = [
        index for value in values if isinstance(value.val, IntList) for index in value.val.items
    ]
    assert len(numbers) > place
    values[numbers[place]].val = Int(number)
    with (
        Module(pack_program(unpacked)) as module,
        pytest.raises(InternalError, match=rf"there is {number}; expected -2147483647 to"),
    ):
        module.method().run([x, weight])


@pytest.mark.parametrize("scale", [0.0, -2.0, 1e-18, 1e18, float("nan")])
def test_scales_without_sense_are_errors(scale: float) -> None:
    x = torch.randn(1, 2, 4, 4)
    program = OneCall("aten::_upsample_bilinear2d_aa.out", Inputs((x, [8, 8], False, 2.0, 2.0)))
    unpacked = unpack_program(program.program())
    scales = [v for v in unpacked.execution_plan[0].values if isinstance(v.val, Double)]
    assert len(scales) == 2
    scales[1].val = Double(scale)
    with (
        Module(pack_program(unpacked)) as module,
        pytest.raises(InternalError, match=re.escape(f"a scale is {scale}; expected 9.5")),
    ):
        module.method().run([x])


def test_statistics_that_are_not_given_cannot_be_used() -> None:
    x = torch.randn(2, 3, 4)
    name = "aten::_native_batch_norm_legit.no_stats_out"
    program = OneCall(name, Inputs((x, None, None, True, 0.1, 1e-5)))
    expected = program.expected()[0]
    with Module(program.program()) as module:
        torch.testing.assert_close(module.method().run([x])[0], expected)
    with (
        Module(without_training(program.program())) as module,
        pytest.raises(InternalError, match="training is False; expected True"),
    ):
        module.method().run([x])


def without_training(program: bytes) -> bytes:
    """The program with the one truth value in it changed."""
    unpacked = unpack_program(program)
    truths = [v for v in unpacked.execution_plan[0].values if isinstance(v.val, Bool)]
    assert len(truths) == 1
    truths[0].val = Bool(bool_val=False)
    return pack_program(unpacked)


def test_statistics_that_would_change_unsaid_are_refused() -> None:
    x, mean, variance = torch.randn(2, 3, 4), torch.zeros(3), torch.ones(3)
    for name, arguments in (
        ("aten::native_batch_norm.out", (x, None, None, mean, variance, True, 0.1, 1e-5)),
        ("aten::batch_norm_update_stats.out", (x, mean, variance, 0.1)),
    ):
        with pytest.raises(InternalError, match="it would change the running statistics"):
            run(name, arguments, x, mean, variance)
    assert mean.tolist() == [0, 0, 0]
    arguments = (x, None, None, mean, variance, False, 0.1, 1e-5)
    found = run("aten::native_batch_norm.out", arguments, x, mean, variance)
    torch.testing.assert_close(found, torch.native_batch_norm(*arguments)[0])
