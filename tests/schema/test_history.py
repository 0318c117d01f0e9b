"""Every release's golden buffers, read by today's codecs, and today's buffers by every release."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import placewire_schema
import pytest
from placewire_codegen.evolution import Level, compare_schemas
from placewire_codegen.evolution.contents import contents, differences
from placewire_codegen.evolution.golden_objects import GoldenObjects
from placewire_codegen.evolution.history import Version, history_problems
from placewire_codegen.evolution.references import References
from placewire_schema import _pure, reflection

ROOT = Path(__file__).parents[2]
HISTORY = sorted(path for path in (ROOT / "schema/history").iterdir() if path.is_dir())
GOLDENS = [path for version in HISTORY for path in sorted((version / "golden").glob("*.bin"))]
TODAY = {reflection.describe(type_).wire_name: type_ for type_ in reflection.tables()}


def label(path: Path) -> str:
    return f"{path.parents[1].name}-{path.stem}" if path.suffix == ".bin" else path.name


@cache
def version(folder: Path) -> Version:
    side = References(ROOT).side(str(folder))
    return Version.of(folder.name, side.schema)


@cache
def said(folder: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, Any] = json.loads((folder / "golden/contents.json").read_text())
    return found


def package() -> ModuleType:
    return placewire_schema


def test_every_release_has_golden_buffers() -> None:
    assert HISTORY
    for folder in HISTORY:
        names = {path.stem for path in GOLDENS if path.parents[1] == folder}
        tables = set(version(folder).tables())
        assert len(tables) > 30
        assert {f"{table}.{kind}" for table in tables for kind in ("empty", "1")} <= names
        assert names == set(said(folder))


def test_every_member_of_a_union_is_in_a_golden_buffer() -> None:
    tags = {
        contents_["1 val"]["tag"]
        for name, contents_ in said(HISTORY[-1]).items()
        if name.startswith("executorch_flatbuffer.EValue.") and "1 val" in contents_
    }
    field = reflection.describe(TODAY["executorch_flatbuffer.EValue"]).field("val")
    assert isinstance(field.type, reflection.UnionInfo)
    assert tags == set(field.type.members)


@pytest.mark.parametrize("folder", HISTORY, ids=label)
def test_nothing_since_a_release_breaks_bytes_or_meaning(folder: Path) -> None:
    today = References(ROOT).project_side().schema
    found = compare_schemas(version(folder).schema, today)
    assert [finding for finding in found if finding.level is not Level.SOURCE] == []


@pytest.mark.parametrize("path", GOLDENS, ids=label)
@pytest.mark.parametrize("codec", ["native", "python"])
def test_todays_codec_reads_what_a_release_wrote(path: Path, codec: str) -> None:
    if codec == "native":
        assert placewire_schema.codec_name() == "native", "build the native module first"
    unpack = placewire_schema.unpack if codec == "native" else _pure.unpack
    type_ = TODAY[path.stem.rpartition(".")[0]]
    obj = unpack(type_, path.read_bytes(), strict=True, report=None, check_identifier=False)
    expected = said(path.parents[1])[path.stem]
    assert list(differences(expected, contents(obj, package()))) == []


@pytest.mark.parametrize("folder", HISTORY, ids=label)
def test_a_release_reads_what_todays_codec_writes(folder: Path) -> None:
    objects = GoldenObjects(package())
    then = version(folder)
    read = 0
    for table in then.tables():
        for variant, obj in objects.variants(TODAY[table]):
            found = then.read(table, placewire_schema.pack(obj))
            assert list(differences(found, contents(obj, package()))) == [], f"{table}.{variant}"
            read += 1
    assert read >= len([path for path in GOLDENS if path.parents[1] == folder])


@pytest.mark.parametrize("folder", HISTORY, ids=label)
def test_the_check_of_the_command_finds_nothing(folder: Path) -> None:
    today = Version.of("today", References(ROOT).project_side().schema)
    assert list(history_problems(folder, version(folder), today)) == []
