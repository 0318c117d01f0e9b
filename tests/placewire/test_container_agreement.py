"""PteFile and the validator agree: what one refuses or writes is what the other finds or not."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest
from placewire_schema import pack_device_table
from placewire_schema.errors import InvalidProgramError
from placewire_schema.program import DeviceType, EValue, NamedData, ScalarType

from placewire.device_table import derive
from placewire.pte import DEVICE_TABLE_KEY, PteFile, check_bytes
from placewire.validate import validate, validate_layout
from tests.placewire.files import file_bytes, header_of, tensor, two_gpu_program

if TYPE_CHECKING:
    from pathlib import Path


def _errors(data: bytes) -> set[str]:
    return {finding.rule for finding in validate(data) if finding.level == "error"}


def test_a_file_is_refused_for_the_first_error_of_its_layout_and_nothing_else(
    corpus: Path,
) -> None:
    original = (corpus / "kv_names.pte").read_bytes()
    _, program_size, _, _ = header_of(original)
    generator = random.Random("agreement")
    outcomes = {"refused": 0, "read": 0}
    for _ in range(1000):
        data = bytearray(original)
        data[generator.randrange(program_size)] = generator.choice((0, 1, 0x7F, 0x80, 0xFF))
        if generator.random() < 0.1:
            data = data[: generator.randrange(len(data))]
        findings = validate_layout(data)
        assert check_bytes(data) == findings
        errors = [finding for finding in findings if finding.level == "error"]
        if errors:
            with pytest.raises(InvalidProgramError, match=f"^{re.escape(str(errors[0]))}$"):
                PteFile.from_bytes(data)
        else:
            PteFile.from_bytes(data)
        outcomes["refused" if errors else "read"] += 1
    assert min(outcomes.values()) > 100


def test_the_layout_is_a_part_of_what_the_validator_checks(corpus: Path) -> None:
    original = (corpus / "kv_names.pte").read_bytes()
    generator = random.Random("part")
    found = 0
    for _ in range(500):
        data = bytearray(original)
        data[generator.randrange(len(data))] = generator.choice((0, 1, 0x7F, 0x80, 0xFF))
        findings = validate_layout(data)
        everything = validate(data)
        assert all(finding in everything for finding in findings)
        found += len(findings)
    assert found > 50


@pytest.mark.parametrize("header_length", [24, 32, 40])
def test_both_see_that_a_file_has_grown(header_length: int) -> None:
    data = file_bytes(
        two_gpu_program(), [b"", b"blob"], header_length=header_length, extra=b"unknown!"
    )
    assert _errors(data) == set()
    assert _errors(data + b"x") == {"FILE_GROWN"}
    assert [finding.rule for finding in check_bytes(data + b"x")] == ["FILE_GROWN"]


@pytest.mark.parametrize("edit", ["none", "grown", "cut", "constants"])
def test_a_rebuilt_device_table_agrees_with_the_validator(edit: str) -> None:
    program = two_gpu_program()
    plan = program.execution_plan[0]
    if edit == "grown":
        plan.non_const_buffer_sizes[2] += 64
    elif edit == "cut":
        plan.non_const_buffer_sizes[3] = 0
    elif edit == "constants":
        for scalar_type in (ScalarType.FLOAT, ScalarType.LONG):
            value = tensor(DeviceType.CUDA, 0, buffer=2, data=1)
            value.scalar_type = scalar_type
            plan.values.append(EValue(val=value))
    pte = PteFile.from_bytes(file_bytes(program, [b"", b"blob"]))
    pte.rebuild_device_table()
    findings = [f for f in validate(pte.to_bytes()) if f.path.startswith("device_table")]
    assert findings == []


def test_a_stale_device_table_is_found() -> None:
    table = derive(two_gpu_program())
    assert table is not None
    program = two_gpu_program()
    program.execution_plan[0].non_const_buffer_sizes[2] += 64
    program.named_data = [NamedData(key=DEVICE_TABLE_KEY, segment_index=2)]
    data = file_bytes(program, [b"", b"blob", pack_device_table(table)])
    assert "DEVICE_TABLE_DISAGREES" in _errors(data)
