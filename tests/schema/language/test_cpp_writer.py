"""The generated C++ writer gives the bytes of the Python codec for every part of the language."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ..cpp.building import NO_RUNTIME, SANITIZERS, compile_cpp, compilers

SOURCE = Path(__file__).with_name("writer_driver.cpp")
PACKED = ("tree", "stem", "aligned", "dot", "texts", "old_texts", "aligned_texts")
UNKNOWN = "holds a number that is no member of the enum"
ABSENT = "must not be absent: every writer writes this field"
PROBLEMS = {
    "unknown_in_array": f"grids[0].corners[1].color: {UNKNOWN}",
    "unknown_in_vector": f"stem.marks[1].levels[2]: {UNKNOWN}",
    "not_utf8": "contents[0].value: is not UTF-8",
    "empty_union": f"content: {ABSENT}",
    "empty_element": f"stem.words[1]: {ABSENT}",
    "absent_union": f"stem.wide: {ABSENT}",
    "unknown_flag": f"rights[0]: {UNKNOWN}",
    "nested_not_sound": "nest: holds no sound FlatBuffer of its root table",
}


@pytest.fixture(scope="module")
def printed(generated: Path, compiler: str) -> dict[str, str]:
    """What writer_driver.cpp says, by name."""
    program = compile_cpp(
        SOURCE,
        generated / "writer_driver",
        *(*SANITIZERS, *NO_RUNTIME, "-O0"),
        include=(generated / "include",),
        compiler=compiler,
    )
    result = subprocess.run([program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[:4000]
    return dict(line.split(" ", 1) for line in result.stdout.splitlines())


def test_everything_printed_is_looked_at(printed: dict[str, str]) -> None:
    assert set(printed) == {*PACKED, *PROBLEMS, "verified", "sorted"}


@pytest.mark.parametrize("name", PACKED)
def test_it_gives_the_bytes_of_the_python_codec(
    printed: dict[str, str], language: ModuleType, full_tree: Any, name: str
) -> None:
    parts = language.parts
    packed = {
        "tree": lambda: language.pack(full_tree),
        "stem": lambda: language.pack(full_tree.stem),
        "aligned": lambda: language.pack(full_tree, force_align={"Tree.points": 64}),
        "dot": lambda: language.pack(parts.Knot(parts.Dot())),
        "texts": lambda: language.pack(language.language.Texts()),
        "aligned_texts": lambda: language.pack(language.language.Aligned("wide", "narrow")),
        "old_texts": lambda: language.pack(language.language.OldTexts()),
    }
    assert bytes.fromhex(printed[name]) == packed[name]()


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_has_a_path(printed: dict[str, str], name: str) -> None:
    assert printed[name] == PROBLEMS[name]


def test_its_own_verifier_finds_its_bytes_sound(printed: dict[str, str]) -> None:
    assert printed["verified"] == "yes"


def test_objects_are_sorted_by_their_key(printed: dict[str, str]) -> None:
    assert printed["sorted"] == "-2 0 3 9"


@pytest.mark.parametrize("compiler_name", compilers())
def test_every_compiler_takes_the_headers_without_a_warning(
    compiler_name: str, generated: Path
) -> None:
    output = generated / "writer_driver.o"
    flags = (*NO_RUNTIME, "-O1", "-c")
    include = (generated / "include",)
    compile_cpp(SOURCE, output, *flags, include=include, compiler=compiler_name)
