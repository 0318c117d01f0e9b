"""What partitioners are made of, and the words in which anything else is refused."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from placewire_schema.program import CompileSpec
from torch import fx
from torch._ops import OpOverload, OpOverloadPacket

from .names import checked_name
from .user_code import calling
from .wording import described

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from .graph import MethodGraph
    from .named_data import CompiledPart

__all__ = [
    "Backend",
    "NodePredicate",
    "Partition",
    "Partitioner",
    "checked_backend",
    "checked_compile_specs",
    "checked_operators",
    "checked_partitioner",
    "checked_partitions",
    "checked_predicate",
]

NodePredicate: TypeAlias = Callable[[fx.Node], bool]


@runtime_checkable
class Backend(Protocol):
    """What compiles a part of a graph ahead of time.

    Attributes:
        id: The name under which a runtime finds the backend that runs the result.
    """

    @property
    def id(self) -> str: ...

    def preprocess(
        self, subgraph: ExportedProgram, compile_specs: Sequence[CompileSpec], /
    ) -> bytes | CompiledPart:
        """Compile a part of a graph.

        Args:
            subgraph: The part, as an exported program. Its parameters and constants are those that
                the delegate is to bring with it; it must not be changed.
            compile_specs: What the partitioner says about it.

        Returns:
            What the program file holds for the runtime's half of the backend: a blob, alone or
            with data that it looks up by name.
        """
        ...


@dataclass(frozen=True, slots=True)
class Partition:
    """Nodes that become one delegate.

    No path may lead from one of them out of the partition and back into it.

    Attributes:
        nodes: The nodes, in any order.
        backend: What compiles them.
        compile_specs: What it is told. `target_device` names the device that it runs on; without,
            its inputs and outputs are on the CPU.
    """

    nodes: tuple[fx.Node, ...]
    backend: Backend
    compile_specs: tuple[CompileSpec, ...] = ()


@runtime_checkable
class Partitioner(Protocol):
    """What chooses the parts of a graph that a backend gets.

    Attributes:
        preserved: Operators that it wants to see as they are, although the target has no kernel for
            them. Where it leaves one alone in the end, it is decomposed after all.
    """

    @property
    def preserved(self) -> Container[OpOverload]: ...

    def partition(self, method: MethodGraph, /) -> Sequence[Partition]:
        """Choose the partitions of a method, or of one of its bodies of control flow.

        Nodes that an earlier partitioner took stand in the graph as calls of delegates.
        """
        ...


def checked_backend(backend: object) -> Backend:
    """A backend.

    Raises:
        TypeError: It is none.
    """
    if isinstance(backend, type):
        raise TypeError(f"backend is the class {backend.__name__}; expected an object of it")
    if not isinstance(backend, Backend):
        raise TypeError(
            f"backend is {described(backend)}; expected a Backend, which has an id and preprocess"
        )
    if not isinstance(backend.id, str):
        raise TypeError(
            f"the id of the backend {type(backend).__name__} is {described(backend.id)}; "
            "expected a string"
        )
    checked_name(f"the id of the backend {type(backend).__name__}", backend.id)
    return backend


def checked_partitioner(partitioner: object) -> Partitioner:
    """A partitioner.

    Raises:
        TypeError: It is none, or what it preserves is no collection of operators.
    """
    if not isinstance(partitioner, Partitioner) or isinstance(partitioner, type):
        raise TypeError(f"partitioners has {partitioner!r}, which is no Partitioner")
    if not isinstance(partitioner.preserved, Container):
        raise TypeError(
            f"preserved of {type(partitioner).__name__} is {described(partitioner.preserved)}; "
            "expected a set of operators, which may be empty"
        )
    return partitioner


def checked_predicate(supports: object) -> NodePredicate:
    """A function that says whether a node is supported.

    Raises:
        TypeError: It is none.
    """
    if isinstance(supports, OpOverload | OpOverloadPacket) or not callable(supports):
        raise TypeError(
            f"supports is {described(supports)}; expected a function that takes a node and says "
            "whether it is supported; OperatorPartitioner takes a list of operators"
        )
    return supports


def checked_operators(operators: object) -> frozenset[OpOverload]:
    """The operators of a list.

    Raises:
        TypeError: It is no list, or something in it is no operator.
    """
    if isinstance(operators, str | OpOverload | OpOverloadPacket) or not isinstance(
        operators, Iterable
    ):
        raise TypeError(
            f"operators is {described(operators)}; expected a list of operators such as "
            "torch.ops.aten.add.Tensor"
        )
    found = list(operators)
    for item in found:
        if isinstance(item, OpOverloadPacket):
            names: list[str] = item.overloads()  # type: ignore[no-untyped-call]
            raise TypeError(
                f"operators has {item}, which is not one operator; name an overload of it, such as "
                f"{item}.{names[0]}"
            )
        if not isinstance(item, OpOverload):
            raise TypeError(
                f"operators has {item!r}; expected an operator such as torch.ops.aten.add.Tensor"
            )
    return frozenset(found)


def checked_compile_specs(specs: object) -> tuple[CompileSpec, ...]:
    """Compile specs in their order.

    Raises:
        TypeError: They are no list, or something in it is no CompileSpec with a text and bytes.
    """
    if isinstance(specs, str | bytes) or not isinstance(specs, Iterable):
        raise TypeError(f"compile_specs is {described(specs)}; expected a list of CompileSpec")
    found = tuple(specs)
    for item in found:
        if not isinstance(item, CompileSpec):
            raise TypeError(
                f"compile_specs has {item!r}; expected a CompileSpec, such as "
                'CompileSpec("target_device", b"cuda:0")'
            )
        if not isinstance(item.key, str):
            raise TypeError(f"a compile spec has the key {item.key!r}; expected a string")
        checked_name("the key of a compile spec", item.key)
        if not isinstance(item.value, bytes | bytearray | memoryview):
            raise TypeError(
                f"the compile spec {item.key} has the value {item.value!r}; expected bytes"
            )
    return found


def checked_partitions(partitioner: Partitioner, method: MethodGraph) -> Sequence[Partition]:
    """What a partitioner chooses in a graph.

    Raises:
        TypeError: It gives anything but partitions; the message names the partitioner.
    """
    who = f"{type(partitioner).__name__}.partition"
    before = tuple(method.graph.nodes)
    with calling(f"{who}, in {method.name}"):
        made: object = partitioner.partition(method)
    if tuple(method.graph.nodes) != before:
        raise TypeError(f"{who} changed the graph of {method.name}; it only chooses nodes")
    if not isinstance(made, Iterable):
        raise TypeError(f"{who} gave {described(made)}; expected a list of Partition")
    partitions = list(made)
    for item in partitions:
        if not isinstance(item, Partition):
            raise TypeError(f"{who} gave {described(item)} in its list; expected a Partition")
        try:
            _check(item)
        except TypeError as error:
            raise TypeError(f"{who} gave a partition in which {error}") from None
    return partitions


def _check(partition: Partition) -> None:
    nodes: object = partition.nodes
    if not isinstance(nodes, tuple | list):
        raise TypeError(f"nodes is {described(nodes)}; expected a tuple of nodes")
    for node in nodes:
        if not isinstance(node, fx.Node):
            raise TypeError(f"nodes has {node!r}; expected nodes of the graph")
    checked_backend(partition.backend)
    checked_compile_specs(partition.compile_specs)
