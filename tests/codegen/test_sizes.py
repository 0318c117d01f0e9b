"""What is too large for the 16-bit numbers of a table is reported with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from placewire_codegen.config import OutputPaths, ProjectConfig, TargetName
from placewire_codegen.diagnostics import SchemaError
from placewire_codegen.generate import generate
from placewire_codegen.model import Schema
from placewire_codegen.resolve import load_schema

CODECS: tuple[TargetName, ...] = ("python", "cpp", "nanobind")


def table(count: int, type_: str) -> str:
    """Return a table of `count` fields."""
    return "table T {\n" + "".join(f"f{i}: {type_};\n" for i in range(count)) + "}\n"


def refused(folder: Path, text: str, target: TargetName) -> str:
    """Return what a target says that cannot do it."""
    (folder / "schema.fbs").write_text(text, encoding="utf-8")
    output = OutputPaths(python=Path("p"), cpp=Path("c"), nanobind=Path("n"), docs=Path("d"))
    config = ProjectConfig(
        root=folder,
        schemas=(Path("schema.fbs"),),
        package="p",
        cpp_namespace="large",
        targets=(target,),
        output=output,
    )
    with pytest.raises(SchemaError) as raised:
        generate(config)
    return str(raised.value)


@pytest.mark.parametrize("target", CODECS)
def test_a_table_of_more_than_64_kib_is_refused_by_every_codec(
    tmp_path: Path, target: TargetName
) -> None:
    assert refused(tmp_path, table(9000, "ulong"), target) == (
        "schema.fbs:1:7: error: tables and structs larger than 64 KiB are not supported yet\n"
        "   1 | table T {\n"
        "     |       ^\n"
        "     = hint: the fields of `T` take up to 135008 bytes, 65535 is the maximum; put some "
        "into a table of their own"
    )


@pytest.mark.parametrize("target", CODECS)
def test_a_struct_of_more_than_64_kib_is_refused_by_every_codec(
    tmp_path: Path, target: TargetName
) -> None:
    text = "struct S { a: [ulong: 8192]; }\ntable T { s: [S]; }\n"
    assert refused(tmp_path, text, target) == (
        "schema.fbs:1:8: error: tables and structs larger than 64 KiB are not supported yet\n"
        "   1 | struct S { a: [ulong: 8192]; }\n"
        "     |        ^\n"
        "     = hint: struct `S` has 65536 bytes, more than a table can hold; use vectors"
    )


def test_a_large_struct_is_refused_where_a_table_holds_it(tmp_path: Path) -> None:
    text = "table T { s: S; }\nstruct S { a: [ubyte: 65530]; }\n"
    assert "1:7: error: tables and structs larger than 64 KiB" in refused(tmp_path, text, "cpp")


@pytest.mark.parametrize(("count", "type_"), [(4368, "ulong"), (9361, "int"), (32763, "bool")])
def test_the_largest_tables_are_accepted(
    tmp_path: Path, count: int, type_: str, read: Callable[[str], Schema]
) -> None:
    (tmp_path / "most.fbs").write_text(table(count, type_), encoding="utf-8")
    schema = load_schema([tmp_path / "most.fbs"], root=tmp_path)
    assert len(schema.table("T").fields) == count
    if type_ != "bool":
        (tmp_path / "more.fbs").write_text(table(count + 1, type_), encoding="utf-8")
        with pytest.raises(SchemaError, match="larger than 64 KiB"):
            load_schema([tmp_path / "more.fbs"], root=tmp_path)
    assert len(read(table(count + 1, type_)).table("T").fields) == count + 1


def test_what_has_no_codec_takes_large_tables(read: Callable[[str], Schema]) -> None:
    text = "struct S { a: [ulong: 65535]; } table T { s: S; t: [S]; }"
    assert read(text).struct("S").size == 8 * 65535


def test_a_vtable_has_room_for_32765_fields(
    read: Callable[[str], Schema], messages: Callable[[str], list[str]]
) -> None:
    assert len(read(table(32765, "bool")).table("T").fields) == 32765
    assert messages(table(32766, "bool")) == ["the table has 32766 slots, 32765 is the maximum"]


def test_a_struct_larger_than_a_buffer_is_refused(messages: Callable[[str], list[str]]) -> None:
    text = "struct S { a: [ulong: 65535]; } struct R { s: [S: 65535]; }"
    assert messages(text) == ["struct `R` has 34358689800 bytes, 2147483647 is the maximum"]
