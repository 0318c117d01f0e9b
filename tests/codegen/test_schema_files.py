"""Finding and reading files: entries, includes, and what cannot be read."""

from __future__ import annotations

import errno
import gc
import os
from pathlib import Path

import pytest
from placewire_codegen.diagnostics import SchemaError
from placewire_codegen.model import Schema
from placewire_codegen.resolve import load_schema


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def load(folder: Path, *entries: str, include: tuple[str, ...] = ()) -> Schema:
    return load_schema(
        [folder / entry for entry in entries],
        include_directories=[folder / each for each in include],
        root=folder,
    )


def message_of(folder: Path, *entries: str) -> str:
    """Return the text of the only defect."""
    with pytest.raises(SchemaError) as raised:
        load(folder, *entries)
    (diagnostic,) = raised.value.diagnostics
    return str(diagnostic)


def test_includes_come_before_their_includer(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.fbs": 'include "sub/b.fbs"; include "d.fbs"; table A { b: B; d: D; }',
            "sub/b.fbs": 'include "c.fbs"; table B { c: C; }',
            "sub/c.fbs": "table C {}",
            "d.fbs": "table D {}",
        },
    )
    schema = load(tmp_path, "a.fbs")
    assert schema.files == ("sub/c.fbs", "sub/b.fbs", "d.fbs", "a.fbs")
    assert [table.name for table in schema.tables] == ["C", "B", "D", "A"]


def test_a_file_included_twice_is_read_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.fbs": 'include "b.fbs"; include "c.fbs"; table A { d: D; }',
            "b.fbs": 'include "d.fbs"; table B { d: D; }',
            "c.fbs": 'include "./d.fbs"; table C { d: D; }',
            "d.fbs": "table D {}",
        },
    )
    assert load(tmp_path, "a.fbs").files == ("d.fbs", "b.fbs", "c.fbs", "a.fbs")


def test_files_may_include_each_other(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.fbs": 'include "b.fbs"; table A { b: B; }',
            "b.fbs": 'include "a.fbs"; table B {}',
        },
    )
    assert load(tmp_path, "a.fbs").files == ("b.fbs", "a.fbs")


def test_an_include_is_looked_for_beside_its_includer_first(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.fbs": 'include "b.fbs"; table A { b: Near; }',
            "b.fbs": "table Near {}",
            "lib/b.fbs": "table Far {}",
        },
    )
    assert load(tmp_path, "a.fbs", include=("lib",)).files == ("b.fbs", "a.fbs")


def test_include_directories_are_searched_in_order(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.fbs": 'include "b.fbs"; table A {}',
            "one/x.fbs": "table X {}",
            "two/b.fbs": "table Two {}",
            "three/b.fbs": "table Three {}",
        },
    )
    assert load(tmp_path, "a.fbs", include=("one", "two", "three")).files[0] == "two/b.fbs"


def test_an_entry_may_be_included_by_another(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.fbs": 'table A {} root_type A; file_identifier "AAAA";',
            "b.fbs": 'include "a.fbs"; table B { a: A; } root_type B; file_identifier "BBBB";',
        },
    )
    for entries in (("a.fbs", "b.fbs"), ("b.fbs", "a.fbs")):
        schema = load(tmp_path, *entries)
        assert [table.name for table in schema.tables] == ["A", "B"]
        roots = {root.table: root.identifier for root in schema.roots}
        assert roots == {"A": "AAAA", "B": "BBBB"}


def test_the_root_of_an_included_file_is_not_a_root(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.fbs": 'table A {} root_type A; file_identifier "AAAA"; file_extension "aaa";',
            "b.fbs": 'include "a.fbs"; table B {} root_type B;',
        },
    )
    (root,) = load(tmp_path, "b.fbs").roots
    assert (root.table, root.identifier, root.extension) == ("B", None, None)


def test_an_entry_sees_only_what_it_includes(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.fbs": 'attribute "x"; table A {}',
            "b.fbs": "table B { a: A; b: int (x); }",
        },
    )
    with pytest.raises(SchemaError) as raised:
        load(tmp_path, "a.fbs", "b.fbs")
    messages = [diagnostic.message for diagnostic in raised.value.diagnostics]
    assert messages == ["unknown type `A`", "attribute `x` is not declared"]


def test_attributes_of_an_include_are_declared(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.fbs": 'include "b.fbs"; table A { a: int (x); }',
            "b.fbs": 'attribute "x"; table B {}',
        },
    )
    assert load(tmp_path, "b.fbs", "a.fbs").table("A").fields[0].attributes == {"x": True}


def test_two_entries_cannot_declare_one_name(tmp_path: Path) -> None:
    write(tmp_path, {"a.fbs": "table T {}", "b.fbs": "table T {}"})
    text = message_of(tmp_path, "a.fbs", "b.fbs")
    assert text.startswith("b.fbs:1:7: error: `T` is declared twice")
    assert "a.fbs:1:7: note: first declared here" in text


def test_defects_are_listed_file_by_file_in_order(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.fbs": 'include "b.fbs"; table A { a: X; b: int = 1.5; c int; }',
            "b.fbs": "table B { b: Y; } @",
        },
    )
    with pytest.raises(SchemaError) as raised:
        load(tmp_path, "a.fbs")
    places = [str(diagnostic.span) for diagnostic in raised.value.diagnostics]
    assert places == ["b.fbs:1:14", "b.fbs:1:19", "a.fbs:1:31", "a.fbs:1:43", "a.fbs:1:50"]


def test_a_missing_entry(tmp_path: Path) -> None:
    expected = "a.fbs: error: cannot read the file: no such file or directory"
    assert message_of(tmp_path, "a.fbs") == expected


def test_a_directory_as_entry(tmp_path: Path) -> None:
    (tmp_path / "a.fbs").mkdir()
    assert message_of(tmp_path, "a.fbs") == "a.fbs: error: cannot read the file: is a directory"


def test_a_directory_as_include(tmp_path: Path) -> None:
    write(tmp_path, {"a.fbs": 'include "b.fbs";\ntable A { b: B; }'})
    (tmp_path / "b.fbs").mkdir()
    assert message_of(tmp_path, "a.fbs") == (
        "a.fbs:1:9: error: `b.fbs`: cannot read the file: is a directory\n"
        '   1 | include "b.fbs";\n'
        "     |         ^^^^^^^"
    )


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.fbs": "table T {}"})

    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(Path, "read_bytes", refuse)  # root may read everything
    assert message_of(tmp_path, "a.fbs") == "a.fbs: error: cannot read the file: permission denied"


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a.fbs").write_bytes(b"// caf\xe9\ntable T {}\n")
    assert message_of(tmp_path, "a.fbs") == (
        "a.fbs:1:7: error: byte 0xE9 is not UTF-8\n"
        "   1 | // caf\ufffd\n"
        "     |       ^\n"
        "     = hint: save the file as UTF-8"
    )


def test_a_byte_order_mark_is_no_character(tmp_path: Path) -> None:
    (tmp_path / "a.fbs").write_bytes(b"\xef\xbb\xbftable T {}\r\n")
    assert str(load(tmp_path, "a.fbs").table("T").location) == "a.fbs:1:7"


def test_a_missing_include_causes_no_other_defect(tmp_path: Path) -> None:
    write(
        tmp_path, {"a.fbs": 'include "x/b.fbs"; table A { b: B; c: int (unknown); } root_type R;'}
    )
    text = message_of(tmp_path, "a.fbs")
    assert text.startswith('a.fbs:1:9: error: included file "x/b.fbs" does not exist')


def test_a_file_outside_the_root_is_named_from_there(tmp_path: Path) -> None:
    write(
        tmp_path, {"lib/b.fbs": "table B {}", "project/a.fbs": 'include "../lib/b.fbs"; table A {}'}
    )
    schema = load_schema([tmp_path / "project" / "a.fbs"], root=tmp_path / "project")
    assert schema.files == ("../lib/b.fbs", "a.fbs")


def test_includes_that_nest_too_deep_are_a_defect_and_no_crash(tmp_path: Path) -> None:
    for number in range(2000):
        text = f'include "{number + 1}.fbs"; table T{number} {{}}'
        (tmp_path / f"{number}.fbs").write_text(text, encoding="utf-8")
    assert "more than 100 nested includes" in message_of(tmp_path, "0.fbs")


def test_objects_that_the_collector_was_told_to_leave_stay_so(tmp_path: Path) -> None:
    (tmp_path / "a.fbs").write_text("table T {}")
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        load_schema([tmp_path / "a.fbs"], root=tmp_path)
        assert gc.get_freeze_count() == before > 0
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_goes_on_as_it_did(tmp_path: Path, enabled: bool) -> None:
    (tmp_path / "a.fbs").write_text("table T {}")
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        load_schema([tmp_path / "a.fbs"], root=tmp_path)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
    assert gc.get_freeze_count() == 0
