"""Aliases: which results of an operator share memory with its arguments, and how they follow."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import fx
from torch._ops import OpOverload
from torch.fx.experimental.proxy_tensor import make_fx

from .operators import kernel_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .fakes import FakeValues

__all__ = [
    "Aliases",
    "NotRewritableError",
    "Origin",
    "Step",
    "functional_variant",
    "hidden_alias",
    "is_write",
]

_aten = torch.ops.aten


class NotRewritableError(Exception):
    """It cannot be told what a write reaches, or there is no functional way to say it.

    Attributes:
        source: The call that writes, or reads what was written, if it is known.
        final: Whether torch's functionalisation could not tell either.
    """

    source: fx.Node | None = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One view: `target(base, *arguments)`.

    Attributes:
        target: The operator.
        arguments: Its arguments after the first.
        base: A fake value of the tensor that is viewed.
        kwargs: Always empty; views are called by position.
    """

    target: OpOverload
    arguments: tuple[Any, ...]
    base: torch.Tensor
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def is_identity(self) -> bool:
        """Whether the view is the tensor itself."""
        return self.target in _IDENTITIES

    def inverse(self) -> tuple[OpOverload, bool, tuple[Any, ...]] | None:
        """How the base follows from its view: an operator, and its arguments after the view.

        The flag says whether the operator takes the old base before the view. None if elements of
        the view may share memory with each other, or nothing is known of it.
        """
        if (scatter := _SCATTERS.get(self.target)) is not None:
            return scatter, True, self.arguments
        if self.target in (_aten.transpose.int, _aten.t.default):
            return self.target, False, self.arguments
        if self.target is _aten.permute.default:
            dims = [int(dim) % self.base.dim() for dim in self.arguments[0]]
            return self.target, False, (tuple(dims.index(dim) for dim in range(len(dims))),)
        if self.target is _aten.unsqueeze.default:
            return _aten.squeeze.dim, False, self.arguments
        if self.target in _REINTERPRETATIONS:
            return _aten.reshape.default, False, ()
        return None


_IDENTITIES = frozenset(
    {_aten.alias.default, _aten.detach.default, _aten.detach_.default, _aten.lift_fresh.default}
)
_SCATTERS = {
    _aten.select.int: _aten.select_scatter.default,
    _aten.slice.Tensor: _aten.slice_scatter.default,
    _aten.narrow.default: _aten.slice_scatter.default,
    _aten.diagonal.default: _aten.diagonal_scatter.default,
}
"""Views of a part, and the operators that put such a part into a tensor."""

_REINTERPRETATIONS = frozenset(
    {
        _aten.view.default,
        _aten._unsafe_view.default,
        _aten.squeeze.default,
        _aten.squeeze.dim,
        _aten.squeeze.dims,
    }
)
"""Views of all elements in the same order with other sizes."""

_VIEWS = (
    frozenset(
        {
            _aten.transpose.int,
            _aten.t.default,
            _aten.permute.default,
            _aten.unsqueeze.default,
            _aten.expand.default,
        }
    )
    | _IDENTITIES
    | _REINTERPRETATIONS
    | frozenset(_SCATTERS)
)
_PARTITIONS = frozenset(
    {
        _aten.split.Tensor,
        _aten.split_with_sizes.default,
        _aten.unbind.int,
        _aten.unsafe_split.Tensor,
        _aten.unsafe_split_with_sizes.default,
    }
)
"""Operators that cut a tensor into a list of views along a dimension."""

_DROPOUTS = frozenset(
    {
        _aten.dropout.default,
        _aten.alpha_dropout.default,
        _aten.feature_dropout.default,
        _aten.feature_alpha_dropout.default,
    }
)
"""Operators `(input, p, train)` that give the input itself where they do not train."""

Origin: TypeAlias = "tuple[fx.Node, tuple[Step, ...] | None] | None"
"""The node that a result is a view of and the steps to it, None if they are unknown; or None for a
result with memory of its own."""

_Traced: TypeAlias = "tuple[int, tuple[Step, ...] | None] | None"
"""The same with the number of an operand instead of a node."""


def is_write(node: fx.Node) -> bool:
    """Whether a call writes to one of its arguments."""
    target = node.target
    if not isinstance(target, OpOverload) or target is _aten.detach_.default:
        return False
    return target._schema.is_mutable or _writes_statistics(target, node.args)


def _writes_statistics(target: OpOverload, args: Sequence[Any]) -> bool:
    """Whether a normalisation writes to its running statistics, which no schema says."""
    if target not in _NORMALISATIONS or len(args) < 6:
        return False
    return args[3] is not None and args[5] is not False


_NORMALISATIONS = frozenset(
    {
        _aten.batch_norm.default,
        _aten.instance_norm.default,
        _aten.native_batch_norm.default,
        _aten.cudnn_batch_norm.default,
        _aten._batch_norm_impl_index.default,
    }
)


@cache
def functional_variant(op: OpOverload) -> OpOverload | None:
    """The operator that gives what an in-place operator would write; None if there is none."""
    namespace, _, name = op._schema.name.partition("::")
    plain = f"__{name[3:]}" if name.startswith("__i") and name.endswith("__") else name[:-1]
    if plain == name[:-1] and (not name.endswith("_") or name.endswith("__")):
        return None
    if torch.Tag.inplace_view in op.tags:
        return None
    packet = getattr(getattr(torch.ops, namespace), plain, None)
    variant = getattr(packet, op._overloadname, None)
    if not isinstance(variant, OpOverload) or variant._schema.is_mutable:
        return None
    ours, theirs = op._schema.arguments, variant._schema.arguments
    written = [argument for argument in ours if argument.alias_info is not None]
    same = [(a.name, str(a.type)) for a in ours] == [(a.name, str(a.type)) for a in theirs]
    return variant if same and len(written) == 1 and written[0] is ours[0] else None


def hidden_alias(graph: fx.Graph, fakes: FakeValues) -> fx.Node | None:
    """A call whose result shares memory that the graph writes to, although its schema hides it.

    Functionalisation by schemas takes such a result for a copy. None if there is none.
    """
    aliases = Aliases(fakes)
    memory: dict[fx.Node, fx.Node] = {}
    hidden: list[fx.Node] = []
    written: set[fx.Node] = set()
    for node in graph.nodes:
        memory[node] = node
        source = node.args[0] if node.args and isinstance(node.args[0], fx.Node) else None
        if node.target is operator.getitem and source is not None:
            memory[node] = memory[source]
        if not isinstance(node.target, OpOverload):
            continue
        if is_write(node) or node.target is _aten.detach_.default:
            if source is not None:
                memory[node] = memory[source]
                written.add(memory[source])
            continue
        for origin in aliases.of(node):
            if origin is not None:
                memory[node] = memory[origin[0]]
                if all(result.alias_info is None for result in node.target._schema.returns):
                    hidden.append(node)
    return next((node for node in hidden if memory[node] in written), None)


class Aliases:
    """Tells what the results of calls share memory with.

    Schemas say it of views. Of an operator that is a composition of others, and of those that give
    a view or a copy as strides allow, a trace with the same strides says it; each is traced once
    for each distinct combination of arguments.

    Args:
        fakes: The fake values of the program.
    """

    def __init__(self, fakes: FakeValues) -> None:
        self._fakes = fakes
        self._traced: dict[object, list[_Traced]] = {}
        self._dtypes: dict[object, torch.dtype] = {}

    def of(self, node: fx.Node) -> list[Origin]:
        """The origin of each result of a call.

        Raises:
            NotRewritableError: The call writes to something and its schema hides it.
        """
        target = node.target
        assert isinstance(target, OpOverload)
        value = node.meta.get("val")
        results: list[Any] = list(value) if isinstance(value, list | tuple) else [value]
        if target in _VIEWS:
            return [(node.args[0], (_step(node, node.args[0].meta["val"]),))]  # type: ignore[list-item, union-attr]
        if target in _PARTITIONS:
            source = node.args[0]
            assert isinstance(source, fx.Node)
            parts = _parts(node, source.meta["val"], results)
            return [(source, None if part is None else (part,)) for part in parts]
        if target is _aten.conj_physical.default or (target in _DROPOUTS and not node.args[2]):
            return [(node.args[0], ())]  # type: ignore[list-item]
        if not _may_alias(target):
            return [None] * len(results)
        operands = list(node.all_input_nodes)
        return [
            None if origin is None else (operands[origin[0]], origin[1])
            for origin in self._trace_of(node, operands, len(results))
        ]

    def dtype_of(self, op: OpOverload, node: fx.Node) -> torch.dtype:
        """The dtype that an operator gives for the arguments of a node."""
        operands = list(node.all_input_nodes)
        key = self._key(op, node, operands)
        found = self._dtypes.get(key)
        if found is None:
            values = [self._distinct(operand) for operand in operands]
            with self._fakes.tracing():
                found = self._dtypes[key] = _applied(op, node, operands, values).dtype
        return found

    def _trace_of(self, node: fx.Node, operands: list[fx.Node], results: int) -> list[_Traced]:
        op = node.target
        assert isinstance(op, OpOverload)
        key = self._key(op, node, operands)
        found = self._traced.get(key)
        if found is None:
            try:
                graph = self._trace(lambda *values: _applied(op, node, operands, values), operands)
            except (NotImplementedError, RuntimeError, TypeError):
                found = [(0, None) if op.is_view else None] * results
            else:
                found = _origins(graph)
            self._traced[key] = found
        return found

    def _trace(self, call: Callable[..., Any], operands: list[fx.Node]) -> fx.Graph:
        values = [self._distinct(operand) for operand in operands]
        with self._fakes.tracing():
            module = make_fx(call, tracing_mode="real", _allow_non_fake_inputs=True)(*values)
        graph: fx.Graph = module.graph
        return graph

    def _distinct(self, node: fx.Node) -> object:
        return self._fakes.distinct(self._fakes.canonical(node.meta["val"]))

    def _key(self, op: OpOverload, node: fx.Node, operands: list[fx.Node]) -> object:
        places = {operand: place for place, operand in enumerate(operands)}

        def named(item: Any) -> Any:
            if isinstance(item, fx.Node):
                return ("operand", places[item])
            if isinstance(item, list | tuple):
                return tuple(map(named, item))
            return self._fakes.key(item)

        return (
            op,
            named(node.args),
            tuple((name, named(item)) for name, item in sorted(node.kwargs.items())),
            self._fakes.key([self._fakes.canonical(operand.meta["val"]) for operand in operands]),
        )


def _applied(op: OpOverload, node: fx.Node, operands: list[fx.Node], values: Sequence[Any]) -> Any:
    given = dict(zip(operands, values, strict=True))
    args, kwargs = fx.map_arg((node.args, node.kwargs), given.__getitem__)
    return op(*args, **kwargs)


@cache
def _may_alias(op: OpOverload) -> bool:
    """Whether a result of an operator that is no plain view may share memory with an argument."""
    if any(result.alias_info is not None for result in op._schema.returns):
        return True
    composite = torch._C._dispatch_has_kernel_for_dispatch_key(
        kernel_name(op), "CompositeImplicitAutograd"
    )
    return bool(composite) or torch.Tag.maybe_aliasing_or_mutating in op.tags


def _origins(graph: fx.Graph) -> list[_Traced]:
    """The origin of each result of a trace.

    Raises:
        NotRewritableError: The trace writes to an argument. What it has made itself it may write.
    """
    places = {node: place for place, node in enumerate(graph.find_nodes(op="placeholder"))}
    for node in graph.nodes:
        if node.op == "call_function" and is_write(node) and _reaches_argument(node, places):
            raise NotRewritableError(
                f"{node.target} writes to an argument of an operator that hides it"
            )
    results = graph.output_node().args[0]
    listed = results if isinstance(results, list | tuple) else [results]
    return [_origin(result, places) for result in listed]


def _origin(node: Any, places: dict[fx.Node, int]) -> _Traced:
    steps: list[Step] | None = []
    while isinstance(node, fx.Node) and node not in places:
        target, source = node.target, node.args[0] if node.args else None
        step: Step | None = None
        if target is operator.getitem and isinstance(source, fx.Node):
            if source.target not in _PARTITIONS:
                return None
            parts = _parts(source, source.args[0].meta["val"], source.meta["val"])  # type: ignore[union-attr]
            step, source = parts[node.args[1]], source.args[0]  # type: ignore[index]
        elif target in _VIEWS:
            assert isinstance(source, fx.Node)
            step = _step(node, source.meta["val"])
        elif not isinstance(target, OpOverload) or not target.is_view:
            return None
        steps = None if steps is None or step is None or not _is_plain(step) else [step, *steps]
        node = source
    return (places[node], None if steps is None else tuple(steps)) if node in places else None


def _reaches_argument(write: fx.Node, places: dict[fx.Node, int]) -> bool:
    """Whether what a call writes to is an argument of the trace or a view of one."""
    assert isinstance(write.target, OpOverload)
    schema = write.target._schema
    given = dict(zip((one.name for one in schema.arguments), write.args, strict=False))
    given.update(write.kwargs)
    written: list[Any] = [
        given.get(one.name) for one in schema.arguments if one.alias_info is not None
    ]
    reached: list[fx.Node] = []
    fx.map_arg(written if schema.is_mutable else write.args, reached.append)
    return any(_origin(node, places) is not None for node in reached)


def _is_plain(step: Step) -> bool:
    """Whether a traced step stands for itself: its arguments are numbers that never change."""
    numbers: list[object] = []
    for argument in step.arguments:
        numbers += argument if isinstance(argument, list | tuple) else [argument]
    return all(number is None or isinstance(number, int) for number in numbers)


def _step(node: fx.Node, base: torch.Tensor) -> Step:
    """The step of a call of a view, whose arguments after the first become positional."""
    target = node.target
    assert isinstance(target, OpOverload)
    arguments = list(node.args[1:])
    for argument in target._schema.arguments[len(node.args) :]:
        if argument.name in node.kwargs:
            arguments.append(node.kwargs[argument.name])
        elif not argument.kwarg_only:
            arguments.append(argument.default_value)
    return Step(target, tuple(arguments), base)


def _parts(node: fx.Node, base: torch.Tensor, parts: Sequence[torch.Tensor]) -> list[Step | None]:
    """The steps to the parts that a tensor is cut into; None where a size is not known."""
    position = 1 if node.target is _aten.unbind.int else 2
    dim = node.args[position] if len(node.args) > position else node.kwargs.get("dim", 0)
    if node.target is _aten.unbind.int:
        return [Step(_aten.select.int, (dim, index), base) for index in range(len(parts))]
    steps: list[Step | None] = []
    start: Any = 0
    for part in parts:
        size = part.shape[dim]  # type: ignore[index]
        known = isinstance(start, int) and not isinstance(size, torch.SymInt)
        end = start + size
        steps.append(Step(_aten.slice.Tensor, (dim, start, end, 1), base) if known else None)
        start = end
    return steps
