"""Branches and loops: how they are seen, how long their tensors live, what is emitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from placewire_schema.program import (
    ExecutionPlan,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    ScalarType,
    Tensor,
)
from torch import nn

from placewire.aot import UnsupportedError, export
from placewire.aot.capture import capture
from placewire.aot.decompose import decompose
from placewire.aot.graph import InputKind, MethodGraph
from placewire.aot.memory import lifetimes
from placewire.aot.recipes import Recipes
from placewire.aot.simplify import simplify
from placewire.aot.specs import add_specs, spec_of
from placewire.aot.target import target_of

_operators: Any = torch._higher_order_ops
map_, while_loop = _operators.map, _operators.while_loop


class _Of(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


def _program(function: Callable[..., Any]) -> torch.export.ExportedProgram:
    return torch.export.export(_Of(function), (torch.ones(4, 3),), strict=False)


def _lowered(function: Callable[..., Any]) -> MethodGraph:
    method, _ = capture("forward", _program(function))
    method, unsupported = decompose(method, Recipes(method.fakes, target_of("executorch-1.5")))
    assert unsupported == []
    simplify(method)
    add_specs(method)
    return method


def _plan(function: Callable[..., Any]) -> ExecutionPlan:
    (plan,) = export(_program(function)).program.execution_plan
    return plan


def _named(plan: ExecutionPlan) -> list[str]:
    names = []
    for instruction in plan.chains[0].instructions:
        call = instruction.instr_args
        if isinstance(call, KernelCall):
            names.append(plan.operators[call.op_index].name.partition("::")[2])
        else:
            names.append(type(call).__name__)
    return names


def _branch(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))


def _loop(x: torch.Tensor) -> Any:
    y = x * 3
    return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x + y), (torch.tensor(0), x))


def test_the_bodies_of_a_branch_are_method_graphs_with_operands() -> None:
    method, _ = capture("forward", _program(_branch))
    assert len(method.bodies) == 2
    for body in method.bodies.values():
        assert [given.kind for given in body.inputs] == [InputKind.OPERAND]


def test_a_tensor_that_a_body_holds_itself_becomes_a_constant_of_it() -> None:
    def branch(x: torch.Tensor) -> Any:
        return torch.cond(
            x.sum() > 0, lambda x: x + torch.tensor([1.0, 2, 3]), lambda x: x * 2, (x,)
        )

    method, _ = capture("forward", _program(branch))
    kinds = [given.kind for body in method.bodies.values() for given in body.inputs]
    assert kinds.count(InputKind.CONSTANT) == 1


def test_a_branch_writes_its_result_where_the_other_does() -> None:
    plan = _plan(_branch)
    assert _named(plan) == ["sum", "gt", "JumpFalseCall", "add", "JumpFalseCall", "sub"]
    calls = [step.instr_args for step in plan.chains[0].instructions]
    written = [call.args[-1] for call in calls if isinstance(call, KernelCall)]
    assert written[2:] == [plan.outputs[0]] * 2
    jumps = [call for call in calls if isinstance(call, JumpFalseCall)]
    assert [jump.destination_instruction for jump in jumps] == [5, 6]


def test_a_loop_jumps_back_to_its_condition() -> None:
    plan = _plan(_loop)
    calls = [step.instr_args for step in plan.chains[0].instructions]
    (forward, back) = [call for call in calls if isinstance(call, JumpFalseCall)]
    assert forward.destination_instruction == len(calls)
    assert _named(plan)[back.destination_instruction] == "lt"


def test_a_number_that_a_loop_carries_is_moved() -> None:
    plan = _plan(lambda x: while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (0, x)))
    calls = [step.instr_args for step in plan.chains[0].instructions]
    assert sum(isinstance(call, MoveCall) for call in calls) == 2


def test_what_a_map_stacks_grows_while_the_method_runs() -> None:
    plan = _plan(lambda x: map_(lambda row: row * 2, x))
    result = plan.values[plan.outputs[0]].val
    assert isinstance(result, Tensor)
    assert result.shape_dynamism.name == "DYNAMIC_BOUND"
    assert result.sizes == [4, 3]
    assert "et_copy_index" in _named(plan)


def test_what_a_loop_reads_from_outside_lives_up_to_its_end() -> None:
    method = _lowered(_loop)
    living = lifetimes(method)
    outside = next(node for node in method.graph.nodes if node.target is torch.ops.aten.mul.Scalar)
    (loop,) = [node for node in method.graph.nodes if "while_loop" in node.name]
    body = method.bodies[loop.args[1].target]
    inside = next(node for node in body.graph.nodes if node.target is torch.ops.aten.add.Tensor)
    assert living[spec_of(outside)].end > living[spec_of(inside)].end - 1
    assert living[loop.meta["spec"][1]].first < living[spec_of(inside)].first


def test_results_of_consecutive_branches_do_not_overlap() -> None:
    def forward(x: torch.Tensor) -> Any:
        first, second = _branch(x), _branch(x * 2)
        return first + second

    method = _lowered(forward)
    living = lifetimes(method)
    one, other = [
        living[node.meta["spec"][0]] for node in method.graph.nodes if node.name.startswith("cond")
    ]
    assert one.first < other.end
    assert other.first < one.end


def test_a_predicate_is_a_tensor_of_one_bool() -> None:
    plan = _plan(_branch)
    jump = plan.chains[0].instructions[2].instr_args
    assert isinstance(jump, JumpFalseCall)
    predicate = plan.values[jump.cond_value_index].val
    assert isinstance(predicate, Tensor)
    assert predicate.scalar_type is ScalarType.BOOL


def test_what_a_branch_cannot_do_is_listed_with_the_rest() -> None:
    def forward(x: torch.Tensor) -> Any:
        y = torch.cond(
            x.sum() > 0, lambda x: torch.linalg.inv(x[:3]) + 1, lambda x: x[:3].t() * 2, (x,)
        )
        return torch.linalg.det(y)

    with pytest.raises(UnsupportedError) as caught:
        export(_program(forward))
    assert {part.method for part in caught.value.unsupported} == {
        "forward",
        "forward.true_graph_0",
    }


def test_a_branch_that_gives_a_bare_tensor_is_as_one_that_gives_a_tuple() -> None:
    def branching(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))
        return result

    with torch.compiler.set_stance("force_eager"):  # torch leaves the tensor bare then
        bare = _program(branching)
    (cond,) = bare.graph.find_nodes(op="call_function", target=torch.ops.higher_order.cond)
    assert isinstance(cond.meta["val"], torch.Tensor)
    assert export(bare).pte == export(_program(branching)).pte
    assert isinstance(cond.meta["val"], torch.Tensor)
