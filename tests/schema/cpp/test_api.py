"""What the generated headers offer to C++ code: enums, absent views, vectors, results."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .building import NO_RUNTIME, SANITIZERS, SOURCES, compile_cpp

CHECKS = (
    "enums_know_their_members",
    "enum_attributes_are_functions",
    "flags_combine",
    "unions_count_without_none",
    "an_absent_view_reads_as_defaults",
    "unusual_defaults_arrive",
    "a_visitor_sees_an_absent_union",
    "vector_iterators_work_with_algorithms",
    "any_byte_but_zero_is_true",
    "a_buffer_of_two_gib_is_an_error",
    "no_buffer_at_all_is_an_error",
    "a_result_outlives_its_copy",
    "messages_fit_any_buffer",
    "a_sound_result_says_so",
    "all_messages_fit_120_bytes",
)


@pytest.fixture(scope="module")
def outcomes(
    compiler: str, shapes_headers: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Outcome of each check of api_checks.cpp."""
    program = compile_cpp(
        SOURCES / "api_checks.cpp",
        tmp_path_factory.mktemp("api") / "checks",
        *(*SANITIZERS, *NO_RUNTIME, "-O1"),
        include=(shapes_headers,),
        compiler=compiler,
    )
    result = subprocess.run([program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return dict(line.split() for line in result.stdout.splitlines())


def test_every_check_is_listed(outcomes: dict[str, str]) -> None:
    assert tuple(outcomes) == CHECKS


@pytest.mark.parametrize("check", CHECKS)
def test_in_cpp(outcomes: dict[str, str], check: str) -> None:
    assert outcomes[check] == "ok"
