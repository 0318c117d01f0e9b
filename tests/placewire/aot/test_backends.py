"""The backends that come with placewire, as far as they work ahead of time."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
import torch
from placewire_schema.errors import InvalidArgumentError
from placewire_schema.program import CompileSpec
from torch.export import ExportedProgram

from placewire.aot import Artifact, export
from placewire.aot.partition import EverythingPartitioner
from placewire.backends import CudaPartitioner, TorchBackend
from placewire.device import Device


def model() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.SiLU(), torch.nn.Linear(8, 2))


EXAMPLE = (torch.ones(3, 4),)


def lowered() -> Artifact:
    return export(model(), EXAMPLE, partitioners=[CudaPartitioner("cuda:1")])


def blob(artifact: Artifact) -> bytes:
    (plan,) = artifact.program.execution_plan
    (entry,) = plan.delegates
    assert entry.id == "placewire.torch"
    return bytes(artifact.file.delegate_blob(entry))


def loaded(artifact: Artifact) -> ExportedProgram:
    return torch.export.load(io.BytesIO(blob(artifact)))


class TestTorchBackend:
    def test_a_blob_is_an_exported_program_that_computes_its_part(self) -> None:
        given = torch.linspace(-1, 1, 12).reshape(3, 4)
        (result,) = loaded(lowered()).module()(given)
        torch.testing.assert_close(result, model()(given))

    def test_it_brings_the_parameters_under_their_names(self) -> None:
        names = set(loaded(lowered()).state_dict)
        assert names == {"0.weight", "0.bias", "2.weight", "2.bias"}

    def test_nothing_in_it_was_decomposed(self) -> None:
        targets = {
            str(node.target) for node in loaded(lowered()).graph.nodes if node.op == "call_function"
        }
        assert targets == {"aten.linear.default", "aten.silu.default"}

    def test_the_same_part_gives_the_same_bytes(self) -> None:
        assert blob(lowered()) == blob(lowered())

    def test_the_bytes_do_not_depend_on_the_order_of_hashes(self) -> None:
        program = (
            "import hashlib, torch\n"
            "from placewire.aot import export\n"
            "from placewire.backends import CudaPartitioner\n"
            "torch.manual_seed(0)\n"
            "model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.SiLU())\n"
            "artifact = export(model, (torch.ones(3, 4),), partitioners=[CudaPartitioner()])\n"
            "print(hashlib.sha256(artifact.pte).hexdigest())\n"
        )
        digests = {
            subprocess.run(
                [sys.executable, "-c", program],
                env={"PYTHONHASHSEED": seed, "PATH": ""},
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            for seed in ("1", "2")
        }
        assert len(digests) == 1

    def test_it_holds_no_path_of_the_machine_it_was_made_on(self) -> None:
        assert __file__.encode() not in blob(lowered())
        assert b"test_backends" not in blob(lowered())

    def test_sizes_that_vary_stay_so(self) -> None:
        batch = torch.export.Dim("batch", min=2, max=8)
        artifact = export(
            model(),
            EXAMPLE,
            dynamic_shapes=({0: batch},),
            partitioners=[EverythingPartitioner(TorchBackend())],
        )
        given = torch.ones(7, 4)
        torch.testing.assert_close(loaded(artifact).module()(given)[0], model()(given))


class TestCudaPartitioner:
    def test_it_names_its_device_to_the_runtime(self) -> None:
        (plan,) = lowered().program.execution_plan
        assert plan.delegates[0].compile_specs == [CompileSpec("target_device", b"cuda:1")]

    def test_without_one_it_is_the_first(self) -> None:
        assert CudaPartitioner().device == Device.parse("cuda:0")

    def test_a_compile_spec_that_names_one_counts(self) -> None:
        given = CompileSpec("target_device", b"CUDA:2")
        partitioner = CudaPartitioner("cuda:1", compile_specs=[given])
        assert partitioner.device == Device.parse("cuda:2")
        assert partitioner.compile_specs == (given,)

    def test_the_callers_list_of_compile_specs_stays_as_it_was(self) -> None:
        given: list[CompileSpec] = []
        CudaPartitioner(compile_specs=given)
        assert given == []

    @pytest.mark.parametrize("device", ["cpu", "tpu:0", "cuda:-1", "cuda:300", "cuda:"])
    def test_anything_but_a_cuda_device_is_refused(self, device: str) -> None:
        with pytest.raises(InvalidArgumentError, match="is not a") as caught:
            CudaPartitioner(device)
        assert repr(device) in str(caught.value)

    def test_what_it_does_not_support_stays_on_the_cpu(self) -> None:
        linear = torch.ops.aten.linear.default
        artifact = export(
            model(),
            EXAMPLE,
            partitioners=[CudaPartitioner(supports=lambda node: node.target is linear)],
        )
        report = artifact.report.methods["forward"]
        assert report.delegates == 2
        assert report.operators["aten::sigmoid.out"] == 1
