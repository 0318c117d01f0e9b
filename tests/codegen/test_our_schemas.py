"""What the front end makes of the schemas of this project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from placewire_codegen.model import Field, ScalarKind, Schema, TypeKind
from placewire_codegen.resolve import load_schema

ROOT = Path(__file__).parents[2]
ENTRIES = ["schema/program.fbs", "schema/device_info.fbs", "schema/errors.fbs"]
HEAVY = ["jinja2", "numpy", "typer", "rich", "flatbuffers", "difflib", "placewire_schema"]


@pytest.fixture(scope="module")
def schema() -> Schema:
    """The three entries as one schema, as `placewire generate` reads them."""
    return load_schema([ROOT / entry for entry in ENTRIES], root=ROOT)


def test_files_are_named_from_the_root_in_order(schema: Schema) -> None:
    assert schema.files == ("schema/scalar_type.fbs", *ENTRIES)


def test_roots_have_their_identifiers(schema: Schema) -> None:
    assert [(root.table, root.identifier, root.extension) for root in schema.roots] == [
        ("executorch_flatbuffer.Program", "ET12", "pte"),
        ("placewire.device.DeviceTable", "PWDT", "pwdt"),
    ]


def test_a_union_field_takes_two_slots(schema: Schema) -> None:
    (val,) = schema.table("executorch_flatbuffer.EValue").fields
    assert (val.id, val.offset, val.type.kind, val.present) == (1, 6, TypeKind.UNION, True)


def test_an_enum_of_another_namespace_gives_the_default(schema: Schema) -> None:
    field = schema.table("placewire.device.DeviceInfo").fields[0]
    assert (field.type.ref, field.default) == ("executorch_flatbuffer.DeviceType", 0)


def test_facts_of_a_device_stand_beside_its_number(schema: Schema) -> None:
    members = {m.name: m for m in schema.enum("executorch_flatbuffer.DeviceType").members}
    assert members["CUDA"].value == 1
    assert members["CUDA"].attributes == {"dlpack": 2, "alignment": 256}


def test_error_codes_are_unsigned(schema: Schema) -> None:
    codes = schema.enum("placewire.error.ErrorCode")
    assert codes.underlying is ScalarKind.UINT32
    assert codes.attributes == {"exception_base": "PlacewireError"}
    assert {m.name: m.value for m in codes.members}["INVALID_PROGRAM"] == 0x23


def test_the_root_names_the_magic_of_its_header(schema: Schema) -> None:
    table = schema.table("executorch_flatbuffer.Program")
    assert table.attributes == {"extended_header": "eh00"}


def test_reading_twice_gives_the_same_model_and_stamp(schema: Schema) -> None:
    again = load_schema([ROOT / entry for entry in ENTRIES], root=ROOT)
    assert again == schema
    assert again.stamp == schema.stamp


def test_the_front_end_needs_nothing_heavy_but_pydantic() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "from placewire_codegen.resolve import load_schema\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {"placewire_codegen", "pydantic"} <= loaded
    assert not loaded & set(HEAVY)


def test_what_is_not_checked_is_what_checking_would_give(schema: Schema) -> None:
    fields = [field for table in schema.tables for field in table.fields]
    assert len(fields) > 50
    for made in (*fields, *schema.tables):
        type_ = type(made)
        values = {name: getattr(made, name) for name in type_.model_fields}
        checked = type_(**values)
        assert type_.known(values) == checked == made
        assert made.model_fields_set == set(values)
        assert made.model_dump_json() == checked.model_dump_json()


def test_a_copy_of_what_is_not_checked_leaves_the_others_alone(schema: Schema) -> None:
    first, second = schema.tables[0].fields[:2]
    changed = first.model_copy(update={"doc": ("new",)})
    assert changed.doc == ("new",) != first.doc
    assert changed.model_fields_set == second.model_fields_set == set(Field.model_fields)
    assert first.attributes is not second.attributes
