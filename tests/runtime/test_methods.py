"""Methods: names, planned buffers, values, lists, inputs and outputs."""

from __future__ import annotations

from copy import deepcopy

import pytest
from placewire_schema import program as p

from tests.runtime.programs import Sample, broken, complete

PLAN = "execution_plan[0]"


def items_of(sample: Sample, index: int) -> list[int]:
    """The items of a list that names its values by their index."""
    value = sample.plan.values[index].val
    assert isinstance(value, p.IntList | p.TensorList | p.OptionalTensorList)
    return value.items


def test_a_program_without_methods_is_warned_of() -> None:
    sample = complete()
    sample.program.named_data = None
    sample.program.execution_plan = []
    (finding,) = sample.validate()
    assert (finding.rule, finding.path, finding.level) == (
        "NO_METHODS",
        "execution_plan",
        "warning",
    )


def test_two_methods_with_one_name_are_refused() -> None:
    sample = complete()
    sample.program.named_data = None
    sample.program.execution_plan.append(deepcopy(sample.plan))
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == ("DUPLICATE_METHOD", "execution_plan[1].name")
    assert 'the method "forward" is execution_plan[0] already' in finding.message


def test_a_name_that_would_disturb_a_terminal_is_shown_escaped() -> None:
    sample = complete()
    sample.program.named_data = None
    sample.plan.name = 'a\x1b[2J"' + "x" * 200
    sample.program.execution_plan.append(deepcopy(sample.plan))
    (finding,) = sample.validate()
    assert finding.message.isprintable()
    assert '"a\\x1b[2J\\x22xx' in finding.message
    assert len(finding.message) < 200


def test_the_reserved_buffer_must_be_empty() -> None:
    sample = complete()
    sample.program.named_data = None
    sample.plan.non_const_buffer_sizes[0] = 8
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "BUFFER_SIZE_RESERVED",
        f"{PLAN}.non_const_buffer_sizes[0]",
    )


def test_the_reserved_buffer_must_be_there() -> None:
    plan = p.ExecutionPlan(name="forward", non_const_buffer_sizes=[])
    sample = complete()
    sample.program.named_data = None
    sample.program.execution_plan = [plan]
    assert broken(sample.validate()) == [("BUFFER_SIZE_RESERVED", f"{PLAN}.non_const_buffer_sizes")]


def test_a_planned_buffer_of_negative_size_is_refused() -> None:
    sample = complete()
    sample.program.named_data = None
    sample.plan.non_const_buffer_sizes[1] = -(2**63)
    assert broken(sample.validate()) == [
        ("BUFFER_SIZE_NEGATIVE", f"{PLAN}.non_const_buffer_sizes[1]")
    ]


@pytest.mark.parametrize("index", [-1, -(2**31), 14, 2**31 - 1])
@pytest.mark.parametrize("field", ["inputs", "outputs"])
def test_an_input_or_output_that_is_no_value_is_refused(field: str, index: int) -> None:
    sample = complete()
    getattr(sample.plan, field).append(index)
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == ("VALUE_INDEX_OUT_OF_RANGE", f"{PLAN}.{field}[1]")
    assert f"there is no value {index}: the method has 14" in finding.message


@pytest.mark.parametrize("field", ["inputs", "outputs"])
def test_what_flows_through_a_chain_must_be_a_value(field: str) -> None:
    sample = complete()
    getattr(sample.plan.chains[0], field).append(14)
    assert broken(sample.validate()) == [
        ("VALUE_INDEX_OUT_OF_RANGE", f"{PLAN}.chains[0].{field}[1]")
    ]


@pytest.mark.parametrize(
    ("value", "item"),
    [(9, -1), (9, 2**63 - 1), (9, -(2**63)), (12, -1), (12, 14), (13, -2), (13, 14)],
)
def test_a_list_item_that_is_no_value_is_refused(value: int, item: int) -> None:
    sample = complete()
    items_of(sample, value).append(item)
    assert broken(sample.validate()) == [
        ("VALUE_INDEX_OUT_OF_RANGE", f"{PLAN}.values[{value}].val.items[2]")
    ]


@pytest.mark.parametrize(
    ("value", "item", "found", "kind"),
    [
        (9, 7, "Double", "Int"),
        (9, 0, "Tensor", "Int"),
        (12, 5, "Int", "Tensor"),
        (12, 12, "TensorList", "Tensor"),
        (13, 4, "Null", "Tensor"),
    ],
)
def test_a_list_item_of_another_kind_is_refused(
    value: int, item: int, found: str, kind: str
) -> None:
    sample = complete()
    items_of(sample, value).append(item)
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "VALUE_WRONG_KIND",
        f"{PLAN}.values[{value}].val.items[2]",
    )
    assert finding.message == (
        f"value {item} is of kind {found}, list items must be of kind {kind}"
    )


def test_all_findings_are_listed_not_only_the_first() -> None:
    sample = complete()
    sample.program.version = 1
    sample.plan.inputs.append(99)
    sample.tensor(1).sizes = [2, -2]
    sample.tensor(3).dim_order = b"\0\0"
    sample.plan.operators.clear()
    chain = f"{PLAN}.chains[0].instructions"
    assert broken(sample.validate()) == [
        ("VERSION_UNSUPPORTED", "version"),
        ("SIZE_NEGATIVE", f"{PLAN}.values[1].val.sizes[1]"),
        ("DIM_ORDER_NOT_PERMUTATION", f"{PLAN}.values[3].val.dim_order[1]"),
        ("VALUE_INDEX_OUT_OF_RANGE", f"{PLAN}.inputs[1]"),
        ("OPERATOR_INDEX_OUT_OF_RANGE", f"{chain}[1].instr_args.op_index"),
        ("OPERATOR_INDEX_OUT_OF_RANGE", f"{chain}[2].instr_args.op_index"),
    ]


def test_findings_of_every_method_are_listed() -> None:
    sample = complete()
    sample.program.named_data = None
    second = deepcopy(sample.plan)
    second.name = "second"
    sample.program.execution_plan.append(second)
    for plan in sample.program.execution_plan:
        plan.outputs = [-1]
    assert broken(sample.validate()) == [
        ("VALUE_INDEX_OUT_OF_RANGE", f"execution_plan[{index}].outputs[0]") for index in (0, 1)
    ]
