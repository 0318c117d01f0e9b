"""The summary: what a file holds, in the words of people, also if its plan is odd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placewire_schema.program import (
    DataLocation,
    EValue,
    ExecutionPlan,
    Int,
    NamedData,
    Program,
    SubsegmentOffsets,
    TensorShapeDynamism,
)

from placewire.inspect import BufferSummary, ValueSummary, summarize
from placewire.pte import PteFile
from tests.placewire.files import delegate, file_bytes, tensor, two_gpu_program

if TYPE_CHECKING:
    from pathlib import Path


def test_planned_memory_is_summed_by_device() -> None:
    pte = PteFile.from_bytes(file_bytes(two_gpu_program(), [b"", b"blob"]))
    (method,) = summarize(pte).methods
    assert method.buffers == (
        BufferSummary("cpu:0", 1, 16),
        BufferSummary("cuda:0", 1, 32),
        BufferSummary("cuda:1", 1, 48),
    )


def test_inputs_say_type_shape_and_device() -> None:
    program = two_gpu_program()
    bound = tensor()
    bound.shape_dynamism = TensorShapeDynamism.DYNAMIC_BOUND
    program.execution_plan[0].values += [EValue(val=Int()), EValue(val=bound)]
    program.execution_plan[0].inputs = [1, 3, 4, -1]
    pte = PteFile.from_bytes(file_bytes(program, [b"", b"blob"]))
    assert summarize(pte).methods[0].inputs == (
        ValueSummary(1, "float32", (2, 2), is_bound=False, device="cuda:0"),
        ValueSummary(3, "Int"),
        ValueSummary(4, "float32", (2, 2), is_bound=True, device="cpu:0"),
        ValueSummary(-1, "no such value"),
    )


def test_segments_say_what_they_are_for() -> None:
    program = Program(
        execution_plan=[ExecutionPlan(delegates=[delegate(DataLocation.SEGMENT, 2)])],
        constant_segment=SubsegmentOffsets(segment_index=0, offsets=[0]),
        mutable_data_segments=[SubsegmentOffsets(segment_index=1, offsets=[0])],
        named_data=[NamedData(key="k", segment_index=2), NamedData(key="l", segment_index=3)],
    )
    pte = PteFile.from_bytes(file_bytes(program, [b"a", b"b", b"c", b"d", b"e"]))
    assert [segment.use for segment in summarize(pte).segments] == [
        "constants",
        "initial values",
        "delegate demo, named 'k'",
        "named 'l'",
        "not referred to",
    ]


def test_operators_are_counted(corpus: Path) -> None:
    (method,) = summarize(PteFile.load(corpus / "dev_addmul.pte")).methods
    assert method.operators == (
        ("et_copy::_h2d_copy.out", 4),
        ("et_copy::_d2h_copy.out", 2),
        ("aten::mul.out", 1),
    )


def test_an_operator_that_is_not_there_is_called_so(corpus: Path) -> None:
    pte = PteFile.load(corpus / "mlp.pte")
    pte.program.execution_plan[0].operators.clear()
    names = [name for name, _ in summarize(pte).methods[0].operators]
    assert "operator 0, which is not there" in names


def test_an_unknown_device_is_called_so(unknown_device: bytes) -> None:
    pte = PteFile.from_bytes(unknown_device)
    plan = pte.program.execution_plan[0]
    plan.inputs = list(range(len(plan.values)))
    devices = {value.device for value in summarize(pte).methods[0].inputs}
    assert "unknown(type 99):0" in devices


def test_an_unknown_value_is_called_so(unknown_member: bytes) -> None:
    pte = PteFile.from_bytes(unknown_member)
    plan = pte.program.execution_plan[0]
    plan.inputs = list(range(len(plan.values)))
    kinds = {value.kind for value in summarize(pte).methods[0].inputs}
    assert "unknown (type 99)" in kinds


def test_every_corpus_file_has_a_summary(corpus: Path) -> None:
    files = sorted(corpus.glob("*.pte"))
    assert files
    for file in files:
        summary = summarize(PteFile.load(file))
        assert summary.size == file.stat().st_size
        assert summary.methods
        assert summary.unknown == ()
