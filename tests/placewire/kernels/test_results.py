"""Every operator of torch that a program may call computes what torch computes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from placewire_schema.errors import InternalError
from placewire_schema.program import ScalarType

from placewire.aot.target import target_of
from placewire.module import Module
from tests.placewire.kernels.operator_inputs import WITHOUT_COMPLEX_TYPES, Inputs, inputs
from tests.placewire.kernels.operator_program import OneCall

OF_THE_CORE = ("et_copy::", "executorch_prim::")
OF_TORCH = {
    name for name in target_of("executorch-1.5").kernels if not name.startswith(OF_THE_CORE)
}
TABLE = inputs()
UNDEFINED = {"aten::empty.out", "dim_order_ops::_empty_dim_order.out"}
"""Operators whose results have sizes, but no elements that anybody could expect."""


def test_the_table_has_every_operator_of_torch_that_a_program_may_call() -> None:
    assert len(OF_TORCH) == 213
    assert set(TABLE) == OF_TORCH - WITHOUT_COMPLEX_TYPES
    assert all(TABLE.values())


def test_only_operators_with_complex_tensors_are_left_out() -> None:
    assert len(WITHOUT_COMPLEX_TYPES) == 3
    names = [each.torch for each in ScalarType if each.torch]
    assert names
    assert not any(getattr(torch, name).is_complex for name in names)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_an_operator_gives_what_torch_gives(name: str) -> None:
    for given in TABLE[name]:
        call = OneCall(name, given)
        with Module(call.program()) as module:
            check_two_runs(module, call)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_an_operator_on_tensors_with_room_to_grow_gives_what_torch_gives(name: str) -> None:
    for given in TABLE[name]:
        call = OneCall(name, given)
        with Module(call.program(room=1)) as module:
            check_two_runs(module, call)


def check_two_runs(module: Module, call: OneCall) -> None:
    """Run with the inputs, and with others."""
    for _ in range(2):
        expected = call.expected()
        torch.manual_seed(0)
        found = module.method("forward").run(call.tensors)
        assert len(found) == len(expected) > 0
        for one, other in zip(found, expected, strict=True):
            check_result(call, one, other)
        call.next()


def check_result(call: OneCall, found: Any, expected: Any) -> None:
    if call.name in UNDEFINED:
        found, expected = torch.zeros_like(torch.as_tensor(found)), torch.zeros_like(expected)
    if isinstance(expected, torch.Tensor):
        torch.testing.assert_close(
            torch.as_tensor(found),
            expected,
            equal_nan=True,
            msg=lambda text: f"{call.name}: {text}",
        )
    else:
        assert type(found) is type(expected)
        assert found == expected


def test_a_list_that_is_too_short_for_the_parts_of_a_tensor_is_an_error() -> None:
    whole = torch.zeros(6)
    program = OneCall("aten::split_copy.Tensor_out", Inputs((whole, 2))).program(room=6)
    with (
        Module(program) as module,
        pytest.raises(InternalError, match="there are 4 parts, but 3 tensors for them"),
    ):
        module.method("forward").run([torch.zeros(8)])
    with Module(program) as module:
        parts = module.method("forward").run([torch.arange(5.0)])
        assert [part.tolist() for part in parts] == [[0, 1], [2, 3], [4]]
