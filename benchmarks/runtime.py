"""Loading and executing programs, against ExecuTorch's runtime and eager PyTorch.

The model is the transformer of the other benchmarks with 96 layers, as ExecuTorch lowered it and as
we do. Both runtimes get the path of the file, and map it. All sides use one thread. Opening is also
measured on files of which only the size of the constants differs, and what an instruction costs on
a chain of 10,000 additions of two numbers.
"""

from __future__ import annotations

import importlib
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from .measure import Comparison, NotMeasured, at_most, faster, interleaved_minimums
from .transformer import exported_transformer, transformer_pte

if TYPE_CHECKING:
    from collections.abc import Callable

LAYERS = 96
ADDITIONS = 10_000
ROUNDS = 15
SMALL, LARGE = 2**21, 2**31
"""Bytes of constants in the files that are opened."""


def run() -> list[Comparison | NotMeasured]:
    """Measure loading, execution of both files, and the loop."""
    if find_spec("executorch") is None:
        return [NotMeasured("Module", "executorch is not installed")]
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad(), TemporaryDirectory() as folder:
            return [*_transformer(Path(folder)), _opening(Path(folder)), _loop()]
    finally:
        torch.set_num_threads(threads)


def _transformer(folder: Path) -> list[Comparison | NotMeasured]:
    import torch

    from placewire.aot import export
    from placewire.module import Module

    exported = exported_transformer(LAYERS)
    theirs, ours, eager = folder / "theirs.pte", folder / "ours.pte", exported.module()
    theirs.write_bytes(transformer_pte(LAYERS))
    ours.write_bytes(export(exported).pte)
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


def _opening(folder: Path) -> Comparison:
    """Files whose constants have different sizes: nobody reads those, so it takes the same time."""
    from placewire.module import Module

    files = {size: folder / f"{size}.pte" for size in (SMALL, LARGE)}
    for size, path in files.items():
        _write_table(path, size)
    runs: dict[str, Callable[[], object]] = {
        str(size): partial(lambda path: Module(path).method("forward"), path)
        for size, path in files.items()
    }
    best = interleaved_minimums(runs, rounds=ROUNDS)
    return Comparison(
        "open 2 GiB of constants", "2 MiB of them", best[str(LARGE)], best[str(SMALL)], at_most(1.2)
    )


def _write_table(path: Path, size: int) -> None:
    """Write a program that looks rows up in a table of `size` bytes, all of them holes."""
    import numpy as np
    import torch
    from placewire_schema.program import Tensor

    from placewire.aot import export
    from placewire.pte import PteFile

    width = 512
    program = export(torch.nn.Embedding(4, width), (torch.tensor([0, 1]),)).program
    for value in program.execution_plan[0].values:
        if isinstance(value.val, Tensor) and value.val.sizes == [4, width]:
            value.val.sizes[0] = size // (4 * width)
    PteFile(program, [np.zeros(size, dtype=np.uint8).data]).save(path)


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
