"""`placewire compat --files` as a process: real programs, formats, progress, and wrong usage."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from placewire.commands import compat, compat_files
from tests.placewire.compat_place import Place

ROOT = Path(__file__).parents[2]
TOO_SMALL = "the buffer has 10 bytes, at least 12 are needed"


@pytest.fixture
def models(tmp_path: Path, corpus: Path) -> Place:
    """Our project, real programs, and a schema in which a field of Tensor has another type."""
    shutil.copytree(ROOT / "schema", tmp_path / "schema")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "models/deep").mkdir(parents=True)
    programs = sorted(corpus.glob("*.pte"))
    assert len(programs) > 10
    for path in programs:
        shutil.copy(path, tmp_path / "models/deep")
    shutil.copytree(tmp_path / "schema", tmp_path / "wider")
    text = (tmp_path / "schema/program.fbs").read_text()
    wider = re.sub(r"(table Tensor \{.*?sizes: )\[int\]", r"\1[long]", text, flags=re.S)
    assert wider != text
    (tmp_path / "wider/program.fbs").write_text(wider)
    return Place(tmp_path)


def test_programs_of_the_last_release_are_read(models: Place) -> None:
    run = models.compat("--files", "models/**/*.pte")
    programs = len(list((models.folder / "models/deep").iterdir()))
    assert (run.code, run.out, run.err) == (0, "", f"{programs} files read, no findings\n")


def test_each_file_that_a_finding_touches_is_told_with_the_place(models: Place) -> None:
    arguments = ("--files", "models/**/*.pte", "wider", "--against", "schema", "--format", "json")
    run = models.compat(*arguments)
    assert run.code == 1
    found = [json.loads(line) for line in run.out.splitlines()]
    touched = [one for one in found if one["rule"] == "FIELD_SAME_WIRE_TYPE"]
    programs = sorted((models.folder / "models/deep").iterdir())
    assert [one["file"] for one in touched] == [f"models/deep/{path.name}" for path in programs]
    assert {one["path"] for one in touched} == {"executorch_flatbuffer.Tensor.sizes"}
    assert all(
        re.fullmatch(r"execution_plan\[0\]\.values\[\d\]\.val\.sizes", one["at"]) for one in touched
    )
    assert f"{len(programs)} files read, {len(programs)} with findings" in run.err


def test_several_processes_find_the_same(models: Place) -> None:
    arguments = ("--files", "models/**/*.pte", "--against", "schema", "wider")
    alone = models.compat(*arguments)
    assert alone.out
    assert models.compat(*arguments, "--jobs", "2") == alone


def test_a_folder_of_ten_thousand_files_is_read(models: Place) -> None:
    (models.folder / "many").mkdir()
    for number in range(10_000):
        os.link(models.folder / "models/deep/mlp.pte", models.folder / f"many/{number}.pte")
    run = models.compat("--files", "many/*.pte", "--against", "schema", "wider", "--format", "json")
    assert run.code == 1
    touched = [line for line in run.out.splitlines() if "FIELD_SAME_WIRE_TYPE" in line]
    assert len(touched) == 10_000
    assert run.err.endswith("10,000 files read, 10,000 with findings\n")


def test_junit_and_github_have_all_findings(models: Place) -> None:
    arguments = ("schema", "wider", "--files", "models/**/mlp.pte", "--format")
    suite = ET.fromstring(models.compat(*arguments, "junit").out)
    lines = models.compat(*arguments, "github").out.splitlines()
    assert len(suite.findall("testcase/failure")) == len(lines) == 2
    assert lines[1].startswith(
        "::error file=models/deep/mlp.pte,title=FIELD_SAME_WIRE_TYPE::execution_plan[0]"
    )


def test_junit_without_findings_has_a_case_that_passed(models: Place) -> None:
    run = models.compat("--files", "models/**/mlp.pte", "--format", "junit")
    assert run.code == 0
    assert len(ET.fromstring(run.out).findall("testcase")) == 1


def test_a_damaged_file_does_not_stop_the_others(models: Place) -> None:
    models.write("models/a.pte", "no program")
    (models.folder / "models/b.pte").symlink_to("nowhere")
    run = models.compat("--files", "models/**/*.pte")
    assert run.code == 1
    assert run.out.splitlines() == [
        f"models/a.pte: wire: the file: {TOO_SMALL} [BUFFER_TOO_SMALL]",
        "models/b.pte: wire: the file: No such file or directory [FILE_READABLE]",
    ]


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_regular_file_is_told(models: Place, make: Callable[[Path], None]) -> None:
    make(models.folder / "models/endless.pte")
    run = models.compat("--files", "models/*.pte")
    assert run.code == 1
    assert run.out == "models/endless.pte: wire: the file: not a regular file [FILE_READABLE]\n"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_that_is_named_is_told(models: Place, device: str) -> None:
    run = models.compat("--files", device)
    assert (run.code, run.out) == (
        1,
        f"{device}: wire: the file: not a regular file [FILE_READABLE]\n",
    )


GOLDEN = "schema/history/0.1.0/golden/executorch_flatbuffer.Tensor.*.bin"


@pytest.mark.parametrize("root", ["executorch_flatbuffer.Tensor", "Tensor"])
def test_files_of_another_table_are_read_with_its_name(models: Place, root: str) -> None:
    count = len(list(models.folder.glob(GOLDEN)))
    assert count > 1
    run = models.compat("--files", GOLDEN, "--root", root)
    assert (run.code, run.out) == (0, "")
    assert run.err == f"{count} files read, no findings\n"


def test_files_of_another_table_are_touched_by_a_change_of_it(models: Place) -> None:
    arguments = ("--files", GOLDEN, "--root", "Tensor", "--against", "schema", "wider")
    run = models.compat(*arguments)
    assert run.code == 1
    assert "golden/executorch_flatbuffer.Tensor.1.bin: wire: sizes: " in run.out
    assert "IDENTIFIER" not in run.out


def test_files_without_the_identifier_get_a_hint(models: Place) -> None:
    run = models.compat("--files", GOLDEN)
    assert run.code == 1
    assert "[WRONG_IDENTIFIER]" in run.out
    assert "if they begin with another table, name it with --root" in run.err


class KillsItsProcess:
    """Stands for a reader whose process ends in the middle, as if there were no memory left."""

    def read(self, _: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_was_killed_is_told_with_the_files_under_way(
    models: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(models.folder)
    monkeypatch.setattr(compat_files, "_reader", lambda *_: KillsItsProcess())
    with pytest.raises(typer.Exit) as ended:
        compat.compat(files=["models/**/*.pte"], jobs=2)
    assert ended.value.exit_code == 2
    programs = sorted((models.folder / "models/deep").iterdir())
    said = capsys.readouterr().err
    assert said.startswith(
        f"error: a process that read files was killed after 0 of {len(programs)} files, "
        f"at one from models/deep/{programs[0].name} to models/deep/{programs[-1].name}; "
    )


def test_without_an_old_schema_files_are_only_read(models: Place) -> None:
    run = models.compat("--files", "models/deep/mlp.pte", "wider")
    assert run.code == 1
    assert len(run.out.splitlines()) == 1
    assert run.err.startswith("note: no old schema is named (--against)")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--files", "none/*.pte"), "none/*.pte matches no file; quote a pattern"),
        (("--files", "models"), "models is a folder; say 'models/**/*' to read it"),
        (("--files", "models/"), "models/ is a folder; say 'models/**/*' to read it"),
        (("--files", "models/**/mlp.pte", "-I", "nowhere"), "-I nowhere: there is no such folder"),
        (("--files", "models/**/mlp.pte", "--root", "Tree"), "--root Tree: there is no such table"),
        (("--files", "models/**/mlp.pte", "--root", "T", "twins.fbs"), "there are a.T, b.T"),
        (("schema", "wider", "--root", "Tensor"), "--root goes with --files"),
        (("--files", "models/**/mlp.pte", "nowhere.fbs"), "nowhere.fbs does not exist"),
        (("--files", "models/**/mlp.pte", "a", "b", "c"), "too many schemas"),
        (("schema", "wider", "--jobs", "2"), "--jobs goes with --files"),
        (("--files", "models/**/mlp.pte", "rootless.fbs"), "has no root_type"),
        (("--files", "models/**/mlp.pte", "hashed.fbs"), "cannot read T.x (hash)"),
    ],
)
def test_wrong_usage_is_told(models: Place, arguments: tuple[str, ...], message: str) -> None:
    models.write("rootless.fbs", "table T { x: int; }\n")
    models.write("twins.fbs", "namespace a; table T { x: int; } namespace b; table T { x: int; }\n")
    models.write("hashed.fbs", 'table T { x: uint (hash: "fnv1_32"); } root_type T;\n')
    run = models.compat(*arguments)
    assert (run.code, run.out) == (2, "")
    assert message in run.err


def test_progress_is_shown_on_a_terminal_and_not_in_the_results(models: Place) -> None:
    command = [sys.executable, "-m", "placewire", "compat", "--files", "models/**/*.pte"]
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "100", "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    models.write("models/a.pte", "no program")
    done = subprocess.run(
        command, cwd=models.folder, env=environment, capture_output=True, text=True, check=False
    )
    assert "reading" in done.stderr
    assert "100%" in done.stderr
    assert done.stdout.startswith("models/a.pte: wire: the file: ")
    assert "reading" not in done.stdout
