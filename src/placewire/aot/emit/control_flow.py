"""Branches and loops become jumps: bodies stand in line, and share the values of their method.

A value that is a tensor is copied to where a result or the next iteration expects it, unless its
operator has written it there; a number is moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from placewire_schema.program import Instruction, JumpFalseCall, MoveCall
from torch import fx

from placewire.aot.control_flow import ControlFlow, control_flow_of, operands_of
from placewire.aot.specs import TensorSpec, spec_of

if TYPE_CHECKING:
    from placewire.aot.graph import MethodGraph

    from .method import Emission

__all__ = ["emit_control_flow"]


def emit_control_flow(emission: Emission, method: MethodGraph, node: fx.Node) -> None:
    """Append the instructions of a branch or loop."""
    flow = control_flow_of(node.target, node.args)
    bodies = [method.bodies[body.target] for body in flow.bodies]
    emitting = _Emitting(emission, flow, bodies, node)
    if flow.kind == "cond":
        emitting.cond()
    elif flow.kind == "while_loop":
        emitting.while_loop()
    else:
        emitting.mapped_loop()
    emission.note_source(node)


class _Emitting:
    """One branch or loop.

    Args:
        emission: The method that it is part of.
        flow: What it is.
        bodies: Its bodies.
        node: Its node.
    """

    def __init__(
        self, emission: Emission, flow: ControlFlow, bodies: list[MethodGraph], node: fx.Node
    ) -> None:
        self._emission = emission
        self._flow = flow
        self._bodies = bodies
        self._values: tuple[Any, ...] = node.meta["val"]
        self._specs: tuple[TensorSpec | None, ...] = node.meta["spec"]
        self._results = [
            emission.values.result(value) if spec is None else emission.values.tensor(spec)
            for value, spec in zip(self._values, self._specs, strict=True)
        ]
        emission.name_items(node, self._results)
        self._node = node

    def cond(self) -> None:
        true, false = self._bodies
        to_false = self._jump_if_not(self._emission.output(self._flow.predicate))
        self._branch(true)
        to_end = self._jump_if_not(self._emission.values.literal(value=False, kind="bool"))
        self._land(to_false)
        self._branch(false)
        self._land(to_end)

    def _branch(self, body: MethodGraph) -> None:
        self._body(body, self._outside())
        for position, result in enumerate(body.results):
            self._transfer(self._emission.output(result), position)

    def while_loop(self) -> None:
        condition, body = self._bodies
        self._start()
        values = [*self._results, *self._outside()]
        top = len(self._emission.instructions)
        self._body(condition, values)
        (predicate,) = condition.results
        to_end = self._jump_if_not(self._emission.output(predicate))
        self._body(body, values)
        self._carry(body)
        self._jump_back(top)
        self._land(to_end)

    def mapped_loop(self) -> None:
        """`map` and `scan`: the body runs for each slice along the first dimension."""
        emission, (body,) = self._emission, self._bodies
        literal = emission.values.literal
        zero, one = literal(0, "int"), literal(1, "int")
        index, more = emission.values.result(0), emission.values.result(value=False)
        mapped = [emission.output(item) for item in self._flow.mapped]
        count = self._count(mapped[0], zero)
        self._start()
        self._move(zero, index)
        top = len(emission.instructions)
        emission.call(("executorch_prim::lt", "Scalar"), [index, count, more])
        to_end = self._jump_if_not(more)
        first = len(self._flow.carried)
        placeholders = operands_of(body)[first : first + len(mapped)]
        slices = [emission.values.tensor(spec_of(node)) for node in placeholders]
        for whole, part in zip(mapped, slices, strict=True):
            emission.call(("aten::select_copy", "int_out"), [whole, zero, index, part, part])
        self._body(body, [*self._results[:first], *slices, *self._outside()])
        for position in range(first, len(self._results)):
            given = emission.output(body.results[position])
            stack = ("executorch_prim::et_copy_index", "tensor")
            emission.call(stack, [self._results[position], given, index])
        self._carry(body)
        emission.call(("executorch_prim::add", "Scalar"), [index, one, index])
        self._jump_back(top)
        self._land(to_end)

    def _count(self, mapped: int, zero: int) -> int:
        """The value of the number of iterations."""
        (first, *_) = self._flow.mapped
        size = first.meta["val"].shape[0]
        if isinstance(size, int):
            return self._emission.values.literal(size, "int")
        count = self._emission.values.result(size)
        self._emission.call(("aten::sym_size", "int"), [mapped, zero, count])
        return count

    def _outside(self) -> list[int]:
        return [self._emission.output(item) for item in self._flow.outside]

    def _start(self) -> None:
        """Put what a loop starts with where its iterations expect it."""
        for position, item in enumerate(self._flow.carried):
            self._transfer(self._emission.output(item), position)

    def _carry(self, body: MethodGraph) -> None:
        """Put what an iteration has computed where the next one expects it.

        Numbers that an iteration passes on from one place to another are set aside first, since
        that other place may get its new value before. Tensors are already (`set_aside`).
        """
        carried = body.results[: len(self._flow.carried)]
        given = [self._emission.output(result) for result in carried]
        for position, source in enumerate(given):
            if source in self._results[:position] and self._specs[position] is None:
                given[position] = self._emission.values.result(self._values[position])
                self._move(source, given[position])
        for position, source in enumerate(given):
            self._transfer(source, position)

    def _body(self, body: MethodGraph, operands: list[int]) -> None:
        self._emission.note_source(self._node)
        for node, index in zip(operands_of(body), operands, strict=True):
            self._emission.name(node, index)
        self._emission.placeholders(body)
        self._emission.body(body)

    def _transfer(self, source: int, position: int) -> None:
        """Copy or move a value to where the result at `position` is expected."""
        target = self._results[position]
        if source == target:
            return
        if self._specs[position] is None:
            self._move(source, target)
        else:
            default = self._emission.values.literal(None, "MemoryFormat?")
            self._emission.call(("aten::clone", "out"), [source, default, target, target])

    def _move(self, source: int, target: int) -> None:
        self._emission.instructions.append(Instruction(MoveCall(source, target)))

    def _jump_if_not(self, predicate: int) -> JumpFalseCall:
        """A jump whose destination is not known yet."""
        jump = JumpFalseCall(predicate, 0)
        self._emission.instructions.append(Instruction(jump))
        return jump

    def _jump_back(self, top: int) -> None:
        self._jump_if_not(
            self._emission.values.literal(value=False, kind="bool")
        ).destination_instruction = top

    def _land(self, jump: JumpFalseCall) -> None:
        """Let a jump lead to the next instruction."""
        jump.destination_instruction = len(self._emission.instructions)
