"""Loading and executing programs, against ExecuTorch's runtime and eager PyTorch.

The model is the transformer of the other benchmarks with 96 layers, as ExecuTorch lowered it and as
we do. All sides use one thread. What an instruction costs is measured on a chain of 10,000
additions of two numbers.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .measure import Comparison, NotMeasured, at_most, faster, interleaved_minimums
from .transformer import exported_transformer, transformer_pte

if TYPE_CHECKING:
    from collections.abc import Callable

LAYERS = 96
ADDITIONS = 10_000
ROUNDS = 15


def run() -> list[Comparison | NotMeasured]:
    """Measure loading, execution of both files, and the loop."""
    if find_spec("executorch") is None:
        return [NotMeasured("Module", "executorch is not installed")]
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            return [*_transformer(), _loop()]
    finally:
        torch.set_num_threads(threads)


def _transformer() -> list[Comparison | NotMeasured]:
    import torch

    from placewire.aot import export
    from placewire.module import Module

    theirs, exported = transformer_pte(LAYERS), exported_transformer(LAYERS)
    ours, eager = bytes(export(exported).pte), exported.module()
    x: torch.Tensor = exported.example_inputs[0][0]
    peer = importlib.import_module("executorch.runtime").Runtime.get()
    loads: dict[str, Callable[[], object]] = {
        "ours": lambda: Module(theirs).method("forward"),
        "peer": lambda: peer.load_program(theirs).load_method("forward"),
    }
    load = interleaved_minimums(loads, rounds=ROUNDS)
    of_theirs, of_ours = Module(theirs), Module(ours)
    portable: Any = peer.load_program(theirs).load_method("forward")
    for module in (of_theirs, of_ours):
        torch.testing.assert_close(module(x), eager(x), rtol=1e-3, atol=1e-3)
    runs: dict[str, Callable[[], object]] = {
        "theirs": lambda: of_theirs(x),
        "ours": lambda: of_ours(x),
        "eager": lambda: eager(x),
        "portable": lambda: portable.execute([x]),
    }
    best = interleaved_minimums(runs, rounds=ROUNDS, warm_up=2)
    kernels, name = "portable kernels", f"execute, {LAYERS} layers"
    return [
        Comparison(
            f"load, {LAYERS} layers", "load_program, load_method", load["ours"], load["peer"],
            at_most(1),
        ),
        Comparison(f"{name}, its file", kernels, best["theirs"], best["portable"], faster(4)),
        Comparison(f"{name}, its file", "eager", best["theirs"], best["eager"], at_most(1.2)),
        Comparison(f"{name}, our file", kernels, best["ours"], best["portable"], faster(5)),
        Comparison(f"{name}, our file", "eager", best["ours"], best["eager"], at_most(1.2)),
    ]  # fmt: skip


def _loop() -> Comparison:
    import torch

    from placewire.aot import export
    from placewire.module import Module

    class Chain(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            for _ in range(ADDITIONS):
                x = torch.add(x, y)
            return x

    chain, x, y = Chain(), torch.zeros(2), torch.ones(2)
    exported = torch.export.export(chain, (x, y), strict=False)
    module = Module(bytes(export(exported).pte))
    torch.testing.assert_close(module(x, y), chain(x, y))
    runs: dict[str, Callable[[], object]] = {
        "ours": lambda: module(x, y),
        "eager": lambda: chain(x, y),
    }
    best = interleaved_minimums(runs, rounds=ROUNDS)
    what = "one instruction of 10,000"
    return Comparison(
        what, "eager", best["ours"] / ADDITIONS, best["eager"] / ADDITIONS, at_most(1)
    )
