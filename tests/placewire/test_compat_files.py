"""`placewire compat --files` as a process: real programs, formats, progress, and wrong usage."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

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


def test_without_an_old_schema_files_are_only_read(models: Place) -> None:
    run = models.compat("--files", "models/deep/mlp.pte", "wider")
    assert run.code == 1
    assert len(run.out.splitlines()) == 1
    assert run.err.startswith("note: no old schema is named (--against)")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--files", "none/*.pte"), "none/*.pte matches no file; quote a pattern"),
        (("--files", "models"), "models matches no file; quote a pattern"),
        (("--files", "models/**/mlp.pte", "nowhere.fbs"), "nowhere.fbs does not exist"),
        (("--files", "models/**/mlp.pte", "a", "b", "c"), "too many schemas"),
        (("schema", "wider", "--jobs", "2"), "--jobs goes with --files"),
        (("--files", "models/**/mlp.pte", "rootless.fbs"), "has no root_type"),
        (("--files", "models/**/mlp.pte", "hashed.fbs"), "cannot read T.x (hash)"),
    ],
)
def test_wrong_usage_is_told(models: Place, arguments: tuple[str, ...], message: str) -> None:
    models.write("rootless.fbs", "table T { x: int; }\n")
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
