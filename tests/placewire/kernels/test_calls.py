"""Programs whose instructions are Python's: torch's operators, and functions of a user's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from placewire_schema.errors import (
    InternalError,
    InvalidArgumentError,
    OperatorMissingError,
    PlacewireError,
)

from placewire.aot import export
from placewire.aot.partition import EverythingPartitioner
from placewire.backends import CudaPartitioner, TorchBackend
from placewire.custom_kernels import ScopedKernel, kernel, unregister_kernel
from placewire.module import Module
from placewire.pte import PteFile
from placewire.testing import SimulatedDevice


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(4, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.first(x)).mean(-1, keepdim=True) * 2.5


def renamed(pte: bytes, old: str, new: str) -> bytes:
    """The file with one operator called otherwise."""
    file = PteFile.from_bytes(pte)
    found = [op for op in file.program.execution_plan[0].operators if op.name == old]
    assert found
    for operator in found:
        operator.name = new
    return file.to_bytes()


def add_program() -> bytes:
    class Add(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y

    return bytes(export(Add(), (torch.ones(3), torch.ones(3))).pte)


def run(pte: bytes, *inputs: Any, **options: Any) -> Any:
    with Module(pte, **options) as module:
        return module(*inputs)


def test_a_network_gives_what_eager_gives_again_and_again() -> None:
    net = Net().eval()
    module = Module(bytes(export(net, (torch.randn(2, 4),)).pte))
    for _ in range(3):
        x = torch.randn(2, 4)
        torch.testing.assert_close(module(x), net(x))


def test_a_dynamic_batch_may_grow_and_shrink_within_its_bounds() -> None:
    net = Net().eval()
    batch = torch.export.Dim("batch", max=6)
    exported = torch.export.export(net, (torch.randn(3, 4),), dynamic_shapes=({0: batch},))
    module = Module(bytes(export(exported).pte))
    for size in (2, 6, 3, 3, 5):
        x = torch.randn(size, 4)
        torch.testing.assert_close(module(x), net(x))


def test_a_kernel_of_a_users_writes_to_numpy_views() -> None:
    pte = renamed(add_program(), "aten::add", "my::add")
    seen: list[Any] = []

    def add(x: Any, y: Any, alpha: Any, out: Any) -> None:
        seen[:] = [type(x), alpha]
        np.add(x, y, out=out)

    with ScopedKernel("my::add.out", add):
        result = run(pte, np.ones(3, "f"), np.ones(3, "f"))
    assert seen == [np.ndarray, 1]
    assert result.tolist() == [2, 2, 2]


def test_a_kernel_of_a_users_may_see_torch_tensors() -> None:
    pte = renamed(add_program(), "aten::add", "my::add")

    @kernel("my::add.out", views="torch")
    def add(x: torch.Tensor, y: torch.Tensor, alpha: int, out: torch.Tensor) -> None:
        torch.add(x, y, alpha=-alpha, out=out)

    try:
        assert run(pte, np.ones(3, "f"), np.ones(3, "f")).tolist() == [0, 0, 0]
    finally:
        unregister_kernel("my::add.out")
    with pytest.raises(OperatorMissingError, match=r"my::add\.out"):
        run(pte, np.ones(3, "f"), np.ones(3, "f"))


def test_what_a_kernel_raises_is_the_cause_and_the_method_can_run_again() -> None:
    pte = renamed(add_program(), "aten::add", "my::add")
    failures = [KeyError("no such row"), None]

    def add(x: Any, y: Any, alpha: Any, out: Any) -> None:
        failure = failures.pop(0)
        if failure is not None:
            raise failure
        np.add(x, y, out=out)

    with ScopedKernel("my::add.out", add):
        module = Module(pte)
        with pytest.raises(InternalError, match=r"my::add\.out: KeyError: 'no such row'") as caught:
            module(np.ones(3, "f"), np.ones(3, "f"))
        assert isinstance(caught.value.__cause__, KeyError)
        assert module(np.ones(3, "f"), np.ones(3, "f")).tolist() == [2, 2, 2]


def test_an_interrupt_in_a_kernel_stays_one() -> None:
    pte = renamed(add_program(), "aten::add", "my::add")

    def add(*_: Any) -> None:
        raise KeyboardInterrupt

    with ScopedKernel("my::add.out", add), pytest.raises(KeyboardInterrupt):
        run(pte, np.ones(3, "f"), np.ones(3, "f"))


def test_a_kernel_that_returns_its_result_is_told_to_write_it() -> None:
    pte = renamed(add_program(), "aten::add", "my::add")
    with (
        ScopedKernel("my::add.out", lambda x, y, _alpha, _out: x + y),
        pytest.raises(PlacewireError, match=r"returned a .*ndarray; a kernel writes to"),
    ):
        run(pte, np.ones(3, "f"), np.ones(3, "f"))


@pytest.mark.parametrize("device", [None, "cuda:0"])
def test_torch_runs_a_delegate_where_its_tensors_lie(device: str | None) -> None:
    net = Net().eval()
    x = torch.randn(2, 4)
    backend = TorchBackend()
    if device is None:
        pte = bytes(export(net, (x,), partitioners=[EverythingPartitioner(backend)]).pte)
        torch.testing.assert_close(run(pte, x, backends=[backend]), net(x))
        return
    pte = bytes(export(net, (x,), partitioners=[CudaPartitioner(device)]).pte)
    with SimulatedDevice(device) as simulated:
        torch.testing.assert_close(run(pte, x, backends=[backend]), net(x))
        assert simulated.count("copy_host_to_device").calls == 1
        assert simulated.count("copy_device_to_host").calls == 1


def test_a_blob_that_torch_cannot_read_is_refused_when_the_method_is_loaded() -> None:
    class Rubbish(TorchBackend):
        def preprocess(self, subgraph: object, compile_specs: object) -> bytes:
            return b"rubbish"

    x = torch.randn(2, 4)
    pte = bytes(export(Net(), (x,), partitioners=[EverythingPartitioner(Rubbish())]).pte)
    with pytest.raises(PlacewireError, match="cannot read the blob"):
        run(pte, x, backends=[TorchBackend()])


def test_a_kernel_of_a_users_returns_the_sizes_that_it_used() -> None:
    rows = torch.export.Dim("rows", max=8)
    exported = torch.export.export(torch.nn.ReLU(), (torch.ones(3),), dynamic_shapes=({0: rows},))
    pte = renamed(bytes(export(exported).pte), "aten::relu", "my::relu")

    def relu(x: Any, out: Any) -> tuple[int, ...]:
        np.maximum(x, 0, out=out[: len(x)])
        return (len(x),)

    with ScopedKernel("my::relu.out", relu), Module(pte) as module:
        for x in ([-1, 2], [3, -4, 5, 6], [7]):
            assert module(np.array(x, "f")).tolist() == [max(each, 0) for each in x]


def test_twenty_runs_give_equal_results(
    corpus: Path,
) -> None:
    class Constants(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(4, 4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x + (self.weight.t() * 2).reshape(16).view(4, 4)).view(2, 8)

    x = np.ones((4, 4), "f")
    programs = [
        (corpus / "transformer2.pte", np.load(corpus / "transformer2.npz")["input0"]),
        (bytes(export(Constants(), (torch.ones(4, 4),)).pte), x),
    ]
    for program, given in programs:
        with Module(program) as module:
            first = module(given)
            for _ in range(19):
                np.testing.assert_array_equal(module(given), first)


def test_views_of_another_library_are_refused() -> None:
    for register in (
        lambda: kernel("my::add.out", views="jax")(print),  # type: ignore[arg-type]
        lambda: ScopedKernel("my::add.out", print, views="jax"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidArgumentError, match="views is 'jax'; expected 'numpy' or"):
            register()


def printed_until_the_end(script: str) -> tuple[str, str]:
    """Standard output and errors of a script, until its interpreter has ended."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize("kept", ["", "add_nine = "])
def test_a_kernel_that_stays_registered_leaks_nothing_at_exit(corpus: Path, kept: str) -> None:
    script = f"""
from placewire import Module, kernel

@kernel("aten::add.out")
def add(x, y, alpha, out):
    out[:] = 9

{kept}Module({str(corpus / "multimethod.pte")!r}).add
print("loaded")
"""
    assert printed_until_the_end(script) == ("loaded\n", "")


@pytest.mark.parametrize("kept", ["module", "module.forward"])
def test_an_operator_of_torch_library_leaks_nothing_at_exit(tmp_path: Path, kept: str) -> None:
    exported = torch.export.export(torch.nn.ReLU(), (torch.ones(3),))
    path = tmp_path / "doubled.pte"
    path.write_bytes(renamed(bytes(export(exported).pte), "aten::relu", "placewire_leak::doubled"))
    script = f"""
import torch
from placewire import Module

library = torch.library.Library("placewire_leak", "DEF")
library.define("doubled.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")

def doubled(x, *, out):
    return out.copy_(x * 2)

library.impl("doubled.out", doubled, "CompositeExplicitAutograd")
module = Module({str(path)!r})
kept = {kept}
print(kept(torch.ones(3)).tolist())
"""
    assert printed_until_the_end(script) == ("[2.0, 2.0, 2.0]\n", "")
