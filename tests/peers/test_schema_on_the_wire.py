"""Our program.fbs and ExecuTorch's describe the same bytes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from placewire_codegen.model import Schema
from placewire_codegen.resolve import load_schema

SCHEMA = Path(__file__).parents[2] / "schema"
HISTORY = sorted(path for path in (SCHEMA / "history").iterdir() if path.is_dir())


def conform(flatc: Path, base: Path, head: Path) -> str:
    """Return what flatc says about `head` as a successor of `base`; nothing is good."""
    done = subprocess.run(
        [flatc, "-I", base.parent, "-I", head.parent, "--conform", base, head],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def wire_facts(schema: Schema) -> dict[str, Any]:
    """Return all that decides about bytes: slots, types, defaults, numbers, identifiers."""
    facts: dict[str, Any] = {}
    for table in schema.tables:
        facts[table.full_name] = {
            field.name: (field.id, field.type, field.default, field.required, field.force_align)
            for field in table.fields
        }
    for enum in schema.enums:
        facts[enum.full_name] = (enum.underlying, {m.name: m.value for m in enum.members})
    for union in schema.unions:
        facts[union.full_name] = {
            member.tag: (member.name, member.type) for member in union.members
        }
    facts["roots"] = [(root.table, root.identifier, root.extension) for root in schema.roots]
    return facts


def load(path: Path) -> Schema:
    """Read one schema file."""
    return load_schema([path], include_directories=[path.parent], root=path.parent)


def test_flatc_finds_nothing_from_executorch_to_ours(flatc: Path, executorch_schema: Path) -> None:
    assert conform(flatc, executorch_schema / "program.fbs", SCHEMA / "program.fbs") == ""


def test_flatc_finds_nothing_from_ours_to_executorch(flatc: Path, executorch_schema: Path) -> None:
    assert conform(flatc, SCHEMA / "program.fbs", executorch_schema / "program.fbs") == ""


def test_the_flatc_of_executorch_reads_our_schemas(executorch_flatc: Path, tmp_path: Path) -> None:
    schemas = sorted(SCHEMA.glob("*.fbs"))
    assert len(schemas) == 4
    for schema in schemas:
        subprocess.run([executorch_flatc, "--cpp", "-o", tmp_path, schema], check=True)


def test_we_read_the_same_wire_facts_from_both(executorch_schema: Path) -> None:
    ours = wire_facts(load(SCHEMA / "program.fbs"))
    assert len(ours) > 40
    assert ours == wire_facts(load(executorch_schema / "program.fbs"))


def test_there_is_a_frozen_version() -> None:
    assert HISTORY


@pytest.mark.parametrize("version", HISTORY, ids=[path.name for path in HISTORY])
@pytest.mark.parametrize("name", ["program", "device_info", "errors"])
def test_today_conforms_to_every_frozen_version(flatc: Path, version: Path, name: str) -> None:
    assert conform(flatc, version / f"{name}.fbs", SCHEMA / f"{name}.fbs") == ""
