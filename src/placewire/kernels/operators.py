"""Operators of torch as the runtime calls them: which argument is what, and what is called.

An instruction has the arguments of an operator's schema in order, then what it returns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import torch

from .copies import DIM_ORDER_SCHEMAS, copying_call
from .direct import call_of, is_listed
from .dtypes import LAYOUTS, MEMORY_FORMATS, scalar_type
from .guarded import guarded
from .specialized import SPECIALIZED

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch._ops import OpOverload

    from .call import Call

__all__ = ["TorchOperator", "find_operator"]

_OF_THE_CORE = ("et_copy::", "executorch_prim::", "placewire::")

_REACHING_OUT = ("aten::from_file", "_c10d_functional::", "c10d::", "symm_mem::")
"""Starts of names of operators that open files or talk to other processes: no program may."""

_UNCHECKED = ("aten::_reshape_alias_copy.",)
"""Starts of names of operators that read wherever their strides lead."""

_NO_ELEMENTS = ("aten::requires_grad_", "prims::")
"""Starts of names of operators that change something else of tensors than their elements, and do
not say so."""


@dataclass(frozen=True)
class TorchOperator:
    """An operator that writes its results into arguments, or returns a number.

    Attributes:
        schema: What it takes and returns.
        overload: torch's operator; None for those of ExecuTorch that torch lacks.
    """

    schema: torch._C.FunctionSchema
    overload: OpOverload | None

    @property
    def name(self) -> str:
        """What out variants are called by: with a dot, also if there is no overload."""
        return f"{self.schema.name}.{self.schema.overload_name}"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return tuple(argument.name for argument in self.schema.arguments)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """What each argument must be: `tensor`, `list` or `scalar`, with `?` if it may be None."""
        return tuple(_kind(argument) for argument in self.schema.arguments)

    @cached_property
    def defaults(self) -> tuple[object, ...]:
        """For each argument that may be left out the value that means the same, else Ellipsis."""
        return tuple(
            argument.default_value if argument.kwarg_only and argument.has_default_value() else ...
            for argument in self.schema.arguments
        )

    @cached_property
    def converters(self) -> tuple[Callable[[int], object] | None, ...]:
        """For each argument that a program has as a number what makes torch's object of it."""
        return tuple(_converter(argument) for argument in self.schema.arguments)

    @cached_property
    def outs(self) -> tuple[int, ...]:
        """Indices of the arguments that receive the results and nothing else."""
        return tuple(
            index
            for index, argument in enumerate(self.schema.arguments)
            if argument.kwarg_only and _is_written(argument)
        )

    @cached_property
    def writes(self) -> tuple[int, ...]:
        """Indices of all arguments that are written to, the outs included."""
        arguments = enumerate(self.schema.arguments)
        return tuple(index for index, argument in arguments if _is_written(argument))

    @property
    def returns(self) -> int:
        """Number of values that it returns."""
        return len(self.schema.returns)

    @property
    def is_torchs(self) -> bool:
        """Whether the code is torch's own, and not a library's beside it."""
        return self.overload is None or self.overload.namespace == "aten"

    @cached_property
    def has_known_sizes(self) -> bool:
        """Whether it is known that sizes of results depend on nothing but sizes and numbers.

        torch marks operators of which they do, but not all of them; so this is only said of the
        core operators, and of those that are listed, which were tried.
        """
        if self.overload is None:
            return True
        tags = {tag for each in self._overloads for tag in each.tags}
        was_tried = self.name in SPECIALIZED or is_listed(self.overload)
        return torch.Tag.dynamic_output_shape not in tags and (torch.Tag.core in tags or was_tried)

    @cached_property
    def writes_inputs(self) -> bool:
        """Whether it writes to more than its name tells: than the outs, or in place the first."""
        told = set(self.outs) if self.outs else {0}
        return not told.issuperset(self.writes)

    @cached_property
    def is_pure(self) -> bool:
        """Whether equal arguments always give equal results, and nothing else happens.

        So it is of torch's own operators that write nothing but results and draw no numbers. What
        operators of others do is not known.
        """
        if self.overload is None:
            return True
        if not self.is_torchs or self.writes != self.outs:
            return False
        return not any(torch.Tag.nondeterministic_seeded in each.tags for each in self._overloads)

    @property
    def _overloads(self) -> list[OpOverload]:
        """All overloads of the operator: an out variant does not always have its tags."""
        if self.overload is None:
            return []
        packet = self.overload.overloadpacket
        return [getattr(packet, name) for name in packet.overloads()]

    @cached_property
    def fixed_call(self) -> Call:
        """What is called where sizes, numbers and places of tensors never change."""
        return self._call(fixed=True)

    @cached_property
    def changing_call(self) -> Call:
        """What is called where they may change from one execution to the next."""
        return self._call(fixed=False)

    def _call(self, *, fixed: bool) -> Call:
        copy = copying_call(self.schema, self.overload, self.outs, fixed=fixed)
        if copy is not None:
            return copy
        assert self.overload is not None
        call = call_of(self.overload)
        specialize = SPECIALIZED.get(self.name) if fixed else None
        return replace(call, function=guarded(self.name, call.function), specialize=specialize)


def find_operator(name: str) -> TorchOperator | None:
    """The operator that a program calls `namespace::name.overload`; None if there is none.

    Operators that return new tensors are none: a program has a place for every result. Nor are
    those that the core has kernels for: where ExecuTorch's exporter is imported, torch has
    operators of these names, which know nothing of devices. Nor are those that reach out of the
    process: a file is data, and must not be able to read or write another one. Nor are those that
    change what a tensor is instead of its elements, such as `aten::set_`: it would go on to point
    to memory that is gone. Nor is what leaves the memory of a tensor unchecked, nor what is about
    derivatives.
    """
    if name.startswith((*_OF_THE_CORE, *_REACHING_OUT, *_UNCHECKED, *_NO_ELEMENTS)):
        return None
    if name in DIM_ORDER_SCHEMAS:
        return TorchOperator(torch._C.parse_schema(name + DIM_ORDER_SCHEMAS[name]), None)
    overload = _overload(name)
    if overload is None or torch.Tag.inplace_view in overload.tags:
        return None
    operator = TorchOperator(overload._schema, overload)
    is_named_for_it = overload._schema.name.endswith("_") or operator.outs
    if operator.is_torchs and operator.writes and not is_named_for_it:
        return None
    returned = [str(value.type) for value in overload._schema.returns]
    returns_number = len(returned) == 1 and returned[0] in ("int", "float", "bool", "number")
    return operator if operator.writes or returns_number else None


def _overload(name: str) -> OpOverload | None:
    namespace, separator, rest = name.partition("::")
    base, _, overload_name = rest.partition(".")
    if not separator or not base:
        return None
    packet = getattr(getattr(torch.ops, namespace, None), base, None)
    overload = getattr(packet, overload_name or "default", None)
    # The name is a file's, and may be that of any attribute.
    return overload if isinstance(overload, torch._ops.OpOverload) else None


def _kind(argument: torch._C.Argument) -> str:
    text = str(argument.type)
    inner = text.removeprefix("Optional[")
    if inner.startswith("Tensor"):
        kind = "tensor"
    elif inner.startswith("List["):
        kind = "list"
    else:
        kind = "scalar"
    return kind + "?" * (inner != text)


def _converter(argument: torch._C.Argument) -> Callable[[int], object] | None:
    text = str(argument.real_type)
    if "ScalarType" in text:
        return scalar_type
    if "Layout" in text:
        return LAYOUTS.__getitem__
    if "MemoryFormat" in text:
        return MEMORY_FORMATS.__getitem__
    return None


def _is_written(argument: torch._C.Argument) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write
