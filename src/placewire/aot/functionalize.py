"""Turns in-place operators into functional ones, with what they change written back at the end.

One sweep over the graph keeps for every tensor what it is a view of. An in-place operator gives a
new value; a write through views is carried up to the tensor that owns the memory by `*_scatter`
operators, and whoever reads another view later gets that view of the new value. The sweep never
guesses: where it cannot tell what a write reaches, it raises `NotRewritableError`.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

import torch
from torch import fx
from torch._ops import HigherOrderOperator, OpOverload

from .alias import Aliases, NotRewritableError, Step, functional_variant, is_write
from .graph import GraphInput, InputKind, MethodGraph, Unsupported, source_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["NotRewritableError", "functionalize"]

_aten = torch.ops.aten


def functionalize(
    method: MethodGraph, write_backs: Mapping[fx.Node, Any] | None = None
) -> tuple[MethodGraph, list[Unsupported]]:
    """A method in which nothing writes but `aten.copy_` into inputs and buffers at the very end.

    Args:
        method: The method; it is not changed. If it has nothing to rewrite, it is given back.
        write_backs: New values of placeholders, to be written when all results are there.

    Raises:
        NotRewritableError: What a write reaches cannot be told.
    """
    writes = write_backs or any(map(is_write, method.graph.nodes))
    bodies, unsupported = {}, []
    for name, body in method.bodies.items():
        bodies[name], refused = functionalize(body)
        unsupported += refused
    if writes:
        sweep = _Sweep(method)
        method = sweep.run(write_backs or {})
        unsupported += sweep.unsupported
    method.bodies = bodies
    return method, unsupported


@dataclass(slots=True, eq=False)
class _Memory:
    """What a tensor and its views share.

    Attributes:
        version: How often it has been written to.
        placeholder: The input that it belongs to, if it does.
        writer: What wrote to it first, if a node did.
    """

    version: int = 0
    placeholder: fx.Node | None = None
    writer: fx.Node | None = None


@dataclass(slots=True, eq=False)
class _Tensor:
    """A tensor of the old graph: memory of its own, or one step away from the tensor it views.

    Attributes:
        memory: Its memory.
        node: Its value in the new graph when the memory had version `version`.
        version: That version.
        base: What it is a view of.
        step: How it follows from `base`; None if nobody can tell.
    """

    memory: _Memory
    node: fx.Node | None
    version: int
    base: _Tensor | None = None
    step: Step | None = None


class _Sweep:
    def __init__(self, method: MethodGraph) -> None:
        self.unsupported: list[Unsupported] = []
        self._method = method
        self._graph = fx.Graph()
        self._aliases = Aliases(method.fakes)
        self._new: dict[fx.Node, Any] = {}
        self._inputs: dict[fx.Node, GraphInput] = {}
        self._buffers: dict[object, _Tensor] = {}
        self._source: fx.Node | None = None

    def run(self, write_backs: Mapping[fx.Node, Any]) -> MethodGraph:
        memories = []
        for node, given in zip(self._method.placeholders, self._method.inputs, strict=True):
            memories.append(self._placeholder(node, given))
        for node in self._method.graph.nodes:
            self._source = node
            try:
                self._visit(node)
            except NotRewritableError as error:
                error.source = node
                raise
        self._source = None
        results = self._read_all(self._method.results)
        written = {node: self._read_all(value) for node, value in write_backs.items()}
        for node, value in written.items():
            self._write(self._new[node], value)
        self._refuse_shared_memory(memories)
        self._finish(results, memories)
        method = self._method
        return MethodGraph(
            method.name,
            self._graph,
            list(self._inputs.values()),
            method.fakes,
            method.in_spec,
            method.out_spec,
            method.bodies,
        )

    def _placeholder(self, node: fx.Node, given: GraphInput) -> _Tensor | None:
        new = self._graph.node_copy(node)
        self._inputs[new] = GraphInput(given.kind, given.name, given.value)
        if not isinstance(node.meta.get("val"), torch.Tensor):
            self._new[node] = new
            return None
        key = _memory_key(given)
        tensor = self._buffers.get(key) or _Tensor(_Memory(0, new), new, 0)
        if key is not None:
            self._buffers[key] = tensor
        self._new[node] = tensor
        return tensor

    def _visit(self, node: fx.Node) -> None:
        if node.op == "get_attr":
            self._new[node] = self._graph.node_copy(node)
        elif node.op == "call_function":
            self._new[node] = self._called(node)

    def _called(self, node: fx.Node) -> Any:
        target = node.target
        if target is operator.getitem:
            source = self._new[node.args[0]]  # type: ignore[index]
            if isinstance(source, list):
                return source[node.args[1]]  # type: ignore[index]
        if isinstance(target, HigherOrderOperator):
            return self._copied(node)
        if not isinstance(target, OpOverload):
            is_tensor = isinstance(node.meta.get("val"), torch.Tensor)
            return self._fresh(node) if is_tensor else self._copied(node)
        if target is _aten.detach_.default:
            return self._new[node.args[0]]  # type: ignore[index]
        if target is _aten.batch_norm.default and is_write(node):
            return self._batch_norm(node)
        if target is _aten.instance_norm.default and is_write(node):
            return self._instance_norm(node)
        if is_write(node):
            return self._in_place(node)
        return self._functional(node)

    def _functional(self, node: fx.Node) -> Any:
        """A call that writes nothing; its results may be views of its arguments."""
        new = self._copied(node)
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor | list | tuple):
            return new
        origins = self._aliases.of(node)
        if isinstance(value, torch.Tensor):
            return self._tensor(new, origins[0])
        if not any(origins):
            return new
        return [
            self._tensor(self._call(operator.getitem, (new, item)), origin)
            for item, origin in enumerate(origins)
        ]

    def _tensor(
        self, new: fx.Node, origin: tuple[fx.Node, tuple[Step, ...] | None] | None
    ) -> _Tensor:
        if origin is None:
            return _Tensor(_Memory(), new, 0)
        source, steps = origin
        base = self._new[source]
        assert isinstance(base, _Tensor)
        if steps is None:
            return _Tensor(base.memory, new, base.memory.version, base, None)
        for step in steps[:-1]:
            base = _Tensor(base.memory, None, -1, base, step)
        if not steps:
            return base
        return _Tensor(base.memory, new, base.memory.version, base, steps[-1])

    def _in_place(self, node: fx.Node) -> Any:
        """Replace a call that writes to its first argument by its functional variant."""
        target = node.target
        assert isinstance(target, OpOverload)
        written = (
            self._new[node.args[0]] if node.args and isinstance(node.args[0], fx.Node) else None
        )
        if not isinstance(written, _Tensor):
            raise NotRewritableError(f"{target} writes to what is not a tensor of the graph")
        if target is _aten.copy_.default:
            self._write(written, self._copy_of(node.args[1], node.args[0].meta["val"]))  # type: ignore[union-attr]
            return written
        functional = functional_variant(target)
        if functional is None:
            raise NotRewritableError(f"{target} has no functional variant")
        value = self._call(functional, self._read_all(node.args), self._read_all(node.kwargs))
        dtype = node.args[0].meta["val"].dtype  # type: ignore[union-attr]
        if self._aliases.dtype_of(functional, node) is not dtype:
            value = self._call(_aten._to_copy.default, (value,), {"dtype": dtype})
        self._write(written, value)
        return written

    def _copy_of(self, source: Any, like: torch.Tensor) -> fx.Node:
        """What `copy_` puts into a tensor like `like`."""
        value = source.meta["val"]
        new: fx.Node = self._read(self._new[source])
        if value.dtype is not like.dtype:
            new = self._call(_aten._to_copy.default, (new,), {"dtype": like.dtype})
        if not _same_sizes(value, like):
            sizes = self._sizes(self._read_all(self._source.args[0]), like)  # type: ignore[union-attr]
            new = self._call(_aten.expand.default, (new, sizes))
        return new

    def _batch_norm(self, node: fx.Node) -> _Tensor:
        """Batch norm in training: it writes to its running statistics and its schema hides it."""
        result, mean, var = self._normalised(self._read_all(node.args))
        self._write(self._new[node.args[3]], mean)  # type: ignore[index]
        self._write(self._new[node.args[4]], var)  # type: ignore[index]
        return _Tensor(_Memory(), result, 0)

    def _instance_norm(self, node: fx.Node) -> _Tensor:
        """Instance norm in training: batch norm with every channel of every sample for itself.

        Its running statistics become the mean of those over the samples.
        """
        value = node.args[0].meta["val"]  # type: ignore[union-attr]
        given, *statistics = self._read_all(node.args)
        samples, channels, *rest = self._sizes(given, value)
        if not (isinstance(samples, int) and isinstance(channels, int)):
            raise NotRewritableError(f"{node.target} with a number of samples that is not fixed")
        merged = self._call(_aten.reshape.default, (given, (1, samples * channels, *rest)))
        repeated = [
            item if item is None else self._call(_aten.repeat.default, (item, (samples,)))
            for item in statistics[:4]
        ]
        result, *changed = self._normalised((merged, *repeated, *statistics[4:]))
        for statistic, new in zip(node.args[3:5], changed, strict=True):
            apart = self._call(_aten.reshape.default, (new, (samples, channels)))
            mean = self._call(_aten.mean.dim, (apart, (0,)))
            self._write(self._new[statistic], mean)  # type: ignore[index]
        sizes = (samples, channels, *rest)
        return _Tensor(_Memory(), self._call(_aten.reshape.default, (result, sizes)), 0)

    def _normalised(self, arguments: tuple[Any, ...]) -> list[fx.Node]:
        """Result and new running statistics of batch norm in training."""
        norm = self._call(_aten._native_batch_norm_legit_functional.default, arguments[:8])
        return [self._call(operator.getitem, (norm, item)) for item in (0, 3, 4)]

    def _write(self, tensor: _Tensor, value: fx.Node) -> None:
        """Give a tensor a new value, and with it everything that shares its memory."""
        changed = [(tensor, value)]
        while tensor.base is not None:
            if tensor.step is None:
                raise NotRewritableError(
                    "a write reaches a tensor through a view of an unknown kind"
                )
            base = self._read(tensor.base)
            if not tensor.step.is_identity:
                value = self._scattered(tensor.step, base, value)
            tensor = tensor.base
            changed.append((tensor, value))
        memory = tensor.memory
        memory.version += 1
        memory.writer = memory.writer or self._source
        for one, new in changed:
            one.node, one.version = new, memory.version
        self._refuse_outside(memory)

    def _scattered(self, step: Step, base: fx.Node, value: fx.Node) -> fx.Node:
        """The value of a view's base after the view got `value`."""
        inverse = step.inverse()
        if inverse is None:
            error = NotRewritableError(f"it writes through {step.target}")
            # There torch takes the difference for each of the elements that share a place.
            error.final = step.target is _aten.expand.default
            raise error
        target, takes_base, arguments = inverse
        if step.target is _aten.narrow.default:
            return self._call(target, (base, value, *self._narrowed(step.base, *arguments)))
        if target is _aten.diagonal_scatter.default:
            return self._diagonal_scattered(step.base, base, value, *arguments)
        if target is _aten.reshape.default:
            return self._call(target, (value, self._sizes(base, step.base)))
        given = (base, value) if takes_base else (value,)
        return self._call(target, (*given, *self._read_all(arguments)))

    def _narrowed(self, like: torch.Tensor, dim: int, start: Any, length: Any) -> tuple[Any, ...]:
        """The arguments of a slice for those of `narrow`."""
        numbers = [
            item.meta["val"] if isinstance(item, fx.Node) else item for item in (start, length)
        ]
        if not all(map(self._method.fakes.is_natural, numbers)):
            sizes: list[Any] = list(like.shape)
            size = sizes[dim]
            if not (isinstance(start, int) and isinstance(size, int)):
                raise NotRewritableError("a write through narrow from a place that may be negative")
            start += size
        if isinstance(start, int) and isinstance(length, int):
            return dim, start, start + length
        end = self._call(operator.add, self._read_all((start, length)))
        end.meta["val"] = numbers[0] + numbers[1]
        return dim, self._read_all(start), end

    def _diagonal_scattered(
        self, like: torch.Tensor, base: fx.Node, value: fx.Node, offset: int, dim1: int, dim2: int
    ) -> fx.Node:
        """`diagonal_scatter`, which targets have no kernel for, by the indices of the diagonal."""
        dims = [dim1 % like.dim(), dim2 % like.dim()]
        lengths: list[Any] = [like.shape[dim] for dim in dims]
        rows, columns = lengths
        if not (isinstance(rows, int) and isinstance(columns, int)):
            raise NotRewritableError("a write to a diagonal whose length is not fixed")
        row, column = max(-offset, 0), max(offset, 0)
        length = max(min(rows - row, columns - column), 0)
        indices = [
            self._call(_aten.arange.start, (start, start + length), {"dtype": torch.int64})
            for start in (row, column)
        ]
        order = dims + [dim for dim in range(like.dim()) if dim not in dims]
        front = self._call(_aten.permute.default, (base, tuple(order)))
        values = self._call(_aten.movedim.int, (value, -1, 0))
        new = self._call(_aten.index_put.default, (front, tuple(indices), values))
        back = tuple(order.index(dim) for dim in range(like.dim()))
        return self._call(_aten.permute.default, (new, back))

    def _sizes(self, node: fx.Node, value: torch.Tensor) -> tuple[Any, ...]:
        """The sizes of a tensor, as numbers where they are always the same."""
        sizes: list[Any] = list(value.shape)
        for dimension, size in enumerate(sizes):
            if not isinstance(size, int):
                sizes[dimension] = self._call(_aten.sym_size.int, (node, dimension))
                sizes[dimension].meta["val"] = size
        return tuple(sizes)

    def _read(self, item: Any) -> Any:
        """What stands in the new graph for the present value of something in the old one."""
        if not isinstance(item, _Tensor):
            return item
        pending = []
        while item.version != item.memory.version:
            if item.base is None or item.step is None:
                raise NotRewritableError(
                    "a view of an unknown kind is read after its base was written"
                )
            pending.append(item)
            item = item.base
        node = item.node
        for view in reversed(pending):
            step = view.step
            assert step is not None
            if not step.is_identity:
                node = self._call(step.target, (node, *self._read_all(step.arguments)), step.kwargs)
            view.node, view.version = node, view.memory.version
        return node

    def _read_all(self, structure: Any) -> Any:
        return fx.map_arg(structure, lambda old: self._read(self._new[old]))

    def _copied(self, node: fx.Node) -> fx.Node:
        return self._graph.node_copy(node, lambda old: self._read(self._new[old]))

    def _fresh(self, node: fx.Node) -> _Tensor:
        return _Tensor(_Memory(), self._copied(node), 0)

    def _call(
        self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> fx.Node:
        node = self._graph.call_function(target, args, kwargs or {})
        if self._source is not None:
            for key in ("stack_trace", "nn_module_stack"):
                if key in self._source.meta:
                    node.meta[key] = self._source.meta[key]
        return node

    def _finish(self, results: tuple[Any, ...], memories: Iterable[_Tensor | None]) -> None:
        """Write what changed back, after whatever still needs an old value has been read."""
        changed: dict[fx.Node, fx.Node] = {}
        for tensor in memories:
            if tensor is None or tensor.memory.version == 0:
                continue
            placeholder = tensor.memory.placeholder
            assert placeholder is not None
            value = self._read(tensor)
            if value is not placeholder:
                changed[placeholder] = value
        kept: dict[fx.Node, fx.Node] = {}

        def keep(node: fx.Node) -> fx.Node:
            if node not in changed:
                return node
            if node not in kept:
                kept[node] = self._call(_aten.clone.default, (node,))
            return kept[node]

        results = fx.map_arg(results, keep)
        changed = {placeholder: keep(value) for placeholder, value in changed.items()}
        for placeholder, value in changed.items():
            self._inputs[placeholder].mutated = True
            self._call(_aten.copy_.default, (placeholder, value)).meta["val"] = placeholder.meta[
                "val"
            ]
        self._graph.output(tuple(results))

    def _refuse_outside(self, memory: _Memory) -> None:
        placeholder = memory.placeholder
        if placeholder is None or self._inputs[placeholder].kind is not InputKind.OPERAND:
            return
        source = self._source
        self.unsupported.append(
            Unsupported(
                self._method.name,
                str(source.target) if source is not None else "a write",
                f"it writes to {placeholder.name}, which belongs to the graph around this body; "
                "compute a new value and return it",
                source_of(source) if source is not None else None,
            )
        )

    def _refuse_shared_memory(self, memories: Iterable[_Tensor | None]) -> None:
        """Buffers that overlap without being the same tensor cannot both be kept in a program."""
        ranges = []
        for tensor in dict.fromkeys(memories):
            if tensor is None or tensor.memory.placeholder is None:
                continue
            given = self._inputs[tensor.memory.placeholder]
            if _has_memory(given.value):
                start = given.value.data_ptr()
                ranges.append((start, start + _extent(given.value), given, tensor.memory))
        ranges.sort(key=lambda item: item[:2])
        reach: tuple[int, GraphInput, _Memory] | None = None
        for start, end, given, memory in ranges:
            if reach is not None and start < reach[0] and (memory.version or reach[2].version):
                writer = memory.writer or reach[2].writer
                self.unsupported.append(
                    Unsupported(
                        self._method.name,
                        f"{reach[1].name} and {given.name}",
                        "they share memory, and the model writes to it; "
                        "a program keeps them apart, so make one a view of the other in forward",
                        None if writer is None else source_of(writer),
                    )
                )
            if reach is None or end > reach[0]:
                reach = end, given, memory


def _memory_key(given: GraphInput) -> object:
    """Equal for placeholders of the very same memory, such as a buffer with two names."""
    value = given.value
    if not _has_memory(value):
        return None
    return value.data_ptr(), value.dtype, value.shape, value.stride()


def _has_memory(value: object) -> TypeGuard[torch.Tensor]:
    """Whether a value is a tensor with an address: not one on `meta`, and not an empty one."""
    return isinstance(value, torch.Tensor) and not value.is_meta and value.nbytes > 0


def _same_sizes(one: torch.Tensor, other: torch.Tensor) -> bool:
    return len(one.shape) == len(other.shape) and all(
        _expression(a) == _expression(b) for a, b in zip(one.shape, other.shape, strict=True)
    )


def _expression(size: Any) -> object:
    return size if isinstance(size, int) else size.node.expr


def _extent(tensor: torch.Tensor) -> int:
    """Bytes from a tensor's first element to the end of its last."""
    reach = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
    return (reach + 1) * tensor.element_size()
