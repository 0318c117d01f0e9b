"""Buffers that methods share: one place in all methods, on any device, and one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from placewire_schema.program import CompileSpec, DeviceType, NonConstBufferDevice, Tensor

from placewire.aot import (
    Artifact,
    ExportConfig,
    MethodGraph,
    PassResult,
    PredicatePartitioner,
    SharedBufferError,
    export,
    spec_of,
)
from placewire.aot.target import Compat
from placewire.backends import CudaPartitioner, TorchBackend
from placewire.device import Device
from placewire.validate import validate
from tests.placewire.aot.device_machine import Machine
from tests.placewire.aot.lowered import plan_of
from tests.placewire.aot.stateful_methods import (
    DECODER_CALLS,
    Decoder,
    ForMethod,
    buffer_sizes,
    check_calls,
    exported,
    kept_tensors,
    methods_of,
    places_of,
)

COMPATS: tuple[Compat, ...] = ("executorch-1.5", "placewire")
SHARED = ExportConfig(share_mutable_buffers=True)
ON_DEVICE = ExportConfig(share_mutable_buffers=True, compat="placewire")


ROUNDS: list[tuple[str, Any]] = [
    ("peek", ()),
    ("prefill", (torch.arange(12.0).view(3, 4),)),
    ("stateless", (torch.rand(6),)),
    ("peek", ()),
    ("decode", (torch.full((1, 4), 7.0), torch.tensor([5]))),
    ("grow", (torch.arange(4.0),)),
    ("decode", (torch.full((1, 4), 8.0), torch.tensor([2]))),
    ("peek", ()),
]


class TestOnTheHost:
    def test_a_buffer_is_at_one_place_with_one_initial_value_in_all_methods(self) -> None:
        artifact = export(methods_of(Decoder(), "prefill", "decode"), config=SHARED)
        kept = kept_tensors(artifact)
        assert {name: set(each) for name, each in kept.items()} == {
            "cache": {"prefill", "decode"},
            "count": {"prefill", "decode"},
        }
        assert places_of(artifact, "cache") == [(2, 0)] * 2
        assert places_of(artifact, "count") == [(2, 128)] * 2
        values = [{tensor.data_buffer_idx for tensor in each.values()} for each in kept.values()]
        assert values == [{1}, {2}]
        assert len(artifact.file.mutable_data[0]) == 3  # entry 0 is reserved

    def test_it_lies_where_the_method_alone_would_not_have_put_it(self) -> None:
        # Else the first test would pass without sharing.
        artifact = export(methods_of(Decoder(), "prefill", "decode"))
        assert {place for place, _ in places_of(artifact, "cache")} == {1}

    def test_the_shared_buffer_has_one_size_and_what_a_method_needs_alone_another(self) -> None:
        sizes = buffer_sizes(export(methods_of(Decoder(), "prefill", "decode"), config=SHARED))
        assert {each[2] for each in sizes.values()} == {144}
        assert sizes["prefill"][1] != sizes["decode"][1]

    def test_a_method_that_only_reads_a_buffer_reads_what_others_wrote(self) -> None:
        model = Decoder()
        artifact = export(methods_of(model, "prefill", "peek"), config=SHARED)
        assert set(kept_tensors(artifact)["cache"]) == {"prefill", "peek"}
        check_calls(artifact, model, [ROUNDS[0], ROUNDS[1], ROUNDS[3]])

    def test_all_methods_compute_what_the_model_does(self) -> None:
        model = Decoder()
        artifact = export(methods_of(model, *DECODER_CALLS), config=SHARED)
        assert validate(artifact.pte) == []
        check_calls(artifact, model, ROUNDS)

    def test_a_method_without_buffers_reserves_no_bytes_for_them(self) -> None:
        artifact = export(methods_of(Decoder(), "stateless", "prefill"), config=SHARED)
        assert buffer_sizes(artifact)["stateless"][2:] == [0]
        assert buffer_sizes(artifact)["prefill"][2:] == [144]

    def test_without_buffers_nothing_changes(self) -> None:
        methods = methods_of(Decoder(), "stateless")
        assert export(methods, config=SHARED).pte == export(methods).pte

    def test_what_only_one_method_changes_is_safe_from_the_others_too(self) -> None:
        model = Decoder()
        artifact = export(methods_of(model, "grow", "stateless"), config=SHARED)
        assert places_of(artifact, "cache") == [(2, 0)]
        check_calls(artifact, model, [ROUNDS[5], ROUNDS[2], ROUNDS[5]])

    def test_a_copy_of_a_buffer_that_a_method_gives_back_is_not_the_buffer(self) -> None:
        calls: dict[str, Any] = {"grow": (torch.ones(4),), "copied": (), "itself": ()}
        artifact = export(methods_of(_Getters(), *calls, calls=calls), config=SHARED)
        assert _result_buffer(artifact, "copied") == 1
        assert _result_buffer(artifact, "itself") == 2

    def test_names_need_not_be_in_the_program(self) -> None:
        model = Decoder()
        config = ExportConfig(share_mutable_buffers=True, names=False)
        artifact = export(methods_of(model, *DECODER_CALLS), config=config)
        assert kept_tensors(artifact) == {}
        check_calls(artifact, model, ROUNDS)

    def test_a_pool_has_a_shared_buffer_of_its_own(self) -> None:
        model = Decoder()
        methods = methods_of(model, *DECODER_CALLS)
        artifact = export(methods, config=SHARED, passes=[_Change("count", pool=3)])
        assert places_of(artifact, "cache") == [(2, 0)] * 4
        assert places_of(artifact, "count") == [(3, 0)] * 3
        check_calls(artifact, model, ROUNDS)

    def test_exporting_twice_gives_the_same_bytes(self) -> None:
        methods = methods_of(Decoder(), *DECODER_CALLS)
        assert export(methods, config=SHARED).pte == export(methods, config=SHARED).pte

    def test_the_report_shows_the_shared_part_once(self) -> None:
        report = export(methods_of(Decoder(), "prefill", "decode"), config=SHARED).report
        (shared,) = report.shared_buffers
        assert (str(shared.device), shared.size, shared.tensors) == ("cpu:0", 144, 2)
        own = [buffer for method in report.methods.values() for buffer in method.buffers]
        assert len(own) == 2
        assert not any(buffer.shared for buffer in own)
        assert export(methods_of(Decoder(), "prefill")).report.shared_buffers == ()


class TestOnDevices:
    @pytest.mark.parametrize("compat", COMPATS)
    def test_all_methods_compute_what_the_model_does(self, compat: Compat) -> None:
        model = Decoder()
        config = ExportConfig(share_mutable_buffers=True, compat=compat)
        methods = methods_of(model, *DECODER_CALLS)
        artifact = export(methods, partitioners=[CudaPartitioner("cuda:0")], config=config)
        assert validate(artifact.pte) == []
        assert [str(buffer.device) for buffer in artifact.report.shared_buffers] == [
            "cpu:0" if compat == "executorch-1.5" else "cuda:0"
        ]
        check_calls(artifact, model, ROUNDS)

    def test_for_executorch_the_cache_is_number_2_on_the_host_and_the_device_comes_behind(
        self,
    ) -> None:
        # ExecuTorch's own exporter refuses to share anything beside a buffer of a device.
        methods = methods_of(Decoder(), "prefill", "decode")
        artifact = export(methods, partitioners=[CudaPartitioner("cuda:0")], config=SHARED)
        assert places_of(artifact, "cache") == [(2, 0)] * 2
        for plan in artifact.program.execution_plan:
            assert plan.non_const_buffer_sizes[2] == 144
            assert plan.non_const_buffer_device == [NonConstBufferDevice(3, DeviceType.CUDA, 0)]

    def test_for_placewire_the_cache_stays_on_the_device_and_is_not_copied(self) -> None:
        methods = methods_of(Decoder(), "grow", "prefill")
        artifact = export(methods, partitioners=[CudaPartitioner("cuda:0")], config=ON_DEVICE)
        assert places_of(artifact, "cache") == [(2, 0)] * 2
        for plan in artifact.program.execution_plan:
            assert plan.non_const_buffer_device is not None
            assert plan.non_const_buffer_device[0] == NonConstBufferDevice(2, DeviceType.CUDA, 0)
            copied = artifact.report.methods[plan.name].copies
            assert {name: copies.nbytes for name, copies in copied.items()} == {
                "H2D": 16 if plan.name == "grow" else 48,
                "D2H": 16,
            }

    def test_a_method_for_the_host_copies_a_cache_from_the_device_that_others_keep_it_on(
        self,
    ) -> None:
        model = Decoder()
        methods = methods_of(model, "grow", "peek", "stateless")
        partitioner = ForMethod({"grow": CudaPartitioner("cuda:1")})
        artifact = export(methods, partitioners=[partitioner], config=ON_DEVICE)
        assert artifact.report.methods["peek"].copies["D2H"].count == 1
        assert places_of(artifact, "cache") == [(2, 0)] * 2
        assert plan_of(artifact, "stateless").non_const_buffer_device is None
        check_calls(artifact, model, [ROUNDS[0], ROUNDS[5], ROUNDS[2], ROUNDS[0], ROUNDS[5]])

    @pytest.mark.parametrize(
        "devices",
        [{"grow": "cuda:0"}, {"grow": "cuda:0", "prefill": "cuda:1"}, {"prefill": "cuda:0"}],
        ids=str,
    )
    def test_a_cache_that_methods_change_in_different_places_stays_on_the_host(
        self, devices: dict[str, str]
    ) -> None:
        model = Decoder()
        partitioner = ForMethod({name: CudaPartitioner(each) for name, each in devices.items()})
        methods = methods_of(model, *DECODER_CALLS)
        artifact = export(methods, partitioners=[partitioner], config=ON_DEVICE)
        infos = [tensor.extra_tensor_info for tensor in kept_tensors(artifact)["cache"].values()]
        assert [info.device_type for info in infos if info is not None] == [DeviceType.CPU] * 4
        check_calls(artifact, model, ROUNDS)

    @pytest.mark.parametrize("device", ["cpu", "cuda:0", "cuda:1"])
    def test_branches_read_what_another_method_keeps_on_a_device(self, device: str) -> None:
        model = _Branching()
        calls: dict[str, Any] = {"grow": (torch.ones(4),), "branch": (torch.ones(4),)}
        methods = methods_of(model, *calls, calls=calls)
        partitioner = ForMethod({"grow": CudaPartitioner("cuda:0")})
        inside = PredicatePartitioner(
            lambda node: node.target is torch.ops.aten.add.Tensor,
            TorchBackend(),
            [CompileSpec("target_device", device.encode())],
        )
        artifact = export(
            methods, partitioners=[partitioner, ForMethod({"branch": inside})], config=ON_DEVICE
        )
        assert artifact.report.shared_buffers[-1].device == Device.parse("cuda:0")
        x = torch.rand(4)
        rounds = [("grow", (x,)), ("branch", (x,)), ("branch", (-x,)), ("grow", (x,))]
        check_calls(artifact, model, [*rounds, *rounds])

    def test_a_weight_on_a_device_is_there_once_for_all_methods(self) -> None:
        model = _TwoHeads()
        methods = methods_of(model, "first", "second", calls=HEADS_CALLS)
        artifact = export(methods, partitioners=[CudaPartitioner("cuda:0")], config=ON_DEVICE)
        (shared,) = artifact.report.shared_buffers
        assert (shared.size, shared.tensors) == (4 * (64 + 8 + 8), 3)
        x = torch.rand(2, 8)
        check_calls(artifact, model, [("first", (x,)), ("second", (x,)), ("first", (x,))])

    def test_without_planning_for_devices_the_cache_is_shared_on_the_host(self) -> None:
        config = ExportConfig(share_mutable_buffers=True, enable_device_memory_planning=False)
        methods = methods_of(Decoder(), "grow", "peek")
        artifact = export(methods, partitioners=[CudaPartitioner("cuda:0")], config=config)
        assert places_of(artifact, "cache") == [(2, 0)] * 2
        assert all(plan.non_const_buffer_device is None for plan in artifact.program.execution_plan)


class _Getters(Decoder):
    def copied(self) -> torch.Tensor:
        return self.cache.clone()

    def itself(self) -> torch.Tensor:
        return self.cache


def _result_buffer(artifact: Artifact, method: str) -> int:
    plan = plan_of(artifact, method)
    (index,) = plan.outputs
    tensor = plan.values[index].val
    assert isinstance(tensor, Tensor)
    assert tensor.allocation_info is not None
    return tensor.allocation_info.memory_id


class _Branching(Decoder):
    def branch(self, x: torch.Tensor) -> Any:
        return torch.cond(
            x.sum() > 0,
            lambda cache, x: (cache + x).sum(0),
            lambda cache, x: cache.amax(0) - x,
            (self.cache, x),
        )


HEADS_CALLS = {"first": (torch.zeros(2, 8),), "second": (torch.zeros(2, 8),)}


class _TwoHeads(torch.nn.Module):
    """Two methods with one weight; each also has a bias of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(8, 8), requires_grad=False)
        self.one = torch.nn.Parameter(torch.rand(8), requires_grad=False)
        self.other = torch.nn.Parameter(torch.rand(8), requires_grad=False)

    def first(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight + self.one

    def second(self, x: torch.Tensor) -> torch.Tensor:
        return (x + self.other) @ self.weight


@dataclass(frozen=True)
class _Change:
    """A user's pass that changes what is said of a buffer, in all methods or in one."""

    buffer: str
    pool: int = 0
    method: str | None = None
    name: str = "change"
    requires: frozenset[str] = frozenset({"devices"})
    ensures: frozenset[str] = frozenset()

    def __call__(self, graph: MethodGraph, /) -> PassResult:
        for node, given in zip(graph.placeholders, graph.inputs, strict=True):
            if given.name == self.buffer and self.method in (None, graph.name):
                spec_of(node).pool = self.pool
        return PassResult(changed=True)


def _other_count(model: Decoder) -> None:
    model.count += 1


def _float_count(model: Decoder) -> None:
    model.count = torch.zeros(1)


class TestWhatCannotBeOneBuffer:
    def test_methods_with_different_shapes_are_named(self) -> None:
        methods = {
            **methods_of(Decoder(8), "prefill"),
            **methods_of(Decoder(16), "decode"),
        }
        with pytest.raises(SharedBufferError) as caught:
            export(methods, config=SHARED)
        assert list(map(str, caught.value.differences)) == [
            "cache: the shape is [8, 4] in prefill, [16, 4] in decode"
        ]
        assert "one buffer, and these differ:\n    cache: the shape" in str(caught.value)

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            (_other_count, "count: prefill and grown have different initial values"),
            (_float_count, "count: the dtype is torch.int64 in prefill, torch.float32 in grown"),
        ],
    )
    def test_so_are_those_with_different_values_and_dtypes(
        self, change: Callable[[Decoder], None], expected: str
    ) -> None:
        changed = Decoder()
        change(changed)
        methods = {
            **methods_of(Decoder(), "prefill"),
            "grown": exported(changed, "decode", DECODER_CALLS["decode"]),
        }
        with pytest.raises(SharedBufferError) as caught:
            export(methods, config=SHARED)
        assert list(map(str, caught.value.differences)) == [expected]
        assert len(export(methods).program.execution_plan) == 2

    def test_a_pass_may_not_put_it_into_another_pool_in_one_method(self) -> None:
        methods = methods_of(Decoder(), "prefill", "decode")
        step = _Change("cache", pool=2, method="decode")
        with pytest.raises(SharedBufferError, match="cache: the pool is 0 in prefill, 2 in decode"):
            export(methods, config=SHARED, passes=[step])

    def test_a_buffer_that_nobody_changes_may_differ(self) -> None:
        one, other = Decoder(), Decoder(16)
        methods = {
            "one": exported(one, "peek", ()),
            "other": exported(other, "peek", ()),
        }
        artifact = export(methods, config=SHARED)
        assert artifact.report.shared_buffers == ()
        (cache, _) = Machine(artifact, "other")()
        assert torch.equal(cache, other.cache)

    def test_not_a_number_is_the_same_initial_value_everywhere(self) -> None:
        first, second = Decoder(), Decoder()
        first.cache.fill_(float("nan"))
        second.cache.fill_(float("nan"))
        methods = {**methods_of(first, "grow"), **methods_of(second, "prefill")}
        assert places_of(export(methods, config=SHARED), "cache") == [(2, 0)] * 2
