"""Where tensors are placed and what is copied: upstream's named tests, and what goes beyond."""

from __future__ import annotations

from typing import Any

import pytest
from placewire_schema.errors import InvalidArgumentError
from placewire_schema.program import (
    CompileSpec,
    DeviceType,
    NonConstBufferDevice,
    ScalarType,
    Tensor,
)

from placewire.aot import ExportConfig
from placewire.aot.delegates import delegate_device
from placewire.aot.specs import TensorSpec
from placewire.device import Device
from placewire.placement import CPU, tensor_device, tensors
from tests.placewire.aot.demo_backend import (
    ADD,
    SIN,
    EachAlone,
    adds_on,
    specs,
)
from tests.placewire.aot.lowered import (
    CUDA0,
    CUDA1,
    arguments,
    copies,
    device,
    device_counts,
    lower,
    plan_of,
    steps,
)


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

    def test_the_text_of_a_spec_names_its_device(self) -> None:
        spec = TensorSpec(ScalarType.FLOAT, (2,), (0,), device=CUDA1)
        assert "device=Device(type=<DeviceType.CUDA: 1>, index=1)" in repr(spec)


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
            ExportConfig(skip_h2d_for_method_inputs={"forward": True}),
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
