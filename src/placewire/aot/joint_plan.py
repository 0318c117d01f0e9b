"""Plans the memory of methods that share buffers: what is kept between calls has one place in all.

What a program keeps from call to call, its state, must survive every method: the buffers that
methods change, and the constants that stay on a device. It gets planned buffers of its own, one
for each device and pool, at the same numbers, with the same size and offsets, in every method that
uses any of it. Everything else is planned for each method alone, behind them; but number 1 is
always that of the CPU, which is where ExecuTorch expects what it need not keep.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from placewire.placement import CPU
from placewire.planner import Mode, plan

from .control_flow import methods_in
from .graph import InputKind
from .memory import BufferPlan, MemoryPlan, lifetimes, plan_group, plan_memory
from .shared_buffers import Difference, SharedBufferError
from .specs import Place, TensorSpec, specs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    import torch

    from placewire.device import Device

    from .graph import GraphInput, MethodGraph
    from .memory import Lifetime

__all__ = ["JointPlan", "SharedStorageError", "plan_jointly"]

_Group = tuple["Device", int]
"""A device and a pool, which have planned buffers of their own."""


class SharedStorageError(RuntimeError):
    """A joint plan is not sound; the fault is in the exporter."""


@dataclass(slots=True)
class _State:
    """A tensor that is kept from call to call.

    Attributes:
        name: Its qualified name.
        form: In what all that is said of it must agree.
        users: The methods that use it, each with its tensor.
    """

    name: str
    form: Mapping[str, Hashable]
    users: list[tuple[str, TensorSpec]] = field(default_factory=list)

    @property
    def spec(self) -> TensorSpec:
        return self.users[0][1]


@dataclass(slots=True)
class JointPlan:
    """The plans of several methods.

    Attributes:
        methods: The plan of each method.
        shared: The buffers with what is kept from call to call; the first is number 2.
    """

    methods: list[MemoryPlan] = field(default_factory=list)
    shared: list[BufferPlan] = field(default_factory=list)


def plan_jointly(
    methods: Sequence[MethodGraph],
    index_of: Callable[[torch.Tensor], int],
    alignment: int,
    mode: Mode = "fast",
    *,
    devices: bool = True,
) -> JointPlan:
    """Give every planned tensor of all methods its place.

    Args:
        methods: The methods; their specs get their places.
        index_of: Gives equal numbers to initial values of equal data.
        alignment: Bytes to which each tensor is aligned in its buffer.
        mode: How hard to try.
        devices: Plan for the devices of tensors. If not, all is planned on the CPU.

    Raises:
        SharedBufferError: A pass gave the tensors of a shared buffer different devices, pools or
            layouts.
        SharedStorageError: The plan is not sound.
    """
    living = [lifetimes(method) for method in methods]
    states = _states(methods, living, index_of)
    groups: defaultdict[_Group, list[_State]] = defaultdict(list)
    for state in states:
        groups[_group(state.spec, devices=devices)].append(state)
    if not groups:
        plans = [plan_memory(method, alignment, mode, devices=devices) for method in methods]
        return JointPlan(plans)
    result = JointPlan()
    for number, group in enumerate(sorted(groups), 2):
        result.shared.append(_plan_states(number, group, groups[group], alignment, mode))
    kept = {spec for state in states for _, spec in state.users}
    for method_living in living:
        alone = {spec: life for spec, life in method_living.items() if spec not in kept}
        used = {spec.place.buffer for spec in method_living if spec in kept and spec.place}
        result.methods.append(
            _plan_method(alone, used, result.shared, alignment, mode, devices=devices)
        )
    _check_joint_plan(result, states, [set(specs) - kept for specs in living])
    return result


def _group(spec: TensorSpec, *, devices: bool) -> _Group:
    return (spec.device if devices else CPU), spec.pool


def _states(
    methods: Sequence[MethodGraph],
    living: Sequence[Mapping[TensorSpec, Lifetime]],
    index_of: Callable[[torch.Tensor], int],
) -> list[_State]:
    """What is kept from call to call, in the order in which the methods have it.

    Raises:
        SharedBufferError: The tensors of a buffer are not of one form.
    """
    states: dict[Hashable, _State] = {}
    differences: list[Difference] = []
    for method, specs in zip(methods, living, strict=True):
        inputs = _inputs_by_spec(method)
        for spec in specs:
            if spec.initial is None:
                continue
            form = _form(spec, index_of(spec.initial))
            given = inputs.get(spec)
            # Nobody can tell apart constants that are equal; buffers are what they are called.
            key: Hashable = tuple(form.values())
            if given is not None and given.is_state:
                key = given.name
            state = states.setdefault(key, _State(given.name if given else "a tensor", form))
            differences += _differences(state, method.name, form)
            state.users.append((method.name, spec))
    if differences:
        raise SharedBufferError(differences)
    return list(states.values())


def _inputs_by_spec(method: MethodGraph) -> dict[TensorSpec, GraphInput]:
    """What the tensors of a method and its bodies are in the model."""
    return {
        spec: given
        for part in methods_in(method)
        for node, given in zip(part.placeholders, part.inputs, strict=True)
        if given.kind is not InputKind.OPERAND
        for spec in specs_of(node)
    }


def _differences(state: _State, method: str, form: Mapping[str, Hashable]) -> list[Difference]:
    if not state.users:
        return []
    methods = state.users[0][0], method
    return [
        Difference(state.name, what, methods, (str(state.form[what]), str(found)))
        for what, found in form.items()
        if found != state.form[what]
    ]


def _form(spec: TensorSpec, initial: int) -> dict[str, Hashable]:
    """In what the tensors of one buffer must agree."""
    return {
        "dtype": spec.scalar_type.name,
        "shape": spec.sizes,
        "dim_order": spec.dim_order,
        "device": spec.device,
        "pool": spec.pool,
        "initial value": initial,
    }


def _plan_states(
    number: int, group: _Group, states: list[_State], alignment: int, mode: Mode
) -> BufferPlan:
    """Put what is kept into a buffer; all of it lives at once."""
    tensors = [(state.spec.nbytes, 0, 1) for state in states]
    planned = plan(tensors, mode=mode, alignment=alignment)
    for state, offset in zip(states, planned.offsets.tolist(), strict=True):
        for _, spec in state.users:
            spec.place = Place(number, offset)
    return BufferPlan(*group, planned.total, planned.lower_bound, len(states), shared=True)


def _plan_method(
    alone: Mapping[TensorSpec, Lifetime],
    used: set[int],
    shared: Sequence[BufferPlan],
    alignment: int,
    mode: Mode,
    *,
    devices: bool,
) -> MemoryPlan:
    """Plan what a method has for itself.

    A shared buffer that it does not use keeps its number and has no bytes, and so no device that
    would have to be there.
    """
    groups: defaultdict[_Group, list[TensorSpec]] = defaultdict(list)
    groups[CPU, 0] = []
    for spec in alone:
        groups[_group(spec, devices=devices)].append(spec)
    (host, *others) = sorted(groups)
    result = MemoryPlan([plan_group(1, host, groups[host], alone, alignment, mode)])
    for number, buffer in enumerate(shared, 2):
        unused = BufferPlan(CPU, buffer.pool, 0, 0, 0, shared=True)
        result.buffers.append(buffer if number in used else unused)
    for number, group in enumerate(others, len(result.buffers) + 1):
        result.buffers.append(plan_group(number, group, groups[group], alone, alignment, mode))
    return result


def _check_joint_plan(
    joint: JointPlan, states: Sequence[_State], alone: Sequence[set[TensorSpec]]
) -> None:
    """Make sure that no method can disturb what is kept, and that all find it at one place.

    Args:
        joint: The plan.
        states: What is kept from call to call.
        alone: The tensors that each method has for itself.

    Raises:
        SharedStorageError: It is not so.
    """
    last = 1 + len(joint.shared)
    taken: defaultdict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for state in states:
        places = {spec.place for _, spec in state.users}
        if len(places) != 1 or (place := places.pop()) is None or not 2 <= place.buffer <= last:
            raise SharedStorageError(f"{state.name} has no shared place, or more than one")
        end = place.offset + state.spec.nbytes
        if end > joint.shared[place.buffer - 2].size:
            raise SharedStorageError(f"{state.name} does not fit into buffer {place.buffer}")
        if state.spec.nbytes:
            taken[place.buffer].append((place.offset, end, state.name))
    for intervals in taken.values():
        intervals.sort()
        for (_, end, name), (start, _, other) in pairwise(intervals):
            if start < end:
                raise SharedStorageError(f"{name} and {other} share bytes")
    for specs in alone:
        if any(spec.place is not None and 2 <= spec.place.buffer <= last for spec in specs):
            raise SharedStorageError("a tensor that is not kept lies in a shared buffer")
