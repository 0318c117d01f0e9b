"""What ExecuTorch exports is not called faulty: one program for each construct of the format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from placewire_schema import Finding

from placewire.validate import validate

torch = pytest.importorskip("torch")
exir = pytest.importorskip(
    "executorch.exir", reason="executorch is not installed; pip install '.[peer]'"
)
passes = pytest.importorskip("executorch.exir.passes")


class Lists(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Operators that return several tensors, and lists of tensors."""

    def forward(self, x: Any) -> Any:
        parts = torch.split(x, 2)
        return torch.cat(parts, 1), torch.unbind(x)[0], *torch.topk(x, 2)


class NestedConditions(torch.nn.Module):  # type: ignore[misc, name-defined]
    def forward(self, x: Any) -> Any:
        def inner(x: Any) -> Any:
            return torch.cond(x.sum() > 1, lambda x: x + 1, lambda x: x * 2, [x])

        first = torch.cond(x.mean() > 0, inner, lambda x: x - 1, [x])
        return first + torch.cond(first.mean() > 0, lambda x: x.sin(), lambda x: x.cos(), [first])


class Counter(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Buffers that change, one of them with an initial value other than zero."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.ones(4))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: Any) -> Any:
        self.total.add_(x)
        self.calls.add_(1)
        return self.total * 2


class Shapes(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Views, empty tensors, many element types, and shapes that depend on the input's."""

    def forward(self, x: Any) -> Any:
        flat = x.view(-1, 1).permute(1, 0)
        return flat, x[0:0], (x > 0).any(), x.half(), x.bfloat16(), torch.arange(x.shape[0])


class Recurrent(torch.nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(10, 4)
        self.recurrent = torch.nn.LSTM(4, 4, batch_first=True)

    def forward(self, x: Any) -> Any:
        return self.recurrent(self.embedding(x))[0]


def linear() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())


def planned_without_inputs() -> Any:
    planning = passes.MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
    return exir.ExecutorchBackendConfig(memory_planning_pass=planning)


def initialised_buffers() -> Any:
    from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass

    initialise = InitializedMutableBufferPass(["total", "calls"])
    return exir.ExecutorchBackendConfig(emit_mutable_buffer_names=True, passes=[initialise])


def wide_alignment() -> Any:
    return exir.ExecutorchBackendConfig(segment_alignment=4096, constant_tensor_alignment=64)


EXPORTS: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any]]] = {
    "lists": (Lists, lambda: torch.randn(6, 3), lambda: None),
    "nested conditions": (NestedConditions, lambda: torch.randn(4, 4), lambda: None),
    "buffers": (Counter, lambda: torch.randn(4), lambda: None),
    "initialised buffers": (Counter, lambda: torch.randn(4), initialised_buffers),
    "shapes": (Shapes, lambda: torch.randn(4, 3), lambda: None),
    "recurrent": (Recurrent, lambda: torch.randint(0, 10, (2, 5)), lambda: None),
    "inputs and outputs not planned": (linear, lambda: torch.randn(2, 8), planned_without_inputs),
    "wide alignment": (linear, lambda: torch.randn(2, 8), wide_alignment),
}


def exported(module: Any, example: Any, config: Any) -> bytes:
    program = torch.export.export(module.eval(), (example,), strict=False)
    unchecked = exir.EdgeCompileConfig(_check_ir_validity=False)
    edge = exir.to_edge(program, compile_config=unchecked)
    return bytes(edge.to_executorch(config or exir.ExecutorchBackendConfig()).buffer)


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_has_no_finding(name: str) -> None:
    module, example, config = EXPORTS[name]
    assert validate(exported(module(), example(), config())) == []


def test_tensors_that_are_exported_to_another_file_are_refused_by_name() -> None:
    config = exir.ExecutorchBackendConfig(external_constants=True)
    findings: list[Finding] = validate(exported(linear(), torch.randn(2, 8), config))
    assert [finding.rule for finding in findings] == ["EXTERNAL_TENSOR", "EXTERNAL_TENSOR"]
    assert '"0.weight"' in findings[0].message
