"""What is no partitioner's business is refused by its type, before or as soon as it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from placewire_schema.program import CompileSpec
from torch import fx

from placewire.aot import (
    EverythingPartitioner,
    OperatorPartitioner,
    Partition,
    PredicatePartitioner,
    export,
)
from placewire.aot.graph import MethodGraph
from placewire.backends import CudaPartitioner
from placewire.device import Device
from tests.placewire.aot.demo_backend import ADD, DemoBackend, matrices, module

BACKEND = DemoBackend()
SPEC = CompileSpec("max_value", b"\4")


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (EverythingPartitioner, (None,), "backend is None; expected a Backend, which has an id"),
        (EverythingPartitioner, ("placewire.torch",), "backend is a str; expected a Backend"),
        (EverythingPartitioner, (DemoBackend,), "backend is the class DemoBackend; expected an ob"),
        (EverythingPartitioner, (BACKEND, "cuda:0"), "compile_specs is a str; expected a list of"),
        (EverythingPartitioner, (BACKEND, SPEC), "compile_specs is a CompileSpec; expected a list"),
        (EverythingPartitioner, (BACKEND, {"a": b""}), "compile_specs has 'a'; expected a Compile"),
        (
            EverythingPartitioner,
            (BACKEND, [("target_device", b"cuda:0")]),
            r"compile_specs has \('target_device', b'cuda:0'\); expected a CompileSpec, such as",
        ),
        (
            EverythingPartitioner,
            (BACKEND, [CompileSpec("target_device", "cuda:0")]),  # type: ignore[arg-type]
            "the compile spec target_device has the value 'cuda:0'; expected bytes",
        ),
        (
            EverythingPartitioner,
            (BACKEND, [CompileSpec(b"target_device", b"cuda:0")]),  # type: ignore[arg-type]
            "a compile spec has the key b'target_device'; expected a string",
        ),
        (PredicatePartitioner, (None, BACKEND), "supports is None; expected a function that takes"),
        (
            PredicatePartitioner,
            ([ADD], BACKEND),
            "supports is a list; .* OperatorPartitioner take",
        ),
        (PredicatePartitioner, (ADD, BACKEND), "supports is aten.add.Tensor; expected a function"),
        (OperatorPartitioner, (ADD, BACKEND), "operators is aten.add.Tensor; expected a list"),
        (OperatorPartitioner, ("aten.add", BACKEND), "operators is a str; expected a list"),
        (OperatorPartitioner, (3, BACKEND), "operators is an int; expected a list"),
        (
            OperatorPartitioner,
            (["aten.add"], BACKEND),
            "operators has .aten.add.; expected an op",
        ),
        (
            OperatorPartitioner,
            ([torch.ops.aten.add], BACKEND),
            r"operators has aten\.add, which is not one operator; .* such as aten\.add\.Tensor",
        ),
    ],
)
def test_what_a_partitioner_cannot_be_made_of_is_named_with_what_is_expected(
    make: Callable[..., Any], arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        make(*arguments)


def test_operators_to_be_preserved_are_a_set() -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match="preserved is an int; expected a set of operators"):
        PredicatePartitioner(lambda _: True, BACKEND, preserved=wrong)


@pytest.mark.parametrize("device", [0, None, ["cuda:0"], b"cuda:0"])
def test_a_device_that_is_no_text_is_refused(device: Any) -> None:
    with pytest.raises(TypeError, match="expected a text such as 'cuda:0', or a Device") as caught:
        CudaPartitioner(device)
    assert str(caught.value).startswith(f"device is {device!r};")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"supports": [ADD]}, "supports is a list"),
        ({"backend": "placewire.torch"}, "backend is a str"),
        ({"backend": 0}, "backend is an int"),
        ({"compile_specs": "cuda:1"}, "compile_specs is a str"),
    ],
)
def test_the_other_settings_of_a_cuda_partitioner_are_looked_at_too(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        CudaPartitioner("cuda:0", **settings)


def test_a_device_may_be_ours_or_torchs() -> None:
    expected = Device.parse("cuda:1")
    assert CudaPartitioner(expected).device == expected
    assert CudaPartitioner(torch.device("cuda:1")).device == expected


class _Nameless(DemoBackend):
    id: Any = None


def _first(method: MethodGraph) -> fx.Node:
    return next(node for node in method.graph.nodes if node.op == "call_function")


@dataclass(frozen=True)
class _Own:
    """A user's partitioner, which gives what a function says."""

    give: Callable[[MethodGraph], Any]
    preserved: frozenset[Any] = frozenset()

    def partition(self, method: MethodGraph) -> Any:
        return self.give(method)


@pytest.mark.parametrize(
    ("give", "message"),
    [
        (lambda _: None, "_Own.partition gave None; expected a list of Partition"),
        (
            lambda method: Partition((_first(method),), BACKEND),
            "_Own.partition gave a Partition; expected a list of Partition",
        ),
        (
            lambda method: [(_first(method),)],
            "_Own.partition gave a tuple in its list; expected a Partition",
        ),
        (
            lambda method: [Partition(_first(method), BACKEND)],  # type: ignore[arg-type]
            "gave a partition in which nodes is a Node; expected a tuple of nodes",
        ),
        (
            lambda _: [Partition(("add",), BACKEND)],  # type: ignore[arg-type]
            "gave a partition in which nodes has 'add'; expected nodes of the graph",
        ),
        (
            lambda method: [Partition((_first(method),), None)],  # type: ignore[arg-type]
            "gave a partition in which backend is None; expected a Backend",
        ),
        (
            lambda method: [Partition((_first(method),), _Nameless())],
            "in which the id of the backend _Nameless is None; expected a string",
        ),
        (
            lambda method: [Partition((_first(method),), BACKEND, ("cuda",))],  # type: ignore[arg-type]
            "gave a partition in which compile_specs has 'cuda'; expected a CompileSpec",
        ),
    ],
)
def test_what_a_users_partitioner_may_not_give_is_named_with_the_partitioner(
    give: Callable[[MethodGraph], Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        export(module(lambda a, b: a + b), matrices(2), partitioners=[_Own(give)])


def test_partitions_may_come_one_by_one() -> None:
    own = _Own(lambda method: (Partition((node,), BACKEND) for node in [_first(method)]))
    artifact = export(module(lambda a, b: a + b), matrices(2), partitioners=[own])
    assert artifact.report.methods["forward"].delegates == 1
