"""Tensors with their channels last are read by kernels that can, and copied for the others."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from placewire_schema.program import Tensor
from torch import nn

from placewire.aot import Artifact, export
from placewire.aot.fakes import FakeValues
from placewire.aot.layouts import dim_order_of, has_standard_layout

LAST = torch.channels_last


class Calls(nn.Module):
    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> Any:
        return self.body(x)


def _image(channels: int = 3) -> torch.Tensor:
    return torch.randn(2, channels, 8, 8).to(memory_format=LAST)


def _operators(artifact: Artifact) -> list[str]:
    return [operator.name for operator in artifact.program.execution_plan[0].operators]


def _order_of_result(artifact: Artifact) -> list[int]:
    plan = artifact.program.execution_plan[0]
    tensor = plan.values[plan.outputs[0]].val
    assert isinstance(tensor, Tensor)
    return list(tensor.dim_order)


@pytest.mark.parametrize(
    ("shape", "order"),
    [((2, 3, 4, 5), (0, 2, 3, 1)), ((4, 1, 3, 3), (0, 1, 2, 3)), ((2, 3, 1, 1), (0, 1, 2, 3))],
)
def test_a_layout_that_can_be_called_contiguous_is(
    shape: tuple[int, ...], order: tuple[int, ...]
) -> None:
    assert dim_order_of(torch.zeros(shape).to(memory_format=LAST)) == order


def test_gaps_and_exchanged_dimensions_are_no_standard_layout() -> None:
    assert has_standard_layout(torch.zeros(2, 3))
    assert has_standard_layout(_image())
    assert not has_standard_layout(torch.zeros(2, 3).t())
    assert not has_standard_layout(torch.zeros(2, 6)[:, ::2])
    assert not has_standard_layout(torch.zeros(2, 1).expand(2, 3))


def test_the_layout_of_a_symbolic_shape_is_found_without_its_sizes() -> None:
    shapes = ({0: torch.export.Dim("n", max=8)},)
    program = torch.export.export(Calls(torch.relu), (_image(),), dynamic_shapes=shapes)
    (node,) = program.graph.find_nodes(op="placeholder")
    value = FakeValues([node.meta["val"]]).canonical(node.meta["val"])
    assert isinstance(value, torch.Tensor)
    assert dim_order_of(value) == (0, 2, 3, 1)


def test_kernels_that_take_both_layouts_need_no_copy() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2))
    artifact = export(model, (_image(),))
    assert "dim_order_ops::_clone_dim_order" not in _operators(artifact)
    assert _order_of_result(artifact) == [0, 2, 3, 1]


def test_a_tensor_is_copied_once_for_all_kernels_that_need_it_contiguous() -> None:
    artifact = export(Calls(lambda x: (x.sum(1), x.mean(2), x.flip(3).sum(0))), (_image(),))
    chain = artifact.program.execution_plan[0].chains[0]
    copies = _operators(artifact).index("dim_order_ops::_clone_dim_order")
    calls = [instruction.instr_args.op_index for instruction in chain.instructions]  # type: ignore[union-attr]
    assert calls.count(copies) == 1


def test_a_result_keeps_the_layout_that_it_has_in_pytorch() -> None:
    assert _order_of_result(export(Calls(lambda x: x.flip(1)), (_image(),))) == [0, 2, 3, 1]
    assert _order_of_result(export(Calls(lambda x: x.contiguous()), (_image(),))) == [0, 1, 2, 3]


def test_a_broadcast_across_layouts_is_made_contiguous() -> None:
    artifact = export(Calls(lambda x: x * x[:, :1]), (_image(),))
    assert "dim_order_ops::_clone_dim_order" in _operators(artifact)


def test_stored_tensors_are_contiguous_whatever_they_were() -> None:
    weight = torch.arange(6.0).reshape(2, 3).t()

    class Multiplied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Buffer(weight)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ self.weight

    artifact = export(Multiplied(), (torch.randn(2, 3),))
    assert weight.contiguous().numpy().tobytes() in artifact.pte
