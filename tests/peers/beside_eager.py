"""What PyTorch computes, and how it is compared with what ExecuTorch's runtime does."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from placewire.aot import Artifact, export


class Of(torch.nn.Module):
    """A module made of a function `(module, *arguments)`, with buffers `b0`, `b1`, ..."""

    def __init__(self, function: Callable[..., Any], *buffers: torch.Tensor) -> None:
        super().__init__()
        self.function = function
        for number, buffer in enumerate(buffers):
            self.register_buffer(f"b{number}", buffer.clone())

    def forward(self, *args: Any) -> Any:
        return self.function(self, *args)


def check_calls(
    model: torch.nn.Module,
    *calls: Sequence[torch.Tensor],
    dynamic_shapes: Any = None,
    compiled: bool = False,
) -> Artifact:
    """Export with the arguments of the first call, then compare the results of all calls in order.

    Nothing is reset between the calls, so what a model keeps is compared too.

    Args:
        model: The model; it is left as it is.
        calls: Arguments of each call.
        dynamic_shapes: As `torch.export` takes it.
        compiled: Let torch compile control flow, as it does without being told, for what its plain
            Python cannot do: a scan that carries several tensors. It takes seconds for every call.
    """
    assert calls
    state = {name: value.clone() for name, value in model.state_dict().items()}
    artifact = export(model, cloned(calls[0]), dynamic_shapes=dynamic_shapes)
    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, state[name], rtol=0, atol=0)
    check_artifact(artifact, model, *calls, compiled=compiled)
    return artifact


def check_artifact(
    artifact: Artifact,
    model: torch.nn.Module,
    *calls: Sequence[torch.Tensor],
    compiled: bool = False,
) -> None:
    """Compare the results of calls of an artifact with those of the model."""
    from executorch.runtime import Runtime

    program = Runtime.get().load_program(artifact.pte)
    method = program.load_method("forward")
    assert method is not None
    eager = copy.deepcopy(model)
    stance = "default" if compiled else "force_eager"
    for call in calls:
        with torch.no_grad(), torch.compiler.set_stance(stance):
            expected = [
                item.clone() if isinstance(item, torch.Tensor) else item
                for item in pytree.tree_leaves(eager(*cloned(call)))
            ]
        found = method.execute(list(cloned(call)))
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            if isinstance(other, torch.Tensor):
                torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)
            else:
                assert one == other


def results_of(module: torch.nn.Module, arguments: Sequence[Any]) -> list[Any]:
    """The results of a call of a module that keeps nothing of it, as leaves."""
    with torch.no_grad():
        leaves: list[Any] = pytree.tree_leaves(copy.deepcopy(module)(*cloned(arguments)))
    return leaves


def cloned(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments with tensors of their own, for a callee that may write to them."""
    copies: tuple[Any, ...] = pytree.tree_map_only(torch.Tensor, torch.clone, tuple(arguments))
    return copies


def assert_same(found: Sequence[Any], expected: Sequence[Any]) -> None:
    """Fail unless each result is what is expected: tensors and floats nearly, others exactly."""
    assert len(found) == len(expected)
    for position, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        if isinstance(theirs, torch.Tensor):
            torch.testing.assert_close(
                ours, theirs, rtol=1e-4, atol=1e-5, msg=partial("result {}: {}".format, position)
            )
        elif isinstance(theirs, float):
            assert ours == pytest.approx(theirs, rel=1e-6)
        else:
            assert ours == theirs
