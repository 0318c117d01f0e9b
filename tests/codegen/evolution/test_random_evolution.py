"""Random schemas that change: what is allowed breaks no bytes, what is not is found and shown."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from placewire_codegen.evolution import Finding, Level, compare_schemas
from placewire_codegen.evolution.witness import Verdict, make_witnesses
from placewire_codegen.evolution.witness.differences import find_differences
from placewire_codegen.evolution.witness.identity import Identity
from placewire_codegen.evolution.witness.packages import generate_package, running
from placewire_codegen.evolution.witness.subjects import Subjects
from placewire_codegen.evolution.witness.values import NoSuchValueError, Values
from placewire_codegen.features import Feature
from placewire_codegen.model import Schema
from placewire_codegen.resolve import load_schema

from tests.codegen.evolution.edits import ALLOWED, FORBIDDEN, Text
from tests.schema.random_schemas.schemas import RandomSchema, random_schema

SETTINGS = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
RANDOM = st.randoms(use_true_random=False)


def load(files: dict[str, str]) -> Schema:
    with tempfile.TemporaryDirectory() as folder:
        entry = RandomSchema(files, "").write(Path(folder))
        return load_schema([entry], root=Path(folder), features=frozenset(Feature))


def on_the_wire(findings: list[Finding]) -> list[str]:
    return [str(finding) for finding in findings if finding.level is Level.WIRE]


def change(files: dict[str, str], edit: str, random: Random) -> dict[str, str] | None:
    text = Text(files, load(files), random)
    changed = {**ALLOWED, **FORBIDDEN}[edit](text)
    return text.written() if changed else None


@SETTINGS
@given(RANDOM, st.lists(st.sampled_from(sorted(ALLOWED)), min_size=1, max_size=6))
def test_allowed_changes_break_nothing_on_the_wire(random: Random, edits: list[str]) -> None:
    before = after = random_schema(random).files
    for edit in edits:
        after = change(after, edit, random) or after
    note("\n".join(after.values()))
    assert on_the_wire(compare_schemas(load(before), load(after))) == []


@pytest.mark.parametrize("edit", FORBIDDEN)
def test_a_forbidden_change_is_found(edit: str) -> None:
    done = 0
    for seed in range(60):
        random = Random(seed)
        before = random_schema(random).files
        after = change(before, edit, random)
        if after is None:
            continue
        done += 1
        assert on_the_wire(compare_schemas(load(before), load(after))), (seed, edit)
    assert done >= 10, "the edit finds too little to change"


@pytest.mark.parametrize("edit", ALLOWED)
def test_an_allowed_change_can_be_made(edit: str) -> None:
    seeds = range(30)
    made = [seed for seed in seeds if change(random_schema(Random(seed)).files, edit, Random(seed))]
    assert len(made) >= 5


@SETTINGS
@given(RANDOM, st.sampled_from(sorted(FORBIDDEN)), st.sampled_from(sorted(ALLOWED)))
def test_allowed_changes_hide_no_forbidden_one(random: Random, bad: str, good: str) -> None:
    before = random_schema(random).files
    after = change(before, bad, random)
    if after is None:
        return
    after = change(after, good, random) or after
    note("\n".join(after.values()))
    assert on_the_wire(compare_schemas(load(before), load(after)))


@SETTINGS
@given(RANDOM)
def test_any_two_schemas_can_be_compared(random: Random) -> None:
    one, other = load(random_schema(random).files), load(random_schema(random).files)
    for base, head in ((one, other), (other, one)):
        for finding in compare_schemas(base, head):
            assert finding.base is not None
    assert compare_schemas(one, one) == compare_schemas(other, other) == []


@pytest.mark.parametrize("edit", FORBIDDEN)
def test_a_forbidden_change_is_shown(edit: str, tmp_path: Path) -> None:
    done = 0
    for seed in range(60):
        random = Random(seed)
        before = random_schema(random).files
        after = change(before, edit, random)
        if after is None:
            continue
        base, head = load(before), load(after)
        findings = compare_schemas(base, head)
        witnesses = make_witnesses(findings, base, head, folder_of(tmp_path, seed))
        wrong = [w for w in witnesses if w.verdict is Verdict.EQUAL]
        assert not wrong, (seed, [str(w.finding) for w in wrong])
        shown = [w for w in witnesses if w.verdict is Verdict.SHOWN]
        assert any(w.finding.level is Level.WIRE for w in shown), (seed, edit)
        done += 1
        if done == 6:
            return
    pytest.fail("the edit finds too little to change")


@pytest.mark.parametrize("seed", range(12))
def test_old_files_read_the_same_after_allowed_changes(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    before = after = random_schema(random).files
    for edit in random.sample(sorted(ALLOWED), 5):
        after = change(after, edit, random) or after
    base, head = load(before), load(after)
    generate_package(base, "witness_base", tmp_path)
    generate_package(head, "witness_head", tmp_path)
    names = Subjects(base, head).names
    identity = Identity(base, head, names, compare_schemas(base, head), from_head=False)
    read = 0
    with running(tmp_path, "witness_base") as writer, running(tmp_path, "witness_head") as reader:
        for table, value in old_files(base):
            buffer = writer.pack(table, value)
            own, other = writer.read(table, buffer), reader.read(names[table], buffer)
            assert own["value"] is not None
            assert find_differences(own, other, identity, by_number=True) == []
            read += 1
    assert read >= 10


def folder_of(tmp_path: Path, seed: int) -> Path:
    folder = tmp_path / str(seed)
    folder.mkdir()
    return folder


def old_files(schema: Schema) -> Iterator[tuple[str, Any]]:
    """Yield files that begin with each table, with each value of each field that may tell."""
    values = Values(schema, frozenset())
    for table in schema.tables:
        try:
            yield table.full_name, values.table(table.full_name)
            yield table.full_name, values.rich_table(table.full_name)
            for field in table.fields:
                for value in values.telling(field):
                    yield table.full_name, values.table(table.full_name, {field.id: value})
        except NoSuchValueError:
            continue
