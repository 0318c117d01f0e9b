"""Every change of the table, given to `flatc --conform`: we miss nothing that it reports rightly.

What it does not see, and what it reports wrongly, is listed; the lists are checked, so that a newer
flatc that sees more is noticed.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from placewire_codegen.evolution import Level, compare_schemas, is_identical_on_the_wire
from placewire_codegen.features import Feature
from placewire_codegen.model import Schema
from placewire_codegen.resolve import load_schema

from tests.codegen.evolution.row import Row
from tests.codegen.evolution.rows import ROWS

SCHEMA = Path(__file__).parents[2] / "schema"
HISTORY = sorted(path for path in (SCHEMA / "history").iterdir() if path.is_dir())

# Numbers of changes that break bytes or their meaning, in at least one form that flatc passes.
MISSES = {
    Level.WIRE: {10, 12, 29, 31, 32, 33, 34, 36, 38, 41, 46, 53, 55, 57, 58, 59, 61, 62, 77, 78, 79}
    | {84, 86, 87},
    Level.SEMANTIC: {7, 9, 11, 13, 14, 35, 39, 40, 42, 47, 65, 66, 70},
}
# Numbers of changes that break nothing on the wire, and that flatc reports.
FALSE_ALARMS = {19, 27, 56, 60}


def reports(flatc: Path, row: Row, folder: Path) -> bool:
    """Whether flatc finds anything; it names the first thing only."""
    before, after = folder / "before.fbs", folder / "after.fbs"
    before.write_text(row.before, encoding="utf-8")
    after.write_text(row.after, encoding="utf-8")
    # Without a language flatc does not read unions of structs.
    done = subprocess.run(
        [flatc, "--cpp", "-o", folder, "--conform", before, after],
        capture_output=True,
        text=True,
        check=False,
    )
    text = done.stdout + done.stderr
    assert done.returncode in (0, 1), text
    assert done.returncode == 0 or "schemas don't conform" in text, text
    return done.returncode != 0


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_flatc_says_what_is_recorded(flatc: Path, row: Row, tmp_path: Path) -> None:
    assert reports(flatc, row, tmp_path) is row.flatc


def test_we_find_all_that_flatc_reports_rightly() -> None:
    reported = [row for row in ROWS if row.flatc]
    assert len(reported) > 50
    without = [row.number for row in reported if row.level is None]
    assert set(without) == {19}, "these are equal floats, spelled in two ways"


@pytest.mark.parametrize("level", MISSES)
def test_what_flatc_misses(level: Level) -> None:
    assert {row.number for row in ROWS if row.level is level and not row.flatc} == MISSES[level]


def test_what_flatc_reports_though_nothing_breaks_on_the_wire() -> None:
    alarms = {row.number for row in ROWS if row.flatc and row.level in (None, Level.SOURCE)}
    assert alarms == FALSE_ALARMS


def load(path: Path) -> Schema:
    return load_schema(
        [path], include_directories=[path.parent], root=path.parent, features=frozenset(Feature)
    )


def test_our_program_is_identical_to_executorchs_on_the_wire(executorch_schema: Path) -> None:
    theirs, ours = load(executorch_schema / "program.fbs"), load(SCHEMA / "program.fbs")
    assert len(ours.tables) > 30
    assert is_identical_on_the_wire(theirs, ours)
    assert is_identical_on_the_wire(ours, theirs)


def test_what_else_differs_are_attributes_of_ours(executorch_schema: Path) -> None:
    theirs, ours = load(executorch_schema / "program.fbs"), load(SCHEMA / "program.fbs")
    found = {finding.rule.name for finding in compare_schemas(theirs, ours)}
    assert found == {"ATTRIBUTE_SAME_VALUE", "FIELD_SAME_PRESENT", "SCHEMA_SAME_HEADER"}


def test_two_copies_kept_by_hand_have_drifted_apart_unseen_by_flatc(
    flatc: Path, executorch_schema: Path
) -> None:
    folder = executorch_schema.parent / "backends" / "xnnpack" / "serialization"
    one, other = folder / "schema.fbs", folder / "runtime_schema.fbs"
    done = subprocess.run([flatc, "--conform", one, other], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    found = {
        (finding.rule.name, finding.path) for finding in compare_schemas(load(one), load(other))
    }
    assert found == {
        ("FIELD_NO_UNDEPRECATE", "fb_xnnpack.Buffer.storage"),
        ("FIELD_NO_UNDEPRECATE", "fb_xnnpack.XNNGraph.constant_buffer"),
        ("FIELD_NO_UNDEPRECATE", "fb_xnnpack.XNNGraph.mem_buffer_sizes"),
        ("SCHEMA_SAME_IDENTIFIER", "fb_xnnpack.XNNGraph"),
    }


@pytest.mark.parametrize("version", HISTORY, ids=[path.name for path in HISTORY])
@pytest.mark.parametrize("name", ["program", "device_info", "errors"])
def test_today_keeps_what_every_frozen_version_promised(version: Path, name: str) -> None:
    findings = compare_schemas(load(version / f"{name}.fbs"), load(SCHEMA / f"{name}.fbs"))
    assert [finding for finding in findings if finding.level is not Level.SOURCE] == []
