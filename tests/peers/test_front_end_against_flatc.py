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

from tests.codegen.accepted_schemas import ACCEPTED, write_included
from tests.codegen.rejected_schemas import REJECTED
from tests.codegen.stricter_schemas import STRICTER
from tests.peers.binary_schema import flatc_facts, our_facts

ALL_FEATURES = frozenset(Feature)
SCHEMA = Path(__file__).parents[2] / "schema"
GOLDEN = Path(__file__).parents[1] / "codegen" / "golden"

# What flatc accepts and we do not yet; the message says so.
NOT_YET = ("table T { a:int; } root_type T; { a: 5 }",)
# What flatc rejects and we do not, and why.
LOOSER: dict[str, str] = {
    "table T{y:X; X:int;} table X{}": "flatc minds a field that has the name of a later table only "
    "if a field before it is of that type",
    "namespace D; table Q { x:T; y:D.T; } table T {}": "flatc finds a later table only if all name "
    "it alike",
}
# What flatc dies of, and we accept.
CRASHES = (
    "union U (bit_flags) { T } table T {}",
    "union U:long { T = -5 } table T {}",
    "struct S (force_align:32) { a:byte; }",
)
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
    "table T { a:[ubyte] (offset64, vector64); }": "likewise",
}


def write_cases(texts: Iterable[str], folder: Path) -> list[tuple[str, Path]]:
    """Write each text to a file of its own, with the files that some of them include beside it."""
    write_included(folder)
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
    assert sum(map(len, ACCEPTED.values())) >= 290
    assert sum(map(len, REJECTED.values())) >= 400


def test_each_known_strictness_is_one(flatc: Path, tmp_path: Path) -> None:
    for text, path in write_cases((*STRICTER, *NOT_YET), tmp_path):
        assert flatc_accepts(flatc, path), text
        assert not we_accept(path), text


def test_flatc_rejects_the_faulty_schemas_of_the_goldens(flatc: Path) -> None:
    schemas = sorted(GOLDEN.glob("*.fbs"))
    assert len(schemas) >= 30
    accepted = {schema.stem for schema in schemas if flatc_accepts(flatc, schema)}
    assert accepted == set(STRICTER_GOLDENS)


@pytest.mark.parametrize("name", ["several_defects", "enum_values", "default_out_of_range"])
def test_where_flatc_stops_at_the_first_defect_we_report_all(flatc: Path, name: str) -> None:
    schema = GOLDEN / f"{name}.fbs"
    done = subprocess.run(
        [flatc, "-b", "--schema", "--cpp", schema], capture_output=True, text=True, check=False
    )
    assert (done.stdout + done.stderr).count(": error: ") == 1
    with pytest.raises(SchemaError) as raised:
        load_schema([schema], root=GOLDEN, features=ALL_FEATURES)
    assert len({str(diagnostic.span) for diagnostic in raised.value.diagnostics}) >= 4


def test_what_flatc_dies_of_is_a_schema_to_us(flatc: Path, tmp_path: Path) -> None:
    for text, path in write_cases(CRASHES, tmp_path):
        with pytest.raises(AssertionError, match="flatc crashed"):
            flatc_accepts(flatc, path)
        assert we_accept(path), text


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
