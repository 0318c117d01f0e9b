"""The C++ verifier and the Python one say the same about every buffer, word for word."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from placewire_codegen.targets.rules import MEANING_RULES
from placewire_schema import device_info, program
from placewire_schema._pure.verify import find_structural_fault, measure
from placewire_schema._wire import _RULE_TEXTS
from placewire_schema.reflection import describe

from ..structure_cases import structure_cases
from .building import Driver, Fault

TYPES = {
    type_.__name__: type_
    for type_ in (
        program.Program,
        program.Tensor,
        program.EValue,
        program.Chain,
        program.Null,
        device_info.DeviceTable,
    )
}
MEANING = {rule.name for rule in MEANING_RULES}
# What no buffer of these schemas can break: no required fields, no recursion, no vectors of unions,
# no structs in them; and a buffer of 2 GiB is made in api_checks.cpp only.
ELSEWHERE = {
    *("REQUIRED_FIELD_MISSING", "TOO_DEEP", "UNION_LENGTH_MISMATCH"),
    *("STRUCT_OUT_OF_BOUNDS", "BUFFER_TOO_LARGE"),
}
Said = tuple[str, str, int | None, str] | None


def said_in_python(type_name: str, data: bytes | bytearray) -> Said:
    """Return rule, path, offset and message, None for a sound buffer."""
    finding = find_structural_fault(measure(describe(TYPES[type_name]), memoryview(data)))
    if finding is None:
        return None
    return finding.rule, finding.path, finding.offset, finding.message


def said_in_cpp(answer: Fault | int) -> Said:
    """Return rule, path, offset and message, None for a sound buffer."""
    if isinstance(answer, int):
        return None
    return answer.rule, answer.path, answer.offset, answer.message


def assert_agreement(driver: Driver, cases: Iterable[tuple[str, bytes | bytearray]]) -> list[Said]:
    """Compare both verifiers on all cases; return what they said."""
    buffers = list(cases)
    in_cpp = [said_in_cpp(answer) for answer in driver.verify(buffers)]
    in_python = [said_in_python(*case) for case in buffers]
    assert in_cpp == in_python
    return in_cpp


def test_they_agree_on_every_case(program_driver: Driver) -> None:
    cases = structure_cases()
    said = assert_agreement(program_driver, ((case.type, case.data) for case in cases))
    assert {finding[0] for finding in said if finding} == set(_RULE_TEXTS) - MEANING - ELSEWHERE


@pytest.mark.parametrize("name", ["mlp", "dev_add", "kv_names"])
def test_they_agree_on_every_truncation(program_driver: Driver, corpus: Path, name: str) -> None:
    data = (corpus / f"{name}.pte").read_bytes()
    # Without the header, so that the end of the data is what is noticed.
    size = int.from_bytes(data[16:24], "little")
    bare = data[:8] + b"...." + data[12:size]
    ends = range(0, size, 7)
    said = assert_agreement(program_driver, (("Program", bare[:end]) for end in ends))
    assert all(said)


def mutations(data: bytes, count: int) -> Iterator[bytes]:
    """Yield copies of `data` with a few bytes or words changed, always the same ones."""
    choose = random.Random(20260801)
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(choose.randint(1, 3)):
            place = choose.randrange(len(data) - 4) & ~choose.choice((0, 3))
            value = choose.choice((0, 1, 4, 0xFF, 0x7F, len(data), choose.randrange(1 << 32)))
            size = choose.choice((1, 2, 4))
            changed[place : place + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
        yield bytes(changed)


@pytest.mark.parametrize("name", ["mlp", "dev_addmul", "cond", "constmethods"])
def test_they_agree_on_mutations_of_real_files(
    program_driver: Driver, corpus: Path, name: str
) -> None:
    data = (corpus / f"{name}.pte").read_bytes()
    size = int.from_bytes(data[16:24], "little") if data[8:12] == b"eh00" else len(data)
    cases = [("Program", changed) for changed in mutations(data[:size], 1000)]
    said = assert_agreement(program_driver, cases)
    assert sum(finding is not None for finding in said) > 200
    assert len({finding[0] for finding in said if finding}) > 5
