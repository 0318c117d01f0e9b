"""Partitioners: which parts of a graph are handed to which backend.

The work is done by the partitioner of torch.fx, which joins supported operators as long as no cycle
comes about. Its time grows with about the cube of the graph, so it gets a smaller one: operators
that it would join in any case stand in it as one node.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import fx
from torch._ops import OpOverload
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from .control_flow import drop_unused_operands
from .delegates import body_constants, constants_of, insert_delegates, is_delegate_call
from .partition_types import (
    Backend,
    NodePredicate,
    Partition,
    Partitioner,
    checked_backend,
    checked_compile_specs,
    checked_operators,
    checked_partitions,
    checked_predicate,
)
from .wording import described

if TYPE_CHECKING:
    from placewire_schema.program import CompileSpec

    from .graph import GraphInput, MethodGraph
    from .target import Compat

__all__ = [
    "Backend",
    "EverythingPartitioner",
    "NodePredicate",
    "OperatorPartitioner",
    "Partition",
    "Partitioner",
    "PredicatePartitioner",
    "partition",
    "preserved_operators",
    "propose_partitions",
]


class PredicatePartitioner:
    """Gives a backend every operator for which a function says yes.

    Only operators that compute tensors and change none are asked about. Computations with sizes go
    along with them.

    Args:
        supports: Tells whether the backend can run a node.
        backend: The backend.
        compile_specs: What it is told of each partition.
        preserved: Operators that are not to be decomposed before. Default: none.

    Raises:
        TypeError: An argument is not of the kind described here.
    """

    def __init__(
        self,
        supports: NodePredicate,
        backend: Backend,
        compile_specs: Iterable[CompileSpec] = (),
        *,
        preserved: Container[OpOverload] = frozenset(),
    ) -> None:
        if not isinstance(preserved, Container):
            raise TypeError(f"preserved is {described(preserved)}; expected a set of operators")
        self._supports = checked_predicate(supports)
        self.backend = checked_backend(backend)
        self.compile_specs = checked_compile_specs(compile_specs)
        self.preserved = preserved

    def partition(self, method: MethodGraph) -> list[Partition]:
        return [
            Partition(nodes, self.backend, self.compile_specs)
            for nodes in propose_partitions(method, self._supports)
        ]


class OperatorPartitioner(PredicatePartitioner):
    """Gives a backend the operators of a list.

    Args:
        operators: They are not decomposed before, whether the target has kernels for them or not.
        backend, compile_specs: As for `PredicatePartitioner`.
    """

    def __init__(
        self,
        operators: Iterable[OpOverload],
        backend: Backend,
        compile_specs: Iterable[CompileSpec] = (),
    ) -> None:
        self.operators = checked_operators(operators)
        super().__init__(
            lambda node: node.target in self.operators,
            backend,
            compile_specs,
            preserved=self.operators,
        )


class EverythingPartitioner(PredicatePartitioner):
    """Gives a backend all that it can get, and nothing is decomposed before.

    Args:
        backend, compile_specs: As for `PredicatePartitioner`.
    """

    def __init__(self, backend: Backend, compile_specs: Iterable[CompileSpec] = ()) -> None:
        super().__init__(lambda _: True, backend, compile_specs, preserved=_Everything())


class _Everything:
    """A container of all operators."""

    def __contains__(self, item: object) -> bool:
        return True


def propose_partitions(method: MethodGraph, supports: NodePredicate) -> list[tuple[fx.Node, ...]]:
    """Join supported operators of a graph to convex partitions, as few as torch.fx finds.

    Args:
        method: The graph. It is not changed.
        supports: Tells whether an operator is supported.

    Returns:
        The nodes of each partition in their order; partitions in the order of their first nodes.
    """
    contracted = _Contracted(method.graph, supports)
    proposed = CapabilityBasedPartitioner(
        fx.GraphModule({}, contracted.graph), contracted, allows_single_node_partition=True
    ).propose_partitions()
    position = {node: place for place, node in enumerate(method.graph.nodes)}
    partitions = []
    for partition in proposed:
        nodes = [node for group in partition.nodes for node in contracted.members[group]]
        # Sizes without a use in the partition are read outside of it.
        if any(_computes_tensors(node) for node in nodes):
            partitions.append(tuple(sorted(nodes, key=position.__getitem__)))
    return sorted(partitions, key=lambda nodes: position[nodes[0]])


class _Contracted(OperatorSupportBase):
    """A graph in which each connected stretch of supported, or of other, operators is one node.

    Operators have a level: how often the longest way to them changes between supported and others.
    A way never leads back to a lower level, and within a level no way leads from one connected
    stretch to another. So every stretch is convex, and the smaller graph has no cycle either.

    Attributes:
        graph: The smaller graph.
        members: The nodes that each of its nodes stands for.
    """

    def __init__(self, graph: fx.Graph, supports: NodePredicate) -> None:
        self._levels: dict[fx.Node, int] = {}
        self._parents: dict[fx.Node, fx.Node] = {}
        nodes = [node for node in graph.nodes if node.op == "call_function"]
        for node in nodes:
            self._place(node, supports)
        self.members: dict[fx.Node, list[fx.Node]] = {}
        self.graph = self._smaller(nodes)

    def is_node_supported(self, _: object, node: fx.Node) -> bool:
        members = self.members.get(node)
        return members is not None and self._levels[members[0]] % 2 == 1

    def _place(self, node: fx.Node, supports: NodePredicate) -> None:
        """Find the level of a node, odd if it is supported, and join it to its neighbours."""
        sources = [source for source in node.all_input_nodes if source in self._levels]
        level = max((self._levels[source] for source in sources), default=0)
        if node.target is operator.getitem and sources:
            supported = self._levels[sources[0]] % 2 == 1
        elif _is_number(node):
            # With what it is read from: what needs it outside reads it there.
            supported = level % 2 == 1
        else:
            supported = _may_be_delegated(node) and supports(node)
        self._levels[node] = level + (level % 2 != supported)
        self._parents[node] = node
        for source in sources:
            if self._levels[source] == self._levels[node]:
                self._parents[self._first(source)] = self._first(node)

    def _first(self, node: fx.Node) -> fx.Node:
        """The node that stands for the connected stretch that a node is in."""
        while (parent := self._parents[node]) is not node:
            self._parents[node] = node = self._parents[parent]
        return node

    def _smaller(self, nodes: list[fx.Node]) -> fx.Graph:
        stretches: defaultdict[fx.Node, list[fx.Node]] = defaultdict(list)
        for node in nodes:
            stretches[self._first(node)].append(node)
        result = fx.Graph()
        groups: dict[fx.Node, fx.Node] = {}
        for first, members in sorted(stretches.items(), key=lambda item: self._levels[item[0]]):
            sources = {
                groups[self._first(source)]: None
                for member in members
                for source in member.all_input_nodes
                if source in self._levels and self._first(source) is not first
            }
            group = result.call_function(_stretch, tuple(sources))
            groups[first] = group
            self.members[group] = members
        result.output(())
        return result


def _stretch(*_: object) -> None:
    """What stands for a stretch of operators; it is never called."""


def _is_number(node: fx.Node) -> bool:
    """Whether a node computes a symbolic number, such as a size."""
    return isinstance(
        node.meta.get("val"), int | float | torch.SymInt | torch.SymFloat | torch.SymBool
    )


def _may_be_delegated(node: fx.Node) -> bool:
    target = node.target
    return (
        isinstance(target, OpOverload)
        and not is_delegate_call(node)
        and not target._schema.is_mutable
        and _computes_tensors(node)
    )


def _computes_tensors(node: fx.Node) -> bool:
    value = node.meta.get("val")
    values = value if isinstance(value, tuple) else (value,)
    return bool(values) and all(isinstance(item, torch.Tensor) for item in values)


def preserved_operators(partitioners: Sequence[Partitioner]) -> Container[OpOverload]:
    """The operators that any of several partitioners wants to see as they are."""
    return _Union(tuple(partitioner.preserved for partitioner in partitioners))


@dataclass(frozen=True, slots=True)
class _Union:
    parts: tuple[Container[OpOverload], ...]

    def __contains__(self, item: object) -> bool:
        return any(item in part for part in self.parts)


def partition(method: MethodGraph, partitioner: Partitioner, compat: Compat) -> None:
    """Let a partitioner take its parts out of a method and all its bodies of control flow.

    Raises:
        PartitionError, InvalidArgumentError: As `insert_delegates`.
        TypeError: The partitioner gives anything but partitions.
    """
    _partition(method, partitioner, constants_of(method), compat)


def _partition(
    method: MethodGraph,
    partitioner: Partitioner,
    constants: Mapping[fx.Node, GraphInput],
    compat: Compat,
) -> None:
    insert_delegates(method, checked_partitions(partitioner, method), constants, compat)
    for body, inside in body_constants(method, constants):
        _partition(body, partitioner, inside | constants_of(body), compat)
    drop_unused_operands(method)  # constants that are in blobs now
