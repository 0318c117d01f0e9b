"""ExecuTorch reads the programs that we export for devices as it reads its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
runtime = pytest.importorskip(
    "executorch.runtime", reason="executorch is not installed; pip install '.[peer]'"
)

from placewire.aot import ExportConfig, export  # noqa: E402 - needs torch
from tests.placewire.aot.demo_backend import (  # noqa: E402 - needs torch
    ADD,
    EachAlone,
    adds_on,
    matrices,
    module,
)


def _add(a: Any, b: Any) -> Any:
    return a + b


def _two_delegates(a: Any, b: Any, c: Any) -> Any:
    return (a + b) + c


@pytest.fixture(scope="module")
def dev_add() -> bytes:
    """Our counterpart of the corpus' dev_add."""
    return export(module(_add), matrices(2), partitioners=[adds_on("cuda:0")]).pte


def _plan(program: dict[str, Any]) -> dict[str, Any]:
    (plan,) = program["execution_plan"]
    return dict(plan)


def _tensors(plan: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
    """What each value says, but for where in its buffer it is: that is the planner's business."""
    return [
        (
            value["val"]["sizes"],
            value["val"]["allocation_info"]["memory_id"],
            value["val"].get("extra_tensor_info"),
        )
        for value in plan["values"]
    ]


def test_flatc_prints_of_it_what_it_prints_of_executorchs_own(
    dev_add: bytes, corpus: Path, executorch_flatc: Path, executorch_schema: Path, tmp_path: Path
) -> None:
    (tmp_path / "ours.pte").write_bytes(dev_add)
    schema = executorch_schema / "program.fbs"
    command: list[str | Path] = [
        executorch_flatc,
        "--json",
        "--strict-json",
        "--raw-binary",
        schema,
        "--",
        "ours.pte",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    ours = _plan(json.loads((tmp_path / "ours.json").read_text("utf-8")))
    theirs = _plan(json.loads((corpus / "dev_add.json").read_text("utf-8")))
    assert _tensors(ours) == _tensors(theirs)
    assert len(_tensors(ours)) == 6
    for field in (
        "container_meta_type",
        "inputs",
        "outputs",
        "chains",
        "operators",
        "delegates",
        "non_const_buffer_sizes",
        "non_const_buffer_device",
    ):
        assert ours[field] == theirs[field], field


def test_executorch_reads_its_devices(dev_add: bytes) -> None:
    program = pytest.importorskip("executorch.exir._serialize._program")
    schema = pytest.importorskip("executorch.exir.schema")
    (plan,) = program.deserialize_pte_binary(dev_add).program.execution_plan
    assert plan.non_const_buffer_device == [
        schema.NonConstBufferDevice(2, schema.DeviceType.CUDA, 0)
    ]
    extra = [value.val.extra_tensor_info for value in plan.values]
    labelled = [info for info in extra if info is not None]
    assert [(info.device_type, info.device_index) for info in labelled] == [
        (schema.DeviceType.CUDA, 0)
    ] * 3


def test_its_runtime_asks_for_the_memory_of_the_device(
    dev_add: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    # There is no CUDA in the wheel, so it stops at the first thing that it needs of the device.
    program = runtime.Runtime.get().load_program(dev_add)
    assert program.method_names == {"forward"}
    with pytest.raises(
        RuntimeError, match="Failed to allocate 48 bytes for buffer 1 on device 1:0"
    ):
        program.load_method("forward")
    assert "No device allocator registered for device type 1" in "".join(capfd.readouterr())


def test_its_runtime_asks_for_every_device_by_its_index() -> None:
    artifact = export(
        module(_two_delegates), matrices(3), partitioners=[EachAlone([ADD], ["cuda:3"])]
    )
    program = runtime.Runtime.get().load_program(artifact.pte)
    with pytest.raises(RuntimeError, match="for buffer 1 on device 1:3"):
        program.load_method("forward")


def test_its_runtime_refuses_a_program_for_ours_when_it_loads_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    artifact = export(module(_add), matrices(2), config=ExportConfig(compat="placewire"))
    program = runtime.Runtime.get().load_program(artifact.pte)
    with pytest.raises(RuntimeError, match="Failed to load method forward"):
        program.load_method("forward")
    assert "kernel 'placewire::require' not found" in "".join(capfd.readouterr())


def test_its_runtime_runs_what_no_backend_took() -> None:
    artifact = export(module(_add), matrices(2), partitioners=[EachAlone([])])
    (result,) = (
        runtime.Runtime.get()
        .load_program(artifact.pte)
        .load_method("forward")
        .execute(list(matrices(2)))
    )
    assert torch.equal(result, torch.ones(2, 2))
