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


def _report(config: ExportConfig | dict[str, Any]) -> MethodReport:
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Sigmoid(), nn.Linear(64, 8)).eval()
    return export(model, (torch.zeros(1, 16),), config=config).report.methods["forward"]


def test_a_setting_for_a_method_that_there_is_not_is_an_error() -> None:
    config = ExportConfig(skip_h2d_for_method_inputs={"forwrad": True})
    with pytest.raises(ValueError, match="_inputs names forwrad; the methods are forward"):
        export(nn.ReLU(), (torch.zeros(2),), config=config)


def test_settings_by_name_are_as_good_as_a_config() -> None:
    example = (torch.zeros(2, 8),)
    settings = {"alignment": 64, "stacktraces": True}
    by_name = export(nn.Linear(8, 4, bias=False), example, config={"stacktraces": True})
    (plan,) = by_name.program.execution_plan
    assert plan.chains[0].stacktrace
    assert _report(settings) == _report(ExportConfig(alignment=64, stacktraces=True))


def test_a_setting_that_there_is_not_or_cannot_be_is_named() -> None:
    with pytest.raises(ValueError, match="compact"):
        export(nn.ReLU(), (torch.zeros(2),), config={"compact": "placewire"})
    with pytest.raises(ValueError, match=r"power of two.*found 48"):
        export(nn.ReLU(), (torch.zeros(2),), config={"alignment": 48})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"config": "placewire"}, "config is a str; expected an ExportConfig, or a dictionary"),
        ({"config": ExportConfig}, "config is the class ExportConfig; expected an ExportConfig"),
        ({"constant_methods": ["n"]}, "constant_methods is a list; expected a dictionary"),
        ({"constant_methods": {1: 2}}, "constant_methods has the name 1; expected a string"),
        ({"args": [torch.zeros(2)]}, "args is a list; expected a tuple of example arguments"),
        ({"args": torch.zeros(2)}, "args is a Tensor; expected a tuple of example arguments"),
        ({"kwargs": [1]}, "kwargs is a list; expected a dictionary"),
        ({"passes": None}, "passes is None; expected a list"),
        ({"partitioners": {}}, "partitioners is a dict; expected a list"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_named_with_what_is_expected(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        export(nn.ReLU(), **{"args": (torch.zeros(2),), **arguments})


def test_a_method_without_a_string_for_a_name_is_refused() -> None:
    exported = torch.export.export(nn.ReLU(), (torch.zeros(2),), strict=False)
    wrong: Any = {1: exported}
    with pytest.raises(TypeError, match="a dictionary of ExportedPrograms by method"):
        export(wrong)
