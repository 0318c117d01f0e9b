"""Waivers cover what they name, and one that covers nothing is a finding."""

from __future__ import annotations

import pytest
from placewire_codegen.config import ConfigError, Waiver
from placewire_codegen.evolution import Finding, Level
from placewire_codegen.evolution.waivers import waive

from tests.codegen.evolution.conftest import Compare

BEFORE = "namespace n; table T { a: int = 1; b: int = 1; } table U { a: int = 1; }"
AFTER = "namespace n; table T { a: int = 2; b: int = 2; } table U { a: int = 2; }"


def waiver(rule: str, path: str) -> Waiver:
    return Waiver(rule=rule, path=path, reason="nobody reads it")


def left(findings: list[Finding], *waivers: Waiver) -> list[tuple[str, str]]:
    kept = waive(findings, waivers, "pyproject.toml")
    return [(finding.rule.name, finding.path) for finding in kept]


def test_a_waiver_covers_what_it_names(compare: Compare) -> None:
    findings = compare(BEFORE, AFTER)
    assert left(findings, waiver("FIELD_SAME_DEFAULT", "n.T.a")) == [
        ("FIELD_SAME_DEFAULT", "n.T.b"),
        ("FIELD_SAME_DEFAULT", "n.U.a"),
    ]


def test_a_star_stands_for_any_text(compare: Compare) -> None:
    findings = compare(BEFORE, AFTER)
    assert left(findings, waiver("FIELD_SAME_DEFAULT", "n.T.*")) == [
        ("FIELD_SAME_DEFAULT", "n.U.a")
    ]


def test_a_waiver_of_another_rule_covers_nothing_and_is_a_finding(compare: Compare) -> None:
    findings = compare(BEFORE, AFTER)
    kept = waive(findings, [waiver("FIELD_NO_DELETE", "n.*")], "pyproject.toml")
    assert len(kept) == len(findings) + 1
    assert kept[-1].rule.name == "WAIVER_USED"
    assert kept[-1].level is Level.SOURCE
    assert str(kept[-1].head) == "pyproject.toml"
    assert kept[-1].message == "the waiver of FIELD_NO_DELETE waives nothing"


def test_two_waivers_of_one_finding_are_both_used(compare: Compare) -> None:
    both = (waiver("FIELD_SAME_DEFAULT", "n.*"), waiver("FIELD_SAME_DEFAULT", "n.T.a"))
    assert left(compare(BEFORE, AFTER), *both) == []


def test_a_waiver_of_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ConfigError, match="there is no rule `FIELD_MOVED`"):
        waive([], [waiver("FIELD_MOVED", "n.T.a")], "pyproject.toml")
