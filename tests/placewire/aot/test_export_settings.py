"""What can be chosen when a model is exported, and what of the program changes with it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from placewire_schema.program import Tensor
from torch import nn

from placewire.aot import ExportConfig, MethodReport, export
from placewire.aot import memory as memory_module
from placewire.planner import Mode, Plan
from placewire.planner import plan as plan_tensors


class Counter(nn.Module):
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += x
        return self.count * 2


def _names(config: ExportConfig) -> list[str]:
    (plan,) = export(Counter(), (torch.ones(3),), config=config).program.execution_plan
    extras = [value.val.extra_tensor_info for value in plan.values if isinstance(value.val, Tensor)]
    return [extra.fully_qualified_name or "" for extra in extras if extra is not None]


def test_buffers_that_change_have_their_names_unless_they_are_not_wanted() -> None:
    assert _names(ExportConfig()) == ["count"]
    assert _names(ExportConfig(names=False)) == []


@pytest.mark.parametrize("mode", ["fast", "search", "exact"])
def test_memory_is_planned_in_the_mode_that_is_asked_for(
    mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Mode, Plan]] = []

    def recorded(tensors: Any, *, mode: Mode, alignment: int) -> Plan:
        seen.append((mode, plan_tensors(tensors, mode=mode, alignment=alignment)))
        return seen[-1][1]

    monkeypatch.setattr(memory_module, "plan", recorded)
    report = _report(ExportConfig(planner=mode, alignment=64))
    assert [used for used, _ in seen] == [mode]
    assert [buffer.size for buffer in report.buffers] == [plan.total for _, plan in seen]


def test_the_report_has_the_lower_bound_of_every_buffer() -> None:
    (buffer,) = _report(ExportConfig(alignment=64)).buffers
    # Two results of 64 numbers are alive at once, each in 256 bytes.
    assert buffer.lower_bound == buffer.size == 2 * 256


def _report(config: ExportConfig) -> MethodReport:
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Sigmoid(), nn.Linear(64, 8)).eval()
    return export(model, (torch.zeros(1, 16),), config=config).report.methods["forward"]


def test_a_setting_for_a_method_that_there_is_not_is_an_error() -> None:
    config = ExportConfig(skip_h2d_for_method_inputs={"forwrad": True})
    with pytest.raises(ValueError, match="_inputs names forwrad; the methods are forward"):
        export(nn.ReLU(), (torch.zeros(2),), config=config)
