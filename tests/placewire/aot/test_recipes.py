"""An operator is worked out once for each kind of call, however often a model makes the call."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from placewire.aot import export
from placewire.aot.fakes import FakeValues
from placewire.aot.recipes import Constant, Operand, Recipes, Result, UnsupportedOperatorError
from placewire.aot.target import target_of

_aten = torch.ops.aten


def _recipes() -> tuple[Recipes, FakeValues]:
    fakes = FakeValues()
    return Recipes(fakes, target_of("executorch-1.5")), fakes


def _layers(count: int) -> nn.Module:
    block = [nn.Linear(8, 8), nn.LayerNorm(8), nn.Softplus(), nn.Mish()]
    return nn.Sequential(*(layer for _ in range(count) for layer in block))


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every trace that is made while a test runs."""
    made: list[object] = []
    trace = Recipes._trace

    def counted(self: Recipes, call: Any, operands: Any) -> Any:
        made.append(call)
        return trace(self, call, operands)

    monkeypatch.setattr(Recipes, "_trace", counted)
    return made


def test_an_operator_in_a_hundred_layers_is_traced_once(traces: list[object]) -> None:
    export(_layers(1), (torch.randn(2, 8),))
    once = len(traces)
    assert once > 0
    traces.clear()
    export(_layers(100), (torch.randn(2, 8),))
    assert len(traces) == once


def test_a_call_with_another_shape_is_worked_out_anew(traces: list[object]) -> None:
    recipes, fakes = _recipes()
    for shape in ((2, 8), (3, 8), (2, 8)):
        recipes.find(_aten.mish.default, (Operand(0),), {}, [fakes.tensor(torch.float32, shape)])
    assert len(traces) == 2


def test_an_operator_with_a_kernel_is_one_step() -> None:
    recipes, fakes = _recipes()
    tensor = fakes.tensor(torch.float32, (2, 3))
    recipe = recipes.find(_aten.permute.default, (Operand(0), (1, 0)), {}, [tensor])
    (step,) = recipe.steps
    assert step.target is _aten.permute_copy.default
    assert step.value is fakes.tensor(torch.float32, (3, 2))
    assert recipe.result == Result(0)


def test_several_results_are_taken_apart() -> None:
    recipes, fakes = _recipes()
    tensor = fakes.tensor(torch.float32, (5,))
    recipe = recipes.find(_aten.topk.default, (Operand(0), 2), {}, [tensor])
    assert recipe.result == (Result(0, 0), Result(0, 1))


def test_what_changes_nothing_takes_no_step() -> None:
    recipes, fakes = _recipes()
    tensor = fakes.tensor(torch.float32, (5,))
    recipe = recipes.find(_aten.detach.default, (Operand(0),), {}, [tensor])
    assert recipe.steps == ()
    assert recipe.result == Operand(0)


def test_a_number_where_a_kernel_takes_a_tensor_becomes_a_constant() -> None:
    recipes, fakes = _recipes()
    tensor = fakes.tensor(torch.float32, (5,))
    recipe = recipes.find(_aten.maximum.default, (Operand(0), 2), {}, [tensor])
    (step,) = recipe.steps
    assert step.args == (Operand(0), Constant(torch.float32, 2))


def test_a_decomposition_that_writes_is_made_functional() -> None:
    recipes, fakes = _recipes()
    tensor = fakes.tensor(torch.float32, (1, 3, 4))
    recipe = recipes.find(_aten._pad_circular.default, (Operand(0), (1, 2)), {}, [tensor])
    assert recipe.steps
    for step in recipe.steps:
        assert not step.target._schema.is_mutable  # type: ignore[attr-defined]


def test_a_call_beyond_the_limits_of_its_kernel_is_decomposed() -> None:
    recipes, fakes = _recipes()
    tensor = fakes.tensor(torch.int64, (5,))
    recipe = recipes.find(_aten.remainder.Scalar, (Operand(0), 3), {}, [tensor])
    assert _aten.fmod.Scalar in [step.target for step in recipe.steps]
    assert _aten.remainder.Scalar not in [step.target for step in recipe.steps]


def test_a_reference_of_torch_is_the_last_resort() -> None:
    recipes, fakes = _recipes()
    tensor = fakes.tensor(torch.float32, (5, 4))
    recipe = recipes.find(_aten.linalg_vector_norm.default, (Operand(0), 2, (1,)), {}, [tensor])
    assert all(str(step.target).startswith("aten.") for step in recipe.steps)


def test_what_cannot_be_computed_names_the_operator_and_why() -> None:
    recipes, fakes = _recipes()
    tensor = fakes.tensor(torch.float32, (5, 5))
    with pytest.raises(UnsupportedOperatorError) as caught:
        recipes.find(_aten.linalg_qr.default, (Operand(0),), {}, [tensor])
    assert caught.value.operator is _aten.linalg_qr.default
    assert caught.value.reason == "the target executorch-1.5 has no kernel for it"


def test_what_an_operator_decomposes_into_is_named_if_that_has_no_kernel() -> None:
    recipes, fakes = _recipes()
    tensor = fakes.tensor(torch.float32, (5, 5))
    with pytest.raises(UnsupportedOperatorError, match=r"into aten\._linalg_det\.default"):
        recipes.find(_aten.linalg_det.default, (Operand(0),), {}, [tensor])


def test_operators_that_a_backend_takes_are_kept() -> None:
    fakes = FakeValues()
    preserved = frozenset({_aten.mish.default})
    recipes = Recipes(fakes, target_of("executorch-1.5"), preserved)
    tensor = fakes.tensor(torch.float32, (5,))
    recipe = recipes.find(_aten.mish.default, (Operand(0),), {}, [tensor])
    assert [step.target for step in recipe.steps] == [_aten.mish.default]
