"""What we export computes in `placewire.Module` what PyTorch computes: the table of models.

The same models run on ExecuTorch's runtime in test_export_models.py.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils import _pytree as pytree  # noqa: E402

from placewire import Module  # noqa: E402
from placewire.aot import export  # noqa: E402

from .beside_eager import assert_same, cloned, results_of  # noqa: E402
from .export_models import MODELS, ExportModel  # noqa: E402


def test_the_table_has_the_models_that_executorch_s_runtime_gets() -> None:
    assert len(MODELS) >= 90


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_module_computes_what_the_model_does(model: ExportModel) -> None:
    eager, exported = model.exported()
    pte = export(exported).pte
    for arguments in model.arguments():
        with Module(pte, library="torch") as module:
            assert_same(_results(module, arguments), results_of(eager, arguments))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_module_carries_from_call_to_call_what_the_model_does(model: ExportModel) -> None:
    eager, exported = model.exported()
    state = copy.deepcopy(eager)
    with Module(export(exported).pte, library="torch") as module, torch.no_grad():
        for arguments in model.arguments():
            found = _results(module, arguments)
            assert_same(found, pytree.tree_leaves(state(*cloned(arguments))))


def _results(module: Module, arguments: tuple[Any, ...]) -> list[Any]:
    leaves: list[Any] = pytree.tree_leaves(module.forward(*cloned(arguments)))
    return leaves
