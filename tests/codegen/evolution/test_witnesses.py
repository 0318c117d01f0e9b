"""Every finding on the wire or of meaning has a file that shows it, written and read again."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from placewire_codegen.evolution import RULES, Level, compare_schemas
from placewire_codegen.evolution.witness import (
    Verdict,
    Witness,
    make_witnesses,
    write_witnesses,
)
from placewire_codegen.features import Feature
from placewire_codegen.model import Schema
from placewire_codegen.resolve import load_schema

from tests.codegen.evolution.row import Row
from tests.codegen.evolution.rows import ROWS

WITNESSED = [row for row in ROWS if row.level not in (None, Level.SOURCE)]
NOT_IN_A_FILE = {"RPC_SERVICE_NO_DELETE", "RPC_METHOD_NO_DELETE", "RPC_METHOD_SAME_STREAMING"}

Load = Callable[[str], Schema]
Make = Callable[[str, str], list[Witness]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(text: str) -> Schema:
        path = tmp_path / "schema.fbs"
        path.write_text(text, encoding="utf-8")
        return load_schema([path], root=tmp_path, features=frozenset(Feature))

    return load


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Where the generated packages go."""
    folder = tmp_path / "packages"
    folder.mkdir()
    return folder


@pytest.fixture
def make(load: Load, packages: Path) -> Make:
    """Make the witnesses of all findings between two schemas."""

    def make(before: str, after: str) -> list[Witness]:
        base, head = load(before), load(after)
        return make_witnesses(compare_schemas(base, head), base, head, packages)

    return make


def only(witnesses: list[Witness]) -> Witness:
    assert len(witnesses) == 1
    return witnesses[0]


def test_most_rows_need_witnesses() -> None:
    assert len(WITNESSED) > 80


@pytest.mark.parametrize("row", WITNESSED, ids=lambda row: row.id)
def test_every_finding_of_a_row_is_shown(row: Row, make: Make) -> None:
    witnesses = make(row.before, row.after)
    wanted = {(rule, path) for rule, path in row.findings if RULES[rule].level is not Level.SOURCE}
    assert {(w.finding.rule.name, w.finding.path) for w in witnesses} == wanted
    for witness in witnesses:
        if witness.finding.rule.name in NOT_IN_A_FILE:
            assert witness.verdict is Verdict.NOT_IN_A_FILE
            assert witness.reason
            continue
        assert witness.verdict is Verdict.SHOWN, witness
        assert witness.buffer
        assert witness.differences
        assert witness.broken in witness.finding.affected


def test_a_promise_to_write_a_field_is_shown(make: Make) -> None:
    old, new = "table T { a: string; }", 'attribute "present"; table T { a: string (present); }'
    assert only(make(old, new)).differences[-1].rule == "FIELD_ABSENT"
    assert only(make(new, old)).from_head


def test_another_header_is_shown_by_a_file_that_only_one_side_refuses(make: Make) -> None:
    table = 'attribute "extended_header"; table T { a: string; } root_type T;'
    witness = only(make(table, table.replace("T {", 'T (extended_header: "eh00") {')))
    assert witness.finding.rule.name == "SCHEMA_SAME_HEADER"
    assert witness.verdict is Verdict.SHOWN
    assert "own code refuses" in witness.differences[0].written


def test_a_flexbuffer_that_was_plain_bytes_is_not_in_a_file(make: Make) -> None:
    witness = only(make("table T { a: [ubyte]; }", "table T { a: [ubyte] (flexbuffer); }"))
    assert witness.verdict is Verdict.NOT_IN_A_FILE
    assert "FlexBuffers" in witness.reason


def test_a_table_below_the_root_is_shown_from_the_root_down(make: Make) -> None:
    before = "union U { I } table I { a: int; } table R { all: [U]; s: string (required); } "
    after = before.replace("a: int", "a: float")
    witness = only(make(before + "root_type R;", after + "root_type R;"))
    assert witness.table == "R"
    assert witness.differences[0].path == "all[0].a"


def test_where_old_files_are_refused_a_new_one_shows_the_finding(make: Make) -> None:
    before = "table T { a: int; } root_type T;"
    after = "table T { a: float; b: string (required); } root_type T;"
    found = {witness.finding.rule.name: witness for witness in make(before, after)}
    assert found["FIELD_NO_NEW_REQUIRED"].verdict is Verdict.SHOWN
    assert found["FIELD_SAME_WIRE_TYPE"].verdict is Verdict.SHOWN
    assert found["FIELD_SAME_WIRE_TYPE"].from_head


def test_what_another_break_hides_on_both_sides_is_said_to_be_hidden(make: Make) -> None:
    before = "table T { a: int; s: string (required); }"
    after = "table T { a: float; n: int = 7; b: string (required); }"
    found = {witness.finding.path: witness for witness in make(before, after)}
    assert found["T.b"].verdict is Verdict.SHOWN
    hidden = found["T.a"]
    assert hidden.verdict is Verdict.HIDDEN
    assert hidden.differences[0].path != "a"


def test_a_table_that_needs_itself_is_in_no_file(make: Make) -> None:
    before = "table T { t: T (required); a: int; } root_type T;"
    witness = only(make(before, before.replace("a: int", "a: float")))
    assert witness.verdict is Verdict.NOT_IN_A_FILE
    assert "cannot be without another" in witness.reason


@pytest.mark.parametrize("row", WITNESSED, ids=lambda row: row.id)
def test_a_finding_that_is_not_true_is_not_shown(row: Row, load: Load, packages: Path) -> None:
    """The findings of a change are false where the old schema follows itself."""
    base, head = load(row.before), load(row.after)
    false = [
        replace(finding, head=finding.base)
        for finding in compare_schemas(base, head)
        if finding.rule.name not in NOT_IN_A_FILE
    ]
    for witness in make_witnesses(false, base, base, packages):
        assert witness.verdict in (Verdict.EQUAL, Verdict.NOT_IN_A_FILE), witness


def test_a_written_witness_can_be_read_with_one_command(
    make: Make, packages: Path, tmp_path: Path
) -> None:
    before = "namespace n; table T { a: int; } root_type T;"
    witnesses = make(before, before.replace("int", "float"))
    folder = tmp_path / "witnesses"
    folder.mkdir()
    write_witnesses(witnesses, packages, folder, ("old.fbs", "new.fbs"))
    place = folder / "01-FIELD_SAME_WIRE_TYPE-n.T.a"
    assert (place / "buffer.bin").read_bytes() == witnesses[0].buffer
    described = json.loads((place / "witness.json").read_text())
    assert described["writer"]["name"] == "old.fbs"
    assert described["differences"][0]["path"] == "a"
    command = (place / "README").read_text().splitlines()[-1].split()
    assert command[0] == "python"
    said = subprocess.run(
        [sys.executable, *command[1:]], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    assert "base reads: T(a=7)" in said
    assert "head reads: T(a=9.80908925027372e-45)" in said
    assert "so a: 7 was written, and 9.80908925027372e-45 is read" in said
