"""What keeps a command's result from being written is found before the work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import typer

from placewire.commands.output_files import check_writable


def problem_of(out: Path) -> str:
    with pytest.raises(typer.BadParameter) as caught:
        check_writable(out, "--out", "a program")
    assert caught.value.param_hint == "--out"
    return caught.value.message


def test_a_file_in_a_folder_that_is_there_can_be_written(tmp_path: Path) -> None:
    check_writable(tmp_path / "new.pte", "--out", "a program")
    (tmp_path / "old.pte").write_bytes(b"")
    check_writable(tmp_path / "old.pte", "--out", "a program")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert problem_of(tmp_path) == f"{tmp_path} is a folder; name a file in it"
    assert problem_of(Path("/dev/null")) == "/dev/null is no regular file; name another one"
    assert problem_of(Path("-")) == "a program is not text, so it goes to a file; name one"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert problem_of(missing / "x") == f"the folder {missing} is not there; create it first"


def test_a_link_to_a_file_that_can_be_written_can_be_written(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("new.pte")
    check_writable(link, "--out", "a program")


def test_a_link_into_a_folder_that_is_not_there_is_named_with_the_folder(tmp_path: Path) -> None:
    link, missing = tmp_path / "link", tmp_path / "missing"
    link.symlink_to(missing / "x")
    assert problem_of(link) == (
        f"{link} is a link to {missing / 'x'}, and the folder {missing} is not there; "
        "create it first"
    )


def test_a_link_that_leads_back_to_itself_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("link")
    problem = problem_of(link)
    assert problem == f"{link} is a link that leads back to itself; name another file"


def test_a_folder_that_may_not_be_written_to_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may write anywhere, so what the system says is replaced.
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path or mode != os.W_OK)
    problem = problem_of(tmp_path / "x")
    assert problem == f"the folder {tmp_path} cannot be written to; name a file in another one"
