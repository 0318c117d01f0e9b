"""What the schema does not know, and what every writer writes but is not there."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import pytest
from placewire_codegen.targets.rules import MEANING_RULES
from placewire_schema import pack_program, verify_program
from placewire_schema import program as p
from placewire_schema.reflection import EnumInfo, describe, tables

from placewire.validate import validate
from tests.runtime.programs import Cursor, broken, complete, laid_out

PROGRAM_TABLES = [type_ for type_ in tables() if type_.__module__ == p.__name__]
PRESENT = [
    (type_, field.name)
    for type_ in PROGRAM_TABLES
    for field in describe(type_).fields
    if field.present
]
ENUMS = [
    (type_, field.name)
    for type_ in PROGRAM_TABLES
    for field in describe(type_).fields
    if isinstance(field.type, EnumInfo)
]


def named(parameters: list[tuple[type[Any], str]]) -> list[str]:
    return [f"{type_.__name__}.{name}" for type_, name in parameters]


def first(data: bytearray, type_: type[Any], name: str) -> Cursor:
    """The first table of a type in which a field is there."""
    for cursor in Cursor.root(data).walk():
        if cursor.info.type is type_ and cursor.place(cursor.slot(name)):
            return cursor
    raise AssertionError(f"the complete program has no {type_.__name__} with {name}")


def test_the_schema_promises_fields_and_has_enums() -> None:
    assert len(PRESENT) > 40
    assert len(ENUMS) >= 5


@pytest.mark.parametrize(("type_", "name"), PRESENT, ids=named(PRESENT))
def test_a_field_that_every_writer_writes_is_missed(type_: type[Any], name: str) -> None:
    sample = complete()
    flatbuffer = bytearray(pack_program(sample.program))
    cursor = first(flatbuffer, type_, name)
    cursor.remove(name)
    findings = validate(laid_out(bytes(flatbuffer), sample.area))
    path = f"{cursor.path}.{name}".lstrip(".")
    assert ("FIELD_ABSENT", path) in broken(findings)
    finding = next(finding for finding in findings if finding.rule == "FIELD_ABSENT")
    assert (finding.path, finding.level) == (path, "error")
    assert finding.offset == cursor.start + 32


@pytest.mark.parametrize(("type_", "name"), ENUMS, ids=named(ENUMS))
@pytest.mark.parametrize("value", [-1, 7, 127])
def test_a_value_that_is_no_member_is_reported(type_: type[Any], name: str, value: int) -> None:
    if (type_, name, value) == (p.Tensor, "scalar_type", 7):
        value = 8  # 7 is DOUBLE
    sample = complete()
    # Only what differs from its default is stored.
    sample.tensor(2).shape_dynamism = p.TensorShapeDynamism.DYNAMIC_BOUND
    extra = sample.tensor(2).extra_tensor_info
    assert extra is not None
    extra.location = p.TensorDataLocation.EXTERNAL
    sample.plan.delegates[0].processed = p.BackendDelegateDataReference(p.DataLocation.SEGMENT, 0)
    flatbuffer = bytearray(pack_program(sample.program))
    cursor = first(flatbuffer, type_, name)
    struct.pack_into("<b", flatbuffer, cursor.place(cursor.slot(name)), value)
    findings = validate(laid_out(bytes(flatbuffer), sample.area))
    (finding,) = [finding for finding in findings if finding.rule == "UNKNOWN_ENUM_VALUE"]
    assert finding.path == f"{cursor.path}.{name}"
    assert finding.message.startswith(f"{value} is not a value of ")


def test_an_unknown_union_member_is_reported_and_nothing_is_made_of_it() -> None:
    sample = complete()
    flatbuffer = bytearray(pack_program(sample.program))
    value = Cursor.root(flatbuffer).child("execution_plan", 0).child("values", 5)
    flatbuffer[value.place(value.slot("val") - 1)] = 77
    findings = validate(laid_out(bytes(flatbuffer), sample.area))
    assert broken(findings) == [("UNKNOWN_UNION_MEMBER", "execution_plan[0].values[5].val")]
    assert findings[0].message == "the tag 77 is not a member of KernelTypes"


def test_an_unknown_instruction_is_reported() -> None:
    sample = complete()
    flatbuffer = bytearray(pack_program(sample.program))
    chain = Cursor.root(flatbuffer).child("execution_plan", 0).child("chains", 0)
    instruction = chain.child("instructions", 0)
    flatbuffer[instruction.place(instruction.slot("instr_args") - 1)] = 6
    findings = validate(laid_out(bytes(flatbuffer), sample.area))
    path = "execution_plan[0].chains[0].instructions[0].instr_args"
    assert broken(findings) == [("UNKNOWN_UNION_MEMBER", path)]


def test_a_field_beyond_the_schema_is_reported() -> None:
    sample = complete()
    flatbuffer = bytearray(pack_program(sample.program))
    plan = Cursor.root(flatbuffer).child("execution_plan", 0)
    plan.own_vtable(slots=12)
    struct.pack_into("<H", flatbuffer, plan.entry(11), 4)
    findings = validate(laid_out(bytes(flatbuffer), sample.area))
    assert broken(findings) == [("UNKNOWN_FIELD", "execution_plan[0].<slot 11>")]
    assert findings[0].message == "slot 11 is set, but this schema has only 10"


def entries_and_values(data: bytes) -> tuple[list[int], list[int]]:
    """Positions of all vtable entries, and of the first bytes of all fields."""
    tables_ = list(Cursor.root(bytearray(data)).walk())
    slots = [(table, slot) for table in tables_ for slot in range(table.info.slots)]
    places = [(table.entry(slot), table.place(slot)) for table, slot in slots]
    return [entry for entry, place in places if place], [place for _, place in places if place]


def test_findings_are_those_of_the_codec_in_the_same_order(corpus: Path) -> None:
    rules = {rule.name for rule in MEANING_RULES}
    generator = random.Random(3)
    seeds = [(corpus / f"{name}.pte").read_bytes() for name in ("dev_addmul", "cond", "dyn")]
    seeds.append(complete().file())
    places = [entries_and_values(data) for data in seeds]
    compared = 0
    for round_ in range(1000):
        data = bytearray(seeds[round_ % len(seeds)])
        entries, values = places[round_ % len(seeds)]
        for _ in range(generator.randint(1, 3)):
            struct.pack_into("<H", data, generator.choice(entries), 0)
            data[generator.choice(values)] = generator.choice([7, 77, 255])
        all_ours = validate(data, maximum_findings=1_000_000)
        ours = [finding for finding in all_ours if finding.rule in rules]
        theirs = [finding for finding in verify_program(data) if finding.rule in rules]
        assert [f for f in ours if not f.path.startswith("device_table")] == theirs
        compared += bool(theirs)
    assert compared > 100
