"""Every rule is explained in docs/validator.md, and has a test that names it."""

from __future__ import annotations

import re
from pathlib import Path

from placewire_codegen.targets.rules import MEANING_RULES, STRUCTURE_RULES

from placewire.validate import rules
from tests.schema.cpp.building import ROOT

ROW = re.compile(r"^\| ([A-Z][A-Z0-9_]+) \| (error|warning) \| (.+) \|$", re.MULTILINE)
DOCUMENTED = ROW.findall((ROOT / "docs" / "validator.md").read_text(encoding="utf-8"))


def test_the_document_explains_each_rule_once() -> None:
    names = [name for name, _, _ in DOCUMENTED]
    assert names
    assert len(names) == len(set(names))
    assert set(names) == {rule.name for rule in rules()}


def test_the_document_gives_each_rule_its_level() -> None:
    assert {name: level for name, level, _ in DOCUMENTED} == {
        rule.name: rule.level for rule in rules()
    }


def test_the_rules_of_the_generated_code_are_among_them() -> None:
    generated = {rule.name: rule.text for rule in (*STRUCTURE_RULES, *MEANING_RULES)}
    meanings = {rule.name: rule.meaning for rule in rules()}
    assert generated
    assert {name: meanings.get(name) for name in generated} == generated


def test_each_rule_of_the_validator_has_a_test_that_names_it() -> None:
    generated = {rule.name for rule in (*STRUCTURE_RULES, *MEANING_RULES)}
    own = {rule.name for rule in rules()} - generated
    assert own
    tests = "".join(
        path.read_text(encoding="utf-8")
        for path in Path(__file__).parent.glob("test_*.py")
        if path.name != Path(__file__).name
    )
    # Only allocations that fail cause the one left; test_driver.py lets them, without the name.
    assert {name for name in own if f'"{name}"' not in tests} == {"OUT_OF_MEMORY"}
