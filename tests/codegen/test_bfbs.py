"""Binary schemas: what flatc wrote is read, and what we write says the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from flatbuffers import Builder
from hypothesis import given, settings
from hypothesis import strategies as st
from placewire_codegen.bfbs import read_bfbs, write_bfbs
from placewire_codegen.bfbs_format import (
    BaseType,
    EnumRecord,
    FieldRecord,
    ObjectRecord,
    SchemaRecord,
    TypeRecord,
)
from placewire_codegen.bfbs_records import records_of
from placewire_codegen.bfbs_wire import read_records, write_records
from placewire_codegen.diagnostics import SchemaError
from placewire_codegen.model import AttributeValue, Schema
from placewire_codegen.resolve import load_schema

from tests.codegen.accepted_schemas import ACCEPTED, write_included
from tests.codegen.binary_schemas import EVERYTHING, again, facts, load, meaning

BINARY = EVERYTHING.with_suffix(".bfbs").read_bytes()
Read = Callable[[str], Schema]


def problem(data: bytes) -> str:
    """Return the only thing that is wrong with a file."""
    with pytest.raises(SchemaError) as raised:
        read_bfbs(data, Path("x.bfbs"))
    [diagnostic] = raised.value.diagnostics
    return str(diagnostic)


# What flatc wrote


def test_a_file_of_flatc_means_what_its_text_means() -> None:
    theirs, ours = load(EVERYTHING.with_suffix(".bfbs")), load(EVERYTHING)
    assert len(ours.tables) >= 6
    assert meaning(theirs) == meaning(ours)
    assert theirs.stamp == ours.stamp


def test_what_we_write_says_what_flatc_says() -> None:
    written = read_records(write_bfbs(load(EVERYTHING)))
    assert facts(written) == facts(read_records(BINARY))


def test_a_schema_that_was_read_is_written_as_it_was() -> None:
    read = read_bfbs(BINARY, Path("everything.bfbs"))
    assert write_bfbs(read) == write_bfbs(load(EVERYTHING))


def test_a_definition_keeps_the_name_of_its_file() -> None:
    read = read_bfbs(BINARY, Path("everything.bfbs"))
    assert str(read.enum("shared.Colour").location) == "shared/colour.fbs"
    assert read.files == ("everything.bfbs",)
    assert [(source.path, source.includes) for source in read.sources] == [
        ("everything.fbs", ("shared/colour.fbs",)),
        ("shared/colour.fbs", ()),
        ("everything.bfbs", ("everything.fbs", "shared/colour.fbs")),
    ]


# What survives a file


def test_every_small_schema_survives(read: Read, tmp_path: Path) -> None:
    write_included(tmp_path)
    texts = [
        text
        for topic, texts in ACCEPTED.items()
        for text in texts
        if topic != "defaults of strings"
    ]
    assert len(texts) > 150
    changed = {text for text in texts if meaning(again(read(text))) != meaning(read(text))}
    assert changed == {
        # A number in quotes is a number afterwards.
        'table T { a:int (id:"0"); }',
        'struct S (force_align:"16") { a:int; }',
        'table T { a:int (native_default:"5"); }',
        # A bare attribute is 0 afterwards if it has other numbers.
        'attribute x; enum E:byte { A (x), B (x: "y"), C (x: 3) }',
        "attribute x; rpc_service S (x) { M(T):T (x: 1); } table T {}",
        # Of what is required, a file does not say whether it has a default.
        "table T { a:[int]=[] (required); }",
    }


@pytest.mark.parametrize(
    "field",
    [
        "a: ulong = 18446744073709551615",
        "a: double = -0.0",
        "a: float = -inf",
        "a: double = nan",
        "a: float = 1e-45",
        "a: long = -9223372036854775808",
    ],
)
def test_a_default_survives(read: Read, field: str) -> None:
    schema = read(f"table T {{ {field}; }}")
    assert again(schema).stamp == schema.stamp


@pytest.mark.parametrize(
    ("attributes", "survives_as"),
    [
        ("(bare)", {"bare": True}),
        ("(text: 'x\"\\\\ é\\n')", {"text": 'x"\\ é\n'}),
        ("(number: -3)", {"number": -3}),
        ("(number: 0x10)", {"number": 16}),
        ("(quoted: '3000000000')", {"quoted": "3000000000"}),
        # The file says the same for these as for the number and the bare attribute.
        ("(quoted: '3')", {"quoted": 3}),
        ("(number: 0)", {"number": True}),
    ],
)
def test_an_attribute_survives(
    read: Read, attributes: str, survives_as: dict[str, AttributeValue]
) -> None:
    declared = "".join(f"attribute {name};" for name in ("bare", "text", "number", "quoted"))
    schema = again(read(f"{declared} table T {attributes} {{}}"))
    assert schema.table("T").attributes == survives_as


def test_a_zero_is_a_number_if_the_attribute_has_others(read: Read) -> None:
    schema = again(read("attribute w; enum E : byte { A (w: 0), B (w: 2), C (required) }"))
    assert [member.attributes for member in schema.enum("E").members] == [
        {"w": 0},
        {"w": 2},
        {"required": True},
    ]


def test_an_identifier_without_a_root_survives(read: Read) -> None:
    schema = again(read('table T {} file_identifier "ABCD"; file_extension "abc";'))
    assert (schema.sources[-1].identifier, schema.sources[-1].extension) == ("ABCD", "abc")


def test_names_that_are_ambiguous_in_text_survive(read: Read) -> None:
    """`A.T` inside of `B` would be `B.A.T` in a text; a file refers by number."""
    schema = read("namespace A; table T {} table U { t: T; } namespace B.A; table T { x: int; }")
    moved = schema.model_copy(
        update={"tables": tuple(each for each in schema.tables if each.name == "T")}
    )
    user = schema.table("A.U").model_copy(update={"namespace": "B"})
    confusing = Schema(**{**dict(moved), "tables": (*moved.tables, user)})
    assert again(confusing).table("B.U").fields[0].type.ref == "A.T"


def test_equal_schemas_give_equal_bytes(read: Read) -> None:
    text = EVERYTHING.with_name("shared").joinpath("colour.fbs").read_text()
    assert write_bfbs(read(text)) == write_bfbs(read(text))


def test_several_roots_are_refused(tmp_path: Path) -> None:
    for name in ("A", "B"):
        (tmp_path / f"{name}.fbs").write_text(f"table {name} {{}} root_type {name};")
    schema = load_schema([tmp_path / "A.fbs", tmp_path / "B.fbs"], root=tmp_path)
    with pytest.raises(ValueError, match="has A, B; load each entry alone"):
        write_bfbs(schema)


# Files without builtin attributes, which is what flatc writes unless told otherwise


def without_builtins(schema: Schema) -> SchemaRecord:
    record = records_of(schema)
    return replace(
        record,
        objects=tuple(
            replace(
                each,
                attributes=(),
                fields=tuple(replace(field, attributes=()) for field in each.fields),
            )
            for each in record.objects
        ),
    )


def test_what_the_file_says_otherwise_replaces_attributes(read: Read) -> None:
    schema = read(
        "struct S (force_align: 16) { a: int; } table T { k: string (key); r: S (required); "
        "d: int (deprecated); o: [ubyte] (offset64); v: [int] (vector64); }"
    )
    assert again(schema).stamp == schema.stamp
    bare = read_bfbs(write_records(without_builtins(schema)), Path("x.bfbs"))
    assert bare.stamp == schema.stamp


# Several files


def bfbs_of(text: str, path: Path) -> Path:
    path.with_suffix(".fbs").write_text(text)
    path.write_bytes(write_bfbs(load(path.with_suffix(".fbs"))))
    return path


def test_entries_may_be_text_and_binary(tmp_path: Path) -> None:
    binary = bfbs_of("table A {} root_type A;", tmp_path / "a.bfbs")
    (tmp_path / "b.fbs").write_text("table B {} root_type B;")
    schema = load_schema([binary, tmp_path / "b.fbs"], root=tmp_path)
    assert [root.table for root in schema.roots] == ["A", "B"]
    assert schema.files == ("a.bfbs", "b.fbs")


def test_two_files_may_hold_the_same_include(tmp_path: Path) -> None:
    (tmp_path / "common.fbs").write_text("enum E : byte { A } struct S { e: E; }")
    paths = [
        bfbs_of(f'include "common.fbs"; table {name} {{ s: S; }}', tmp_path / f"{name}.bfbs")
        for name in ("A", "B")
    ]
    schema = load_schema([*paths, tmp_path / "common.fbs"], root=tmp_path)
    assert sorted(schema.definitions) == ["A", "B", "E", "S"]


def test_two_files_that_disagree_are_refused(tmp_path: Path) -> None:
    one = bfbs_of("struct S { a: int; }", tmp_path / "one.bfbs")
    two = bfbs_of("struct S { a: uint; }", tmp_path / "two.bfbs")
    with pytest.raises(SchemaError, match=r"`S` is not what `one.fbs` declares under that name"):
        load_schema([one, two], root=tmp_path)


def test_a_binary_schema_cannot_be_included(tmp_path: Path) -> None:
    bfbs_of("table A {}", tmp_path / "a.bfbs")
    (tmp_path / "b.fbs").write_text('include "a.bfbs";\n')
    with pytest.raises(SchemaError, match="a binary schema cannot be included"):
        load(tmp_path / "b.fbs")


# What is wrong with a file


def test_a_file_of_something_else_is_named() -> None:
    assert problem(b"table T { a: int; }") == (
        "x.bfbs: error: not a binary schema: bytes 4 to 8 are b'e T ', expected b'BFBS'\n"
        "     = hint: write one with `flatc -b --schema --bfbs-comments --bfbs-builtins`"
    )
    assert problem(b"BFBS") == (
        "x.bfbs: error: not a binary schema: the file has 4 bytes, the least is 12"
    )


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="cannot read the file: no such file"):
        load(tmp_path / "missing.bfbs")


def test_every_truncated_file_is_refused() -> None:
    for length in range(0, len(BINARY), 7):
        assert "x.bfbs: error: " in problem(BINARY[:length])


def damaged(**changes: object) -> bytes:
    """Write the records of a small schema with other values at the top."""
    return write_records(replace(small(), **changes))  # type: ignore[arg-type]


def small() -> SchemaRecord:
    int_ = TypeRecord(base_type=BaseType.INT, element_size=1)
    x = FieldRecord(name="x", type=int_)
    y = FieldRecord(name="y", type=int_, id=1, offset=4)
    return SchemaRecord(
        enums=(EnumRecord(name="E", values=(), underlying_type=int_),),
        objects=(ObjectRecord(name="n.S", fields=(x, y), is_struct=True, minalign=4, bytesize=8),),
    )


def table(*fields: FieldRecord) -> dict[str, object]:
    return {"objects": (ObjectRecord(name="T", fields=fields),)}


def field(base: int, name: str = "f", **values: int) -> FieldRecord:
    return FieldRecord(name=name, type=TypeRecord(base_type=base, **values), offset=4)


def test_the_small_file_is_sound() -> None:
    assert read_bfbs(damaged(), Path("x.bfbs")).struct("n.S").size == 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"advanced_features": 48},
            (
                "the schema uses features newer than this version knows (advanced_features has the "
                "bits 0x30)"
            ),
        ),
        (table(field(19)), "`T.f` is of the unknown type 19; 18 is the last known one"),
        (table(field(BaseType.NONE)), "`T.f` cannot hold values of type NONE"),
        (
            table(field(BaseType.VECTOR, element=BaseType.VECTOR)),
            "`T.f` cannot hold values of type VECTOR",
        ),
        (table(field(BaseType.OBJ, index=5)), "`T.f` is of object 5; the file has 1"),
        (table(field(BaseType.INT, index=-2, name="a b")), "'a b' is not a name"),
        (table(field(BaseType.INT, index=1)), "`T.f` is of enum 1; the file has 1"),
        (
            table(field(BaseType.SHORT, index=0)),
            "`T.f` is a SHORT of `E`, which is none",
        ),
        (
            table(replace(field(BaseType.INT), offset=6)),
            "`T.f` has the id 0 and the offset 6; expected 4",
        ),
        (
            table(field(BaseType.UNION, index=0)),
            "`T.f` is a union, but no field `f_type` of that union has the id -1",
        ),
        (
            table(field(BaseType.UTYPE, index=0, name="f_type")),
            "`T.f_type` is the tag of a union that is not there",
        ),
        (
            {"objects": (replace(small().objects[0], bytesize=12),)},
            (
                "struct `n.S` has the offsets, size and alignment ([0, 4], 12, 4), but its fields "
                "give ([0, 4], 8, 4)"
            ),
        ),
        (
            {
                "objects": (
                    ObjectRecord(
                        name="S", fields=(field(BaseType.OBJ, index=0),), is_struct=True, minalign=1
                    ),
                )
            },
            "struct `S` contains itself",
        ),
        (
            {"objects": (ObjectRecord(name="a..b", fields=()),)},
            "'a..b' is not the name of a type or service",
        ),
        (
            {"objects": (ObjectRecord(name="int", fields=()),), "root_table": small().objects[0]},
            "unknown table `n.S`",
        ),
        (
            {"enums": (replace(small().enums[0], is_union=True, name="int"),)}
            | table(
                field(BaseType.UTYPE, index=0, name="f_type"),
                replace(field(BaseType.UNION, index=0), id=1, offset=6),
            ),
            "a definition called `int` cannot be referred to",
        ),
        (
            {
                "enums": (
                    replace(
                        small().enums[0],
                        underlying_type=TypeRecord(base_type=BaseType.STRING),
                    ),
                )
            },
            "`E` cannot consist of values of type STRING",
        ),
        (
            {"advanced_features": 8} | table(field(BaseType.STRING)),
            "`T.f` has a default, but a .bfbs does not hold those of strings",
        ),
    ],
)
def test_a_contradiction_is_named(changes: dict[str, object], message: str) -> None:
    assert message in problem(damaged(**changes))


def test_a_rule_of_the_language_that_is_broken_is_shown_in_the_text() -> None:
    twice = (*small().objects[0].fields, replace(small().objects[0].fields[0], id=2, offset=8))
    struct = replace(small().objects[0], fields=twice, bytesize=12)
    assert problem(damaged(objects=(struct,))) == (
        "x.bfbs:8:3: error: field `x` is declared twice\n"
        "   8 |   x: int;\n"
        "     |   ^\n"
        "x.bfbs:6:3: note: first declared here\n"
        "   6 |   x: int;\n"
        "     |   ^"
    )


def test_a_name_cannot_smuggle_in_declarations() -> None:
    object_ = ObjectRecord(name="T", fields=(), documentation=("one\ntable U {}",))
    schema = read_bfbs(damaged(objects=(object_,)), Path("x.bfbs"))
    assert [each.name for each in schema.tables] == ["T"]
    assert schema.table("T").doc == ("one", "table U {}")


def test_a_missing_part_is_named() -> None:
    root_without_fields = b"\x0c\0\0\0BFBS\x04\0\x04\0\x04\0\0\0"
    assert problem(root_without_fields) == (
        "x.bfbs: error: `objects` is missing\n     = hint: the file is damaged; write it anew"
    )


def test_parts_that_refer_to_each_other_without_end_cost_little() -> None:
    """Many tables that share one long list: reading it for each would take forever."""
    count = 3000
    builder = Builder()
    name = builder.CreateString("f")
    builder.StartObject(2)
    type_ = builder.EndObject()

    def tables(width: int, second: int) -> int:
        positions = []
        for _ in range(count):
            builder.StartObject(width)
            builder.PrependUOffsetTRelativeSlot(0, name, 0)
            builder.PrependUOffsetTRelativeSlot(1, second, 0)
            positions.append(builder.EndObject())
        builder.StartVector(4, count, 4)
        for position in positions:
            builder.PrependUOffsetTRelative(position)
        return int(builder.EndVector())

    objects = tables(2, tables(2, type_))
    builder.StartVector(4, 0, 4)
    enums = builder.EndVector()
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(0, objects, 0)
    builder.PrependUOffsetTRelativeSlot(1, enums, 0)
    builder.Finish(builder.EndObject(), b"BFBS")
    found = problem(bytes(builder.Output()))
    assert "the parts of the file refer to each other more than is reasonable" in found


# Damage


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_damage_gives_a_schema_or_a_diagnostic(data: st.DataObject) -> None:
    damaged_file = bytearray(BINARY)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(BINARY) - 1))
        damaged_file[position] = data.draw(
            st.one_of(st.sampled_from([0, 1, 4, 0x7F, 0x80, 0xFF]), st.integers(0, 255))
        )
    if data.draw(st.booleans()):
        del damaged_file[data.draw(st.integers(0, len(BINARY))) :]
    check_any(bytes(damaged_file))


@given(st.binary(max_size=200))
def test_any_bytes_behind_the_identifier_give_a_schema_or_a_diagnostic(rest: bytes) -> None:
    check_any(rest[:4].ljust(4, b"\0") + b"BFBS" + rest[4:])


def check_any(data: bytes) -> None:
    schema: Schema | None = None
    found = ""
    try:
        schema = read_bfbs(data, Path("x.bfbs"))
    except SchemaError as error:
        found = str(error)
    if schema is None:
        assert found.startswith("x.bfbs")
    else:
        assert again(schema).stamp == schema.stamp


# Start-up


def test_text_is_read_without_what_only_binary_schemas_need(tmp_path: Path) -> None:
    (tmp_path / "x.fbs").write_text("table T {}\n")
    program = (
        "import sys; from placewire_codegen.cli import main\n"
        f"sys.argv[1:] = ['--schema', {str(tmp_path / 'x.fbs')!r}, '--out', {str(tmp_path)!r}]\n"
        "try: main()\n"
        "except SystemExit as exit: assert not exit.code\n"
        "print(*sorted(sys.modules), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "placewire_codegen.resolve" in loaded
    assert not {name for name in loaded if "bfbs" in name or name in ("numpy", "flatbuffers")}
