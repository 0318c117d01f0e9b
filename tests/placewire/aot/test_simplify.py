"""Lowering leaves out what does nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from placewire.aot import export


def _operators(function: Callable[[torch.Tensor], object]) -> dict[str, int]:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> object:
            return function(x)

    artifact = export(Model(), (torch.ones(2, 3),))
    return artifact.report.methods["forward"].operators


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.view(2, 3).neg(),
        lambda x: x.expand(2, 3).neg(),
        lambda x: x.float().neg(),
        lambda x: x[:].neg(),
        lambda x: nn.functional.dropout(x, training=False).neg(),
    ],
)
def test_a_copy_of_the_same_shape_is_left_out(
    function: Callable[[torch.Tensor], object],
) -> None:
    assert _operators(function) == {"aten::neg.out": 1}


def test_a_transposition_of_a_square_is_kept() -> None:
    operators = _operators(lambda x: (x @ x.t()).t().neg())
    assert (
        sum(calls for name, calls in operators.items() if "transpose" in name or "t_copy" in name)
        == 2
    )


def test_what_nothing_uses_is_left_out() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        x.exp()
        return x.neg()

    assert _operators(function) == {"aten::neg.out": 1}


def test_unused_parameters_are_not_stored() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.unused = nn.Linear(64, 64)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return -x

    assert len(export(Model(), (torch.zeros(2),)).pte) < 2000
