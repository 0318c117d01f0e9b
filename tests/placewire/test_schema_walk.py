"""The walk in compiled code finds in files what the readers in Python find, place by place."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from placewire_codegen.evolution import compare_schemas
from placewire_codegen.evolution.files import FileReader, file_reader
from placewire_codegen.evolution.golden_objects import GoldenObjects
from placewire_codegen.evolution.history import Version
from placewire_codegen.evolution.references import References
from placewire_codegen.model import Schema

from placewire._runtime import SchemaWalk
from tests.codegen.evolution.edits import ALLOWED, FORBIDDEN
from tests.codegen.evolution.test_files import SHOP, schema
from tests.codegen.evolution.test_random_evolution import change, load
from tests.schema.random_schemas.schemas import random_schema

ROOT = Path(__file__).parents[2]


def readers(base: Schema, head: Schema) -> tuple[FileReader, FileReader]:
    """The reader that walks in compiled code, and the one in Python alone."""
    found = compare_schemas(base, head)
    native = file_reader(head, base=base, findings=found, walks=SchemaWalk)
    return native, replace(native, by_head=None, by_base=None)


def roots(version: Version) -> Iterator[bytes]:
    golden = GoldenObjects(version.package)
    for root in version.schema.roots:
        for _, value in golden.variants(version.tables()[root.table]):
            yield version.package.pack(value)


def damaged(data: bytes, random: Random, count: int) -> Iterator[bytes]:
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(random.choice((1, 1, 2, 5))):
            changed[random.randrange(len(changed))] = random.choice((0, 1, 2, 4, 127, 128, 255))
        yield bytes(changed[: random.choice((len(changed), random.randrange(len(changed)))) or 1])


def accepts(one: FileReader, data: bytes) -> bool:
    assert one.by_base is not None
    root = one.roots[0].base_table
    return one.by_base.finder().find(data, root, check_identifier=False) is not None


def compare(one: FileReader, other: FileReader, buffers: list[bytes], folder: Path) -> None:
    assert buffers
    files = []
    for number, data in enumerate(buffers):
        files.append(str(folder / f"{number}.bin"))
        Path(files[-1]).write_bytes(data)
    assert one.read(files) == other.read(files)


@pytest.mark.parametrize("seed", range(16))
def test_random_files_after_random_edits_read_the_same(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    before = after = random_schema(random).files
    for edit in random.sample(sorted({**ALLOWED, **FORBIDDEN}), 6):
        after = change(after, edit, random) or after
    base, head = load(before), load(after)
    sound = list(roots(Version.of("base", base)))
    one, other = readers(base, head)
    if one.by_base is not None:
        assert all(accepts(one, data) for data in sound)
    compare(
        one, other, sound + [bad for data in sound for bad in damaged(data, random, 40)], tmp_path
    )


@pytest.mark.parametrize(
    "old_and_new",
    [
        ("price: int = 3", "price: long = 3"),
        ("old: int", "old: float"),
        (", BLUE", ""),
        (", GOOD", ""),
        ("Note, Tag", "Tag: Tag = 2"),
        ("color: Color; }", "color: byte; more: byte; }"),
        ("number: int", "number: short"),
    ],
)
def test_files_with_everything_read_the_same(old_and_new: tuple[str, str], tmp_path: Path) -> None:
    base = schema(tmp_path, SHOP)
    assert old_and_new[0] in SHOP
    head = schema(tmp_path, SHOP.replace(*old_and_new))
    sound = list(roots(Version.of("shop", base)))
    one, other = readers(base, head)
    assert all(accepts(one, data) for data in sound)
    random = Random(0)
    compare(
        one, other, sound + [bad for data in sound for bad in damaged(data, random, 300)], tmp_path
    )


def test_programs_read_the_same(corpus: Path, tmp_path: Path) -> None:
    base = References(ROOT).project_side().schema
    tables = tuple(
        table.model_copy(update={"fields": tuple(f for f in table.fields if f.name != "dim_order")})
        if table.name == "Tensor"
        else table
        for table in base.tables
    )
    head = base.model_copy(update={"tables": tables})
    one, other = readers(base, head)
    programs = [str(path) for path in sorted(corpus.glob("*.pte"))]
    assert len(programs) > 10
    batch = one.read(programs)
    assert batch == other.read(programs)
    assert any(finding.at.endswith(".dim_order") for finding in batch.findings)


def test_a_reader_with_compiled_walks_can_be_sent(tmp_path: Path) -> None:
    base = schema(tmp_path, SHOP)
    one, other = readers(base, schema(tmp_path, SHOP.replace("price: int", "price: long")))
    sound = list(roots(Version.of("shop", base)))
    assert one.by_base is not None
    one.by_base.finder()  # what it has made by then is not sent
    compare(pickle.loads(pickle.dumps(one)), other, sound, tmp_path)


def test_a_description_that_leads_outside_itself_is_refused() -> None:
    field = ("child", 0, False, False, (4, 4, 4, 1), -1, -1)
    with pytest.raises(ValueError, match="leads outside itself"):
        SchemaWalk([(-1, -1, 1, [field])], [], [], [], 0)


def test_a_part_outside_its_struct_is_refused() -> None:
    number = (-1, False, False, [(0, -1)])
    part = ("color", 4, 0, (1, 1, 1, 0))
    with pytest.raises(ValueError, match="leads outside itself"):
        SchemaWalk([], [(-1, 4, 4, [part])], [number], [], 0)
