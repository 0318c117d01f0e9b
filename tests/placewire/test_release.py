"""`placewire release`: what it keeps, what it refuses, and what its check finds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.placewire.compat_place import PROJECT, WAIVER, Place, Run

SHOP = """namespace shop;
enum Color : byte { RED, GREEN, BLUE }
struct Point { x: float; y: float; }
table Note { text: string (required); }
union Extra { Note, Tag }
table Tag { number: int; next: Tag; }
table Item { name: string; price: int = 3; color: Color = GREEN; place: Point; extra: Extra;
  notes: [Note]; }
root_type Item;
"""


@pytest.fixture
def shop(tmp_path: Path) -> Place:
    """A project whose generated code is fresh, and all of which is committed."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    place = Place(tmp_path)
    place.write("pyproject.toml", PROJECT)
    place.write(".gitignore", ".placewire*\n__pycache__/\n")
    place.write("schema/shop.fbs", SHOP)
    commit_generated(place, "-q")
    return place


def commit_generated(place: Place, *options: str) -> None:
    assert placewire(place, "generate").code == 0
    if not (place.folder / ".git").exists():
        place.git("init", "-q", "-b", "main")
    place.git("add", ".")
    place.git("commit", "-m", "change", *options)


def placewire(place: Place, *arguments: str, **environment: str) -> Run:
    process = subprocess.run(
        [sys.executable, "-m", "placewire", *arguments],
        cwd=place.folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200", **environment},
    )
    assert "Traceback" not in process.stderr, process.stderr
    return Run(process.returncode, process.stdout, process.stderr)


def released(place: Place, version: str) -> Path:
    run = placewire(place, "release", version)
    assert run.code == 0, run.err
    folder = place.folder / "schema/history" / version
    assert folder.is_dir()
    place.git("add", ".")
    place.git("commit", "-qm", version)
    return folder


def test_a_release_has_the_schema_and_golden_buffers_for_every_table(shop: Place) -> None:
    folder = released(shop, "1.0.0")
    assert (folder / "shop.fbs").read_text() == SHOP
    assert sorted(path.name for path in (folder / "golden").glob("*.bin")) == [
        *("shop.Item.1.bin", "shop.Item.2.bin", "shop.Item.empty.bin"),
        *("shop.Note.1.bin", "shop.Note.empty.bin", "shop.Tag.1.bin", "shop.Tag.empty.bin"),
    ]


def test_a_golden_buffer_has_no_default_in_it(shop: Place) -> None:
    said = json.loads((released(shop, "1.0.0") / "golden/contents.json").read_text())
    item = said["shop.Item.2"]
    assert set(item) == {"0 name", "1 price", "2 color", "3 place", "5 extra", "6 notes"}
    assert item["0 name"]
    assert item["1 price"] not in (0, 3)
    assert item["2 color"] != 1
    assert item["3 place"]["0 x"] != item["3 place"]["4 y"]
    assert (said["shop.Item.1"]["5 extra"]["tag"], item["5 extra"]["tag"]) == (1, 2)
    assert len(item["6 notes"]) == 2
    assert set(said["shop.Item.empty"]) == {"1 price", "2 color"}


def test_golden_buffers_are_the_same_everywhere(shop: Place) -> None:
    first = released(shop, "1.0.0")
    run = placewire(shop, "release", "1.0.1", PYTHONHASHSEED="77")
    assert run.code == 0, run.err
    names = sorted(path.name for path in (first / "golden").iterdir())
    assert len(names) == 8
    for name in names:
        again = first.parent / "1.0.1/golden" / name
        assert again.read_bytes() == (first / "golden" / name).read_bytes(), name


def test_a_version_that_exists_is_refused(shop: Place) -> None:
    released(shop, "1.0.0")
    run = placewire(shop, "release", "1.0.0")
    assert run == Run(
        2,
        "",
        "error: schema/history/1.0.0 exists; a release is never changed, choose a higher version\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("0.9",), "0.9 does not come after 1.0.0, the last release"),
        (("../x",), "`../x` is no version; name one such as 1.2.0"),
        ((), "say either which version to release, or --check"),
        (("1.1", "--check"), "say either which version to release, or --check"),
    ],
)
def test_wrong_usage_is_told(shop: Place, arguments: tuple[str, ...], message: str) -> None:
    released(shop, "1.0.0")
    run = placewire(shop, "release", *arguments)
    assert (run.code, run.out, run.err) == (2, "", f"error: {message}\n")


def test_what_is_not_committed_is_refused(shop: Place) -> None:
    shop.write("schema/more.fbs", "table More { x: int; }\n")
    run = placewire(shop, "release", "1.0.0")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: schema/more.fbs: not committed; commit or remove ")
    assert not (shop.folder / "schema/history").exists()


def test_stale_generated_code_is_refused(shop: Place) -> None:
    shop.write("schema/shop.fbs", SHOP.replace("price: int = 3", "price: int = 4"))
    shop.git("commit", "-qam", "only the schema")
    run = placewire(shop, "release", "1.0.0")
    assert (run.code, run.out) == (2, "")
    assert "not what the schema generates; run `placewire generate` and commit" in run.err


def test_a_schema_that_does_not_parse_is_refused(shop: Place) -> None:
    shop.write("schema/shop.fbs", "table T { a: nothing; }\n")
    run = placewire(shop, "release", "1.0.0")
    assert run.code == 2
    assert "schema/shop.fbs:1:14: error: " in run.err


def test_a_break_on_the_wire_is_refused_until_it_is_waived(shop: Place) -> None:
    released(shop, "1.0.0")
    shop.write("schema/shop.fbs", SHOP.replace("price: int = 3", "price: long = 3"))
    commit_generated(shop, "-q")
    run = placewire(shop, "release", "2.0.0")
    assert run.code == 1
    assert "shop.Item.price: type is int64, was int32 [FIELD_SAME_WIRE_TYPE]" in run.out
    assert "1 finding: nothing was released. Keep what release 1.0.0 promised" in run.err
    waiver = WAIVER.replace("ENUM_MEMBER_NO_DELETE", "FIELD_SAME_WIRE_TYPE")
    shop.write("pyproject.toml", PROJECT + waiver.replace("shop.Color.*", "shop.Item.price"))
    shop.git("commit", "-qam", "waived")
    released(shop, "2.0.0")
    run = placewire(shop, "release", "--check")
    assert run.code == 0
    assert "note: 1.0.0 and today's code are not read by each other: 1 break since" in run.err


def test_a_schema_that_has_grown_is_released_and_the_check_is_good(shop: Place) -> None:
    released(shop, "1.0.0")
    grown = SHOP.replace("union Extra { Note, Tag }", "union Extra { Note, Tag, Item }")
    shop.write("schema/shop.fbs", grown.replace("[Note];", "[Note]; weight: double = 2.5;"))
    commit_generated(shop, "-q")
    assert placewire(shop, "release", "--check") == Run(0, "", "1.0.0: good\n")
    released(shop, "1.1.0")
    assert placewire(shop, "release", "--check") == Run(0, "", "1.0.0: good\n1.1.0: good\n")


def test_the_check_needs_a_release(shop: Place) -> None:
    run = placewire(shop, "release", "--check")
    assert run == Run(2, "", "error: schema/history holds no release to check\n")


def test_a_golden_buffer_that_is_missing_is_found(shop: Place) -> None:
    golden = released(shop, "1.0.0") / "golden/shop.Note.1.bin"
    golden.unlink()
    run = placewire(shop, "release", "--check")
    assert (run.code, run.out) == (1, "schema/history/1.0.0/golden/shop.Note.1.bin is missing\n")
    shutil.rmtree(golden.parent)
    assert "golden is missing, the folder" in placewire(shop, "release", "--check").out


def test_a_golden_buffer_that_was_changed_is_found_by_both_readers(shop: Place) -> None:
    golden = released(shop, "1.0.0") / "golden/shop.Note.1.bin"
    golden.write_bytes(golden.read_bytes().replace(b"Note.text", b"Note.test"))
    run = placewire(shop, "release", "--check")
    assert run.code == 1
    readers = ["the code of 1.0.0", "today's code"]
    assert [line.partition("read by ")[2].partition(":")[0] for line in run.out.splitlines()] == (
        readers
    )
    assert all("text is 'Note.test 1 μ', expected " in line for line in run.out.splitlines())


def test_a_golden_buffer_that_was_damaged_is_found(shop: Place) -> None:
    golden = released(shop, "1.0.0") / "golden/shop.Item.1.bin"
    golden.write_bytes(golden.read_bytes()[:20])
    run = placewire(shop, "release", "--check")
    assert run.code == 1
    assert run.out.count("shop.Item.1.bin, read by ") == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "contents.json is not JSON: Expecting property name"),
        (b"\xff", "contents.json is not JSON: 'utf-8' codec can't decode byte 0xff"),
        (b"[1]", "contents.json is not one JSON object that holds one a buffer"),
        (b'{"shop.Note.1": 7}', "contents.json is not one JSON object that holds one a buffer"),
        (None, "contents.json cannot be read: No such file or directory"),
    ],
)
def test_contents_that_cannot_be_read_are_a_problem_of_their_release(
    shop: Place, text: bytes | None, message: str
) -> None:
    contents = released(shop, "1.0.0") / "golden/contents.json"
    if text is None:
        contents.unlink()
    else:
        contents.write_bytes(text)
    run = placewire(shop, "release", "--check")
    assert run.code == 1
    assert message in run.out
    assert run.out.endswith("; restore it as it was released\n")
    assert run.err == "1.0.0: 1 problem\n"


def test_a_golden_buffer_of_no_table_is_found(shop: Place) -> None:
    contents = released(shop, "1.0.0") / "golden/contents.json"
    said = json.loads(contents.read_text(encoding="utf-8"))
    contents.write_text(json.dumps({**said, "shop.Gone.1": {}}), encoding="utf-8")
    contents.with_name("shop.Gone.1.bin").write_bytes(b"")
    run = placewire(shop, "release", "--check")
    assert run.code == 1
    assert run.out.endswith("contents.json: shop.Gone.1 is of no table of the release\n")


def test_a_history_that_cannot_be_written_is_refused(shop: Place) -> None:
    shop.write("schema/history", "")
    shop.git("add", ".")
    shop.git("commit", "-q", "-m", "a file in the place of the folder")
    run = placewire(shop, "release", "1.0.0")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: the release cannot be written: schema/history")
    assert run.err.endswith(": Not a directory\n")
