"""What the validator says of real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from placewire.validate import validate
from tests.runtime.programs import broken, complete

CORPUS = sorted(path.stem for path in (Path(__file__).parents[1] / "corpus").glob("*.pte"))
WARNED = {"dev_add_noplan", "dev_cpu_spec"}


def test_the_corpus_is_there() -> None:
    assert set(CORPUS) > WARNED


@pytest.mark.parametrize("name", [name for name in CORPUS if name not in WARNED])
def test_a_real_file_has_no_finding(corpus: Path, name: str) -> None:
    assert validate((corpus / f"{name}.pte").read_bytes()) == []


def test_labels_that_no_memory_is_planned_for_are_warned_of(corpus: Path) -> None:
    findings = validate((corpus / "dev_add_noplan.pte").read_bytes())
    assert broken(findings) == [
        ("DEVICE_NOT_PLANNED", f"execution_plan[0].values[{i}].val.extra_tensor_info")
        for i in range(3)
    ]
    assert {finding.level for finding in findings} == {"warning"}


def test_copies_for_a_target_device_cpu_are_warned_of(corpus: Path) -> None:
    findings = validate((corpus / "dev_cpu_spec.pte").read_bytes())
    plan = "execution_plan[0]"
    assert broken(findings) == [
        ("TARGET_DEVICE_CPU", f"{plan}.delegates[0].compile_specs[1].value"),
        ("COPY_WITHOUT_DEVICE", f"{plan}.chains[0].instructions[0].instr_args.args"),
        ("COPY_WITHOUT_DEVICE", f"{plan}.chains[0].instructions[1].instr_args.args"),
        ("COPY_WITHOUT_DEVICE", f"{plan}.chains[0].instructions[3].instr_args.args"),
    ]
    assert {finding.level for finding in findings} == {"warning"}


def test_the_program_that_has_everything_has_no_finding() -> None:
    assert complete().validate() == []
