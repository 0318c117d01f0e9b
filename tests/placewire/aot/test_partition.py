"""Partitioners: convex partitions, as few as there can be, and what becomes of the rest."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from placewire_schema.program import DataLocation
from torch import fx
from torch._ops import OpOverload
from torch.export import ExportedProgram

from placewire.aot import Artifact, UnsupportedError, export
from placewire.aot.delegates import PartitionError
from placewire.aot.fakes import FakeValues
from placewire.aot.graph import GraphInput, InputKind, MethodGraph
from placewire.aot.partition import (
    Backend,
    EverythingPartitioner,
    OperatorPartitioner,
    Partition,
    Partitioner,
    PredicatePartitioner,
    propose_partitions,
)
from placewire.backends import CudaPartitioner, TorchBackend
from tests.placewire.aot.demo_backend import (
    ADD,
    SIN,
    DemoBackend,
    EachAlone,
    adds_on,
    matrices,
    module,
)

COS = torch.ops.aten.cos.default


def blobs(artifact: Artifact) -> list[bytes]:
    """What the demo backend made of each delegate: its operators."""
    (plan,) = artifact.program.execution_plan
    return [bytes(artifact.file.delegate_blob(entry)) for entry in plan.delegates]


def kernels(artifact: Artifact) -> dict[str, int]:
    return artifact.report.methods["forward"].operators


# Which nodes go together.


@st.composite
def graphs(draw: st.DrawFn) -> MethodGraph:
    """A random graph of sines, which are supported, and cosines, which are not, and sums."""
    fakes = FakeValues()
    value = fakes.tensor(torch.float32, (2, 2))
    graph = fx.Graph()
    nodes = [graph.placeholder("x")]
    for _ in range(draw(st.integers(1, 14))):
        sources = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=2))
        supported = draw(st.booleans())
        if len(sources) == 1:
            nodes.append(graph.call_function(SIN if supported else COS, tuple(sources)))
        else:
            sub = torch.ops.aten.sub.Tensor
            nodes.append(graph.call_function(ADD if supported else sub, tuple(sources)))
    for node in nodes:
        node.meta["val"] = value
    graph.output(tuple(nodes[1:]))
    return MethodGraph("forward", graph, [GraphInput(InputKind.USER, "x")], fakes)


def is_supported(node: fx.Node) -> bool:
    return node.target in (SIN, ADD)


def reaches(start: fx.Node, goals: set[fx.Node], avoid: set[fx.Node]) -> bool:
    """Whether a way leads from a node to one of others, its first step out of `avoid`."""
    seen: set[fx.Node] = set()
    waiting = [user for user in start.users if user not in avoid]
    while waiting:
        node = waiting.pop()
        if node in goals:
            return True
        if node not in seen:
            seen.add(node)
            waiting += node.users
    return False


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_every_supported_operator_is_in_one_partition_and_no_other_in_any(
    method: MethodGraph,
) -> None:
    found = [node for nodes in propose_partitions(method, is_supported) for node in nodes]
    assert len(found) == len(set(found))
    assert set(found) == {node for node in method.graph.nodes if is_supported(node)}


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_no_way_leads_out_of_a_partition_and_back_into_it(method: MethodGraph) -> None:
    for nodes in propose_partitions(method, is_supported):
        inside = set(nodes)
        assert not any(reaches(node, inside, inside) for node in nodes)


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_there_are_no_more_partitions_than_the_longest_way_has_changes(
    method: MethodGraph,
) -> None:
    # Operators that come after others with something in between can never be in one partition.
    stretches: dict[fx.Node, tuple[int, bool]] = {}
    for node in method.graph.nodes:
        if node.op != "call_function":
            continue
        before = [stretches[source] for source in node.all_input_nodes if source in stretches]
        own = is_supported(node)
        counts = [count + (own and not supported) for count, supported in before]
        stretches[node] = max(counts, default=int(own)), own
        if own and not counts:
            stretches[node] = 1, own
    most = max((count for count, _ in stretches.values()), default=0)
    assert len(propose_partitions(method, is_supported)) <= max(most, 0)


@settings(max_examples=50, deadline=None)
@given(graphs())
def test_the_same_graph_gives_the_same_partitions(method: MethodGraph) -> None:
    first = propose_partitions(method, is_supported)
    assert propose_partitions(method, is_supported) == first


def test_the_results_of_an_operator_go_with_it() -> None:
    def supports(node: fx.Node) -> bool:
        return node.target is torch.ops.aten.topk.default

    artifact = export(
        module(lambda x: tuple(x.topk(1))),
        matrices(1),
        partitioners=[PredicatePartitioner(supports, DemoBackend())],
    )
    assert blobs(artifact) == [f"aten.topk.default;{operator.getitem};{operator.getitem};".encode()]


# Partitioners.


def test_all_of_them_follow_the_protocol() -> None:
    backend = DemoBackend()
    for partitioner in (
        OperatorPartitioner([ADD], backend),
        PredicatePartitioner(is_supported, backend),
        EverythingPartitioner(backend),
        CudaPartitioner(),
        EachAlone([ADD]),
    ):
        assert isinstance(partitioner, Partitioner)
    assert isinstance(backend, Backend)
    assert isinstance(TorchBackend(), Backend)


def test_by_a_list_of_operators() -> None:
    artifact = export(
        module(lambda a, b: ((a + b).cos() + b).sin()), matrices(2), partitioners=[adds_on(None)]
    )
    assert blobs(artifact) == [b"aten.add.Tensor;"] * 2
    assert kernels(artifact) == {"aten::cos.out": 1, "aten::sin.out": 1}


def test_by_a_predicate() -> None:
    partitioner = PredicatePartitioner(lambda node: node.target is SIN, DemoBackend())
    artifact = export(module(lambda a, b: (a + b).sin()), matrices(2), partitioners=[partitioner])
    assert blobs(artifact) == [b"aten.sin.default;"]


def test_everything() -> None:
    artifact = export(
        module(lambda a, b: ((a + b).cos() + b).sin()),
        matrices(2),
        partitioners=[EverythingPartitioner(DemoBackend())],
    )
    assert len(blobs(artifact)) == 1
    assert kernels(artifact) == {}


def test_the_first_partitioner_takes_first() -> None:
    artifact = export(
        module(lambda a, b: (a + b).sin()),
        matrices(2),
        partitioners=[adds_on(None), EverythingPartitioner(DemoBackend())],
    )
    assert blobs(artifact) == [b"aten.add.Tensor;", b"aten.sin.default;"]


def test_what_a_partitioner_wants_preserved_is_not_decomposed_before() -> None:
    # The target has no kernel for it; it would become a subtraction, an exponential and so on.
    silu = torch.ops.aten.silu.default
    artifact = export(
        torch.nn.SiLU(), matrices(1), partitioners=[OperatorPartitioner([silu], DemoBackend())]
    )
    assert blobs(artifact) == [b"aten.silu.default;"]


def test_what_was_preserved_and_left_alone_is_decomposed_after_all() -> None:
    class Reluctant(EverythingPartitioner):
        def partition(self, method: MethodGraph) -> list[Partition]:
            del method
            return []

    artifact = export(torch.nn.SiLU(), matrices(1), partitioners=[Reluctant(DemoBackend())])
    assert blobs(artifact) == []
    assert "aten::sigmoid.out" in kernels(artifact)


def test_an_operator_without_a_kernel_can_go_to_a_backend() -> None:
    model = module(torch.special.bessel_j0)
    with pytest.raises(UnsupportedError, match="bessel_j0"):
        export(model, matrices(1), partitioners=[adds_on(None)])
    artifact = export(model, matrices(1), partitioners=[EverythingPartitioner(DemoBackend())])
    assert blobs(artifact) == [b"aten.special_bessel_j0.default;"]


def test_nothing_is_given_to_a_backend_if_anything_cannot_be_exported() -> None:
    class Recording(DemoBackend):
        calls = 0

        def preprocess(self, subgraph: ExportedProgram, compile_specs: object) -> bytes:
            del subgraph, compile_specs
            Recording.calls += 1
            return b""

    with pytest.raises(UnsupportedError):
        export(
            module(lambda a, b: torch.special.bessel_j0(a + b)),
            matrices(2),
            partitioners=[OperatorPartitioner([ADD], Recording())],
        )
    assert Recording.calls == 0


def test_an_empty_blob_stands_in_the_program() -> None:
    class Empty(DemoBackend):
        def preprocess(self, subgraph: ExportedProgram, compile_specs: object) -> bytes:
            del subgraph, compile_specs
            return b""

    artifact = export(
        module(lambda a, b: a + b),
        matrices(2),
        partitioners=[OperatorPartitioner([ADD], Empty())],
    )
    (plan,) = artifact.program.execution_plan
    (entry,) = plan.delegates
    assert entry.processed.location is DataLocation.INLINE
    assert artifact.program.backend_delegate_data[entry.processed.index].data == b""


def test_a_backend_that_gives_no_bytes_is_named() -> None:
    class Wrong(DemoBackend):
        def preprocess(self, subgraph: ExportedProgram, compile_specs: object) -> bytes:
            del subgraph, compile_specs
            return "text"  # type: ignore[return-value]

    with pytest.raises(TypeError, match="BackendWithCompilerDemo gave a str, expected bytes"):
        export(
            module(lambda a, b: a + b),
            matrices(2),
            partitioners=[OperatorPartitioner([ADD], Wrong())],
        )


class _Together(EachAlone):
    """Puts all sines into one partition, whatever stands between them."""

    def partition(self, method: MethodGraph) -> list[Partition]:
        nodes = tuple(node for node in method.graph.nodes if node.target is SIN)
        return [Partition(nodes, self.backend)]


def test_a_partition_with_a_way_out_and_back_is_refused() -> None:
    with pytest.raises(
        PartitionError,
        match=(
            r"^in forward, a way leads out of a partition and back .*: "
            r"delegate_0 \(backend BackendWithCompilerDemo\); a partition must be convex$"
        ),
    ):
        export(module(lambda x: x.sin().cos().sin()), matrices(1), partitioners=[_Together([SIN])])


class _Twice(EachAlone):
    def partition(self, method: MethodGraph) -> list[Partition]:
        return super().partition(method) * 2


def test_partitions_that_overlap_are_refused() -> None:
    with pytest.raises(PartitionError, match="has sin_default, and so has another one"):
        export(module(lambda x: x.sin()), matrices(1), partitioners=[_Twice([SIN])])


@dataclass(frozen=True)
class _Chosen:
    """Makes one partition of the nodes that a function chooses."""

    choose: Callable[[MethodGraph], Sequence[fx.Node]]
    preserved: Container[OpOverload] = frozenset()

    def partition(self, method: MethodGraph) -> list[Partition]:
        return [Partition(tuple(self.choose(method)), DemoBackend())]


def _calls(method: MethodGraph) -> list[fx.Node]:
    return [node for node in method.graph.nodes if node.op == "call_function"]


@pytest.mark.parametrize(
    ("choose", "message"),
    [
        (lambda method: method.placeholders, "has args_0; only operators that change no tensor"),
        (lambda method: [method.output], "has output; only operators that change no tensor"),
        (
            lambda method: [fx.Graph().call_function(torch.sin)],
            "has sin, which is not in the graph",
        ),
        (lambda method: _calls(method) * 2, "has sin_default twice"),
        (lambda method: [], "a partition of BackendWithCompilerDemo has no nodes"),
    ],
    ids=["input", "output", "foreign", "twice", "empty"],
)
def test_what_no_delegate_can_compute_is_refused_by_name(
    choose: Callable[[MethodGraph], Sequence[fx.Node]], message: str
) -> None:
    with pytest.raises(PartitionError, match=message):
        export(module(lambda x: x.sin()), matrices(1), partitioners=[_Chosen(choose)])


def test_a_partition_may_name_its_nodes_in_any_order() -> None:
    backwards = _Chosen(lambda method: _calls(method)[::-1])
    artifact = export(module(lambda x: x.sin().cos()), matrices(1), partitioners=[backwards])
    assert blobs(artifact) == [b"aten.sin.default;aten.cos.default;"]


def test_nodes_that_must_wait_for_a_delegate_move_behind_it() -> None:
    def function(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        first = a + b
        cosine = first.cos()  # stands between two additions that become one delegate
        second = first + b
        return cosine, second

    artifact = export(module(function), matrices(2), partitioners=[adds_on(None)])
    assert blobs(artifact) == [b"aten.add.Tensor;aten.add.Tensor;"]


def test_the_callers_program_is_as_before() -> None:
    program = torch.export.export(module(lambda a, b: (a + b).sin()), matrices(2), strict=False)
    before = str(program)
    export(program, partitioners=[CudaPartitioner()])
    assert str(program) == before
