"""Inputs and results that stay on a device, method by method, and no planning for devices."""

from __future__ import annotations

import pytest
import torch

from placewire.aot import ExportConfig, export
from placewire.placement import CPU
from tests.placewire.aot.demo_backend import (
    ADD,
    SIN,
    EachAlone,
    adds_on,
    matrices,
    module,
)
from tests.placewire.aot.lowered import (
    CUDA0,
    arguments,
    copies,
    device,
    device_counts,
    is_planned,
    lower,
    plan_of,
    skip_both,
    steps,
)


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
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:0"), config=skip_both())
        assert steps(artifact) == ["delegate"]

    def test_the_planner_leaves_them_to_the_caller(self) -> None:
        # Upstream needs a second setting of the planner for this, and without it its runtime
        # wrote host data to device pointers.
        artifact = lower(lambda a, b: a + b, 2, adds_on("cuda:0"), config=skip_both())
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
        artifact = lower(lambda a, b, c: (a + b, c.sin()), 3, adds_on("cuda:0"), config=skip_both())
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
