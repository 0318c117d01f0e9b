"""Every file says what it is for, stays short, and has a name that means something."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.project.tree import GENERATED, HAND_WRITTEN, ROOT, files, relative

CODE = (".py", ".pyi", ".h", ".cpp", ".jinja", ".fbs", ".cmake", ".md")
MAXIMUM_LINES = 500
# Longer files, and why they are better in one piece.
LONG_FILES: dict[str, str] = {}

EMPTY_NAMES = ("util", "helper", "manager", "misc", "common")


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_hand_written_files_are_short() -> None:
    paths = files(*HAND_WRITTEN, suffixes=CODE)
    assert paths
    long = {relative(path): _lines(path) for path in paths if _lines(path) > MAXIMUM_LINES}
    unexpected = {path: lines for path, lines in long.items() if path not in LONG_FILES}
    assert not unexpected, f"split these, or list them in LONG_FILES with a reason: {unexpected}"


def test_every_listed_long_file_is_long() -> None:
    stale = [path for path in LONG_FILES if _lines(ROOT / path) <= MAXIMUM_LINES]
    assert not stale, f"remove from LONG_FILES: {stale}"


def test_no_file_is_called_after_nothing() -> None:
    paths = files(*HAND_WRITTEN, suffixes=CODE)
    assert paths
    empty = [
        relative(path)
        for path in paths
        if set(EMPTY_NAMES) & {word.rstrip("s") for word in path.stem.lower().split("_")}
    ]
    assert not empty, f"say what is in them: {empty}"


def test_every_python_file_begins_with_its_purpose() -> None:
    paths = files(*HAND_WRITTEN, *GENERATED, suffixes=(".py",))
    assert paths
    silent = [relative(path) for path in paths if not _has_purpose(path)]
    assert not silent, f"the docstring must begin with a sentence: {silent}"


def _has_purpose(path: Path) -> bool:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first_paragraph = docstring.split("\n\n")[0].rstrip()
    return first_paragraph.endswith((".", ":", "`."))


def test_every_other_source_file_begins_with_its_purpose() -> None:
    cpp = files(*HAND_WRITTEN, *GENERATED, suffixes=(".h", ".cpp", ".fbs"))
    scripts = files(*HAND_WRITTEN, suffixes=(".cmake", ".cmake.in", ".pyi"))
    named = [
        ROOT / name
        for name in ("CMakeLists.txt", "Makefile", "pyproject.toml", ".gitignore", ".clang-format")
    ]
    assert cpp
    assert scripts
    silent = [relative(path) for path in cpp if not _first_line(path).startswith(("//", "/*"))]
    silent += [
        relative(path)
        for path in (*scripts, *named, ROOT / ".ci/run", ROOT / ".pre-commit-config.yaml")
        if not _first_line(path).startswith(("# ", '"""'))
    ]
    assert not silent, f"the first line must be a comment that says what the file is for: {silent}"


def _first_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines[1] if lines[0].startswith("#!") else lines[0]


def test_every_markdown_file_begins_with_a_heading_and_a_sentence() -> None:
    paths = [*files("docs", suffixes=(".md",)), *sorted(ROOT.glob("*.md"))]
    assert paths
    for path in paths:
        heading, blank, sentence, *_ = path.read_text(encoding="utf-8").splitlines()
        assert heading.startswith("# "), path
        assert not blank, path
        assert sentence, path
