"""Every kind of change gives exactly the findings that it should."""

from __future__ import annotations

import pytest
from placewire_codegen.evolution import RULES, Level

from tests.codegen.evolution.conftest import Compare
from tests.codegen.evolution.row import Row
from tests.codegen.evolution.rows import NUMBERS, ROWS

# Rules about what flatc does not know, and where they are tested.
ELSEWHERE = {
    "FIELD_SAME_PRESENT": "test_findings",
    "SCHEMA_SAME_HEADER": "test_findings",
    "WAIVER_USED": "test_waivers",
}


def test_every_number_has_a_row() -> None:
    assert {row.number for row in ROWS} == set(NUMBERS)


def test_no_two_rows_have_one_name() -> None:
    assert len({row.id for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_change_gives_exactly_its_findings(row: Row, compare: Compare) -> None:
    findings = compare(row.before, row.after)
    assert {(finding.rule.name, finding.path) for finding in findings} == row.findings


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_every_finding_has_a_place_and_says_who_breaks(row: Row, compare: Compare) -> None:
    for finding in compare(row.before, row.after):
        assert finding.base is not None, finding
        assert finding.head is not None or finding.rule.name in {
            "TYPE_NO_DELETE",
            "RPC_SERVICE_NO_DELETE",
            "SCHEMA_SAME_ROOT",
        }
        assert finding.affected
        assert finding.consequence.endswith(".")
        assert finding.message


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_schema_has_nothing_against_itself(row: Row, compare: Compare) -> None:
    for text in (row.before, row.after):
        assert compare(text, text) == []


def test_every_rule_is_broken_by_a_row() -> None:
    broken = {rule for row in ROWS for rule, _ in row.findings}
    assert broken | set(ELSEWHERE) == set(RULES)
    assert not broken & set(ELSEWHERE)


def test_every_rule_says_what_it_asks_for() -> None:
    for rule in RULES.values():
        assert rule.name == rule.name.upper()
        assert rule.meaning.endswith(".")
        assert rule.consequence.endswith(".")
        assert rule.affected


def test_a_level_shows_what_is_worse() -> None:
    assert [level for level in Level if Level.WIRE.shows(level)] == [Level.WIRE]
    assert [level for level in Level if Level.SEMANTIC.shows(level)] == [
        Level.WIRE,
        Level.SEMANTIC,
    ]
    assert [level for level in Level if Level.SOURCE.shows(level)] == list(Level)
