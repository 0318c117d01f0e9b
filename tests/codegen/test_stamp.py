"""A stamp says "nothing to do" only if every input and output is as the last run left it."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewire_codegen import stamp


@pytest.fixture
def watched(tmp_path: Path) -> Path:
    """A folder with one watched file in a watched folder."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "types.py").write_text("x = 1\n")
    stamp.record(tmp_path, [tmp_path / "out" / "types.py", tmp_path / "out"])
    return tmp_path


def test_an_untouched_tree_is_current(watched: Path) -> None:
    assert stamp.is_current(watched)


def test_without_a_stamp_nothing_is_current(tmp_path: Path) -> None:
    assert not stamp.is_current(tmp_path)


def test_an_edited_file_is_noticed(watched: Path) -> None:
    (watched / "out" / "types.py").write_text("x = 2\n")
    assert not stamp.is_current(watched)


def test_a_removed_file_is_noticed(watched: Path) -> None:
    (watched / "out" / "types.py").unlink()
    assert not stamp.is_current(watched)


def test_a_file_that_appears_is_noticed(watched: Path) -> None:
    (watched / "out" / "more.py").write_text("")
    assert not stamp.is_current(watched)


@pytest.mark.parametrize("damage", ["", "[]", "{", "{}", '{"out": 7}'])
def test_a_damaged_stamp_is_not_believed(watched: Path, damage: str) -> None:
    (watched / stamp.STAMP_PATH).write_text(damage)
    assert not stamp.is_current(watched)
