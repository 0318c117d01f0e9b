"""What we export computes on ExecuTorch's runtime what PyTorch computes: the table of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")
runtime = pytest.importorskip(
    "executorch.runtime", reason="executorch is not installed; pip install '.[peer]'"
)
exir = pytest.importorskip("executorch.exir")

from torch.utils import _pytree as pytree  # noqa: E402

from placewire.aot import export  # noqa: E402

from .beside_eager import assert_same, cloned, results_of  # noqa: E402
from .export_models import MODELS, ExportModel  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

ONLY_OURS = {
    "argmax_and_topk",
    "bilinear",
    "channels_last_values",
    "conv2d_channels_last",
    "conv3d",
    "conv_transpose3d",
    "cropping",
    "data_dependent_selection",
    "embedding_bag_max_of_ragged",
    "embedding_bag_mean",
    "integer_arithmetic",
    "mobilenet_channels_last",
    "mutable_buffer",
    "pooling_in_3d",
    "pooling_with_indices",
    "randomized_relu",
    "searching",
    "sorting",
    "stable_sorting",
}
"""Models that ExecuTorch 1.5.1's own pipeline cannot run, or computes other values for."""

every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


def test_the_table_is_long_enough_and_names_each_model_once() -> None:
    assert len(MODELS) >= 40
    assert len({model.name for model in MODELS}) == len(MODELS)


@every_model
def test_a_program_computes_what_the_module_does(model: ExportModel) -> None:
    module, exported = model.exported()
    pte = export(exported).pte
    for arguments in model.arguments():
        assert_same(run(pte, arguments), results_of(module, arguments))


@every_model
def test_executorch_s_own_pipeline_runs_no_more_than_we_do(model: ExportModel) -> None:
    problem = _problem_of_executorch(model)
    if model.name in ONLY_OURS:
        assert problem is not None, "ExecuTorch runs it by now; take it off the list"
    else:
        assert problem is None, f"ExecuTorch cannot run it: {problem}"


def test_several_methods_run_from_one_program() -> None:
    torch.manual_seed(0)
    linear = torch.nn.Linear(4, 4)
    scaled = torch.nn.Sequential(linear, torch.nn.ReLU())
    arguments = (torch.randn(2, 4),)
    modules = {"plain": linear, "positive": scaled}
    exported = {name: torch.export.export(each, arguments) for name, each in modules.items()}
    artifact = export(exported)
    for name, module in modules.items():
        assert_same(run(artifact.pte, arguments, name), results_of(module, arguments))
    assert len(artifact.pte) < len(export(exported["plain"]).pte) * 2


def test_constant_methods_give_their_constants_on_the_runtime() -> None:
    constants = {
        "get_vocab_size": 32000,
        "get_rates": (0.5, [True, "x"]),
        "get_table": torch.eye(3),
    }
    pte = export(torch.nn.ReLU(), (torch.zeros(2),), constant_methods=constants).pte
    assert_same(run(pte, [torch.tensor([-1.0, 1.0])]), [torch.tensor([0.0, 1.0])])
    assert_same(run(pte, [], "get_vocab_size"), [32000])
    assert_same(run(pte, [], "get_rates"), [0.5, True, "x"])
    assert_same(run(pte, [], "get_table"), [torch.eye(3)])


def _problem_of_executorch(model: ExportModel) -> str | None:
    """Why ExecuTorch's own pipeline does not run a model as PyTorch does; None if it does."""
    module, exported = model.exported()
    lenient = exir.EdgeCompileConfig(_check_ir_validity=False)
    try:
        pte = exir.to_edge(exported, compile_config=lenient).to_executorch().buffer
        for arguments in model.arguments():
            assert_same(run(pte, arguments), results_of(module, arguments))
    except Exception as error:  # whatever goes wrong, it is not run
        return f"{type(error).__name__}: {error}"
    return None


def run(pte: bytes, arguments: Sequence[Any], method: str = "forward") -> Sequence[Any]:
    program = runtime.Runtime.get().load_program(pte)
    outputs: Sequence[Any] = program.load_method(method).execute(
        pytree.tree_leaves(cloned(arguments))
    )
    return outputs
