"""A stamp says "nothing to do" only if every input and output is as the last run left it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from placewire_codegen import stamp
from placewire_codegen.config import load_project
from placewire_codegen.generate import generate, remember


@pytest.fixture
def watched(tmp_path: Path) -> Path:
    """A folder with one watched file in a watched folder."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "types.py").write_text("x = 1\n")
    inputs = stamp.Inputs()
    inputs.read(tmp_path / "out" / "types.py")
    stamp.record(tmp_path, inputs.hashes, [tmp_path / "out"])
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


def test_a_folder_that_appears_is_noticed(watched: Path) -> None:
    (watched / "out" / "more").mkdir()
    assert not stamp.is_current(watched)


def test_what_python_caches_is_no_change(watched: Path) -> None:
    (watched / "out" / "__pycache__").mkdir()
    assert stamp.is_current(watched)


def test_a_folder_that_vanished_leaves_the_last_stamp_as_it_is(watched: Path) -> None:
    before = (watched / stamp.STAMP_PATH).read_bytes()
    stamp.record(watched, {}, [watched / "gone"])
    assert (watched / stamp.STAMP_PATH).read_bytes() == before


PYPROJECT = """
[tool.placewire]
schemas = ["schema/garden.fbs"]
package = "garden"
cpp_namespace = "garden"
targets = ["docs"]

[tool.placewire.output]
python = "out/garden"
cpp = "out/include"
nanobind = "out/bindings"
docs = "out/docs"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two schemas, one in the other."""
    root = tmp_path / "project"
    (root / "schema").mkdir(parents=True)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "schema" / "plant.fbs").write_text("namespace garden; table Plant { name: string; }")
    (root / "schema" / "garden.fbs").write_text(
        'include "plant.fbs"; namespace garden; table Bed { plants: [Plant]; }'
    )
    return root


class Run:
    """A run in its steps, so that a test can change a file between them."""

    def __init__(self, root: Path) -> None:
        inputs = stamp.Inputs()
        config = load_project(root, read=inputs.read)
        self._inputs, self._config = inputs, config
        self._result = generate(config, inputs=inputs)

    def finish(self) -> None:
        """Remember the run."""
        remember(self._config, self._result, self._inputs)


def test_a_whole_run_is_current(project: Path) -> None:
    Run(project).finish()
    assert stamp.is_current(project)


@pytest.mark.parametrize(
    "path", ["pyproject.toml", "schema/garden.fbs", "schema/plant.fbs", "out/docs/garden.md"]
)
def test_what_is_saved_while_a_run_goes_on_is_noticed(project: Path, path: str) -> None:
    run = Run(project)
    with (project / path).open("a") as file:
        file.write("\n")
    run.finish()
    assert not stamp.is_current(project)


@pytest.mark.parametrize("path", ["schema/garden.fbs", "out/docs/garden.md"])
def test_what_vanishes_while_a_run_goes_on_is_noticed(project: Path, path: str) -> None:
    run = Run(project)
    (project / path).unlink()
    run.finish()
    assert not stamp.is_current(project)


def test_a_copy_of_a_project_looks_at_its_own_files(project: Path, tmp_path: Path) -> None:
    Run(project).finish()
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    assert stamp.is_current(copy)
    (copy / "schema" / "plant.fbs").write_text("namespace garden; table Plant { height: int; }")
    assert not stamp.is_current(copy)


def test_a_link_that_leads_elsewhere_is_noticed(project: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(project / "schema", tmp_path / name)
    (tmp_path / "two" / "plant.fbs").write_text("namespace garden; table Plant { height: int; }")
    shutil.rmtree(project / "schema")
    (project / "schema").symlink_to(tmp_path / "one")
    Run(project).finish()
    assert stamp.is_current(project)
    (project / "schema").unlink()
    (project / "schema").symlink_to(tmp_path / "two")
    assert not stamp.is_current(project)
