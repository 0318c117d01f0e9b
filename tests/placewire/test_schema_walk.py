"""The walk in compiled code finds in files what the readers in Python find, place by place."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

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


@pytest.mark.parametrize("seed", range(100, 116))
def test_a_buffer_is_accepted_if_and_only_if_python_finds_nothing(
    seed: int, tmp_path: Path
) -> None:
    random = Random(seed)
    head = load(random_schema(random).files)
    sound = list(roots(Version.of("head", head)))
    assert sound
    buffers = sound + [bad for data in sound for bad in damaged(data, random, 60)]
    in_python = file_reader(head)
    native = file_reader(head, walks=SchemaWalk).by_head
    assert native is not None
    refused = 0
    for data in buffers:
        (tmp_path / "buffer").write_bytes(data)
        problems = in_python.read([str(tmp_path / "buffer")]).findings
        accepts = native.finder().find(data, head.roots[0].table, check_identifier=True) is not None
        assert accepts == (not problems), (data.hex(), problems)
        refused += bool(problems)
    assert 0 < refused < len(buffers)


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


NODES = "table Node { children: [Node]; } root_type Node;"


def nodes(levels: int, children: int, *, unknown: int = 1) -> bytes:
    """A chain of nodes, each with a vector of several offsets that all lead to the next one.

    Their vtable has as many slots more as `unknown` says, which are empty; an odd number of them.
    """
    vtable_size = 6 + 2 * unknown
    data = bytearray(struct.pack("<I3H", 4 + vtable_size, vtable_size, 8, 4)) + bytes(2 * unknown)
    for level in range(levels):
        vtable = len(data) - 4
        is_last = level == levels - 1
        offsets = [] if is_last else [4 * (children - n) for n in range(children)]
        data += struct.pack(f"<iII{len(offsets)}I", vtable, 4, len(offsets), *offsets)
    return bytes(data)


def rules_of(data: bytes, head: Schema, folder: Path) -> list[str]:
    """The rules that Python finds broken; the walk must accept the buffer if there is none."""
    (folder / "buffer").write_bytes(data)
    rules = [one.rule for one in file_reader(head).read([str(folder / "buffer")]).findings]
    native = file_reader(head, walks=SchemaWalk).by_head
    assert native is not None
    root = head.roots[0].table
    accepts = native.finder().find(data, root, check_identifier=True) is not None
    assert accepts == (not rules), rules
    return rules


@pytest.mark.parametrize(
    ("data", "rules"),
    [
        (nodes(64, 1), []),
        (nodes(65, 1), ["TOO_DEEP"]),
        (nodes(6, 8), []),
        (nodes(20, 8), ["BUDGET_EXCEEDED"]),
        (nodes(6, 8, unknown=1001), ["BUDGET_EXCEEDED"]),
    ],
)
def test_depth_and_what_shared_parts_cost_are_limited_as_in_python(
    data: bytes, rules: list[str], tmp_path: Path
) -> None:
    assert rules_of(data, schema(tmp_path, NODES), tmp_path) == rules


BOX = """table Box { name: string; longs: [long]; inner: [ubyte] (nested_flatbuffer: "Box"); }
root_type Box;
"""


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("plain", []),
        ("\u00e4\u20ac", []),
        ("\U0010ffff?", []),
        (b"\xc0\x80ab?", ["STRING_NOT_UTF8"]),
        (b"\xe0\x9f\xbfa?", ["STRING_NOT_UTF8"]),
        (b"\xed\xa0\x80a?", ["STRING_NOT_UTF8"]),
        (b"\xf0\x8f\xbf\xbf?", ["STRING_NOT_UTF8"]),
        (b"\xf4\x90\x80\x80?", ["STRING_NOT_UTF8"]),
        (b"\xf5\x80\x80\x80?", ["STRING_NOT_UTF8"]),
        (b"abc\xe2\x82", ["STRING_NOT_UTF8"]),
        (b"\xe2\x82\x41ab", ["STRING_NOT_UTF8"]),
        (b"abcd\x80", ["STRING_NOT_UTF8"]),
    ],
)
def test_text_is_checked_as_strictly_as_in_python(
    text: str | bytes, rules: list[str], tmp_path: Path
) -> None:
    box = Version.of("box", schema(tmp_path, BOX))
    data: bytes = box.package.pack(box.tables()["Box"](name="12345"))
    content = text.encode() if isinstance(text, str) else text
    assert len(content) == 5
    assert rules_of(data.replace(b"12345", content), box.schema, tmp_path) == rules


@pytest.mark.parametrize(("gap", "rules"), [(4, []), (0, ["MISALIGNED"])])
def test_a_vector_of_longs_must_be_aligned(gap: int, rules: list[str], tmp_path: Path) -> None:
    head = struct.pack("<I5H2x", 16, 8, 8, 0, 4, 0) + struct.pack("<iI", 12, 4 + gap)
    data = head + bytes(gap) + struct.pack("<Iq", 1, 7)
    assert rules_of(data, schema(tmp_path, BOX), tmp_path) == rules


def test_a_nested_buffer_cannot_use_a_vtable_outside_it(tmp_path: Path) -> None:
    box = Version.of("box", schema(tmp_path, BOX))
    make, pack = box.tables()["Box"], box.package.pack
    data = bytearray(pack(make(inner=pack(make(inner=pack(make(longs=[])))))))
    assert rules_of(bytes(data), box.schema, tmp_path) == []
    (table,) = struct.unpack_from("<I", data)
    vtable = table - struct.unpack_from("<i", data, table)[0]
    field = table + struct.unpack_from("<H", data, vtable + 8)[0]
    nested = field + struct.unpack_from("<I", data, field)[0] + 4
    inner = nested + struct.unpack_from("<I", data, nested)[0]
    own = inner - struct.unpack_from("<i", data, inner)[0]
    assert data[own : own + 10] == data[vtable : vtable + 10]
    struct.pack_into("<i", data, inner, inner - vtable)
    assert rules_of(bytes(data), box.schema, tmp_path) == ["VTABLE_OUT_OF_BOUNDS"]


NUMBER = (-1, False, False, [(0, -1)])
ENUM, STRUCT, TABLE, NESTED = 1, 2, 4, 6


def structure(size: int, *parts: tuple[int, int, tuple[int, ...]]) -> tuple[object, ...]:
    """A struct with parts that have a place, a length and a type."""
    return (-1, size, 1, [("part", *part) for part in parts])


def field(type_: tuple[int, ...], *, is_vector: bool = False) -> tuple[object, ...]:
    """A table with a single field."""
    return (-1, -1, 1, [("field", 0, False, is_vector, type_, -1, -1)])


# Tables, structs, enums, unions.
UNSOUND: dict[str, tuple[list[Any], list[Any], list[Any], list[Any]]] = {
    "a table that is not there": ([field((TABLE, 4, 4, 1))], [], [], []),
    "a trigger that is not there": ([(0, -1, 0, [])], [], [], []),
    "elements without a size": ([field((0, 0, 1, 0), is_vector=True)], [], [], []),
    "no alignment": ([field((0, 4, 0, 0))], [], [], []),
    "a vector of nested buffers": ([field((NESTED, 4, 4, 0), is_vector=True)], [], [], []),
    "a number of nine bytes": ([field((ENUM, 9, 1, 0))], [], [NUMBER], []),
    "a part outside its struct": ([], [structure(4, (4, 0, (ENUM, 1, 1, 0)))], [NUMBER], []),
    "an array that leaves its struct": ([], [structure(4, (1, 4, (ENUM, 1, 1, 0)))], [NUMBER], []),
    "a table in a struct": ([(-1, -1, 0, [])], [structure(4, (0, 0, (TABLE, 4, 4, 0)))], [], []),
    "a struct of another size": (
        [],
        [structure(4, (0, 0, (STRUCT, 2, 1, 1))), structure(4)],
        [],
        [],
    ),
    "a struct that contains itself": ([], [structure(4, (0, 0, (STRUCT, 4, 1, 0)))], [], []),
    "structs that contain each other": (
        [],
        [structure(4, (0, 0, (STRUCT, 4, 1, 1))), structure(4, (0, 0, (STRUCT, 4, 1, 0)))],
        [],
        [],
    ),
    "structs too deep in each other": (
        [],
        [*(structure(4, (0, 0, (STRUCT, 4, 1, n + 1))) for n in range(1000)), structure(4)],
        [],
        [],
    ),
    "a number in a union": ([], [], [], [(-1, [(1, -1, (0, 4, 4, 0))])]),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_a_description_that_leads_outside_itself_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="leads outside itself"):
        SchemaWalk(*UNSOUND[name], 0)


def test_structs_that_lie_very_deep_in_each_other_are_walked() -> None:
    chain = [structure(4, (0, 0, (STRUCT, 4, 1, n + 1))) for n in range(998)]
    last = structure(4, (0, 0, (ENUM, 4, 1, 0)))
    walk = SchemaWalk([field((STRUCT, 4, 1, 0))], [*chain, last], [(0, *NUMBER[1:])], [], 1)
    buffer = bytes((12, 0, 0, 0, 0, 0, 6, 0, 8, 0, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0))
    assert walk.find(buffer, 0, "", "") == ["field" + ".part" * 999]
