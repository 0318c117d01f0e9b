"""Methods that share their buffers, on ExecuTorch's runtime and beside its own exporter."""

from __future__ import annotations

import copy
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

runtime = pytest.importorskip(
    "executorch.runtime", reason="executorch is not installed; pip install '.[peer]'"
)

from placewire.aot import Artifact, ExportConfig, export  # noqa: E402 - after the check
from tests.peers.conftest import folder_of  # noqa: E402 - after the check
from tests.placewire.aot.stateful_methods import (  # noqa: E402 - after the check
    DECODER_CALLS,
    Decoder,
    kept_tensors,
    methods_of,
)
from tests.schema.cpp.building import compilers  # noqa: E402 - after the check

SHARED = ExportConfig(share_mutable_buffers=True)


ATTENTION_CALLS = {
    "prefill": (torch.zeros(1, 5, 16),),
    "decode": (torch.zeros(1, 1, 16), torch.tensor([5])),
}


class _AttentionWithCache(torch.nn.Module):
    """One layer of attention over all that it has seen: the prompt at once, then word by word."""

    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.project = torch.nn.Linear(16, 48)
        self.register_buffer("keys", torch.zeros(1, 12, 16))
        self.register_buffer("values", torch.zeros(1, 12, 16))

    def prefill(self, x: torch.Tensor) -> torch.Tensor:
        return self._attend(x, torch.arange(x.shape[1]))

    def decode(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        return self._attend(x, position)

    def _attend(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        query, key, value = self.project(x).chunk(3, dim=-1)
        self.keys[:, positions] = key
        self.values[:, positions] = value
        seen = torch.arange(12) <= positions[:, None]
        scores = (query @ self.keys.mT).masked_fill(~seen, float("-inf"))
        weights: torch.Tensor = scores.softmax(-1)
        return weights @ self.values


SUMS_CALLS = {"add": (torch.zeros(5),), "read": (torch.zeros(5),)}


class _Sums(torch.nn.Module):
    """Adds up what it is given, and the sums."""

    first: torch.Tensor
    second: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("first", torch.zeros(5))
        self.register_buffer("second", torch.zeros(3, 5))

    def add(self, x: torch.Tensor) -> torch.Tensor:
        self.first += x
        self.second += self.first
        return self.second + x

    def read(self, x: torch.Tensor) -> torch.Tensor:
        return self.second + x


def _check_on_runtime(
    artifact: Artifact, model: torch.nn.Module, calls: list[tuple[str, Any]]
) -> None:
    """Call methods in turn, all loaded before the first call, since loading resets the buffers."""
    program = runtime.Runtime.get().load_program(artifact.pte)
    loaded = {plan.name: program.load_method(plan.name) for plan in artifact.program.execution_plan}
    eager = copy.deepcopy(model)
    assert calls
    for name, args in calls:
        with torch.no_grad():
            expected = [item.clone() for item in pytree.tree_leaves(getattr(eager, name)(*args))]
        found = loaded[name].execute([item.clone() for item in args])
        torch.testing.assert_close(list(found), expected, rtol=1e-4, atol=1e-5)


def test_words_are_decoded_from_what_the_prompt_left_in_the_cache() -> None:
    torch.manual_seed(0)
    model = _AttentionWithCache().eval()
    artifact = export(methods_of(model, "prefill", "decode", calls=ATTENTION_CALLS), config=SHARED)
    prompt = ("prefill", (torch.randn(1, 5, 16),))
    words = [("decode", (torch.randn(1, 1, 16), torch.tensor([5 + n]))) for n in range(4)]
    _check_on_runtime(artifact, model, [prompt, *words, prompt, *words])


def test_every_method_sees_what_the_others_wrote() -> None:
    model = Decoder()
    artifact = export(methods_of(model, *DECODER_CALLS), config=SHARED)
    calls: list[tuple[str, Any]] = [
        ("peek", ()),
        ("prefill", (torch.randn(3, 4),)),
        ("stateless", (torch.randn(6),)),
        ("peek", ()),
        ("decode", (torch.randn(1, 4), torch.tensor([6]))),
        ("grow", (torch.randn(4),)),
        ("stateless", (torch.randn(6),)),
        ("peek", ()),
        ("decode", (torch.randn(1, 4), torch.tensor([1]))),
    ]
    _check_on_runtime(artifact, model, calls)


@pytest.mark.parametrize("method", ["prefill", "decode", "grow"])
def test_each_method_alone_keeps_its_buffers_from_call_to_call(method: str) -> None:
    model = Decoder()
    artifact = export(methods_of(model, *DECODER_CALLS), config=SHARED)
    call = (method, tuple(item.clone() for item in DECODER_CALLS[method]))
    _check_on_runtime(artifact, model, [call, call, call])


def test_the_buffers_have_the_numbers_and_the_size_that_executorchs_exporter_gives_them() -> None:
    exir = pytest.importorskip("executorch.exir")
    passes = pytest.importorskip("executorch.exir.passes")
    methods = methods_of(_Sums(), "add", "read", calls=SUMS_CALLS)
    config = exir.ExecutorchBackendConfig(
        memory_planning_pass=passes.MemoryPlanningPass(share_mutable_buffers=True)
    )
    theirs = exir.to_edge(dict(methods)).to_executorch(config).executorch_program.execution_plan
    artifact = export(methods, config=SHARED)
    ours = artifact.program.execution_plan
    assert [plan.name for plan in ours] == [plan.name for plan in theirs]
    assert len(ours) == 2
    for plan, other in zip(ours, theirs, strict=True):
        assert len(plan.non_const_buffer_sizes) == len(other.non_const_buffer_sizes) == 3
        assert plan.non_const_buffer_sizes[2] == other.non_const_buffer_sizes[2]
    infos = [t.allocation_info for each in kept_tensors(artifact).values() for t in each.values()]
    assert {info.memory_id for info in infos if info is not None} == {2}
    assert len(infos) == 3
    assert len({(info.memory_id, info.memory_offset_low) for info in infos if info}) == 2


@pytest.fixture(scope="module")
def shared_arenas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of shared_arenas.cpp, linked with ExecuTorch's C++ library."""
    if not compilers():
        pytest.skip("no C++ compiler")
    executorch = folder_of("executorch")
    library = executorch / "lib"
    out = tmp_path_factory.mktemp("shared_arenas") / "shared_arenas"
    command: list[str | Path] = [
        *(compilers()[0], "-std=c++17", "-O0", "-DC10_USING_CUSTOM_GENERATED_MACROS"),
        *("-isystem", executorch / "include"),
        *("-isystem", executorch / "include/executorch/runtime/core/portable_type/c10"),
        *(Path(__file__).with_name("shared_arenas.cpp"), "-o", out),
        *("-L", library, f"-Wl,-rpath,{library}", "-Wl,--no-as-needed"),
        *("-lexecutorch", "-lexecutorch_kernels_optimized"),
    ]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return out


@pytest.mark.parametrize(("share", "expected"), [("1", [3, 6, 9, 12, 15]), ("0", [0] * 5)])
def test_the_module_in_cpp_shows_one_method_what_another_wrote_if_it_shares_memory(
    share: str, expected: list[int], shared_arenas: Path, tmp_path: Path
) -> None:
    path = tmp_path / "sums.pte"
    export(methods_of(_Sums(), "add", "read", calls=SUMS_CALLS), config=SHARED).save(path)
    command: list[str | Path] = [shared_arenas, path, share]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert [float(line) for line in result.stdout.splitlines()] == expected
