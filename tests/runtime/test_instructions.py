"""Instructions: what they call, where they jump, and that they leave constants alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from placewire_schema import program as p

from tests.runtime.programs import Sample, broken, complete

STEP = "execution_plan[0].chains[0].instructions"


def with_step(index: int, instruction: Any) -> Sample:
    """The complete program with another instruction in place of one."""
    sample = complete()
    sample.plan.chains[0].instructions[index].instr_args = instruction
    return sample


@pytest.mark.parametrize("index", [-1, 2, 2**31 - 1])
def test_an_operator_that_is_not_listed_is_refused(index: int) -> None:
    (finding,) = with_step(1, p.KernelCall(index, [0, 1, 3, 3])).validate()
    assert (finding.rule, finding.path) == (
        "OPERATOR_INDEX_OUT_OF_RANGE",
        f"{STEP}[1].instr_args.op_index",
    )
    assert f"there is no operator {index}: the method lists 2" in finding.message


@pytest.mark.parametrize("index", [-1, 1, 2**31 - 1])
def test_a_delegate_that_is_not_listed_is_refused(index: int) -> None:
    (finding,) = with_step(3, p.DelegateCall(index, [2, 2])).validate()
    assert (finding.rule, finding.path) == (
        "DELEGATE_INDEX_OUT_OF_RANGE",
        f"{STEP}[3].instr_args.delegate_index",
    )


@pytest.mark.parametrize(
    ("instruction", "field"),
    [
        (p.KernelCall(0, [-1, 1, 3, 3]), "args[0]"),
        (p.KernelCall(0, [0, 1, 3, 14]), "args[3]"),
        (p.DelegateCall(0, [2, 14]), "args[1]"),
        (p.MoveCall(14, 3), "move_from"),
        (p.MoveCall(-1, 3), "move_from"),
        (p.MoveCall(1, 14), "move_to"),
        (p.FreeCall(14), "value_index"),
        (p.FreeCall(-(2**31)), "value_index"),
        (p.JumpFalseCall(14, 0), "cond_value_index"),
    ],
)
def test_an_argument_that_is_no_value_is_refused(instruction: Any, field: str) -> None:
    assert broken(with_step(4, instruction).validate()) == [
        ("VALUE_INDEX_OUT_OF_RANGE", f"{STEP}[4].instr_args.{field}")
    ]


def test_every_argument_that_is_no_value_is_listed() -> None:
    assert broken(with_step(4, p.MoveCall(-1, 99)).validate()) == [
        ("VALUE_INDEX_OUT_OF_RANGE", f"{STEP}[4].instr_args.move_from"),
        ("VALUE_INDEX_OUT_OF_RANGE", f"{STEP}[4].instr_args.move_to"),
    ]


def test_only_a_tensor_can_be_freed() -> None:
    (finding,) = with_step(5, p.FreeCall(5)).validate()
    assert (finding.rule, finding.path) == (
        "VALUE_WRONG_KIND",
        f"{STEP}[5].instr_args.value_index",
    )


def test_a_condition_must_be_a_boolean() -> None:
    (finding,) = with_step(0, p.JumpFalseCall(5, 6)).validate()
    assert (finding.rule, finding.path) == (
        "VALUE_WRONG_KIND",
        f"{STEP}[0].instr_args.cond_value_index",
    )
    assert "value 5 is of kind Int" in finding.message


def test_a_condition_may_be_a_tensor_of_booleans_only(corpus: Path) -> None:
    sample = Sample.load(corpus / "cond.pte")
    assert sample.tensor(0).scalar_type == p.ScalarType.BOOL
    assert sample.validate() == []
    sample.tensor(0).scalar_type = p.ScalarType.BYTE
    assert broken(sample.validate()) == [
        ("VALUE_WRONG_KIND", f"{STEP}[0].instr_args.cond_value_index")
    ]


@pytest.mark.parametrize("target", [-1, 7, 2**31 - 1, -(2**31)])
def test_a_jump_out_of_its_chain_is_refused(target: int) -> None:
    (finding,) = with_step(0, p.JumpFalseCall(6, target)).validate()
    assert (finding.rule, finding.path) == (
        "JUMP_OUT_OF_RANGE",
        f"{STEP}[0].instr_args.destination_instruction",
    )
    assert finding.message == f"the jump leads to instruction {target}, expected 0 to 6"


@pytest.mark.parametrize("target", [0, 1, 3, 5, 6])
def test_a_jump_may_lead_anywhere_in_its_chain_and_to_its_end(target: int) -> None:
    assert with_step(2, p.JumpFalseCall(6, target)).validate() == []


@pytest.mark.parametrize("index", [0, 4])
def test_a_jump_to_itself_is_refused(index: int) -> None:
    (finding,) = with_step(index, p.JumpFalseCall(6, index)).validate()
    assert (finding.rule, finding.path) == (
        "JUMP_TO_ITSELF",
        f"{STEP}[{index}].instr_args.destination_instruction",
    )


@pytest.mark.parametrize("overload", ["out", "int_out", "Tensor_out"])
def test_a_kernel_that_writes_a_constant_is_refused(overload: str) -> None:
    sample = with_step(1, p.KernelCall(0, [3, 1, 0, 0]))
    sample.plan.operators[0].overload = overload
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == ("CONSTANT_WRITTEN", f"{STEP}[1].instr_args.args[3]")
    assert finding.message == "the kernel writes value 0, which is a constant"


def test_a_kernel_that_writes_a_list_with_a_constant_is_refused() -> None:
    sample = with_step(1, p.KernelCall(0, [3, 1, 1, 12]))
    sample.plan.values[12].val = p.TensorList([1, 3, 0])
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == ("CONSTANT_WRITTEN", f"{STEP}[1].instr_args.args[3]")
    assert "of list 12, of which items[2] is a constant" in finding.message


def test_an_in_place_kernel_that_writes_a_constant_is_refused() -> None:
    sample = with_step(1, p.KernelCall(0, [0, 1, 6, 0]))
    sample.plan.operators[0] = p.Operator("aten::copy_", "")
    assert broken(sample.validate()) == [("CONSTANT_WRITTEN", f"{STEP}[1].instr_args.args[0]")]


@pytest.mark.parametrize("name", ["aten::add", "aten::__and__"])
def test_a_kernel_of_another_kind_may_end_with_a_constant(name: str) -> None:
    sample = with_step(1, p.KernelCall(0, [0, 1, 0, 0]))
    sample.plan.operators[0] = p.Operator(name, "Tensor")
    assert sample.validate() == []


def test_a_move_over_a_constant_is_refused() -> None:
    (finding,) = with_step(4, p.MoveCall(1, 0)).validate()
    assert (finding.rule, finding.path) == ("CONSTANT_WRITTEN", f"{STEP}[4].instr_args.move_to")


def test_a_constant_cannot_be_freed() -> None:
    (finding,) = with_step(5, p.FreeCall(0)).validate()
    assert (finding.rule, finding.path) == (
        "CONSTANT_WRITTEN",
        f"{STEP}[5].instr_args.value_index",
    )


def test_a_planned_tensor_with_an_initial_value_may_be_written() -> None:
    assert with_step(1, p.KernelCall(0, [0, 1, 3, 3])).validate() == []


def test_a_stack_trace_for_each_instruction_is_expected() -> None:
    sample = complete()
    traces = sample.plan.chains[0].stacktrace
    assert traces is not None
    traces.pop()
    (finding,) = sample.validate()
    assert (finding.rule, finding.level) == ("STACK_TRACE_COUNT", "warning")
    assert finding.path == "execution_plan[0].chains[0].stacktrace"
    assert finding.message == "there are 5 stack traces for 6 instructions"
