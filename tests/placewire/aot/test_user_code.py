"""What users hand in may raise: the exception stays what it is, and a note says whose it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import pytest
from placewire_schema.program import CompileSpec
from torch import fx
from torch.export import ExportedProgram

from placewire.aot import OperatorPartitioner, PassResult, PredicatePartitioner, export
from placewire.aot.graph import MethodGraph
from placewire.aot.partition import Partition
from tests.placewire.aot.demo_backend import SIN, DemoBackend, EachAlone, matrices, module


class _RaisingBackend(DemoBackend):
    def preprocess(self, subgraph: ExportedProgram, compile_specs: Sequence[CompileSpec]) -> bytes:
        raise KeyError("weights")


class _RaisingPass:
    name = "fold"
    requires: frozenset[str] = frozenset()
    ensures: frozenset[str] = frozenset()

    def __call__(self, graph: MethodGraph, /) -> PassResult:
        raise KeyError("weights")


class _RaisingPartitioner(EachAlone):
    def partition(self, method: MethodGraph) -> list[Partition]:
        raise KeyError("weights")


def _raise(node: fx.Node) -> NoReturn:
    raise KeyError("weights")


@pytest.mark.parametrize(
    ("steps", "note"),
    [
        (
            {"partitioners": [OperatorPartitioner([SIN], _RaisingBackend())]},
            "preprocess for delegate_0 of forward (backend BackendWithCompilerDemo)",
        ),
        (
            {"partitioners": [_RaisingPartitioner([SIN])]},
            "_RaisingPartitioner.partition, in forward",
        ),
        (
            {"partitioners": [PredicatePartitioner(_raise, DemoBackend())]},
            "PredicatePartitioner.partition, in forward",
        ),
        ({"passes": [_RaisingPass()]}, "the pass fold, in forward"),
    ],
    ids=["backend", "partitioner", "predicate", "pass"],
)
def test_an_exception_of_a_users_code_says_whose_it_is(steps: dict[str, Any], note: str) -> None:
    with pytest.raises(KeyError, match="weights") as caught:
        export(module(lambda x: x.sin()), matrices(1), **steps)
    assert caught.value.__notes__ == [f"raised by {note}"]


def test_a_partitioner_that_changes_the_graph_is_named() -> None:
    class Careless(EachAlone):
        def partition(self, method: MethodGraph) -> list[Partition]:
            method.graph.erase_node(method.output)
            return super().partition(method)

    with pytest.raises(TypeError, match=r"Careless\.partition changed the graph of forward"):
        export(module(lambda x: x.sin()), matrices(1), partitioners=[Careless([SIN])])


def test_a_partitioner_that_preserves_nothing_says_so_with_an_empty_set() -> None:
    wrong: Any = EachAlone([SIN], preserved=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="preserved of EachAlone is None; expected a set"):
        export(module(lambda x: x.sin()), matrices(1), partitioners=[wrong])


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800"])
def test_a_name_that_no_runtime_can_hold_is_refused(name: str) -> None:
    class Named(DemoBackend):
        id = name

    expected = "expected a text of printable characters"
    with pytest.raises(ValueError, match=f"the id of the backend Named is .*; {expected}"):
        OperatorPartitioner([SIN], Named())
    with pytest.raises(ValueError, match=f"the name of a constant method is .*; {expected}"):
        export(module(lambda x: x.sin()), matrices(1), constant_methods={name: 1})
