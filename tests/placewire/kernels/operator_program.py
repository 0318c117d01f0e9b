"""A program that calls one operator of torch, and what torch gives for the same call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from placewire_schema import pack_program
from placewire_schema import program as p

from placewire.kernels.operators import TorchOperator, find_operator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.placewire.kernels.operator_inputs import Inputs

__all__ = ["OneCall"]

_SCALAR_TYPES = {getattr(torch, each.torch): each for each in p.ScalarType if each.torch}
_MEMORY_FORMATS = {torch.contiguous_format: 0, torch.channels_last: 2}
_ALIGNMENT = 64


@dataclass
class _Values:
    """The values of a method.

    Attributes:
        room: How much larger than it is each dimension of a tensor may become; 0 is static.
        values: What is there so far.
        size: Bytes that the tensors so far take.
    """

    room: int
    values: list[p.EValue] = field(default_factory=list)
    size: int = 0

    def add(self, value: object, kind: str) -> int:
        """Add a value for an argument of this type, and what it refers to; return its index."""
        return self._append(self._made(value, kind.removeprefix("Optional[").removesuffix("]")))

    def _append(self, value: Any) -> int:
        self.values.append(p.EValue(value))
        return len(self.values) - 1

    def _made(self, value: object, kind: str) -> object:
        match value:
            case None:
                return p.Null()
            case torch.Tensor():
                return self._tensor(value)
            case bool():
                return p.Bool(value)
            case int():
                return p.Double(value) if kind == "float" else p.Int(value)
            case float():
                return p.Double(value)
            case str():
                return p.String(value)
            case torch.dtype():
                return p.Int(_SCALAR_TYPES[value])
            case torch.memory_format():
                return p.Int(_MEMORY_FORMATS[value])
            case list() | tuple():
                return self._list(value, kind.removeprefix("List["))
        raise TypeError(f"a program has no value for {value!r}")

    def _list(self, items: Sequence[Any], kind: str) -> object:
        if kind.startswith("float"):
            return p.DoubleList(list(items))
        if kind.startswith("bool"):
            return p.BoolList(list(items))
        indices = [-1 if item is None else self.add(item, kind) for item in items]
        if kind.startswith("Tensor"):
            return p.TensorList(indices)
        return p.OptionalTensorList(indices) if "Tensor" in kind else p.IntList(indices)

    def _tensor(self, tensor: torch.Tensor) -> p.Tensor:
        bounds = [size + self.room for size in tensor.shape]
        offset = self.size
        nbytes = torch.Size(bounds).numel() * tensor.element_size()
        self.size += -(-nbytes // _ALIGNMENT) * _ALIGNMENT
        return p.Tensor(
            scalar_type=_SCALAR_TYPES[tensor.dtype],
            sizes=bounds,
            dim_order=bytes(tensor.dim_order()),
            allocation_info=p.AllocationDetails(1, offset),
            shape_dynamism=p.TensorShapeDynamism.DYNAMIC_BOUND
            if self.room
            else p.TensorShapeDynamism.STATIC,
        )


class OneCall:
    """A call of an operator with given inputs.

    Args:
        name: The operator.
        given: The inputs.

    Attributes:
        operator: As placewire finds it.
    """

    def __init__(self, name: str, given: Inputs) -> None:
        operator = find_operator(name)
        assert operator is not None
        self.operator: TorchOperator = operator
        self.name = name
        self._outs = given.outs
        taken = [a for i, a in enumerate(operator.schema.arguments) if i not in operator.outs]
        defaults = [argument.default_value for argument in taken[len(given.arguments) :]]
        self.arguments: list[Any] = [*given.arguments, *defaults]
        self._types = [str(argument.real_type) for argument in taken]

    @property
    def tensors(self) -> list[torch.Tensor]:
        """The inputs of the program: all tensors among the arguments, in order."""
        return list(_tensors_in(self.arguments))

    def next(self) -> None:
        """Change the inputs, but not their sizes: all elements move on by one."""
        self.arguments = [_moved_on(argument) for argument in self.arguments]

    def expected(self) -> list[Any]:
        """What torch gives: the results, then the inputs that are written to, then a number."""
        torch.manual_seed(0)
        arguments = [_copied(argument) for argument in self.arguments]
        returned = self._reference()(*arguments)
        written = [arguments[index] for index in self._written]
        if not self.operator.writes:
            return [returned]
        if not self.operator.outs:
            return written
        results = returned if isinstance(returned, tuple | list) else [returned]
        return [*results, *written]

    def program(self, *, room: int = 0) -> bytes:
        """A program whose tensors may become larger by `room` in each dimension.

        Its inputs are `tensors`, its outputs as of `expected`.
        """
        values = _Values(room)
        expected = self.expected()
        inputs: list[int] = []
        indices: list[int] = []
        for argument, kind in zip(self.arguments, self._types, strict=True):
            first = len(values.values)
            indices.append(values.add(argument, kind))
            inputs += _tensor_indices(values.values, first)
        outputs: list[int] = []
        if self.operator.outs:
            first = len(values.values)
            indices += self._add_outs(values, expected)
            outputs += _tensor_indices(values.values, first)
        outputs += [indices[index] for index in self._written]
        if not self.operator.writes:
            indices.append(values.add(expected[0], "number"))
            outputs.append(indices[-1])
        elif len(self.operator.outs) > 1:
            values.values.append(p.EValue(p.TensorList(outputs[: len(self.operator.outs)])))
            indices.append(len(values.values) - 1)
        else:
            indices.append(indices[-1] if self.operator.outs else indices[0])
        return self._packed(values, indices, inputs, outputs)

    def _add_outs(self, values: _Values, expected: list[Any]) -> list[int]:
        """Add the out arguments, as large as the results; there are more than one, or a list."""
        kinds = [str(self.operator.schema.arguments[index].type) for index in self.operator.outs]
        results = expected[: len(expected) - len(self._written)]
        if kinds == ["List[Tensor]"]:
            return [values.add(results, kinds[0])]
        return [values.add(result, kind) for result, kind in zip(results, kinds, strict=True)]

    @property
    def _written(self) -> list[int]:
        return [index for index in self.operator.writes if index not in self.operator.outs]

    def _packed(
        self, values: _Values, indices: list[int], inputs: list[int], outputs: list[int]
    ) -> bytes:
        base, _, overload = self.name.partition(".")
        plan = p.ExecutionPlan(
            name="forward",
            container_meta_type=p.ContainerMetadata("", ""),
            values=values.values,
            inputs=inputs,
            outputs=outputs,
            chains=[p.Chain(instructions=[p.Instruction(p.KernelCall(0, indices))])],
            operators=[p.Operator(base, overload)],
            non_const_buffer_sizes=[0, max(values.size, _ALIGNMENT)],
        )
        return pack_program(p.Program(execution_plan=[plan], constant_buffer=[p.Buffer(b"")]))

    def _reference(self) -> Callable[..., Any]:
        """What computes the results: a variant that makes them itself, if there is one."""
        if self.operator.overload is None:
            return self._copy_in_order
        if not self.operator.outs:
            return self.operator.overload
        functional = _functional(self.operator.overload)
        if functional is not None and not self._outs:
            return functional
        assert self._outs, f"{self.name} needs outs"
        return self._into_outs

    def _into_outs(self, *arguments: Any) -> Any:
        overload = self.operator.overload
        assert overload is not None
        taken = [a for i, a in enumerate(overload._schema.arguments) if i not in self.operator.outs]
        keywords = {
            argument.name: value
            for argument, value in zip(taken, arguments, strict=True)
            if argument.kwarg_only
        }
        names = [self.operator.names[index] for index in self.operator.outs]
        outs = dict(zip(names, [out.clone() for out in self._outs], strict=True))
        positional = arguments[: len(arguments) - len(keywords)]
        return overload(*positional, **keywords, **outs)

    def _copy_in_order(self, source: Any, *options: Any) -> torch.Tensor:
        """What ExecuTorch's operators mean: a copy, in the type of the out and the given order."""
        if not isinstance(source, torch.Tensor):
            return self._outs[0]
        order = options[-1] or list(range(source.ndim))
        result = torch.empty_permuted(
            source.shape, order, dtype=self._outs[0].dtype if self._outs else source.dtype
        )
        return result.copy_(source)


def _functional(overload: Any) -> Callable[..., Any] | None:
    """The variant of an operator that takes the same arguments but the outs."""
    wanted = [(a.name, str(a.type)) for a in overload._schema.arguments if not a.is_out]
    for name in overload.overloadpacket.overloads():
        other = getattr(overload.overloadpacket, name)
        arguments = other._schema.arguments
        if [(a.name, str(a.type)) for a in arguments] == wanted:
            return lambda *given: _call(other, given)
    return None


def _call(overload: Any, given: Sequence[Any]) -> Any:
    pairs = list(zip(overload._schema.arguments, given, strict=True))
    positional = [value for argument, value in pairs if not argument.kwarg_only]
    keywords = {argument.name: value for argument, value in pairs if argument.kwarg_only}
    return overload(*positional, **keywords)


def _tensors_in(arguments: Sequence[Any]) -> Iterator[torch.Tensor]:
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            yield argument
        elif isinstance(argument, list):
            yield from _tensors_in(argument)


def _tensor_indices(values: list[p.EValue], first: int) -> list[int]:
    return [i for i in range(first, len(values)) if isinstance(values[i].val, p.Tensor)]


def _copied(argument: Any) -> Any:
    if isinstance(argument, list):
        return [_copied(item) for item in argument]
    return argument.clone() if isinstance(argument, torch.Tensor) else argument


def _moved_on(argument: Any) -> Any:
    if isinstance(argument, list):
        return [_moved_on(item) for item in argument]
    if not isinstance(argument, torch.Tensor):
        return argument
    return torch.empty_like(argument).copy_(argument.flatten().roll(1).reshape(argument.shape))
