"""No plan of ours is larger than what ExecuTorch's own function makes of the same tensors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.executorch_greedy import ExecutorchGreedy
from benchmarks.lifetimes import (
    INSTANCES,
    IntArray,
    forward_like,
    instance,
    random_intervals,
    train_like,
)
from placewire.planner import plan, verify
from tests.placewire.plan_inputs import shared_object_total, tensor_lists

pytest.importorskip("executorch.exir", reason="executorch is not installed; pip install '.[peer]'")


@given(tensors=tensor_lists, alignment=st.sampled_from([1, 16]))
@settings(max_examples=200, deadline=None)
def test_random_tensors(tensors: IntArray, alignment: int) -> None:
    tensors = tensors[(tensors[:, 0] > 0) & (tensors[:, 1] < tensors[:, 2])]
    total, offsets = ExecutorchGreedy(tensors, alignment).plan()
    assert plan(tensors, alignment=alignment).total <= total
    # The objects may be larger than what lies in them.
    assert verify(tensors, np.array(offsets, np.int64), alignment=alignment) <= total
    assert shared_object_total(tensors, alignment) == total, "our restatement differs"


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("A", 1_511_424),
        ("B", 1_594_368),
        ("C", 1_547_264),
        ("D", 1_336_320),
        ("E", 1_711_104),
        ("F", 1_433_600),
        ("G", 1_478_656),
        ("H", 1_445_888),
    ],
)
def test_an_instance_needs_a_tenth_less(name: str, total: int) -> None:
    (path,) = (path for path in INSTANCES if path.name.startswith(name))
    tensors = instance(path)
    assert ExecutorchGreedy(tensors).plan()[0] == total
    assert 1.1 * plan(tensors).total <= total


@pytest.mark.parametrize("make", [forward_like, train_like, random_intervals])
def test_a_thousand_tensors(make: Callable[[int], IntArray]) -> None:
    tensors = make(1000)
    total, _ = ExecutorchGreedy(tensors).plan()
    assert plan(tensors).total <= total
    assert shared_object_total(tensors) == total
