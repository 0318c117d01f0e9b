"""Buffers of devices, and what `compat="placewire"` puts on the wire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from placewire_schema.program import (
    DeviceType,
    NonConstBufferDevice,
    Tensor,
)

from placewire.aot import Copies, ExportConfig, export
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
)
from tests.placewire.aot.lowered import (
    CUDA0,
    CUDA1,
    arguments,
    copies,
    device,
    lower,
    plan_of,
    skip_both,
    steps,
)


class TestPlanning:
    def test_a_method_on_devices_alone_has_no_buffer_for_the_cpu(self) -> None:
        artifact = lower(lambda a, b, c: (a + b) + c, 3, EachAlone([ADD]), config=skip_both())
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

    def test_every_buffer_begins_at_offset_0(self) -> None:
        partitioner = EachAlone([ADD], ["cuda:9", "cuda:3"])
        plan = plan_of(lower(lambda a, b, c: (a + b) + c, 3, partitioner))
        first: dict[int, int] = {}
        for _, tensor in tensors(plan):
            if (info := tensor.allocation_info) is not None:
                assert info.memory_offset_high == 0
                offset = first.get(info.memory_id, info.memory_offset_low)
                first[info.memory_id] = min(offset, info.memory_offset_low)
        assert first == {1: 0, 2: 0, 3: 0}

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


PLACEWIRE = ExportConfig(compat="placewire")


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

    def test_the_report_has_the_copies_of_every_direction_with_the_bytes_of_a_call(self) -> None:
        partitioner = EachAlone([ADD], ["cuda:0", "cuda:1"])
        artifact = lower(lambda a, b, c: (a + b) + c, 3, partitioner, config=PLACEWIRE)
        assert artifact.report.methods["forward"].copies == {
            "H2D": Copies(3, 3 * 16),
            "D2D": Copies(1, 16),
            "D2H": Copies(1, 16),
        }

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
