"""Which files a change touches, and where in them; how files are read, one or very many."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import distributed
import pytest
from placewire_codegen.bfbs import write_bfbs
from placewire_codegen.evolution import Level, compare_schemas
from placewire_codegen.evolution.files import FileReader, file_reader, read_files
from placewire_codegen.evolution.golden_objects import GoldenObjects
from placewire_codegen.evolution.history import Version
from placewire_codegen.features import Feature
from placewire_codegen.model import Schema
from placewire_codegen.resolve import load_schema

SHOP = """namespace shop;
file_identifier "SHOP";
enum Color : byte { RED, GREEN, BLUE }
enum Mark : ubyte (bit_flags) { NEW, CHEAP, GOOD }
struct Point { x: float; color: Color; }
table Note { text: string; old: int; }
table Tag { number: int; next: Tag; }
union Extra { Note, Tag, Point }
table Item {
  name: string;
  price: int = 3;
  color: Color = GREEN;
  place: Point;
  extra: Extra;
  notes: [Note];
  colors: [Color];
  mark: Mark;
  extras: [Extra];
  inner: [ubyte] (nested_flatbuffer: "Tag");
}
root_type Item;
"""


def schema(folder: Path, text: str) -> Schema:
    path = folder / "shop.fbs"
    path.write_text(text, encoding="utf-8")
    return load_schema([path], root=folder, features=frozenset(Feature))


@cache
def shop(folder: Path) -> Version:
    return Version.of("shop", schema(folder, SHOP))


@pytest.fixture
def base(tmp_path_factory: pytest.TempPathFactory) -> Version:
    return shop(tmp_path_factory.getbasetemp())


def item(base: Version, **values: Any) -> bytes:
    data: bytes = base.package.pack(base.tables()["shop.Item"](**values))
    return data


def full(base: Version) -> bytes:
    """A file that has everything, with a Note in its union."""
    variants = dict(GoldenObjects(base.package).variants(base.tables()["shop.Item"]))
    data: bytes = base.package.pack(variants["1"])
    return data


def reader(base: Version, folder: Path, *changes: tuple[str, str]) -> FileReader:
    text = SHOP
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    head = schema(folder, text)
    found = compare_schemas(base.schema, head)
    return file_reader(head, base=base.schema, findings=found)


def read(one: FileReader, folder: Path, data: bytes) -> list[tuple[str, str]]:
    """Rule and place of what touches a file with `data`, but for what only its reader finds."""
    path = folder / "file.bin"
    path.write_bytes(data)
    (batch,) = read_files([str(path)], one)
    assert batch.count == 1
    assert all(finding.file == str(path) for finding in batch.findings)
    return [(finding.rule, finding.at) for finding in batch.findings if finding.path]


# The change, what touches a file that has everything, and where.
CHANGES = {
    "another type": (("price: int = 3", "price: long = 3"), "FIELD_SAME_WIRE_TYPE", "price"),
    "another type deep down": (("old: int", "old: float"), "FIELD_SAME_WIRE_TYPE", "extra.old"),
    "a deleted member": ((", BLUE", ""), "ENUM_MEMBER_NO_DELETE", "color"),
    "a renumbered member": (("BLUE }", "BLUE = 7 }"), "ENUM_MEMBER_SAME_NUMBER", "color"),
    "a deleted flag": ((", GOOD", ""), "ENUM_MEMBER_NO_DELETE", "mark"),
    "a deleted union member": (("Note, Tag", "Tag: Tag = 2"), "UNION_MEMBER_NO_DELETE", "extra"),
    "another union member": (
        ("Extra { Note", "Extra { Note: Tag"),
        "UNION_MEMBER_SAME_TYPE",
        "extra",
    ),
    "a grown struct": (("x: float;", "x: float; y: double;"), "STRUCT_SAME_LAYOUT", "place"),
    "a new required field": (
        ("old: int;", "old: int; new: string (required);"),
        "FIELD_NO_NEW_REQUIRED",
        "extra",
    ),
    "another root": (("root_type Item", "root_type Note"), "SCHEMA_SAME_ROOT", ""),
    "another identifier": (('"SHOP"', '"MALL"'), "SCHEMA_SAME_IDENTIFIER", ""),
    "a nested table": (
        ("number: int", "number: short"),
        "FIELD_SAME_WIRE_TYPE",
        "extras[1].number",
    ),
    "a struct in a union": (
        ("color: Color; }", "color: byte; more: byte; }"),
        "STRUCT_SAME_PADDING",
        "place",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_with_everything_is_touched(name: str, base: Version, tmp_path: Path) -> None:
    change, rule, place = CHANGES[name]
    assert (rule, place) in read(reader(base, tmp_path, change), tmp_path, full(base))


NEVER_IN_AN_EMPTY_FILE = sorted(
    name for name, (_, rule, _) in CHANGES.items() if not rule.startswith("SCHEMA_")
)


@pytest.mark.parametrize("name", NEVER_IN_AN_EMPTY_FILE)
def test_a_file_without_it_is_not_touched(name: str, base: Version, tmp_path: Path) -> None:
    change, rule, _ = CHANGES[name]
    found = read(reader(base, tmp_path, change), tmp_path, item(base, name="only a name"))
    assert rule not in dict(found)


def test_another_default_touches_files_that_leave_the_field_out(
    base: Version, tmp_path: Path
) -> None:
    one = reader(base, tmp_path, ("price: int = 3", "price: int = 4"))
    assert read(one, tmp_path, item(base)) == [("FIELD_SAME_DEFAULT", "price")]
    assert read(one, tmp_path, item(base, price=7)) == []


def test_required_now_touches_files_that_leave_the_field_out(base: Version, tmp_path: Path) -> None:
    one = reader(base, tmp_path, ("name: string;", "name: string (required);"))
    assert read(one, tmp_path, item(base)) == [("FIELD_SAME_REQUIRED", "name")]
    assert read(one, tmp_path, item(base, name="")) == []


def test_what_breaks_only_code_or_old_readers_touches_no_file(
    base: Version, tmp_path: Path
) -> None:
    one = reader(base, tmp_path, ("name: string;", "title: string;"))
    assert len(one.findings) == 1
    assert read(one, tmp_path, full(base)) == []


def test_a_finding_says_what_it_is_about(base: Version, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(item(base, price=7))
    one = reader(base, tmp_path, ("price: int = 3", "price: long = 3"))
    (batch,) = read_files([str(path)], one)
    assert str(batch.findings[-1]) == (
        f"{path}: wire: price: shop.Item.price type is int64, was int32 [FIELD_SAME_WIRE_TYPE]"
    )


def test_the_new_reader_says_what_it_does_not_know(base: Version, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(item(base, colors=[2, 2]))
    (batch,) = read_files([str(path)], reader(base, tmp_path, (", BLUE", "")))
    assert [(one.rule, one.level, one.at) for one in batch.findings] == [
        ("UNKNOWN_ENUM_VALUE", Level.SEMANTIC, "colors[0]"),
        ("UNKNOWN_ENUM_VALUE", Level.SEMANTIC, "colors[1]"),
        ("ENUM_MEMBER_NO_DELETE", Level.SEMANTIC, "colors[0]"),
    ]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "of something else": lambda data: b"\xff" * 100,
    "a wild root": lambda data: b"\xf0\xff\xff\x7f" + data[4:],
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_a_finding(name: str, base: Version, tmp_path: Path) -> None:
    path = tmp_path / "damaged.bin"
    path.write_bytes(DAMAGES[name](full(base)))
    (batch,) = read_files([str(path)], reader(base, tmp_path, ("price: int", "price: long")))
    assert len(batch.findings) >= 1
    assert {one.level for one in batch.findings} == {Level.WIRE}


def test_no_changed_byte_makes_the_walk_fail(base: Version, tmp_path: Path) -> None:
    one = reader(base, tmp_path, ("number: int", "number: short"), ("old: int", "old: float"))
    data = full(base)
    folder = tmp_path / "many"
    folder.mkdir()
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 0xFF
        (folder / str(position)).write_bytes(changed)
    files = [str(folder / str(position)) for position in range(len(data))]
    assert sum(batch.count for batch in read_files(files, one)) == len(data) > 300


def test_a_file_that_cannot_be_read_is_a_finding(base: Version, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.bin")
    (batch,) = read_files([missing], reader(base, tmp_path, ("price: int", "price: long")))
    assert [(one.file, one.rule, one.message) for one in batch.findings] == [
        (missing, "FILE_READABLE", "No such file or directory")
    ]


def test_a_large_file_is_read(base: Version, tmp_path: Path) -> None:
    one = reader(base, tmp_path, ("price: int", "price: long"))
    data = item(base, price=7, name="x" * 3_000_000)
    assert read(one, tmp_path, data) == [("FIELD_SAME_WIRE_TYPE", "price")]


def many_files(base: Version, folder: Path, count: int = 1000) -> list[str]:
    """Files of which every third is touched by another price."""
    files = []
    for number in range(count):
        path = folder / f"{number}.bin"
        path.write_bytes(item(base, price=7 if number % 3 == 0 else 3))
        files.append(str(path))
    return files


@pytest.fixture
def prices(base: Version, tmp_path: Path) -> tuple[FileReader, list[str]]:
    return reader(base, tmp_path, ("price: int", "price: long")), many_files(base, tmp_path)


def test_threads_find_the_same_in_the_same_order(prices: tuple[FileReader, list[str]]) -> None:
    one, files = prices
    expected = list(read_files(files, one))
    assert len(expected) > 2
    assert sum(len(batch.findings) for batch in expected) >= 334
    with ThreadPoolExecutor(2) as pool:
        assert list(read_files(files, one, pool, workers=2)) == expected


def test_a_cluster_of_dask_finds_the_same(prices: tuple[FileReader, list[str]]) -> None:
    one, files = prices
    with (
        distributed.LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):
        found = list(read_files(files, one, client.get_executor(), workers=2))
    assert found == list(read_files(files, one))


def test_a_reader_can_be_sent(prices: tuple[FileReader, list[str]]) -> None:
    one, files = prices
    sent: FileReader = pickle.loads(pickle.dumps(one))
    assert sent == one
    assert sent.read(files[:10]) == one.read(files[:10])


class Counting(Executor):
    """Runs at once what it is given, and counts what has not been asked for."""

    def __init__(self) -> None:
        self.open = self.most = self.given = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given += 1
        self.open += 1
        self.most = max(self.most, self.open)
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        take = future.result

        def taken(timeout: float | None = None) -> Any:
            self.open -= 1
            return take(timeout)

        future.result = taken  # type: ignore[method-assign]
        return future


def test_only_a_few_batches_are_under_way(prices: tuple[FileReader, list[str]]) -> None:
    one, files = prices
    counting = Counting()
    total = sum(batch.count for batch in read_files(files * 12, one, counting, workers=1))
    assert total == 12_000
    assert counting.given > 40
    assert counting.most <= 4


def test_a_binary_schema_has_no_lines_and_finds_the_same(base: Version, tmp_path: Path) -> None:
    (tmp_path / "old.bfbs").write_bytes(write_bfbs(base.schema))
    old = load_schema([tmp_path / "old.bfbs"], root=tmp_path, features=frozenset(Feature))
    assert {table.location.line for table in old.tables} == {0}
    for (before, after), rule, place in CHANGES.values():
        head = schema(tmp_path, SHOP.replace(before, after))
        one = file_reader(head, base=old, findings=compare_schemas(old, head))
        assert (rule, place) in read(one, tmp_path, full(base)), rule


def test_a_schema_without_a_root_reads_no_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no root_type"):
        file_reader(schema(tmp_path, "table T { x: int; }"))
