"""What a pass of the user must leave as it is: else the pass is named, and nothing is emitted."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import fx, nn

from placewire.aot import InvalidGraphError, MethodGraph, PassResult, export, spec_of
from placewire.device import Device


@dataclass(frozen=True)
class Spoiling:
    """A pass that does what it is told."""

    spoil: Callable[[MethodGraph], object]
    name: str = "spoil"
    requires: frozenset[str] = frozenset({"specs"})
    ensures: frozenset[str] = frozenset()

    def __call__(self, graph: MethodGraph, /) -> PassResult:
        self.spoil(graph)
        return PassResult(changed=True)


class Network(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x.relu(),))


def _relu(graph: MethodGraph) -> fx.Node:
    (node,) = graph.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
    return node


def _set(**attributes: object) -> Callable[[MethodGraph], None]:
    def spoil(graph: MethodGraph) -> None:
        for name, value in attributes.items():
            setattr(spec_of(_relu(graph)), name, value)

    return spoil


def _take_spec(graph: MethodGraph) -> None:
    del _relu(graph).meta["spec"]


def _move_behind_its_use(graph: MethodGraph) -> None:
    next(iter(_relu(graph).users)).append(_relu(graph))


def _call_what_has_no_kernel(graph: MethodGraph) -> None:
    relu = _relu(graph)
    with graph.graph.inserting_after(relu):
        call = graph.graph.call_function(torch.ops.aten.special_bessel_j0.default, (relu,))
    call.meta = {"val": relu.meta["val"], "spec": copy.copy(spec_of(relu))}
    relu.replace_all_uses_with(call, delete_user_cb=lambda user: user is not call)


def _add_placeholder(graph: MethodGraph) -> None:
    with graph.graph.inserting_before(_relu(graph)):
        graph.graph.placeholder("more")


def _set_results(results: object) -> Callable[[MethodGraph], None]:
    def spoil(graph: MethodGraph) -> None:
        graph.output.args = (results,)  # type: ignore[assignment]

    return spoil


def _set_meta(key: str, value: object) -> Callable[[MethodGraph], None]:
    def spoil(graph: MethodGraph) -> None:
        _relu(graph).meta[key] = value

    return spoil


def _take_all_meta(graph: MethodGraph) -> None:
    _relu(graph).meta.clear()


def _set_arguments(*args: Any, **kwargs: Any) -> Callable[[MethodGraph], None]:
    def spoil(graph: MethodGraph) -> None:
        _relu(graph).args, _relu(graph).kwargs = args, kwargs

    return spoil


def _take_output(graph: MethodGraph) -> None:
    graph.graph.erase_node(graph.output)


def _empty(graph: MethodGraph) -> None:
    graph.graph = fx.Graph()


def _view_itself(graph: MethodGraph) -> None:
    spec_of(_relu(graph)).base = spec_of(_relu(graph))


def _call_method(graph: MethodGraph) -> None:
    relu = _relu(graph)
    with graph.graph.inserting_after(relu):
        call = graph.graph.call_method("relu", (relu,))
    call.meta = dict(relu.meta)


def _spoil_a_body(graph: MethodGraph) -> None:
    body = next(iter(graph.bodies.values()))
    (sine,) = body.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default)
    del sine.meta["spec"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_take_spec, r"in forward: relu_default: it computes a tensor and has no TensorSpec"),
        (_move_behind_its_use, r"in forward: cond: it stands before relu_default, which it uses"),
        (_call_what_has_no_kernel, r"executorch-1\.5 has no kernel for aten\.special_bessel_j0"),
        (_set(device=Device.parse("cuda:1")), r"runs on the CPU, but relu_default is on cuda:1"),
        (_set(planned=False), r"relu_default: it is neither planned, nor constant, nor an input"),
        (_set(sizes=(-1,)), r"relu_default: no size or pool is negative; found \[-1\] and 0"),
        (_set(pool=-2), r"relu_default: no size or pool is negative; found \[3\] and -2"),
        (_take_output, r"in forward: the last node is \w+; expected the output node"),
        (_empty, r"in forward: the graph is empty; expected the output node"),
        (_set_results(None), r"output: it has None; expected a tuple of results"),
        (_set_results([]), r"output: it has an immutable_list; expected a tuple of results"),
        (_set_results(()), r"output: there are 0 results; expected 1"),
        (_take_all_meta, r'relu_default: it has no fake value in meta\["val"\]'),
        (_set_meta("spec", "x"), r'relu_default: meta\["spec"\] has a str; expected a TensorSpec'),
        (_set(device="cuda:0"), r"device of its spec is 'cuda:0'; expected a Device"),
        (_set(pool="fast"), r"pool of its spec is 'fast'; expected an int"),
        (_set(scalar_type=6), r"scalar_type of its spec is 6; expected a ScalarType"),
        (_set(sizes=(2.5,)), r"sizes of its spec are \(2\.5,\); expected whole numbers"),
        (_set(dim_order=(5,)), r"dim_order of its spec is \(5,\) for 1 dimensions"),
        (_set(base="x"), r"base of its spec is 'x'; expected a TensorSpec"),
        (_view_itself, r"its spec is a view of itself, through base"),
        (_set_arguments(), r"relu_default: it lacks the argument self of aten\.relu\.default"),
        (_set_arguments(1, 2), r"relu_default: it has 2 arguments; aten\.relu\.default takes 1"),
        (_set_arguments(1, fast=True), r"relu_default: aten\.relu\.default has no argument fast"),
        (_call_method, r"relu: it is a call_method; expected calls of operators"),
        (_add_placeholder, r"in forward: 2 placeholders for 1 inputs"),
        (
            _spoil_a_body,
            r"in forward\.\w+: sin_default: it computes a tensor and has no TensorSpec",
        ),
    ],
)
def test_what_cannot_be_emitted_names_the_pass_and_the_node(
    spoil: Callable[[MethodGraph], Any], message: str
) -> None:
    with pytest.raises(InvalidGraphError, match=f"after the pass spoil, .*{message}"):
        export(Network(), (torch.zeros(3),), passes=[Spoiling(spoil)])


def test_a_pass_that_gives_no_result_is_named() -> None:
    class Silent(Spoiling):
        def __call__(self, graph: MethodGraph, /) -> PassResult:
            return None  # type: ignore[return-value]

    with pytest.raises(TypeError, match="the pass spoil gave None, expected a PassResult"):
        export(Network(), (torch.zeros(3),), passes=[Silent(lambda graph: None)])


def test_a_pass_that_renames_the_method_is_named() -> None:
    def rename(graph: MethodGraph) -> None:
        graph.name = "other"

    with pytest.raises(InvalidGraphError, match="the pass spoil called forward 'other'"):
        export(Network(), (torch.zeros(3),), passes=[Spoiling(rename)])


def test_a_pass_that_changes_nothing_is_let_through() -> None:
    silent = Spoiling(lambda graph: None)
    plain = export(Network(), (torch.zeros(3),))
    assert export(Network(), (torch.zeros(3),), passes=[silent]).pte == plain.pte
