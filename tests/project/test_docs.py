"""What the documentation shows is run, and what it points at is there.

* `python` blocks are run in a folder that holds the project's schemas and the corpus.
* `console` blocks are sessions: each command is run by bash in that folder, and what it prints must
  be what the page shows; a line `...` stands for any output. Beside the page of an example the
  folder holds the example.
* `sh` blocks are for commands that install or test the project itself. They are not run here; that
  what they name exists is checked instead.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.project.markdown import anchors, blocks, commands, links
from tests.project.tree import ROOT, relative

HAND_WRITTEN_PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
]
PAGES = [*HAND_WRITTEN_PAGES, *sorted((ROOT / "generated" / "docs").glob("*.md"))]
NOT_RUN = {"text", "fbs", "cpp", "cmake", "toml"}
INSTALLING = (
    "python3 -m venv",
    ". .venv/bin/activate",
    "pip install",
    "pre-commit install",
    "placewire demo",
    "pytest",
    "make",
    "bash .ci/run",
)


def _pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in blocks(page))]


@pytest.fixture
def workplace(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the project's inputs and the corpus into the current folder of a test."""
    for name in ("schema", "generated"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for path in (*corpus.glob("*.pte"), *corpus.glob("*.npz")):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_block_has_a_language_that_is_known() -> None:
    assert len(PAGES) > 8
    known = NOT_RUN | {"python", "console", "sh"}
    wrong = [
        f"{relative(page)}:{block.line}: {block.language!r}"
        for page in PAGES
        for block in blocks(page)
        if block.language not in known
    ]
    assert not wrong


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize("page", _pages_with("python"), ids=relative)
def test_the_python_of_a_page_runs(page: Path) -> None:
    for block in blocks(page):
        if block.language == "python":
            source = "\n" * (block.line - 1) + block.text
            exec(compile(source, relative(page), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", _pages_with("console"), ids=relative)
def test_the_sessions_of_a_page_print_what_it_shows(page: Path, workplace: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    if page.parent.parent == ROOT / "examples":
        shutil.copytree(page.parent, workplace, dirs_exist_ok=True)
    session = [
        command
        for block in blocks(page)
        if block.language == "console"
        for command in commands(block)
    ]
    assert session
    for command in session:
        result = subprocess.run(
            ["bash", "-c", command.text],
            cwd=workplace,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        assert command.matches(result.stdout), (
            f"{relative(page)}:{command.line}: `{command.text}` printed:\n{result.stdout}\n"
            "the page shows:\n" + "\n".join(command.output)
        )


def test_the_commands_that_are_not_run_only_install_and_test() -> None:
    shown = [
        (page, part.strip())
        for page in PAGES
        for block in blocks(page)
        if block.language == "sh"
        for line in block.text.splitlines()
        for part in line.partition(" #")[0].split("&&")
    ]
    assert shown
    wrong = [
        f"{relative(page)}: {command}"
        for page, command in shown
        if not command.startswith(INSTALLING)
    ]
    assert not wrong, f"show these as `console` sessions, which are run: {wrong}"


def test_every_extra_that_is_named_exists() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    texts = [
        path.read_text(encoding="utf-8")
        for path in (*PAGES, ROOT / ".ci" / "run", ROOT / "Makefile")
    ]
    named = {
        extra
        for text in texts
        for group in re.findall(r"'(?:\.|placewire)\[([a-z,]+)\]'", text)
        for extra in group.split(",")
    }
    assert named
    assert named <= set(extras)


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        target
        for page in PAGES
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(), re.MULTILINE)
    }
    assert named
    assert named <= targets


def test_the_readme_shows_the_two_commands_on_its_first_screen() -> None:
    screen = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:30])
    assert "pip install '.[torch]' && placewire demo" in screen
    assert "pip install '.[test]' && pytest" in screen


def test_ci_runs_the_second_of_them() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert re.search(r"pip install --quiet '\.\[test\]'(?: \\\n.*)*\npytest\n", script)


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for path, anchor in links(page):
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{path}#{anchor}")
    assert not broken
