"""What is done once when a method is loaded, or in its first execution, changes no result."""

from __future__ import annotations

import copy
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings

from placewire import Module, export
from tests.peers.random_models import RandomModel, arguments, random_models
from tests.peers.random_writes import BRANCHING, Step, random_module
from tests.placewire.module.counting_kernels import CountingKernels

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

EXAMPLES = int(os.environ.get("PLACEWIRE_EXAMPLES", "60"))
EXAMPLES_AT_MOST = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],  # an export each: making them smaller takes minutes
)

calls: Counter[tuple[str, bool]] = Counter()
"""How many kernels each test called, with preparation and without it."""


def runs(pte: object, inputs: Sequence[Sequence[Any]], *, prepare: bool, test: str) -> list[Any]:
    """What each execution of one method gives."""
    counting = CountingKernels()
    with Module(pte, kernels=[counting.source], prepare=prepare) as module:
        results = [module.method().run(given) for given in inputs]
    calls[test, prepare] += counting.calls.total()
    return results


def check(
    model: torch.nn.Module, pte: bytes, inputs: Sequence[Sequence[torch.Tensor]], test: str
) -> None:
    """Compare executions of a prepared method with those of one that is not, and with eager."""
    prepared = runs(pte, inputs, prepare=True, test=test)
    plain = runs(pte, inputs, prepare=False, test=test)
    eager = copy.deepcopy(model)
    with torch.no_grad(), torch.compiler.set_stance("force_eager"):
        expected = [
            [item.clone() for item in eager(*(each.clone() for each in given))] for given in inputs
        ]
    assert len(prepared) == len(plain) == len(expected) == len(inputs)
    torch.testing.assert_close(prepared, plain, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(plain, expected, rtol=1e-4, atol=1e-5, equal_nan=True)


@EXAMPLES_AT_MOST
@given(BRANCHING)
def test_views_writes_and_branches_give_the_same(drawn: list[Step]) -> None:
    model, inputs = random_module(drawn)
    pte = export(copy.deepcopy(model), (inputs[0].clone(),)).pte
    check(model, bytes(pte), [[each] for each in inputs], "writes")


@EXAMPLES_AT_MOST
@given(random_models)
def test_models_give_the_same(model: RandomModel) -> None:
    pte = export(torch.export.export(model, arguments(0))).pte
    check(model, bytes(pte), [arguments(seed) for seed in (1, 2, 1)], "models")


def test_preparation_saved_calls() -> None:
    if not calls["writes", False]:
        pytest.skip("the random programs were not selected")
    assert 0 < calls["writes", True] < calls["writes", False]


@pytest.mark.parametrize("name", ["transformer2", "cond", "conv", "mlp"])
def test_programs_of_executorch_give_the_same(corpus: Path, name: str) -> None:
    path = corpus / f"{name}.pte"
    with Module(path) as module:
        count = len(module.method_meta().inputs)
    arrays = np.load(corpus / f"{name}.npz")
    given = [torch.from_numpy(arrays[f"input{index}"]) for index in range(count)]
    inputs = [given, [each.flip(-1) if each.ndim else ~each for each in given], given]
    prepared = runs(path, inputs, prepare=True, test=name)
    plain = runs(path, inputs, prepare=False, test=name)
    torch.testing.assert_close(prepared, plain, rtol=0, atol=0)
    assert 0 < calls[name, True] <= calls[name, False]
