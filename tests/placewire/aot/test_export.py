"""Exporting a model: what goes in, what comes out, what is refused."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from placewire.aot import export
from placewire.backends import CudaPartitioner
from placewire.module import Module
from placewire.pte import PteFile
from placewire.validate import validate


def _network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()


def test_a_module_becomes_a_valid_program() -> None:
    artifact = export(_network(), (torch.zeros(2, 8),))
    assert validate(artifact.pte) == []
    (plan,) = artifact.program.execution_plan
    assert plan.name == "forward"
    assert [f"{op.name}.{op.overload}" for op in plan.operators] == [
        "aten::linear.out",
        "aten::relu.out",
    ]


def test_an_exported_program_gives_the_same_bytes_as_its_module() -> None:
    example = (torch.zeros(2, 8),)
    exported = torch.export.export(_network(), example, strict=False)
    assert export(exported).pte == export(_network(), example).pte


def test_methods_are_sorted_by_name_and_share_their_constants() -> None:
    exported = torch.export.export(_network(), (torch.zeros(2, 8),), strict=False)
    artifact = export({"second": exported, "first": exported})
    assert [plan.name for plan in artifact.program.execution_plan] == ["first", "second"]
    assert artifact.program.constant_segment is not None
    assert len(artifact.program.constant_segment.offsets) == 1 + 4


def test_tied_weights_are_stored_once() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
            self.second.weight = self.first.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.second(self.first(x))
            return result

    artifact = export(Tied(), (torch.zeros(1, 4),))
    assert artifact.program.constant_segment is not None
    assert len(artifact.program.constant_segment.offsets) == 1 + 3


def test_constants_are_aligned() -> None:
    artifact = export(_network(), (torch.zeros(2, 8),))
    assert artifact.program.constant_segment is not None
    assert [offset % 16 for offset in artifact.program.constant_segment.offsets] == [0] * 5


def test_a_program_without_constants_has_the_empty_segment_of_executorch() -> None:
    program = export(nn.ReLU(), (torch.zeros(2),)).program
    assert program.constant_segment is not None
    assert program.constant_segment.offsets == [0]
    assert [(segment.offset, segment.size) for segment in program.segments] == [(0, 0)]


def test_a_program_for_the_cpu_says_nothing_of_devices() -> None:
    (plan,) = export(_network(), (torch.zeros(2, 8),)).program.execution_plan
    assert plan.non_const_buffer_device is None
    tensors = [value.val for value in plan.values if hasattr(value.val, "extra_tensor_info")]
    assert tensors
    assert all(tensor.extra_tensor_info is None for tensor in tensors)


def test_saving_writes_the_bytes_of_the_artifact(tmp_path: Path) -> None:
    artifact = export(_network(), (torch.zeros(2, 8),))
    artifact.save(tmp_path / "network.pte")
    assert (tmp_path / "network.pte").read_bytes() == artifact.pte
    assert PteFile.load(tmp_path / "network.pte").program == artifact.program


def test_the_report_times_every_stage_and_counts_calls() -> None:
    report = export(_network(), (torch.zeros(2, 8),)).report
    assert {"torch.export", "decompose", "plan memory", "emit", "validate"} <= set(report.seconds)
    method = report.methods["forward"]
    assert method.operators == {"aten::linear.out": 2, "aten::relu.out": 1}
    assert method.instructions == 3
    assert method.copies == {}
    (buffer,) = method.buffers
    assert buffer.size >= buffer.lower_bound > 0


def test_a_module_without_example_arguments_is_refused() -> None:
    with pytest.raises(TypeError, match="needs example arguments"):
        export(_network())


def test_example_arguments_beside_an_exported_program_are_refused() -> None:
    exported = torch.export.export(nn.ReLU(), (torch.zeros(2),), strict=False)
    with pytest.raises(TypeError, match="this one is exported"):
        export(exported, (torch.zeros(2),))


def test_no_methods_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="no method"):
        export({})


def test_an_artifact_shows_its_report_and_not_its_bytes() -> None:
    text = repr(export(_network(), (torch.zeros(2, 8),)))
    assert text.startswith("Artifact(report=Report(")
    assert len(text) < 2000


def test_an_artifact_holds_the_weights_once() -> None:
    network = nn.Linear(1024, 1024, bias=False)
    tracemalloc.start()
    try:
        artifact = export(network, (torch.zeros(1, 1024),))
        assert artifact.file.segments
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert network.weight.nbytes < len(artifact.pte) < held < 1.5 * network.weight.nbytes


def test_weights_that_change_later_do_not_change_an_artifact(tmp_path: Path) -> None:
    network = nn.Linear(8, 8)
    artifact = export(network, (torch.zeros(1, 8),))
    before = bytes(artifact.pte)
    with torch.no_grad():
        network.weight.fill_(7)
    artifact.save(tmp_path / "m.pte")
    assert artifact.pte == (tmp_path / "m.pte").read_bytes() == before


def test_what_is_changed_in_the_file_of_an_artifact_is_saved(tmp_path: Path) -> None:
    artifact = export(_network(), (torch.zeros(2, 8),))
    artifact.program.execution_plan[0].name = "classify"
    artifact.save(tmp_path / "m.pte")
    (plan,) = PteFile.load(tmp_path / "m.pte").program.execution_plan
    assert plan.name == "classify"


@pytest.mark.parametrize(
    ("model", "found"), [("model.py", "str"), ({"forward": nn.ReLU()}, "dict")]
)
def test_what_is_no_model_is_refused(model: Any, found: str) -> None:
    with pytest.raises(TypeError, match=f"cannot export a {found}; expected a module"):
        export(model)


def test_what_is_no_partitioner_or_pass_is_refused() -> None:
    wrong: Any = CudaPartitioner()
    with pytest.raises(TypeError, match="partitioners is a CudaPartitioner; expected a list"):
        export(_network(), (torch.zeros(2, 8),), partitioners=wrong)
    with pytest.raises(TypeError, match=r"partitioners has .*, which is no Partitioner"):
        export(_network(), (torch.zeros(2, 8),), partitioners=[wrong.backend])
    with pytest.raises(TypeError, match=r"passes has .*, which is no Pass"):
        export(_network(), (torch.zeros(2, 8),), passes=[wrong])


def test_a_decomposition_that_torch_cannot_trace_gives_way_to_the_next() -> None:
    class Positions(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return torch.where(x > 0)

    x = torch.tensor([[1.0, -1.0], [0.0, 2.0]])
    rows, columns = Module(export(Positions(), (x,)).pte).forward(x)
    assert rows.tolist() == [0, 1]
    assert columns.tolist() == [0, 1]
