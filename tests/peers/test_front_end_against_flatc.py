"""Our front end and flatc accept the same schemas and understand them alike."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from placewire_codegen.diagnostics import SchemaError
from placewire_codegen.features import Feature
from placewire_codegen.resolve import load_schema

from tests.codegen.accepted_schemas import ACCEPTED
from tests.codegen.rejected_schemas import REJECTED
from tests.peers.binary_schema import flatc_facts, our_facts

ALL_FEATURES = frozenset(Feature)
SCHEMA = Path(__file__).parents[2] / "schema"
GOLDEN = Path(__file__).parents[1] / "codegen" / "golden"

# What flatc accepts and we do not, and why.
STRICTER: dict[str, str] = {
    "enum E:byte {A=5,B=4,C}": "flatc misses equal values that are not neighbours in the text",
    "enum E:ubyte (bit_flags, bit_flags) {A}": "an attribute given twice hides one of its values",
    "table T { a:int (id:0, id:0); }": "an attribute given twice hides one of its values",
    "struct S { a:int; s:S; }": "flatc accepts a struct that contains itself and then writes C++ "
    "that does not compile",
    "struct S { a:int (id:1); b:int (id:0); }": "ids do not move the fields of a struct",
    "struct S { a:[ubyte:65535]; b:[ubyte:65535]; c:int; }": "flatc cuts offsets to 16 bits, "
    "and c lies where a does",
    "table T { a:int (id); }": "flatc reads an id without a number as 0",
    "table T { a:[ubyte] (force_align); }": "flatc reads an alignment without a number as 0",
    "table T { a:[ubyte] (force_align:3); }": "no address is aligned so",
    "table T { a:[ubyte] (force_align:0); }": "no address is aligned so",
    "table T { a:[ubyte] (force_align:-8); }": "no address is aligned so",
    'struct S { a:int; } table T { a:[ubyte] (nested_flatbuffer:"S"); }': "the root of a "
    "FlatBuffer is a table",
    "namespace A; table T { x: V; } namespace B; table V {} namespace A; table V {}": "flatc takes "
    "the next `V` in whatever namespace, a reader the one of the same namespace",
    "union U { A = 1, B = 1 } table A {} table B {}": "two members of one tag cannot be told apart",
    "table T {} table R {} root_type T; root_type R;": "the last one would win silently",
    'file_identifier "ABCD"; file_identifier "EFGH";': "the last one would win silently",
    'file_extension "a"; file_extension "b";': "the last one would win silently",
}
# What flatc accepts and we do not yet; the message says so.
NOT_YET = (
    'table T { a:string=""; }',
    'table T { a:string="x"; }',
    'table T { a:string="x" (required); }',
    "table T { a:[int]=[]; }",
    "enum E:byte {A=1} table T { a:[E]=[]; }",
    "table T { a:int; } root_type T; { a: 5 }",
)
# What flatc rejects and we do not, and why.
LOOSER: dict[str, str] = {
    "table T{y:X; X:int;} table X{}": "flatc minds a field that has the name of a later table only "
    "if a field before it is of that type",
    "namespace D; table Q { x:T; y:D.T; } table T {}": "flatc finds a later table only if all name "
    "it alike",
}
# Goldens of schemas that flatc accepts, and why we do not.
STRICTER_GOLDENS: dict[str, str] = {
    "ambiguous_forward_reference": "see STRICTER",
    "attribute_twice": "see STRICTER",
    "not_supported_yet": "these are what we lack",
    "present_but_deprecated": "the attribute `present` is ours",
    "present_without_end": "the attribute `present` is ours",
    "present_without_sense": "the attribute `present` is ours",
    "root_twice": "see STRICTER",
    "struct_id_out_of_place": "see STRICTER",
}
# What flatc's .bfbs and our model say differently, and why.
SAID_DIFFERENTLY: dict[str, str] = {
    'table T { a:bool=2; c:bool; d:bool="true"; }': "to us a bool that is not 0 is 1",
    "table T { a:ulong=18446744073709551615; b:long=-9223372036854775808; }": "a .bfbs holds "
    "defaults as int64, and flatc writes 0 for what does not fit",
    'table T { a:uint (hash:"fnv1_32", cpp_type:"X"); }': "flatc adds a `cpp_ptr_type` of its own",
    "table T { a:[ubyte] (offset64); b:[ubyte] (vector64); c:[int] (vector64); }": "a 64-bit "
    "vector has a type of its own in flatc; our model has the attribute",
    "struct S {a:int;} table T { a:[S] (vector64); b:[S] (offset64); }": "likewise",
}


def write_cases(texts: Iterable[str], folder: Path) -> list[tuple[str, Path]]:
    """Write each text to a file of its own, with the file that some of them include beside it."""
    (folder / "other.fbs").write_text("table Other {}\n", encoding="utf-8")
    cases = []
    for number, text in enumerate(texts):
        path = folder / f"case{number}.fbs"
        path.write_text(f"{text}\n", encoding="utf-8")
        cases.append((text, path))
    assert cases
    return cases


def flatc_accepts(flatc: Path, schema: Path) -> bool:
    with TemporaryDirectory() as folder:
        options = ["-b", "--schema", "--cpp", "-o", folder]
        done = subprocess.run([flatc, *options, schema], capture_output=True, check=False)
    assert done.returncode in (0, 1), "flatc crashed"
    return done.returncode == 0


def we_accept(schema: Path) -> bool:
    try:
        load_schema([schema], root=schema.parent, features=ALL_FEATURES)
    except SchemaError:
        return False
    return True


def differences(theirs: Any, ours: Any, path: str = "") -> list[str]:
    """Return one line for each fact that is not the same on both sides."""
    if not (isinstance(theirs, dict) and isinstance(ours, dict)):
        return [] if theirs == ours else [f"{path}: flatc {theirs}, we {ours}"]
    found = []
    for key in {**theirs, **ours}:
        both = key in theirs and key in ours
        if not both:
            found.append(f"{path}/{key}: only {'flatc' if key in theirs else 'we'}")
        else:
            found += differences(theirs[key], ours[key], f"{path}/{key}")
    return found


@pytest.mark.parametrize("topic", ACCEPTED)
def test_flatc_accepts_what_we_accept(flatc: Path, tmp_path: Path, topic: str) -> None:
    cases = write_cases(ACCEPTED[topic], tmp_path)
    assert [text for text, path in cases if not flatc_accepts(flatc, path)] == []
    assert [text for text, path in cases if not we_accept(path)] == []


@pytest.mark.parametrize("topic", REJECTED)
def test_flatc_rejects_what_we_reject(flatc: Path, tmp_path: Path, topic: str) -> None:
    cases = write_cases(REJECTED[topic], tmp_path)
    assert [text for text, path in cases if flatc_accepts(flatc, path)] == []
    assert [text for text, path in cases if we_accept(path)] == []


def test_there_are_enough_cases() -> None:
    assert sum(map(len, ACCEPTED.values())) >= 150
    assert sum(map(len, REJECTED.values())) >= 250


def test_each_known_strictness_is_one(flatc: Path, tmp_path: Path) -> None:
    for text, path in write_cases((*STRICTER, *NOT_YET), tmp_path):
        assert flatc_accepts(flatc, path), text
        assert not we_accept(path), text


def test_flatc_rejects_the_faulty_schemas_of_the_goldens(flatc: Path) -> None:
    schemas = sorted(GOLDEN.glob("*.fbs"))
    assert len(schemas) >= 30
    accepted = {schema.stem for schema in schemas if flatc_accepts(flatc, schema)}
    assert accepted == set(STRICTER_GOLDENS)


def test_what_is_not_supported_yet_says_so(tmp_path: Path) -> None:
    for _, path in write_cases(NOT_YET, tmp_path):
        with pytest.raises(SchemaError, match="not supported yet"):
            load_schema([path], root=tmp_path)


def test_each_known_leniency_is_one(flatc: Path, tmp_path: Path) -> None:
    for text, path in write_cases(LOOSER, tmp_path):
        assert not flatc_accepts(flatc, path), text
        assert we_accept(path), text


@pytest.mark.parametrize("topic", ACCEPTED)
def test_small_schemas_mean_the_same(flatc: Path, tmp_path: Path, topic: str) -> None:
    for text, path in write_cases(ACCEPTED[topic], tmp_path):
        ours = our_facts(load_schema([path], root=tmp_path, features=ALL_FEATURES))
        found = differences(flatc_facts(flatc, path, tmp_path), ours)
        assert bool(found) == (text in SAID_DIFFERENTLY), (text, found)


@pytest.mark.parametrize("name", ["program", "scalar_type", "device_info", "errors"])
def test_our_schemas_mean_the_same(flatc: Path, tmp_path: Path, name: str) -> None:
    schema = SCHEMA / f"{name}.fbs"
    theirs = flatc_facts(flatc, schema, tmp_path)
    assert theirs["objects"] or theirs["enums"]
    assert differences(theirs, our_facts(load_schema([schema], root=SCHEMA))) == []


def test_all_schemas_of_executorch_mean_the_same(
    flatc: Path, tmp_path: Path, executorch_schema: Path
) -> None:
    schemas = sorted(executorch_schema.parent.rglob("*.fbs"))
    assert executorch_schema / "program.fbs" in schemas
    assert len(schemas) >= 20
    for schema in schemas:
        theirs = flatc_facts(flatc, schema, tmp_path)
        loaded = load_schema([schema], root=schema.parent, features=ALL_FEATURES)
        assert differences(theirs, our_facts(loaded)) == [], schema
