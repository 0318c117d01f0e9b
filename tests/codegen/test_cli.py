"""`placewire generate` says what it did or what is wrong, and exits 0, 1 or 2 accordingly."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from placewire_codegen import stamp
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
        ('package = "garden"', 'package = "the garden"', "package: 'the garden' is not an import"),
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


@pytest.mark.parametrize(
    "arguments", [("--target", "python"), ("--out", "there"), ("--package", "shed")]
)
def test_a_fresh_project_does_not_excuse_wrong_usage(
    project: Path, arguments: tuple[str, ...]
) -> None:
    assert run().exit_code == 0
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (
        2,
        "error: --out, --target, --include, --package and --cpp-namespace need --schema\n",
    )
    assert not (project / "there").exists()


@pytest.mark.parametrize("folder", ["nowhere", "garden.fbs"])
def test_an_include_folder_must_be_there(project: Path, folder: str) -> None:
    result = run("--schema", "garden.fbs", "--out", "there", "-I", folder)
    assert (result.exit_code, result.stderr) == (
        2,
        f"error: -I {folder}: there is no such folder\n",
    )
    assert not (project / "there").exists()


def test_a_schema_of_ones_own_is_no_project(project: Path) -> None:
    result = run("--schema", "garden.fbs", "--out", "there", "--project", ".")
    assert (result.exit_code, result.stderr) == (
        2,
        "error: --schema and --project exclude each other\n",
    )
    assert not (project / "there").exists()


def test_a_full_disk_is_a_failure_with_the_output_that_did_not_fit(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("placewire_codegen.render.os.fdopen", refuse)
    result = run()
    assert result.exit_code == 1
    assert result.stderr == "error: cannot write out/garden/py.typed: No space left on device\n"
    assert not list((project / "out" / "garden").iterdir())


def test_an_output_that_cannot_be_read_is_not_said_to_be_unwritable(project: Path) -> None:
    (project / "out" / "garden" / "garden.py").mkdir(parents=True)
    result = run()
    assert (result.exit_code, result.stderr) == (
        1,
        "error: cannot read out/garden/garden.py: Is a directory\n",
    )


def files_below(folder: Path) -> list[str]:
    """Return the files of `folder`, which are not caches."""
    paths = sorted(folder.rglob("*"))
    return [p.relative_to(folder).as_posix() for p in paths if p.is_file() and p.suffix != ".pyc"]


ALL_TARGETS = tuple(
    word for target in ("python", "cpp", "nanobind", "docs") for word in ("--target", target)
)


def test_two_packages_share_an_output_folder(project: Path) -> None:
    (project / "shed.fbs").write_text("namespace shed; table Tool { name: string; }")
    assert run("--schema", "garden.fbs", "--out", "there", *ALL_TARGETS).exit_code == 0
    first = files_below(project / "there")
    assert len(first) > 30
    result = run("--schema", "shed.fbs", "--out", "there", *ALL_TARGETS)
    assert (result.exit_code, "removed" in result.stderr) == (0, False)
    assert set(first) < set(files_below(project / "there"))
    assert run("--schema", "garden.fbs", "--out", "there", *ALL_TARGETS, "--check").exit_code == 0


def test_what_is_removed_is_named(project: Path) -> None:
    run("--schema", "garden.fbs", "--out", "there")
    (project / "garden.fbs").write_text("namespace flowers; table Plant { name: string; }")
    result = run("--schema", "garden.fbs", "--out", "there")
    assert result.exit_code == 0
    assert result.stderr.splitlines()[:2] == [
        "there/garden/_descriptors/garden.py: removed",
        "there/garden/garden.py: removed",
    ]
    assert not (project / "there" / "garden" / "garden.py").exists()


def test_a_folder_outside_the_working_directory_stays_fresh(project: Path) -> None:
    (project / "inside").mkdir()
    os.chdir(project / "inside")
    arguments = ("--schema", "../garden.fbs", "--out", "../there")
    assert run(*arguments).exit_code == 0
    result = run(*arguments, "--check")
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cpp-namespace", "../../x y"), "'../../x y' is not a C++ namespace"),
        (("--cpp-namespace", "a::class"), "'class' is a keyword or a macro of C++"),
        (("--cpp-namespace", "a::__b"), "'a::__b' is not a C++ namespace"),
        (("--cpp-namespace", ""), "'' is not a C++ namespace"),
        (("--cpp-namespace", "std::a"), "the namespace `std` belongs to the standard library"),
        (("--package", "class"), "'class' is a keyword of Python"),
        (("--package", "../shed"), "'../shed' is not an import name"),
        (("--package", "enum"), "would hide a module of Python's standard library"),
        (("--package", "docs"), "are folders that packages share"),
    ],
)
def test_a_name_that_no_code_can_have_is_wrong_usage(
    project: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = run("--schema", "garden.fbs", "--out", "there", "--target", "cpp", *arguments)
    assert (result.exit_code, message in result.stderr) == (2, True)
    assert files_below(project) == ["garden.fbs", "pyproject.toml"]


def test_a_file_whose_name_is_no_package_needs_one(project: Path) -> None:
    (project / "garden.fbs").rename(project / "class.fbs")
    result = run("--schema", "class.fbs", "--out", "there")
    assert result.stderr == (
        "error: --package: 'class' is a keyword of Python; choose another name\n"
    )
    assert run("--schema", "class.fbs", "--out", "there", "--package", "g").exit_code == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('cpp_namespace = "garden"', 'cpp_namespace = "a/b"', "'a/b' is not a C++ namespace"),
        ('docs = "out/docs"', 'docs = "../docs"', "output.docs: `../docs` lies outside"),
        ('cpp = "out/include"', 'cpp = "/tmp"', "output.cpp: `/tmp` lies outside"),
        ('python = "out/garden"', 'python = "out"', "must be called `garden`, not `out`"),
    ],
)
def test_an_output_that_no_project_can_have_is_wrong_usage(
    project: Path, old: str, new: str, message: str
) -> None:
    (project / "pyproject.toml").write_text(PYPROJECT.replace(old, new, 1))
    result = run()
    assert (result.exit_code, message in result.stderr) == (2, True)
    assert files_below(project) == ["garden.fbs", "pyproject.toml"]


@pytest.mark.parametrize("module", ["class", "delete", "a b", "_x", "reflection", "pack", "../x"])
def test_a_module_that_no_code_can_have_is_wrong_usage(project: Path, module: str) -> None:
    modules = f'[tool.placewire.modules]\ngarden = "{module}"\n'
    (project / "pyproject.toml").write_text(PYPROJECT + modules)
    result = run()
    assert result.exit_code == 2
    assert f"namespace 'garden' cannot become the module '{module}': " in result.stderr


@pytest.mark.parametrize("namespace", ["class", "reflection", "pack", "type", "_x", "int"])
def test_a_namespace_of_any_name_becomes_a_module_that_can_be_imported(
    project: Path, namespace: str
) -> None:
    (project / "garden.fbs").write_text(f"namespace {namespace}; table Plant {{ name: string; }}")
    assert run("--schema", "garden.fbs", "--out", "there").exit_code == 0
    module = "x" if namespace == "_x" else f"{namespace}_"
    code = f"import garden; assert garden.unpack and garden.{module}.Plant(name='x')"
    subprocess.run([sys.executable, "-c", code], cwd=project / "there", check=True)


def test_the_output_does_not_depend_on_the_working_directory(project: Path) -> None:
    outputs = []
    for number, folder in enumerate(("", "inside", "with a space/inside")):
        (project / folder).mkdir(parents=True, exist_ok=True)
        os.chdir(project / folder)
        out = project / f"there {number}"
        schema = os.path.relpath(project / "garden.fbs")
        assert run("--schema", schema, "--out", str(out), *ALL_TARGETS).exit_code == 0
        outputs.append({path: (out / path).read_bytes() for path in files_below(out)})
    assert len(outputs[0]) > 30
    assert outputs[0] == outputs[1] == outputs[2]


def test_a_project_is_generated_from_another_folder(project: Path) -> None:
    assert run().exit_code == 0
    before = {path: (project / path).read_bytes() for path in files_below(project)}
    elsewhere = project.with_name(f"{project.name} elsewhere")
    elsewhere.mkdir()
    os.chdir(elsewhere)
    result = run("--project", str(project), "--check")
    assert (result.exit_code, result.stderr) == (0, f"{stamp.NOTHING_TO_DO}\n")
    (project / stamp.STAMP_PATH).unlink()
    (project / "out" / "garden" / "garden.py").unlink()
    assert run("--project", str(project)).exit_code == 0
    assert {path: (project / path).read_bytes() for path in files_below(project)} == before
    assert files_below(elsewhere) == []


def test_messages_name_files_as_seen_from_the_working_directory(project: Path) -> None:
    (project / "garden.fbs").write_text("table Plant { name: strin; }")
    (project / "inside").mkdir()
    os.chdir(project / "inside")
    for arguments in (("--project", ".."), ("--schema", "../garden.fbs", "--out", "x")):
        assert run(*arguments).stdout.startswith("../garden.fbs:1:21: error: ")


def test_a_folder_with_spaces_is_a_folder(project: Path) -> None:
    (project / "my schemas").mkdir()
    (project / "garden.fbs").rename(project / "my schemas" / "garden.fbs")
    text = PYPROJECT.replace('"garden.fbs"', '"my schemas/garden.fbs"').replace("out/", "my out/")
    (project / "pyproject.toml").write_text(text)
    assert run().exit_code == 0
    module = (project / "my out" / "garden" / "garden.py").read_text()
    assert "# Schema: my schemas/garden.fbs\n" in module
    assert run("--check").stderr == f"{stamp.NOTHING_TO_DO}\n"


@pytest.mark.parametrize("link", ["schema", "schema/garden.fbs"])
def test_a_link_to_schemas_is_as_good_as_the_schemas(project: Path, link: str) -> None:
    (project / "schema").mkdir()
    (project / "garden.fbs").rename(project / "schema" / "garden.fbs")
    (project / "pyproject.toml").write_text(PYPROJECT.replace('"garden', '"schema/garden', 1))
    assert run().exit_code == 0
    plain = {path: (project / "out" / path).read_bytes() for path in files_below(project / "out")}
    elsewhere = project.with_name(f"{project.name} elsewhere")
    (project / link).rename(elsewhere)
    (project / link).symlink_to(elsewhere)
    (project / stamp.STAMP_PATH).unlink()
    result = run("--check")
    assert (result.exit_code, result.stdout) == (0, "")
    now = {path: (project / "out" / path).read_bytes() for path in files_below(project / "out")}
    assert now == plain
    assert len(now) > 10
