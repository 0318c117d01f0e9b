"""Files that claim much: the work and the report stay in proportion to the file."""

from __future__ import annotations

import struct

import pytest
from placewire_schema import pack_program
from placewire_schema import program as p

from placewire.validate import validate
from tests.runtime.programs import Cursor, broken, complete, laid_out


def test_more_findings_than_wanted_are_counted() -> None:
    sample = complete()
    sample.plan.inputs = [-1] * 25
    findings = validate(sample.file(), maximum_findings=10)
    assert len(findings) == 11
    last = findings[-1]
    assert (last.rule, last.level, last.path, last.offset) == ("MORE_FINDINGS", "error", "", None)
    assert last.message == "and 15 more, 15 of them errors"


def test_as_many_findings_as_wanted_are_all_listed() -> None:
    sample = complete()
    sample.plan.inputs = [-1] * 10
    findings = validate(sample.file(), maximum_findings=10)
    assert {finding.rule for finding in findings} == {"VALUE_INDEX_OUT_OF_RANGE"}
    assert len(findings) == 10


def test_warnings_that_are_not_listed_are_no_error() -> None:
    sample = complete()
    sample.tensor(1).layout = sample.tensor(3).layout = 1
    findings = validate(sample.file(), maximum_findings=1)
    assert (findings[1].rule, findings[1].level) == ("MORE_FINDINGS", "warning")


def test_no_findings_may_be_wanted() -> None:
    sample = complete()
    sample.plan.inputs = [-1]
    assert broken(validate(sample.file(), maximum_findings=0)) == [("MORE_FINDINGS", "")]


def test_a_thousand_findings_are_listed_by_default() -> None:
    sample = complete()
    sample.plan.inputs = [-1] * 5000
    assert len(sample.validate()) == 1001


def test_a_hundred_thousand_methods_are_checked() -> None:
    plan = p.ExecutionPlan(name="forward")
    flatbuffer = pack_program(p.Program(execution_plan=[plan] * 100_000))
    (*_, last) = validate(flatbuffer)
    # Every method lacks the reserved buffer, and all but one have a name that is taken.
    assert last.message == f"and {100_000 + 99_999 - 1000} more, {199_999 - 1000} of them errors"


@pytest.mark.parametrize("kind", ["IntList", "TensorList"])
def test_a_list_that_many_instructions_use_is_read_once(kind: str) -> None:
    # 30,000 calls times 30,000 items would be 900 million steps; a minute at the very least.
    sample = complete()
    sample.program.named_data = None
    ints, tensors = p.IntList([5] * 30_000), p.TensorList([1] * 30_000)
    sample.plan.values[12].val = ints if kind == "IntList" else tensors
    call = p.Instruction(p.KernelCall(0, [3, 1, 1, 12]))
    sample.plan.chains[0].instructions = [call] * 30_000
    sample.plan.chains[0].stacktrace = None
    assert sample.validate() == []


def test_a_vtable_full_of_unknown_slots_is_scanned_within_a_budget() -> None:
    # 20,000 values share a vtable of 30,000 empty slots: 600 million steps without a limit.
    sample = complete()
    sample.program.named_data = None
    sample.plan.values += [p.EValue(p.Null()) for _ in range(20_000)]
    flatbuffer = bytearray(pack_program(sample.program))
    plan = Cursor.root(flatbuffer).child("execution_plan", 0)
    nulls = plan.child("values", 14).child("val")
    vtable = nulls.vtable
    nulls.own_vtable(slots=30_000)
    wide = nulls.vtable
    for index in range(15, 14 + 20_000):
        table = plan.child("values", index).child("val")
        if table.vtable == vtable:
            struct.pack_into("<i", flatbuffer, table.start, table.start - wide)
    (finding,) = validate(laid_out(bytes(flatbuffer), sample.area))
    assert finding.rule == "BUDGET_EXCEEDED"
    assert finding.path.startswith("execution_plan[0].values[")
