"""The target `bfbs`, and runs whose schemas are binary."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewire_codegen import stamp
from placewire_codegen.bfbs import read_bfbs, write_bfbs
from placewire_codegen.cli import main
from placewire_codegen.config import ConfigError, command_line_project, load_project
from placewire_codegen.generate import generate, remember
from placewire_codegen.resolve import load_schema

PROJECT = """
[tool.placewire]
schemas = ["garden.fbs", "shed.fbs"]
package = "tools"
cpp_namespace = "tools"
targets = ["bfbs"]

[tool.placewire.output]
python = "out/tools"
cpp = "out/include"
nanobind = "out/bindings"
docs = "out/docs"
bfbs = "out"
"""


@pytest.fixture
def garden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, which is the current one, with two schemas that share an included one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "light.fbs").write_text("enum Light : byte { SHADE, SUN }\n")
    for name in ("Garden", "Shed"):
        (tmp_path / f"{name.lower()}.fbs").write_text(
            f'include "light.fbs";\n/// Outside.\ntable {name} {{ light: Light = SUN; }}\n'
            f"root_type {name};\n"
        )
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    """Run the command and return its exit code."""
    monkeypatch.setattr("sys.argv", ["generate", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    return done.value.code


def test_each_entry_becomes_a_file_of_its_own(garden: Path) -> None:
    result = generate(load_project(garden))
    assert [file.path for file in result.files] == ["out/garden.bfbs", "out/shed.bfbs"]
    for name in ("Garden", "Shed"):
        path = garden / "out" / f"{name.lower()}.bfbs"
        schema = read_bfbs(path.read_bytes(), path)
        assert set(schema.definitions) == {name, "Light"}
        assert [root.table for root in schema.roots] == [name]
        alone = load_schema([garden / f"{name.lower()}.fbs"], root=garden)
        assert path.read_bytes() == write_bfbs(alone)


def test_a_second_run_changes_nothing(garden: Path) -> None:
    generate(load_project(garden))
    before = (garden / "out" / "shed.bfbs").stat().st_mtime_ns
    assert not generate(load_project(garden)).changes
    assert (garden / "out" / "shed.bfbs").stat().st_mtime_ns == before


def test_check_reports_a_damaged_file_and_leaves_it(garden: Path) -> None:
    generate(load_project(garden))
    (garden / "out" / "shed.bfbs").write_bytes(b"\xff\x00")
    (garden / "out" / "garden.bfbs").unlink()
    changes = generate(load_project(garden), check=True).changes
    assert (changes.missing, changes.different) == (("out/garden.bfbs",), ("out/shed.bfbs",))
    assert (garden / "out" / "shed.bfbs").read_bytes() == b"\xff\x00"


def test_the_stamp_covers_binary_files(garden: Path) -> None:
    inputs = stamp.Inputs()
    config = load_project(garden, read=inputs.read)
    remember(config, generate(config, inputs=inputs), inputs)
    assert stamp.is_current(garden)
    (garden / "out" / "shed.bfbs").write_bytes(b"")
    assert not stamp.is_current(garden)


def test_other_files_of_the_folder_stay(garden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages and binary schemas may share `--out`: nothing of the other is left over."""
    assert run(monkeypatch, "--schema", "shed.fbs", "--out", "out", "--target", "python") == 0
    assert run(monkeypatch, "--schema", "shed.fbs", "--out", "out", "--target", "bfbs") == 0
    assert (garden / "out" / "shed" / "__init__.py").exists()
    assert (garden / "out" / "shed.bfbs").exists()


def test_a_binary_schema_generates_what_its_text_does(
    garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, "--schema", "shed.fbs", "--out", "made", "--target", "bfbs") == 0
    targets = [f"--target={target}" for target in ("python", "cpp", "docs")]
    assert run(monkeypatch, "--schema", "shed.fbs", "--out", "text", *targets) == 0
    assert run(monkeypatch, "--schema", "made/shed.bfbs", "--out", "binary", *targets) == 0
    written = sorted(path for path in (garden / "text").rglob("*") if path.is_file())
    assert len(written) > 10
    for path in written:
        binary = garden / "binary" / path.relative_to(garden / "text")
        expected = path.read_text().replace("Schema: light.fbs, shed.fbs", "Schema: shed.bfbs")
        assert binary.read_text() == expected


def test_a_damaged_schema_is_reported_like_any_other(
    garden: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (garden / "cut.bfbs").write_bytes(b"\x10\0\0\0BFBS\0\0\0\0")
    assert run(monkeypatch, "--schema", "cut.bfbs", "--out", "out") == 1
    assert capsys.readouterr().out.startswith(
        "cut.bfbs: error: `root`, at byte 0, lies outside of the file or leads there\n"
    )


@pytest.mark.parametrize(
    ("schemas", "output", "message"),
    [
        (["a/x.fbs", "b/x.fbs"], "out", "a/x.fbs and b/x.fbs would both become "),
        (["x.bfbs"], ".", "x.bfbs would be overwritten; choose another output folder"),
    ],
)
def test_an_output_that_cannot_be_is_refused(
    garden: Path, schemas: list[str], output: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        command_line_project(
            [garden / schema for schema in schemas],
            garden / output,
            targets=["bfbs"],
            include=[],
            package=None,
            cpp_namespace=None,
        )


def test_the_target_needs_a_place(garden: Path) -> None:
    (garden / "pyproject.toml").write_text(PROJECT.replace('bfbs = "out"', ""))
    with pytest.raises(ConfigError, match=r"output\.bfbs is missing; say where"):
        load_project(garden)
