"""The backends that come with placewire, as far as they work ahead of time."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from placewire_schema.errors import InvalidArgumentError
from placewire_schema.program import (
    CompileSpec,
    DeviceType,
    JumpFalseCall,
    NonConstBufferDevice,
    Tensor,
)
from torch.export import ExportedProgram

from placewire.aot import Artifact, export
from placewire.aot.partition import EverythingPartitioner, OperatorPartitioner
from placewire.backends import CudaPartitioner, TorchBackend
from placewire.device import Device
from placewire.placement import tensor_device
from tests.placewire.aot.demo_backend import ADD, module
from tests.placewire.aot.lowered import arguments, plan_of, steps


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

    @pytest.mark.parametrize(
        ("whole", "shape"),
        [
            (lambda: module(lambda x: x + x), (3, 4)),
            (lambda: torch.nn.Linear(4, 2), (3, 4)),
            (lambda: torch.nn.Conv2d(3, 16, 3, padding=1), (1, 3, 8, 8)),
        ],
        ids=["add", "linear", "conv2d"],
    )
    def test_what_it_can_all_take_is_one_delegate(
        self, whole: Callable[[], torch.nn.Module], shape: tuple[int, ...]
    ) -> None:
        artifact = export(whole(), (torch.ones(shape),), partitioners=[CudaPartitioner()])
        assert steps(artifact) == ["et_copy::_h2d_copy", "delegate", "et_copy::_d2h_copy"]

    def test_what_its_delegates_take_and_give_is_in_a_buffer_of_its_device(self) -> None:
        artifact = lowered()
        (taken_and_given,) = arguments(artifact, "delegate")
        assert len(taken_and_given) == 2
        plan = plan_of(artifact)
        for index in taken_and_given:
            tensor = plan.values[index].val
            assert isinstance(tensor, Tensor)
            assert tensor_device(tensor) == Device.parse("cuda:1")
            assert tensor.allocation_info is not None
            assert plan.non_const_buffer_device == [
                NonConstBufferDevice(tensor.allocation_info.memory_id, DeviceType.CUDA, 1)
            ]

    def test_a_parameter_of_two_delegates_is_in_both_blobs(self) -> None:
        # The sine between the two sums stays on the CPU.
        partitioner = CudaPartitioner(supports=lambda node: node.target is ADD)
        artifact = export(
            _Weighted(lambda x, weight: (x + weight).sin() + weight),
            (torch.ones(3, 4),),
            partitioners=[partitioner],
        )
        assert [list(part.state_dict) for part in _parts(artifact)] == [
            ["weight"],
            ["weight"],
        ]
        assert artifact.report.methods["forward"].copies["H2D"].count == 2

    def test_a_parameter_of_an_earlier_delegate_stays_with_it(self) -> None:
        first = OperatorPartitioner([ADD], TorchBackend())
        artifact = export(
            _Weighted(lambda x, weight: (x + weight).sin()),
            (torch.ones(3, 4),),
            partitioners=[first, CudaPartitioner()],
        )
        assert [list(part.state_dict) for part in _parts(artifact)] == [["weight"], []]

    def test_of_a_branch_it_takes_what_is_inside(self) -> None:
        def branching(x: torch.Tensor) -> object:
            return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))

        artifact = export(module(branching), (torch.ones(3, 4),), partitioners=[CudaPartitioner()])
        inside = [[str(node.target) for node in _calls(part)] for part in _parts(artifact)]
        assert ["aten.sin.default"] in inside
        assert ["aten.cos.default"] in inside
        (plan,) = artifact.program.execution_plan
        jumps = [
            instruction
            for instruction in plan.chains[0].instructions
            if isinstance(instruction.instr_args, JumpFalseCall)
        ]
        assert len(jumps) == 2


class _Weighted(torch.nn.Module):
    """Computes a function of its argument and a parameter."""

    def __init__(self, function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3, 4))
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x, self.weight)


def _parts(artifact: Artifact) -> list[ExportedProgram]:
    """What each delegate of `placewire.torch` computes, in their order."""
    (plan,) = artifact.program.execution_plan
    blobs = [bytes(artifact.file.delegate_blob(entry)) for entry in plan.delegates]
    assert blobs
    return [torch.export.load(io.BytesIO(blob)) for blob in blobs]


def _calls(part: ExportedProgram) -> list[torch.fx.Node]:
    return [node for node in part.graph.nodes if node.op == "call_function"]
