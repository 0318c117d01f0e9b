"""The plan of several methods at once: what it refuses, and random methods that share buffers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from placewire.aot import ExportConfig, export, joint_plan, memory
from placewire.aot.specs import Place
from placewire.aot.target import Compat
from placewire.backends import CudaPartitioner
from placewire.device import Device
from placewire.validate import validate
from tests.placewire.aot.stateful_methods import (
    Decoder,
    ForMethod,
    buffer_sizes,
    check_calls,
    kept_tensors,
    methods_of,
    places_of,
)

COMPATS: tuple[Compat, ...] = ("executorch-1.5", "placewire")
SHARED = ExportConfig(share_mutable_buffers=True)


class TestTheCheckOfTheJointPlan:
    """The plan is looked at after it is made; here it is spoiled in between."""

    @pytest.mark.parametrize(
        ("spoil", "message"),
        [
            (lambda places: places.update(count=Place(2, 0)), "count and cache share bytes"),
            (lambda places: places.update(count=Place(2, 144)), "count does not fit into buffer 2"),
            (lambda places: places.update(count=Place(1, 0)), "count has no shared place"),
            (lambda places: places.update(count=None), "count has no shared place"),
        ],
    )
    def test_what_shares_bytes_or_has_no_shared_place_is_named(
        self,
        spoil: Callable[[dict[str, Place | None]], None],
        message: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        plan_states = joint_plan._plan_states

        def spoiled(number: int, group: Any, states: Any, *rest: Any) -> Any:
            result = plan_states(number, group, states, *rest)
            places = {state.name: state.spec.place for state in states}
            spoil(places)
            for state in states:
                for _, spec in state.users:
                    spec.place = places[state.name]
            return result

        monkeypatch.setattr(joint_plan, "_plan_states", spoiled)
        with pytest.raises(joint_plan.SharedStorageError, match=message):
            export(methods_of(Decoder(), "prefill", "decode"), config=SHARED)

    def test_a_place_that_differs_in_one_method_is_found(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plan_states = joint_plan._plan_states

        def spoiled(number: int, group: Any, states: Any, *rest: Any) -> Any:
            result = plan_states(number, group, states, *rest)
            states[0].users[-1][1].place = Place(number, 16)
            return result

        monkeypatch.setattr(joint_plan, "_plan_states", spoiled)
        with pytest.raises(
            joint_plan.SharedStorageError, match="cache has no shared place, or more"
        ):
            export(methods_of(Decoder(), "prefill", "decode"), config=SHARED)

    def test_a_tensor_of_one_method_in_a_shared_buffer_is_found(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plan_group = memory.plan_group

        def spoiled(number: int, *rest: Any) -> Any:
            return plan_group(number + 1, *rest)

        monkeypatch.setattr(joint_plan, "plan_group", spoiled)
        with pytest.raises(joint_plan.SharedStorageError, match="not kept lies in a shared buffer"):
            export(methods_of(Decoder(), "prefill", "decode"), config=SHARED)


class _Random(torch.nn.Module):
    """Random buffers, and methods that read and change random ones of them."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.chance = random.Random(seed)
        generator = torch.Generator().manual_seed(seed)
        self.names = [f"b{number}" for number in range(self.chance.randrange(1, 6))]
        for name in self.names:
            shape = [self.chance.randrange(1, 5) for _ in range(self.chance.randrange(1, 4))]
            self.register_buffer(name, torch.rand(shape, generator=generator))
        self.steps = {f"m{number}": self._random_steps() for number in range(4)}

    def _random_steps(self) -> list[tuple[str, str]]:
        used = self.chance.sample(self.names, self.chance.randrange(len(self.names) + 1))
        return [(name, self.chance.choice(["read", "add", "row", "replace"])) for name in used]

    def compute(self, method: str, x: torch.Tensor) -> torch.Tensor:
        total = x.sin()
        for name, step in self.steps[method]:
            buffer = getattr(self, name)
            if step == "add":
                buffer += x.sum()
            elif step == "row":
                buffer[0] = x.sum()
            elif step == "replace":
                setattr(self, name, (buffer * 0.5) + 1)
            total = total + getattr(self, name).sum()
        return total

    def __getattr__(self, name: str) -> Any:
        if name.startswith("m") and name[1:].isdigit():
            return lambda x: self.compute(name, x)
        return super().__getattr__(name)


@pytest.mark.parametrize("compat", COMPATS)
@pytest.mark.parametrize("seed", range(12))
def test_random_methods_share_random_buffers(seed: int, compat: Compat) -> None:
    model = _Random(seed)
    calls = {name: (torch.ones(3),) for name in model.steps}
    methods = methods_of(model, *calls, calls=calls)
    choices: list[str | None] = [None, "cuda:0", "cuda:0", "cuda:1"]
    devices = {name: model.chance.choice(choices) for name in calls} if seed % 3 else {}
    partitioner = ForMethod(
        {name: CudaPartitioner(device) for name, device in devices.items() if device}
    )
    config = ExportConfig(share_mutable_buffers=True, compat=compat)
    artifact = export(methods, partitioners=[partitioner], config=config)
    assert [finding for finding in validate(artifact.pte) if finding.level == "error"] == []

    steps = [step for each in model.steps.values() for step in each]
    changed = {name for name, step in steps if step != "read"}
    kept = kept_tensors(artifact)
    assert set(kept) == changed
    for name in changed:
        users = {method for method, each in model.steps.items() if name in dict(each)}
        assert set(kept[name]) == users
        assert len(set(places_of(artifact, name))) == 1
        assert len({tensor.data_buffer_idx for tensor in kept[name].values()}) == 1
        extras = [tensor.extra_tensor_info for tensor in kept[name].values()]
        assert len({Device(each.device_type, each.device_index) for each in extras if each}) == 1
    for number, shared in enumerate(artifact.report.shared_buffers, 2):
        sizes = {each[number] for each in buffer_sizes(artifact).values() if number < len(each)}
        assert sizes - {0} == {shared.size}
    rounds = [(model.chance.choice(list(calls)), (torch.rand(3),)) for _ in range(12)]
    check_calls(artifact, model, rounds)
