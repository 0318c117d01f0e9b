"""Where tensors are placed and what is copied: upstream's named tests, and what goes beyond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from placewire_schema.errors import InvalidArgumentError
from placewire_schema.program import (
    CompileSpec,
    DelegateCall,
    DeviceType,
    ExecutionPlan,
    KernelCall,
    NonConstBufferDevice,
    Tensor,
)

from placewire.aot import Artifact, ExportConfig, export
from placewire.aot.delegates import delegate_device
from placewire.aot.passes import PassResult
from placewire.aot.specs import specs_of
from placewire.device import Device
from placewire.placement import CPU, tensor_device, tensors
from placewire.validate import validate
from tests.placewire.aot.demo_backend import (
    ADD,
    SIN,
    EachAlone,
    adds_on,
    matrices,
    module,
    specs,
)

CUDA0, CUDA1 = Device.parse("cuda:0"), Device.parse("cuda:1")
PLACEWIRE = ExportConfig(compat="placewire")


def lower(
    function: Any, count: int, *partitioners: Any, config: ExportConfig | None = None, **more: Any
) -> Artifact:
    return export(
        module(function), matrices(count), partitioners=partitioners, config=config, **more
    )


def plan_of(artifact: Artifact, method: str = "forward") -> ExecutionPlan:
    (plan,) = [plan for plan in artifact.program.execution_plan if plan.name == method]
    return plan


def copies(artifact: Artifact, method: str = "forward") -> tuple[int, int]:
    """How many H2D and D2H copies a method makes."""
    calls = Counter(steps(artifact, method))
    assert calls["placewire::d2d_copy"] == 0
    return calls["et_copy::_h2d_copy"], calls["et_copy::_d2h_copy"]


def steps(artifact: Artifact, method: str = "forward") -> list[str]:
    """What a method calls, in order."""
    plan = plan_of(artifact, method)
    (chain,) = plan.chains
    return [
        plan.operators[call.op_index].name
        if isinstance(call := instruction.instr_args, KernelCall)
        else "delegate"
        for instruction in chain.instructions
    ]


def arguments(artifact: Artifact, name: str) -> list[list[int]]:
    """The arguments of every call of an operator, or of every delegate."""
    plan = plan_of(artifact)
    calls = [instruction.instr_args for instruction in plan.chains[0].instructions]
    return [
        list(call.args)
        for call, step in zip(calls, steps(artifact), strict=True)
        if step == name and isinstance(call, KernelCall | DelegateCall)
    ]


def device(artifact: Artifact, value: int) -> Device:
    tensor = plan_of(artifact).values[value].val
    assert isinstance(tensor, Tensor)
    return tensor_device(tensor)


def device_counts(artifact: Artifact) -> Counter[Device]:
    return Counter(tensor_device(tensor) for _, tensor in tensors(plan_of(artifact)))


def is_planned(artifact: Artifact, value: int) -> bool:
    tensor = plan_of(artifact).values[value].val
    assert isinstance(tensor, Tensor)
    return tensor.allocation_info is not None


class TestOneDelegate:
    def test_two_inputs_are_copied_to_the_device_and_one_output_back(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:0"))
        assert steps(artifact) == [
            "et_copy::_h2d_copy",
            "et_copy::_h2d_copy",
            "delegate",
            "et_copy::_d2h_copy",
        ]

    def test_its_buffers_are_those_of_the_golden_program(self) -> None:
        plan = plan_of(lower(lambda a, b: a + b, 2, adds_on("cuda:0")))
        assert plan.non_const_buffer_sizes == [0, 32, 48]
        assert plan.non_const_buffer_device == [NonConstBufferDevice(2, DeviceType.CUDA, 0)]

    def test_copies_lie_on_the_device_they_copy_to(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:0"))
        for source, target, _ in arguments(artifact, "et_copy::_h2d_copy"):
            assert (device(artifact, source), device(artifact, target)) == (CPU, CUDA0)
        ((source, target, again),) = arguments(artifact, "et_copy::_d2h_copy")
        assert (device(artifact, source), device(artifact, target)) == (CUDA0, CPU)
        assert target == again

    def test_three_tensors_are_on_the_device_and_three_on_the_cpu(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:0"))
        assert device_counts(artifact) == {CUDA0: 3, CPU: 3}

    def test_the_index_of_its_device_is_on_all_that_it_takes_and_gives(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:1"))
        ((*inputs, output),) = arguments(artifact, "delegate")
        assert {device(artifact, value) for value in (*inputs, output)} == {CUDA1}
        assert plan_of(artifact).non_const_buffer_device == [
            NonConstBufferDevice(2, DeviceType.CUDA, 1)
        ]

    def test_a_tensor_that_it_takes_twice_is_copied_and_given_once(self) -> None:
        artifact = lower(lambda a: a + a, 1, EachAlone([ADD]))
        assert copies(artifact) == (1, 1)  # upstream: 2 H2D
        (values,) = arguments(artifact, "delegate")
        assert len(values) == 2

    def test_its_entry_keeps_the_compile_specs(self) -> None:
        (entry,) = plan_of(lower(lambda a, b: a + b, 2, adds_on("cuda:0"))).delegates
        assert entry.id == "BackendWithCompilerDemo"
        assert entry.compile_specs == list(specs("cuda:0"))

    def test_what_is_not_delegated_stays_on_the_cpu(self) -> None:
        artifact = lower(lambda a, b: ((a * 2) + b).sin(), 2, adds_on("cuda:0"))
        results = [call[-1] for call in arguments(artifact, "aten::sin")]
        results += [call[-1] for call in arguments(artifact, "aten::mul")]
        assert len(results) == 2
        assert {device(artifact, value) for value in results} == {CPU}


class TestNoDevice:
    def test_a_delegate_without_a_device_needs_no_copies(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, adds_on(None))
        assert steps(artifact) == ["delegate"]
        assert device_counts(artifact) == {CPU: 3}

    @pytest.mark.parametrize("name", ["cpu", "CPU", "cpu:0", " cpu "])
    def test_a_target_of_cpu_means_no_device(self, name: str) -> None:
        # Upstream inserts copies from the CPU to the CPU, which its runtime then refuses.
        artifact = lower(lambda a, b: a + b, 2, adds_on(name))
        assert steps(artifact) == ["delegate"]
        assert plan_of(artifact).non_const_buffer_device is None

    def test_no_tensor_of_the_cpu_says_anything_of_devices(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, adds_on(None))
        found = [tensor.extra_tensor_info for _, tensor in tensors(plan_of(artifact))]
        assert found == [None, None, None]

    def test_a_program_for_the_cpu_carries_no_device_table(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, adds_on(None))
        assert artifact.file.device_table is None
        assert artifact.program.named_data is None

    def test_the_settings_for_devices_do_not_change_a_program_for_the_cpu(self) -> None:
        settings = [
            ExportConfig(),
            ExportConfig(enable_device_memory_planning=False),
            ExportConfig(skip_h2d_for_method_inputs=True, skip_d2h_for_method_outputs=True),
            ExportConfig(skip_h2d_for_method_inputs={"forward": True, "other": False}),
        ]
        files = {lower(lambda a, b: (a + b).sin(), 2, config=config).pte for config in settings}
        assert len(files) == 1


class TestTargetDevice:
    def test_its_name_may_be_in_any_case(self) -> None:
        assert delegate_device(specs("Cuda:2")) == Device.parse("cuda:2")

    def test_without_an_index_it_is_the_first(self) -> None:
        assert delegate_device(specs("cuda")) == CUDA0

    def test_there_is_none_without_a_compile_spec(self) -> None:
        assert delegate_device(specs(None)) is None
        assert delegate_device(()) is None

    def test_the_first_of_several_counts(self) -> None:
        several = (CompileSpec("target_device", b"cuda:1"), CompileSpec("target_device", b"cpu"))
        assert delegate_device(several) == CUDA1

    @pytest.mark.parametrize(
        "value", [b"tpu:0", b"cuda:-1", b"cuda:300", b"cuda:", b"cuda:0:1", b"", b"cuda:\xff"]
    )
    def test_anything_else_is_refused_with_what_was_found_and_what_is_valid(
        self, value: bytes
    ) -> None:
        shown = value.decode("utf-8", "backslashreplace")
        with pytest.raises(
            InvalidArgumentError, match="is not a device; valid is cpu or cuda"
        ) as caught:
            lower(lambda a, b: a + b, 2, adds_on(value))
        assert repr(shown) in str(caught.value)
        assert "target_device" in str(caught.value)
        assert isinstance(caught.value, ValueError)


class TestSeveralDelegates:
    def test_what_goes_from_one_to_the_next_stays_on_their_device(self) -> None:
        artifact = lower(lambda a, b, c: (a + b) + c, 3, EachAlone([ADD]))
        assert steps(artifact).count("delegate") == 2
        assert copies(artifact) == (3, 1)

    def test_between_two_devices_it_goes_through_the_host(self) -> None:
        artifact = lower(lambda a, b, c: (a + b) + c, 3, EachAlone([ADD], ["cuda:0", "cuda:1"]))
        assert copies(artifact) == (4, 2)
        assert plan_of(artifact).non_const_buffer_device == [
            NonConstBufferDevice(2, DeviceType.CUDA, 0),
            NonConstBufferDevice(3, DeviceType.CUDA, 1),
        ]

    def test_an_input_of_two_on_one_device_is_copied_once(self) -> None:
        artifact = lower(lambda a, b, c: (a + b, a + c), 3, EachAlone([ADD]))
        assert copies(artifact) == (3, 2)  # upstream: 4 H2D

    def test_an_output_for_several_on_its_device_is_copied_back_once(self) -> None:
        def function(a: Any, b: Any, c: Any, d: Any) -> Any:
            first = a + b
            return (first + c) + (first + d)

        artifact = lower(function, 4, EachAlone([ADD]))
        assert steps(artifact).count("delegate") == 4
        assert copies(artifact) == (4, 1)

    def test_an_output_for_a_delegate_and_the_cpu_is_used_where_it_is_and_copied_back(self) -> None:
        def function(a: Any, b: Any, c: Any) -> Any:
            first = a + b
            return first.relu(), first + c

        artifact = lower(function, 3, EachAlone([ADD]))
        first, second = arguments(artifact, "delegate")
        assert first[-1] in second[:-1]
        (relu,) = arguments(artifact, "aten::relu")
        assert device(artifact, relu[0]) == CPU
        assert copies(artifact) == (3, 2)

    def test_an_output_for_its_own_and_another_device_makes_one_round_trip(self) -> None:
        def function(a: Any, b: Any, c: Any) -> Any:
            first = a + b
            return first + c, first + c + c

        devices = ["cuda:0", "cuda:0", "cuda:1", "cuda:1"]
        artifact = lower(function, 3, EachAlone([ADD], devices))
        outputs = [call[-1] for call in arguments(artifact, "delegate")]
        crossing = [
            call for call in arguments(artifact, "et_copy::_d2h_copy") if call[0] == outputs[0]
        ]
        assert len(crossing) == 1
        uploads = [
            call for call in arguments(artifact, "et_copy::_h2d_copy") if call[0] == crossing[0][1]
        ]
        assert [device(artifact, call[1]) for call in uploads] == [CUDA1]

    def test_each_has_its_own_device_and_a_buffer_for_it(self) -> None:
        artifact = lower(lambda a, b, c: (a + b, b + c), 3, EachAlone([ADD], ["cuda:3", "cuda:1"]))
        devices = [device(artifact, call[-1]) for call in arguments(artifact, "delegate")]
        assert sorted(devices) == [CUDA1, Device.parse("cuda:3")]
        assert plan_of(artifact).non_const_buffer_device == [
            NonConstBufferDevice(2, DeviceType.CUDA, 1),
            NonConstBufferDevice(3, DeviceType.CUDA, 3),
        ]

    def test_delegates_with_and_without_a_device_go_together(self) -> None:
        artifact = lower(lambda a, b, c: (a + b) + c, 3, EachAlone([ADD], ["cuda:0", None]))
        assert copies(artifact) == (2, 1)

    def test_a_copy_stands_before_the_first_that_needs_it(self) -> None:
        artifact = lower(lambda a, b: (a + b, b.sin(), (a + b) + b), 2, EachAlone([ADD]))
        order = steps(artifact)
        assert order.index("et_copy::_h2d_copy") < order.index("delegate")

    def test_equal_blobs_are_kept_once(self) -> None:
        artifact = lower(lambda a, b, c: (a + b) + c, 3, EachAlone([ADD]))
        first, second = plan_of(artifact).delegates
        assert first.processed == second.processed
        assert bytes(artifact.file.delegate_blob(first)) == b"aten.add.Tensor;"


class TestViews:
    def test_a_view_between_two_delegates_stays_on_their_device(self) -> None:
        # Upstream copies it to the host for the view, and back.
        artifact = lower(lambda a, b: (a + b).view(4) + b.view(4), 2, EachAlone([ADD]))
        assert copies(artifact) == (2, 1)
        assert "aten::view_copy" not in steps(artifact)

    def test_it_lies_in_the_memory_of_what_it_views(self) -> None:
        artifact = lower(lambda a, b: (a + b).view(4).sin(), 2, EachAlone([ADD, SIN]))
        assert steps(artifact) == ["et_copy::_h2d_copy"] * 2 + ["delegate"] * 2 + [
            "et_copy::_d2h_copy"
        ]
        first, second = arguments(artifact, "delegate")
        written, read = (plan_of(artifact).values[value].val for value in (first[-1], second[0]))
        assert isinstance(written, Tensor)
        assert isinstance(read, Tensor)
        assert written.allocation_info == read.allocation_info
        assert (written.sizes, read.sizes) == ([2, 2], [4])
        assert tensor_device(read) == CUDA0

    def test_one_copy_serves_a_tensor_and_its_views_on_the_other_side(self) -> None:
        def function(a: Any, b: Any) -> Any:
            total = a + b
            return total.view(4).cos(), total.cos()

        assert copies(lower(function, 2, EachAlone([ADD]))) == (2, 1)

    def test_a_transposed_tensor_is_no_view_but_goes_through_the_host(self) -> None:
        artifact = lower(lambda a, b: (a + b).t().sin(), 2, EachAlone([ADD, SIN]))
        assert copies(artifact) == (3, 2)

    def test_a_view_of_an_input_is_copied_with_it(self) -> None:
        artifact = lower(lambda a: (a.view(4).sin(), a.sin()), 1, EachAlone([SIN]))
        assert copies(artifact) == (1, 2)


class TestSkippingCopies:
    def test_inputs_of_a_delegate_are_expected_on_its_device(self) -> None:
        config = ExportConfig(skip_h2d_for_method_inputs=True)
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:0"), config=config)
        assert copies(artifact) == (0, 1)
        assert [device(artifact, value) for value in plan_of(artifact).inputs] == [CUDA0, CUDA0]

    def test_outputs_of_a_delegate_stay_on_its_device(self) -> None:
        config = ExportConfig(skip_d2h_for_method_outputs=True)
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:0"), config=config)
        assert copies(artifact) == (2, 0)
        assert [device(artifact, value) for value in plan_of(artifact).outputs] == [CUDA0]

    def test_both_leave_no_copy(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:0"), config=_skip_both())
        assert steps(artifact) == ["delegate"]

    def test_the_planner_leaves_them_to_the_caller(self) -> None:
        # Upstream needs a second setting of the planner for this, and without it its runtime
        # wrote host data to device pointers.
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:0"), config=_skip_both())
        plan = plan_of(artifact)
        assert not any(is_planned(artifact, value) for value in (*plan.inputs, *plan.outputs))
        default = lower(lambda a, b: a + b, 2, adds_on("cuda:0"))
        assert all(is_planned(default, value) for value in plan_of(default).inputs)

    def test_what_the_cpu_computes_for_a_delegate_is_copied_all_the_same(self) -> None:
        config = ExportConfig(skip_h2d_for_method_inputs=True)
        artifact = lower(lambda a, b: a.sin() + b, 2, adds_on("cuda:0"), config=config)
        assert copies(artifact) == (1, 1)
        inputs = [device(artifact, value) for value in plan_of(artifact).inputs]
        assert inputs == [CPU, CUDA0]

    def test_an_input_that_the_cpu_uses_too_is_copied_back_for_it(self) -> None:
        # Upstream refuses it: "TODO multi-user".
        config = ExportConfig(skip_h2d_for_method_inputs=True)
        artifact = lower(lambda a, b: (a + b, a.sin()), 2, adds_on("cuda:0"), config=config)
        assert copies(artifact) == (0, 2)
        assert [device(artifact, value) for value in plan_of(artifact).inputs] == [CUDA0, CUDA0]
        ((source, _, _),) = arguments(artifact, "aten::sin")
        assert device(artifact, source) == CPU

    def test_an_input_of_several_delegates_is_not_copied_on_their_device(self) -> None:
        config = ExportConfig(skip_h2d_for_method_inputs=True)
        artifact = lower(lambda a, b, c: (a + b, a + c), 3, EachAlone([ADD]), config=config)
        assert copies(artifact) == (0, 2)

    def test_an_input_of_two_devices_is_expected_on_the_first(self) -> None:
        config = ExportConfig(skip_h2d_for_method_inputs=True)
        partitioner = EachAlone([SIN], ["cuda:0", "cuda:1"])
        artifact = lower(lambda a: (a.sin(), a.sin()), 1, partitioner, config=config)
        (value,) = plan_of(artifact).inputs
        assert device(artifact, value) == CUDA0
        assert copies(artifact) == (1, 3)  # to the host and on to cuda:1, and two results

    def test_an_input_for_the_cpu_alone_stays_there_and_planned(self) -> None:
        artifact = lower(
            lambda a, b, c: (a + b, c.sin()), 3, adds_on("cuda:0"), config=_skip_both()
        )
        value = plan_of(artifact).inputs[2]
        assert device(artifact, value) == CPU
        assert is_planned(artifact, value)

    def test_an_output_that_the_cpu_uses_too_stays_on_the_device(self) -> None:
        # Upstream returns the copy that was made for the CPU.
        config = ExportConfig(skip_d2h_for_method_outputs=True)
        artifact = lower(_sum_and_its_sine, 2, adds_on("cuda:0"), config=config)
        outputs = [device(artifact, value) for value in plan_of(artifact).outputs]
        assert outputs == [CUDA0, CPU]
        assert copies(artifact) == (2, 1)

    def test_an_input_that_is_returned_as_it_is_comes_back_from_the_cpu(self) -> None:
        config = ExportConfig(skip_h2d_for_method_inputs=True)
        artifact = lower(lambda a, b: (a + b, a), 2, adds_on("cuda:0"), config=config)
        assert [device(artifact, value) for value in plan_of(artifact).outputs] == [CPU, CPU]

    def test_a_view_that_is_returned_stays_on_the_device_in_planned_memory(self) -> None:
        config = ExportConfig(skip_d2h_for_method_outputs=True)
        artifact = lower(lambda a, b: (a + b).view(4), 2, adds_on("cuda:0"), config=config)
        (value,) = plan_of(artifact).outputs
        assert device(artifact, value) == CUDA0
        assert is_planned(artifact, value)

    @pytest.mark.parametrize(
        "setting", ["skip_h2d_for_method_inputs", "skip_d2h_for_method_outputs"]
    )
    def test_a_method_named_with_false_is_not_skipped(self, setting: str) -> None:
        # Upstream takes any non-empty dictionary for a yes.
        config = ExportConfig.model_validate({setting: {"forward": False}})
        assert copies(lower(lambda a, b: a + b, 2, adds_on("cuda:0"), config=config)) == (2, 1)

    def test_each_method_has_its_own_setting(self) -> None:
        config = ExportConfig(skip_h2d_for_method_inputs={"first": True, "second": False})
        program = torch.export.export(module(lambda a, b: a + b), matrices(2), strict=False)
        artifact = export(
            {"first": program, "second": program, "third": program},
            partitioners=[adds_on("cuda:0")],
            config=config,
        )
        assert copies(artifact, "first") == (0, 1)
        assert copies(artifact, "second") == (2, 1)
        assert copies(artifact, "third") == (2, 1)

    @pytest.mark.parametrize(
        "setting", ["skip_h2d_for_method_inputs", "skip_d2h_for_method_outputs"]
    )
    @pytest.mark.parametrize("value", [True, {"forward": True}])
    def test_nothing_can_be_skipped_without_planning_for_devices(
        self, setting: str, value: object
    ) -> None:
        with pytest.raises(ValueError, match=f"{setting} leaves out copies, but without"):
            ExportConfig.model_validate({"enable_device_memory_planning": False, setting: value})

    def test_a_dictionary_of_false_asks_for_nothing(self) -> None:
        ExportConfig(
            enable_device_memory_planning=False, skip_h2d_for_method_inputs={"forward": False}
        )


def _skip_both() -> ExportConfig:
    return ExportConfig(skip_h2d_for_method_inputs=True, skip_d2h_for_method_outputs=True)


def _sum_and_its_sine(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    total = a + b
    return total, total.sin()


class TestWithoutDevicePlanning:
    CONFIG = ExportConfig(enable_device_memory_planning=False)

    def test_no_copies_are_inserted(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:0"), config=self.CONFIG)
        assert steps(artifact) == ["delegate"]

    def test_what_delegates_take_and_give_is_labelled_and_planned_on_the_cpu(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:0"), config=self.CONFIG)
        plan = plan_of(artifact)
        assert device_counts(artifact) == {CUDA0: 3}
        assert plan.non_const_buffer_sizes == [0, 48]
        assert plan.non_const_buffer_device is None


class TestPlanning:
    def test_a_method_on_devices_alone_has_no_buffer_for_the_cpu(self) -> None:
        artifact = lower(lambda a, b, c: (a + b) + c, 3, EachAlone([ADD]), config=_skip_both())
        plan = plan_of(artifact)
        assert plan.non_const_buffer_sizes == [0, 16]
        assert plan.non_const_buffer_device == [NonConstBufferDevice(1, DeviceType.CUDA, 0)]

    def test_a_method_for_the_cpu_has_one_buffer_and_no_list_of_devices(self) -> None:
        plan = plan_of(lower(lambda a, b: a + b, 2))
        assert len(plan.non_const_buffer_sizes) == 2
        assert plan.non_const_buffer_device is None

    def test_every_tensor_is_in_a_buffer_of_its_own_device_and_fits(self) -> None:
        partitioner = EachAlone([ADD, SIN], ["cuda:1", "cuda:0", "cuda:1", None])
        artifact = lower(lambda a, b, c: ((a + b).sin() + (b + c)).cos(), 3, partitioner)
        plan = plan_of(artifact)
        buffers = {entry.buffer_idx: entry for entry in plan.non_const_buffer_device or []}
        placed = [tensor for _, tensor in tensors(plan) if tensor.allocation_info is not None]
        assert len(placed) > 8
        for tensor in placed:
            assert tensor.allocation_info is not None
            entry = buffers.get(tensor.allocation_info.memory_id)
            found = CPU if entry is None else Device(entry.device_type, entry.device_index)
            assert found == tensor_device(tensor)
            end = tensor.allocation_info.memory_offset_low + 16
            assert end <= plan.non_const_buffer_sizes[tensor.allocation_info.memory_id]

    def test_the_cpu_comes_first_and_devices_by_kind_and_index(self) -> None:
        partitioner = EachAlone([ADD], ["cuda:9", "cuda:3"])
        plan = plan_of(lower(lambda a, b, c: (a + b) + c, 3, partitioner))
        assert len(plan.non_const_buffer_sizes) == 4
        assert plan.non_const_buffer_device == [
            NonConstBufferDevice(2, DeviceType.CUDA, 3),
            NonConstBufferDevice(3, DeviceType.CUDA, 9),
        ]

    def test_pools_and_devices_go_together(self) -> None:
        # Upstream raises NotImplementedError for it.
        artifact = lower(
            lambda a, b: (a + b).sin(), 2, adds_on("cuda:0"), passes=[_EveryOtherPool()]
        )
        plan = plan_of(artifact)
        buffers = artifact.report.methods["forward"].buffers
        assert [(str(buffer.device), buffer.pool) for buffer in buffers] == [
            ("cpu:0", 0),
            ("cpu:0", 1),
            ("cuda:0", 0),
            ("cuda:0", 1),
        ]
        assert plan.non_const_buffer_device == [
            NonConstBufferDevice(3, DeviceType.CUDA, 0),
            NonConstBufferDevice(4, DeviceType.CUDA, 0),
        ]
        assert [buffer.size for buffer in buffers] == plan.non_const_buffer_sizes[1:]

    def test_the_device_table_says_what_the_plan_needs(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:1"))
        table = artifact.file.device_table
        assert table is not None
        entries = [
            (entry.device_type, entry.device_index, entry.planned_bytes, entry.buffer_count)
            for entry in table.devices
        ]
        assert entries == [(DeviceType.CPU, 0, 32, 1), (DeviceType.CUDA, 1, 48, 1)]

    def test_the_validator_has_nothing_to_say(self) -> None:
        assert validate(lower(lambda a, b: a + b, 2, adds_on("cuda:0")).pte) == []


class _EveryOtherPool:
    """A user's pass: puts every other tensor into another pool."""

    name = "every other pool"
    requires: frozenset[str] = frozenset({"devices"})
    ensures: frozenset[str] = frozenset()

    def __call__(self, graph: Any) -> PassResult:
        seen = dict.fromkeys(spec for node in graph.graph.nodes for spec in specs_of(node))
        for place, spec in enumerate(seen):
            spec.pool = place % 2
        return PassResult(changed=True)


class TestPlacewireRuntime:
    """What goes on the wire with `compat="placewire"`."""

    def test_every_method_first_calls_what_only_our_runtime_has(self) -> None:
        artifact = lower(lambda a, b: a + b, 2, config=PLACEWIRE)
        assert steps(artifact)[0] == "placewire::require"
        assert arguments(artifact, "placewire::require") == [[]]
        assert "placewire::require" not in steps(lower(lambda a, b: a + b, 2))

    def test_between_two_devices_there_is_one_copy(self) -> None:
        partitioner = EachAlone([ADD], ["cuda:0", "cuda:1"])
        artifact = lower(lambda a, b, c: (a + b) + c, 3, partitioner, config=PLACEWIRE)
        counts = Counter(steps(artifact))
        assert counts["et_copy::_h2d_copy"] == 3
        assert counts["placewire::d2d_copy"] == 1
        assert counts["et_copy::_d2h_copy"] == 1
        ((source, target, _),) = arguments(artifact, "placewire::d2d_copy")
        assert (device(artifact, source), device(artifact, target)) == (CUDA0, CUDA1)

    def test_a_constant_of_a_delegate_is_uploaded_once_and_not_in_the_blob(self) -> None:
        artifact = export(
            _AddsWeight(), matrices(1), partitioners=[EachAlone([ADD])], config=PLACEWIRE
        )
        assert copies(artifact) == (1, 1)
        ((_, weight, _),) = arguments(artifact, "delegate")
        tensor = plan_of(artifact).values[weight].val
        assert isinstance(tensor, Tensor)
        assert tensor_device(tensor) == CUDA0
        assert tensor.allocation_info is not None
        (data,) = artifact.file.mutable_data
        values = torch.frombuffer(bytearray(data[tensor.data_buffer_idx]), dtype=torch.float32)
        assert values.tolist() == [7.0, 7.0, 7.0, 7.0]

    def test_a_constant_that_the_cpu_uses_too_is_in_the_constant_segment_besides(self) -> None:
        artifact = export(
            _AddsWeight(twice=True), matrices(1), partitioners=[EachAlone([ADD])], config=PLACEWIRE
        )
        assert copies(artifact) == (1, 1)
        constants = [
            tensor
            for _, tensor in tensors(plan_of(artifact))
            if tensor.data_buffer_idx and tensor.allocation_info is None
        ]
        assert len(constants) == 1

    def test_for_executorch_a_constant_of_a_delegate_is_in_its_blob(self) -> None:
        artifact = export(_AddsWeight(), matrices(1), partitioners=[EachAlone([ADD])])
        assert [len(call) for call in arguments(artifact, "delegate")] == [2]
        assert copies(artifact) == (1, 1)


class _AddsWeight(torch.nn.Module):
    def __init__(self, *, twice: bool = False) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((2, 2), 7.0))
        self.twice = twice

    def forward(self, x: torch.Tensor) -> Sequence[torch.Tensor]:
        total = x + self.weight
        return (total, self.weight * 2) if self.twice else (total,)
