"""The generated verifier names the first broken rule, and where, and accepts everything sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..structure_cases import StructureCase, structure_cases
from .building import Driver, Fault

CASES = structure_cases()


def outcome(answer: Fault | int) -> tuple[str, str, int, int, int] | None:
    """Return all of a fault but its message; None for a sound buffer."""
    if isinstance(answer, int):
        return None
    return answer.rule, answer.path, answer.offset, answer.found, answer.expected


def test_there_are_cases_of_every_kind() -> None:
    assert len(CASES) > 70
    assert sum(case.expected is None for case in CASES) > 5


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_buffer_is_judged_as_expected(program_driver: Driver, case: StructureCase) -> None:
    expected = case.expected and (
        case.expected.rule,
        case.expected.path,
        case.expected.offset,
        case.expected.found,
        case.expected.expected,
    )
    assert outcome(program_driver.verify_one(case.type, case.data)) == expected


def test_every_corpus_file_is_sound(program_driver: Driver, corpus: Path) -> None:
    files = sorted(corpus.glob("*.pte"))
    assert len(files) > 10
    answers = program_driver.verify(("Program", file.read_bytes()) for file in files)
    assert [file.name for file, answer in zip(files, answers, strict=True)
            if isinstance(answer, Fault)] == []  # fmt: skip


@pytest.mark.parametrize("name", ["mlp", "dev_add", "cond"])
def test_every_truncation_is_noticed(program_driver: Driver, corpus: Path, name: str) -> None:
    data = (corpus / f"{name}.pte").read_bytes()
    size = int.from_bytes(data[16:24], "little")
    answers = program_driver.verify(("Program", data[:end]) for end in range(size))
    assert len(answers) == size > 1000
    assert all(isinstance(answer, Fault) and answer.message for answer in answers)
