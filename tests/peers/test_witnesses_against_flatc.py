"""Witnesses read by flatc under either schema: it, too, reads something else, or refuses."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from placewire_codegen.evolution import compare_schemas
from placewire_codegen.evolution.witness import Verdict, Witness, make_witnesses
from placewire_codegen.features import Feature
from placewire_codegen.model import Schema
from placewire_codegen.resolve import load_schema

from tests.codegen.evolution.row import Row
from tests.codegen.evolution.rows import ROWS

# Files that begin with a table of the schema, and are wrong in what flatc writes as JSON.
JUDGED = {
    "FIELD_SAME_SLOT",
    "FIELD_SAME_WIRE_TYPE",
    "FIELD_SAME_VALUES",
    "FIELD_SAME_DEFAULT",
    "FIELD_NO_DELETE",
    "FIELD_NO_REUSE",
    "UNION_MEMBER_SAME_TAG",
    "UNION_MEMBER_SAME_TYPE",
    "UNION_MEMBER_NO_DELETE",
}
# Where flatc's JSON is the same, because it leaves out what differs.
SAME = {
    "20, change the sign of a zero": "a zero has no sign in its JSON",
    "23, renumber the member that is a default": "members are written by their names",
    "27, make an enum of an integer": "a number without a name is written as a number",
}
DEFAULT_CONTENTS = {
    "22, give a string a default": "a string that is not there is left out",
    "22, change the default of a string": "a string that is not there is left out",
    "22, give a vector a default": "a vector that is not there is left out",
}
SAME_FOR = {
    "flatc": {**SAME, **DEFAULT_CONTENTS},
    "executorch_flatc": {
        **SAME,
        "26, widen an integer": "it does not verify, and the bytes behind the table are 0",
    },
}
RULES_OF_ROWS = [row for row in ROWS if JUDGED & {rule for rule, _ in row.findings}]


def load(folder: Path, name: str, text: str) -> Schema:
    path = folder / f"{name}.fbs"
    path.write_text(text, encoding="utf-8")
    return load_schema([path], root=folder, features=frozenset(Feature))


def read(flatc: Path, folder: Path, schema: str, table: str, buffer: bytes) -> Any:
    """Return flatc's JSON of a file, None if flatc does not read it."""
    path = folder / "file.bin"
    path.write_bytes(buffer)
    out = folder / "out"
    options = ("--json", "--strict-json", "--defaults-json", "--raw-binary")
    done = subprocess.run(
        [flatc, *options, "-o", out, "--root-type", table, folder / f"{schema}.fbs", "--", path],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        return None
    try:
        return json.loads((out / "file.json").read_text(encoding="utf-8"))
    except ValueError:
        return None  # a string that is none


def judged(row: Row, folder: Path) -> list[Witness]:
    base, head = load(folder, "base", row.before), load(folder, "head", row.after)
    packages = folder / "packages"
    packages.mkdir()
    return [
        witness
        for witness in make_witnesses(compare_schemas(base, head), base, head, packages)
        if witness.finding.rule.name in JUDGED
        and witness.table in base.definitions
        and witness.table in head.definitions
    ]


@pytest.mark.parametrize(
    ("row", "peer"),
    [
        pytest.param(row, peer, id=f"{row.id}-{peer}")
        for row in RULES_OF_ROWS
        for peer in SAME_FOR
        # The older one knows no defaults of strings and vectors, so there is nothing to compare.
        if not (peer == "executorch_flatc" and row.id in DEFAULT_CONTENTS)
    ],
)
def test_flatc_reads_something_else_too_unless_its_json_hides_it(
    row: Row, peer: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    flatc = request.getfixturevalue(peer)
    for witness in judged(row, tmp_path):
        assert witness.verdict is Verdict.SHOWN
        sides = ("head", "base") if witness.from_head else ("base", "head")
        own = read(flatc, tmp_path, sides[0], witness.table, witness.buffer)
        other = read(flatc, tmp_path, sides[1], witness.reader_table, witness.buffer)
        assert own is not None, witness
        assert (own == other) is (row.id in SAME_FOR[peer]), witness


def test_most_rows_are_judged(tmp_path: Path) -> None:
    counts = []
    for index, row in enumerate(RULES_OF_ROWS):
        folder = tmp_path / str(index)
        folder.mkdir()
        counts.append(len(judged(row, folder)))
    assert sum(count > 0 for count in counts) >= 30
