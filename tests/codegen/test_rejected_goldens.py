"""The messages for all small schemas that are rejected, word for word: `golden/rejected/`.

A file holds those of one topic: each schema behind `> `, then its messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from placewire_codegen.diagnostics import SchemaError
from placewire_codegen.features import Feature
from placewire_codegen.resolve import load_schema

from tests.codegen.accepted_schemas import write_included
from tests.codegen.rejected_schemas import REJECTED
from tests.codegen.stricter_schemas import STRICTER

GOLDEN = Path(__file__).parent / "golden" / "rejected"
TOPICS: Mapping[str, Iterable[str]] = {**REJECTED, "stricter than flatc": STRICTER}
UPDATE = "pytest tests/codegen/test_rejected_goldens.py --update-goldens"


def golden_of(topic: str) -> Path:
    return GOLDEN / f"{topic.replace(' ', '_').replace(',', '')}.txt"


def reject(folder: Path, text: str) -> SchemaError:
    """Return what is wrong with a schema."""
    schema = folder / "case.fbs"
    schema.write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises(SchemaError) as raised:
        load_schema([schema], root=folder, features=frozenset(Feature))
    return raised.value


@pytest.mark.parametrize("topic", TOPICS)
def test_messages_are_as_recorded(tmp_path: Path, topic: str, update_goldens: bool) -> None:
    write_included(tmp_path)
    sections = []
    for text in TOPICS[topic]:
        quoted = "".join(f"> {line}\n" for line in text.split("\n"))
        sections.append(f"{quoted}{reject(tmp_path, text)}\n")
    assert sections
    found = "\n".join(sections)
    golden = golden_of(topic)
    if update_goldens:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found, encoding="utf-8")
        pytest.skip("recorded")
    assert golden.exists(), f"no golden for {topic}; record it with `{UPDATE}`"
    assert found == golden.read_text(encoding="utf-8")


def test_every_golden_has_its_topic() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {golden_of(topic).name for topic in TOPICS}


@pytest.mark.parametrize("topic", TOPICS)
def test_every_message_has_a_place_of_its_own(tmp_path: Path, topic: str) -> None:
    write_included(tmp_path)
    for text in TOPICS[topic]:
        found = reject(tmp_path, text).diagnostics
        assert all(diagnostic.span is not None for diagnostic in found), text
        places = [str(diagnostic.span) for diagnostic in found]
        assert len(places) == len(set(places)), text
