"""Compiled templates are kept beside their sources, and are never believed when they are wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from placewire_codegen.render import Templates


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "page.md.jinja").write_text("one {{ number }}\n")
    return tmp_path


def _render(folder: Path) -> str:
    return Templates(folder, ["a.fbs"], "a").render("page.md.jinja", number=1)


def _kept(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("*"))


def test_a_run_keeps_what_it_compiled(folder: Path) -> None:
    assert _render(folder) == "one 1\n"
    assert len(_kept(folder)) == 1


def test_a_later_run_uses_it(folder: Path) -> None:
    _render(folder)
    written = _kept(folder)[0].stat().st_mtime_ns
    assert _render(folder) == "one 1\n"
    assert _kept(folder)[0].stat().st_mtime_ns == written


def test_a_changed_template_is_compiled_again(folder: Path) -> None:
    _render(folder)
    (folder / "page.md.jinja").write_text("two {{ number }}\n")
    assert _render(folder) == "two 1\n"


@pytest.mark.parametrize("length", [0, 5, 20, 60])
def test_a_damaged_one_is_compiled_again(folder: Path, length: int) -> None:
    _render(folder)
    kept = _kept(folder)[0]
    kept.write_bytes(kept.read_bytes()[:length])
    assert _render(folder) == "one 1\n"


def test_python_may_be_told_not_to_keep_any(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert _render(folder) == "one 1\n"
    assert not _kept(folder)


def test_a_folder_that_cannot_be_written_is_no_failure(folder: Path) -> None:
    (folder / "__pycache__").write_text("in the way")
    assert _render(folder) == "one 1\n"
