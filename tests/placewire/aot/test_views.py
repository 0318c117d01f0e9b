"""Tensors that only look at another's memory differently share it where nobody can tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from placewire_schema.program import ExecutionPlan, KernelCall, Tensor
from torch import nn

from placewire.aot import export


class _Of(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.register_buffer("state", torch.zeros(2, 6))

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


def _plan(function: Callable[..., Any]) -> ExecutionPlan:
    (plan,) = export(_Of(function), (torch.ones(2, 6),)).program.execution_plan
    return plan


def _operators(plan: ExecutionPlan) -> list[str]:
    return [operator.name.removeprefix("aten::") for operator in plan.operators]


@pytest.mark.parametrize(
    "view",
    [
        lambda y: y.view(3, 4),
        lambda y: y.unsqueeze(1),
        lambda y: y.unsqueeze(0).squeeze(0),
        lambda y: y.unsqueeze(0).transpose(0, 1),
        lambda y: y.view(1, 12).t(),
        lambda y: y.view(1, 2, 6).permute(1, 0, 2),
        lambda y: y[0],
        lambda y: y[:1],
        lambda y: y.unsqueeze(0).expand(1, 2, 6),
    ],
)
def test_a_view_of_the_first_elements_needs_no_instruction(view: Callable[..., Any]) -> None:
    assert _operators(_plan(lambda self, x: view(x + 1) * 2)) == ["add", "mul"]


@pytest.mark.parametrize(
    "view", [lambda y: y.t(), lambda y: y[1], lambda y: y[:, :2], lambda y: y.expand(2, 2, 6)]
)
def test_what_orders_its_elements_otherwise_is_copied(view: Callable[..., Any]) -> None:
    assert len(_operators(_plan(lambda self, x: view(x + 1) * 2))) == 3


def test_a_view_has_the_place_of_its_base() -> None:
    plan = _plan(lambda self, x: (x + 1).view(4, 3) @ torch.ones(3, 2))
    places = {
        tuple(value.val.sizes): value.val.allocation_info.memory_offset_low
        for value in plan.values
        if isinstance(value.val, Tensor) and value.val.allocation_info is not None
    }
    assert "view_copy" not in _operators(plan)
    added = plan.chains[0].instructions[0].instr_args
    assert isinstance(added, KernelCall)
    base = plan.values[added.args[-1]].val
    assert isinstance(base, Tensor)
    assert base.sizes == [2, 6]
    assert base.allocation_info is not None
    assert base.allocation_info.memory_offset_low == places[4, 3]


def test_a_view_of_a_constant_refers_to_the_same_data() -> None:
    plan = _plan(lambda self, x: x.view(3, 4) + self.state.view(3, 4))
    constants = [
        value.val.data_buffer_idx
        for value in plan.values
        if isinstance(value.val, Tensor) and value.val.allocation_info is None
    ]
    assert constants
    assert set(constants) == {1}
    assert _operators(plan) == ["add"]


def test_an_old_value_that_is_returned_is_copied_before_the_buffer_is_overwritten() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        old = self.state.view(3, 4).clone()
        self.state.copy_(x)
        return old

    assert "view_copy" in _operators(_plan(forward))


def test_a_view_that_is_read_before_the_buffer_is_overwritten_needs_no_copy() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        given = self.state.view(3, 4) * 2
        self.state.copy_(x)
        return given

    assert _operators(_plan(forward)) == ["mul", "copy_"]


def test_a_result_shares_no_memory_with_an_argument_or_another_result() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        y = x + 1
        return x.view(3, 4), y, y.view(3, 4)

    plan = _plan(forward)
    copies = [
        call.args[-1]
        for step in plan.chains[0].instructions
        if isinstance(call := step.instr_args, KernelCall)
        and plan.operators[call.op_index].name == "aten::view_copy"
    ]
    assert copies == [plan.outputs[0], plan.outputs[2]]


def test_two_layers_of_a_transformer_have_fewer_instructions() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    report = export(model, (torch.zeros(1, 5, 16),)).report.methods["forward"]
    views = int(report.notes["share memory"].rpartition(" ")[2])
    assert views >= 20
    assert "aten::view_copy.out" not in report.operators
