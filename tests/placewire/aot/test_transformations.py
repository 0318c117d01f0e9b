"""Models that use torch.vmap, or what is built on it, compute what torch computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan

from placewire import Module
from placewire.aot import export
from placewire.aot.transformations import without_transformations


class Calls(nn.Module):
    def __init__(self, body: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)


def _running_sum(x: torch.Tensor) -> torch.Tensor:
    total: torch.Tensor = associative_scan(lambda a, b: a + b, x, 0, combine_mode="generic")
    return total


def _scaled_rows(x: torch.Tensor) -> torch.Tensor:
    def scaled(row: torch.Tensor) -> torch.Tensor:
        return row * row.sum()

    rows: torch.Tensor = torch.vmap(scaled)(x)
    return rows


def _without_gradient(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return _scaled_rows(x) + 1


def _directional(x: torch.Tensor) -> torch.Tensor:
    derivative: torch.Tensor = torch.func.jvp(torch.sin, (x,), (x,))[1]
    return derivative


BODIES = [
    pytest.param(_running_sum, id="associative_scan"),
    pytest.param(_scaled_rows, id="vmap"),
    pytest.param(_without_gradient, id="vmap in no_grad"),
    pytest.param(_directional, id="jvp"),
]


@pytest.mark.parametrize("body", BODIES)
def test_a_transformation_computes_what_torch_computes(body: Any) -> None:
    x = torch.randn(4, 3)
    with Module(bytes(export(Calls(body), (x,)).pte)) as module:
        result = torch.as_tensor(module(x.numpy()))
    torch.testing.assert_close(result, body(x))


def test_a_transformation_over_a_size_that_changes_is_exported() -> None:
    shapes = ({0: torch.export.Dim("rows", max=8)},)
    artifact = export(Calls(_scaled_rows), (torch.randn(4, 3),), dynamic_shapes=shapes)
    x = torch.randn(7, 3)
    with Module(bytes(artifact.pte)) as module:
        torch.testing.assert_close(torch.as_tensor(module(x.numpy())), _scaled_rows(x))


def test_a_transformation_beside_a_buffer_that_changes_is_exported() -> None:
    class Counting(nn.Module):
        total: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(4, 3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total += _scaled_rows(x)
            return self.total + 0

    x = torch.randn(4, 3)
    with Module(bytes(export(Counting(), (x,)).pte)) as module:
        module(x.numpy())
        result = torch.as_tensor(module(x.numpy()))
    torch.testing.assert_close(result, 2 * _scaled_rows(x))


def test_a_program_without_transformations_is_taken_as_it_is() -> None:
    program = torch.export.export(nn.ReLU(), (torch.randn(2),))
    assert without_transformations(program) is program
