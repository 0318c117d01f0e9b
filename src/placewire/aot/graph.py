"""MethodGraph: one method on its way from torch.export to a program.

The graph is a plain `torch.fx.Graph` of functional operators, so passes are written as for any
other; beside it stands what a graph cannot say: what its placeholders are, and how the arguments
and results of the method nest.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from .stack_traces import frames_of

if TYPE_CHECKING:
    from placewire_schema.program import Frame
    from torch.utils._pytree import TreeSpec

    from .delegates import Delegate
    from .fakes import FakeValues

__all__ = ["GraphInput", "InputKind", "MethodGraph", "Unsupported", "source_of"]


class InputKind(Enum):
    """What stands behind a placeholder."""

    USER = "user input"
    PARAMETER = "parameter"
    BUFFER = "buffer"
    CONSTANT = "constant"
    OPERAND = "operand"
    """A value that a body of control flow takes from the graph around it."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Something of a method that cannot be exported.

    Attributes:
        method: The method.
        what: The operator or construct.
        reason: Why not.
        source: The line of the user's code, if it is known; see `source_of`.
    """

    method: str
    what: str
    reason: str
    source: str | None

    def __str__(self) -> str:
        where = f"\n    {self.source}" if self.source else ""
        return f"{self.method}: {self.what}: {self.reason}{where}"


@dataclass(slots=True)
class GraphInput:
    """A placeholder of a graph.

    Attributes:
        kind: What it is.
        name: Its name: that of the argument, or the qualified name of a parameter or buffer.
        value: The tensor of a parameter, buffer or constant; the number or string that a user input
            was exported with, if it is not a tensor; else None.
        mutated: The method writes to it (`aten.copy_` nodes at the end of the graph do it).
        shared: Another method of the program writes to it, and both are to see one value.
    """

    kind: InputKind
    name: str
    value: Any = None
    mutated: bool = False
    shared: bool = False

    @property
    def is_constant(self) -> bool:
        """Whether its value is known and never changes."""
        return self._is_of_model and not self.is_state

    @property
    def is_state(self) -> bool:
        """Whether it belongs to the model and its value changes from call to call."""
        return self._is_of_model and (self.mutated or self.shared)

    @property
    def _is_of_model(self) -> bool:
        return self.kind not in (InputKind.USER, InputKind.OPERAND)


@dataclass(slots=True)
class MethodGraph:
    """A method, or a body of control flow in one.

    Every node that computes something has `meta["val"]`, a value of `fakes`. Outputs of operators
    with several results are taken apart by `operator.getitem` nodes. Bodies of control flow are
    named by `get_attr` nodes and stand in `bodies`.

    Attributes:
        name: Name of the method.
        graph: Its nodes. The `output` node has the flat list of the method's results.
        inputs: What the placeholders are, in their order.
        fakes: The fake values of the whole program.
        in_spec: How arguments nest: of `(args, kwargs)`. None for a body.
        out_spec: How results nest. None for a body.
        bodies: Bodies of control flow, by the target of their `get_attr` node.
        delegates: What `call_delegate` nodes call, by the name that is their first argument.
    """

    name: str
    graph: fx.Graph
    inputs: list[GraphInput]
    fakes: FakeValues
    in_spec: TreeSpec | None = None
    out_spec: TreeSpec | None = None
    bodies: dict[str, MethodGraph] = field(default_factory=dict)
    delegates: dict[str, Delegate] = field(default_factory=dict)

    @property
    def placeholders(self) -> list[fx.Node]:
        return list(self.graph.find_nodes(op="placeholder"))

    @property
    def output(self) -> fx.Node:
        return self.graph.output_node()

    @property
    def results(self) -> tuple[object, ...]:
        """What the method gives back: nodes and plain values, flat."""
        results = self.output.args[0]
        assert isinstance(results, tuple)
        return results


def source_of(node: fx.Node) -> str | None:
    """The line of the user's code that a node comes from: `model.py:12 in forward: x + 1`.

    That is the innermost line outside of torch. What has none, such as an input or a constant, has
    the line of the first that uses it and has one. If nothing but torch's own code is known, as for
    a model that is one of torch's modules, it is torch's line, and is said to be.
    """
    known = [(one, frames) for one in (node, *node.users) if (frames := frames_of(one))]
    for _, frames in known:
        for frame in reversed(frames):
            if not (frame.filename or "").startswith(_TORCH):
                return _line(frame)
    if not known:
        return None
    one, frames = known[0]
    return f"in torch's code{_module(one)}: {_line(frames[-1])}"


def _line(frame: Frame) -> str:
    return f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.context or ''}".rstrip(": ")


def _module(node: fx.Node) -> str:
    """Which module of the model a node comes from: ` of the module encoder.0 (Linear)`."""
    stack = node.meta.get("nn_module_stack") or {}
    if not stack:
        return ""
    path, kind = list(stack.values())[-1]
    name = kind if isinstance(kind, str) else kind.__name__
    parts = [part for part in (path, f"({name.rpartition('.')[2]})") if part]
    return f" of the module {' '.join(parts)}"


_TORCH = f"{Path(torch.__file__).parent}{os.sep}"
