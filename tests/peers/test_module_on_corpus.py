"""Every file of the corpus gives what eager PyTorch gave, and what ExecuTorch's runtime gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from placewire import Module
from placewire.module.npz import host_arrays, load_inputs, random_inputs

torch = pytest.importorskip("torch")
executorch_runtime = pytest.importorskip(
    "executorch.runtime", reason="executorch is not installed; pip install '.[peer]'"
)

WITH_RESULTS = ("cond", "conv", "dyn", "mlp", "mlp_stacktrace", "scalars_in", "transformer2")
WITHOUT_RESULTS = (
    ("multimethod", "forward"),
    ("multimethod", "add"),
    ("constmethods", "forward"),
    ("constmethods", "get_vocab"),
    ("constmethods", "get_eps"),
    ("constmethods", "get_list"),
)


def of_executorch(path: Path, method: str, inputs: list[object]) -> list[Any]:
    given = [
        torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray) else value
        for value in inputs
    ]
    program = executorch_runtime.Runtime.get().load_program(path.read_bytes())
    return as_arrays(program.load_method(method).execute(given))


def as_arrays(outputs: Sequence[Any]) -> list[Any]:
    return [item.numpy() if isinstance(item, torch.Tensor) else item for item in outputs]


def same(ours: list[Any], theirs: list[Any]) -> None:
    assert len(ours) == len(theirs) > 0
    for left, right in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5)


def test_every_result_of_the_corpus_is_compared(corpus: Path) -> None:
    assert sorted(path.stem for path in corpus.glob("*.npz")) == sorted(WITH_RESULTS)


@pytest.mark.parametrize("name", WITH_RESULTS)
def test_a_file_gives_what_eager_and_executorch_give(corpus: Path, name: str) -> None:
    path = corpus / f"{name}.pte"
    with Module(path, library="numpy") as module:
        inputs = load_inputs(corpus / f"{name}.npz", module.method())
        ours = host_arrays(module.method().run(inputs))
    with np.load(corpus / f"{name}.npz") as archive:
        expected = [archive[key] for key in sorted(archive.files) if key.startswith("output")]
    same(ours, expected)
    same(ours, of_executorch(path, "forward", inputs))


@pytest.mark.parametrize(("name", "method"), WITHOUT_RESULTS)
def test_a_method_gives_what_executorch_gives(corpus: Path, name: str, method: str) -> None:
    path = corpus / f"{name}.pte"
    with Module(path, library="numpy") as module:
        inputs = random_inputs(module[method], seed=3)
        ours = host_arrays(module[method].run(inputs))
    same(ours, of_executorch(path, method, inputs))


def test_a_buffer_that_a_method_changes_lasts_as_on_executorchs_runtime(corpus: Path) -> None:
    path = corpus / "kv_names.pte"
    program = executorch_runtime.Runtime.get().load_program(path.read_bytes())
    theirs = program.load_method("forward")
    with Module(path, library="numpy") as module:
        tensor = module.method_meta().inputs[0].tensor
        assert tensor is not None
        shape = tensor.shape
        for position in range(3):
            value = np.full(shape, position + 1, np.float32)
            index = np.array([position])
            ours = module.method().run([value, index])
            given = [torch.from_numpy(value), torch.from_numpy(index)]
            same(ours, as_arrays(theirs.execute(given)))
