"""A run writes exactly what changed, or nothing."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from placewire_codegen.config import ProjectConfig, command_line_project
from placewire_codegen.generate import Result, generate
from placewire_codegen.outputs import WriteError, compare, write

SCHEMA = """
namespace garden;
/// What a plant needs.
enum Light : byte { SHADE, SUN }
table Plant { name: string; light: Light = SUN; heights: [float]; }
root_type Plant;
file_identifier "PLNT";
"""


@pytest.fixture
def project(tmp_path: Path) -> ProjectConfig:
    """A project with one schema and the Python target."""
    (tmp_path / "garden.fbs").write_text(SCHEMA)
    config = command_line_project(
        [Path("garden.fbs")],
        Path("out"),
        targets=[],
        include=[],
        package=None,
        cpp_namespace=None,
    )
    return config.model_copy(update={"root": tmp_path})


def contents(root: Path) -> dict[str, bytes]:
    """Return all files below `root` that a run may write."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted((root / "out").rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def edit(project: ProjectConfig, old: str, new: str) -> Result:
    """Replace `old` in the schema and run again."""
    schema = project.root / "garden.fbs"
    text = schema.read_text()
    assert text.count(old) == 1
    schema.write_text(text.replace(old, new))
    return generate(project)


def test_the_first_run_writes_everything(project: ProjectConfig) -> None:
    result = generate(project)
    assert len(result.files) > 10
    assert set(result.changes.missing) == {file.path for file in result.files}
    assert set(contents(project.root)) == {file.path for file in result.files}


def test_the_second_run_changes_nothing(project: ProjectConfig) -> None:
    generate(project)
    times = {path: (project.root / path).stat().st_mtime_ns for path in contents(project.root)}
    assert not generate(project).changes
    assert times == {path: (project.root / path).stat().st_mtime_ns for path in times}


def test_a_new_member_changes_only_the_files_that_know_it(project: ProjectConfig) -> None:
    generate(project)
    changes = edit(project, "SUN }", "SUN, MOON }").changes
    assert set(changes.different) == {"out/garden/garden.py", "out/garden/_wire.py"}


def test_a_comment_does_not_change_the_stamp(project: ProjectConfig) -> None:
    generate(project)
    assert edit(project, "What a plant needs", "Of light").changes.paths == (
        "out/garden/garden.py",
    )


def test_a_file_that_is_not_generated_any_more_is_removed(project: ProjectConfig) -> None:
    generate(project)
    garden = project.root / "out" / "garden"
    old = garden / "shed.py"
    shutil.copy(garden / "garden.py", old)
    assert generate(project).changes.left_over == ("out/garden/shed.py",)
    assert not old.exists()


def test_a_file_of_somebody_else_is_left_alone(project: ProjectConfig) -> None:
    generate(project)
    own = project.root / "out" / "garden" / "extra.py"
    own.write_text("# mine\n")
    assert not generate(project).changes
    assert own.exists()


def test_check_names_what_is_stale_and_writes_nothing(project: ProjectConfig) -> None:
    generate(project)
    path = project.root / "out" / "garden" / "garden.py"
    path.write_text(path.read_text() + "# edited\n")
    before = contents(project.root)
    assert generate(project, check=True).changes.different == ("out/garden/garden.py",)
    assert contents(project.root) == before


def test_the_generated_package_works(project: ProjectConfig) -> None:
    generate(project)
    code = (
        "import garden; p = garden.garden.Plant('Rose', heights=[1.5]);"
        "print(garden.unpack_plant(garden.pack_plant(p)) == p, garden.codec_name())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project.root / "out",
        env={"PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True python\n"


def test_the_output_does_not_depend_on_the_hash_seed(project: ProjectConfig) -> None:
    outputs = []
    for seed in ("1", "2"):
        subprocess.run(
            [
                *(sys.executable, "-m", "placewire_codegen"),
                *("--schema", "garden.fbs", "--out", "out", "--target", "python"),
                *("--target", "cpp", "--target", "nanobind", "--target", "docs"),
            ],
            cwd=project.root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        outputs.append(contents(project.root))
        for path in outputs[0]:
            (project.root / path).unlink()
    assert len(outputs[0]) > 10
    assert outputs[0] == outputs[1]


def test_nothing_is_replaced_if_one_file_cannot_be_written(project: ProjectConfig) -> None:
    files = generate(project).files
    before = contents(project.root)
    (project.root / "out" / "garden" / "_pure").rename(project.root / "aside")
    (project.root / "out" / "garden" / "_pure").write_text("in the way")
    changed = [type(file)(file.path, file.text + "#\n") for file in files]
    with pytest.raises(WriteError, match="_pure"):
        write(project.root, changed, compare(project.root, changed, project.output_directories))
    after = contents(project.root)
    assert {path: before[path] for path in after if path in before} == {
        path: text for path, text in after.items() if path in before
    }
    assert not [path for path in after if Path(path).name.startswith(".")]


def test_a_full_disk_leaves_nothing_behind(
    project: ProjectConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def open_full(descriptor: int, *_: object, **__: object) -> object:
        opened.append(descriptor)
        os.close(descriptor)
        return Path("/dev/full").open("wb", buffering=0)

    monkeypatch.setattr("placewire_codegen.render.os.fdopen", open_full)
    with pytest.raises(WriteError) as raised:
        generate(project)
    assert opened
    assert Path(str(raised.value.filename)).parent == project.root / "out" / "garden"
    assert not Path(str(raised.value.filename)).name.startswith(".")
    assert raised.value.errno == errno.ENOSPC
    assert contents(project.root) == {}
