"""`placewire generate` says what it did or what is wrong, and exits 0, 1 or 2 accordingly."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from placewire_codegen.cli import generate
from typer.testing import CliRunner, Result

SCHEMA = (
    'namespace garden;\ntable Plant { name: string; }\nroot_type Plant;\nfile_identifier "PLNT";\n'
)

PYPROJECT = """
[tool.placewire]
schemas = ["garden.fbs"]
package = "garden"
cpp_namespace = "garden"
targets = ["python"]

[tool.placewire.output]
python = "out/garden"
cpp = "out/include"
nanobind = "out/bindings"
docs = "out/docs"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder, which is the working directory."""
    (tmp_path / "garden.fbs").write_text(SCHEMA)
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    """Run the command as a program of its own."""
    app = typer.Typer()
    app.command()(generate)
    return CliRunner().invoke(app, arguments)


def test_a_run_counts_what_it_wrote(project: Path) -> None:
    result = run()
    assert result.exit_code == 0
    assert "written" in result.stderr
    assert (project / "out" / "garden" / "garden.py").exists()


@pytest.mark.usefixtures("project")
def test_a_second_run_has_nothing_to_do() -> None:
    run()
    result = run()
    assert (result.exit_code, result.stderr) == (
        0,
        "Nothing to do: every generated file is fresh.\n",
    )


def test_a_run_after_the_output_was_edited_restores_it(project: Path) -> None:
    run()
    path = project / "out" / "garden" / "garden.py"
    text = path.read_text()
    path.write_text("")
    assert run().exit_code == 0
    assert path.read_text() == text


@pytest.mark.usefixtures("project")
def test_check_passes_when_all_is_fresh() -> None:
    run()
    assert run("--check").exit_code == 0


def test_check_fails_and_names_what_is_not_fresh(project: Path) -> None:
    run()
    (project / "out" / "garden" / "garden.py").write_text("")
    result = run("--check")
    assert (result.exit_code, result.stdout) == (1, "out/garden/garden.py: not fresh\n")
    assert "placewire generate" in result.stderr


def test_check_writes_nothing(project: Path) -> None:
    assert run("--check").exit_code == 1
    assert not (project / "out").exists()


@pytest.mark.usefixtures("project")
def test_verbose_names_every_file() -> None:
    assert "out/garden/garden.py\n" in run("--verbose").stderr


def test_a_broken_schema_is_a_failure_with_the_place(project: Path) -> None:
    (project / "garden.fbs").write_text("table Plant { name: strin; }")
    result = run()
    assert result.exit_code == 1
    assert result.stdout.startswith("garden.fbs:1:21: error: ")
    assert not (project / "out").exists()


def test_a_missing_schema_is_a_failure_with_its_name(project: Path) -> None:
    (project / "garden.fbs").unlink()
    result = run()
    assert result.exit_code == 1
    assert "garden.fbs" in result.stdout


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('package = "garden"', 'package = "the garden"', "'the garden' is not an import name"),
        ('package = "garden"', "", "package: Field required"),
        ('schemas = ["garden.fbs"]', "schemas = []", "schemas: "),
        ('targets = ["python"]', 'targets = ["rust"]', "targets.0: Input should be 'python'"),
        ("[tool.placewire]", "[tool.placewire]\ncolour = 1", "colour: Extra inputs"),
        ("[tool.placewire]", "[tool.other]", "has no table [tool.placewire]"),
        ("[tool.placewire]", "[tool.placewire", "cannot be read"),
    ],
)
def test_a_bad_configuration_is_wrong_usage_and_names_the_key(
    project: Path, old: str, new: str, message: str
) -> None:
    text = PYPROJECT
    if old == "[tool.placewire]" and new == "[tool.other]":
        text = text.replace("[tool.placewire", "[tool.other")
    (project / "pyproject.toml").write_text(text.replace(old, new, 1))
    result = run()
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (project / "out").exists()


def test_without_a_project_the_command_says_what_to_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run()
    assert result.exit_code == 2
    assert "pyproject.toml does not exist; run in a project, or pass --schema and --out" in (
        result.stderr
    )


@pytest.mark.usefixtures("project")
def test_a_schema_needs_a_folder_to_go_to() -> None:
    result = run("--schema", "garden.fbs")
    assert (result.exit_code, result.stderr) == (
        2,
        "error: --schema needs --out DIR: say where the files go\n",
    )


@pytest.mark.usefixtures("project")
def test_a_folder_needs_a_schema() -> None:
    assert run("--out", "there").exit_code == 2


@pytest.mark.usefixtures("project")
def test_an_unknown_target_is_wrong_usage() -> None:
    result = run("--schema", "garden.fbs", "--out", "there", "--target", "rust")
    assert result.exit_code == 2
    assert "targets.0: Input should be 'python'" in result.stderr


def test_a_schema_of_ones_own_goes_where_one_says(project: Path) -> None:
    assert run("--schema", "garden.fbs", "--out", "there").exit_code == 0
    assert (project / "there" / "garden" / "garden.py").exists()


def test_a_run_without_a_project_leaves_no_stamp(project: Path) -> None:
    run("--schema", "garden.fbs", "--out", "there")
    assert not (project / ".placewire").exists()


def test_an_output_that_cannot_be_written_is_a_failure_with_its_name(project: Path) -> None:
    (project / "out").write_text("in the way")
    result = run()
    assert result.exit_code == 1
    assert result.stderr.startswith("error: cannot write ")
    assert "out" in result.stderr
