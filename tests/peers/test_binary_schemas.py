"""flatc and we write the same binary schemas, and each takes those of the other."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from placewire_codegen.bfbs import read_bfbs, write_bfbs
from placewire_codegen.bfbs_wire import read_records

from tests.codegen.accepted_schemas import ACCEPTED
from tests.codegen.binary_schemas import EVERYTHING, facts, load, meaning
from tests.peers.binary_schema import REFLECTION, parse_json
from tests.peers.test_front_end_against_flatc import SCHEMA, differences, write_cases

WRITE = ["-b", "--schema", "--cpp", "--bfbs-comments", "--bfbs-builtins"]

# What flatc's file says otherwise than ours, and why.
SAID_DIFFERENTLY: dict[str, str] = {
    'table T { a:bool=2; c:bool; d:bool="true"; }': "to us a bool that is not 0 is 1",
    "table T { a:ulong=18446744073709551615; b:long=-9223372036854775808; }": "flatc writes 0 "
    "for what does not fit into int64, which loses it; we write the same 64 bits",
    'table T { a:string="0"; }': "flatc cannot tell this default from none",
    "table T { a:int= -0; b:float=-0; c:int=+5;}": "flatc takes -0.0 for 0.0",
}


def _run(flatc: Path, *arguments: str | Path, cwd: Path | None = None) -> None:
    subprocess.run([flatc, *arguments], check=True, capture_output=True, cwd=cwd)


def flatc_writes(flatc: Path, schema: Path, folder: Path) -> Path:
    """Let flatc make a .bfbs of a schema."""
    _run(
        flatc, *WRITE, "--bfbs-filenames", schema.parent, "-I", schema.parent, "-o", folder, schema
    )
    return folder / f"{schema.stem}.bfbs"


def we_write(schema: Path, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{schema.stem}.bfbs"
    path.write_bytes(write_bfbs(load(schema)))
    return path


def as_json(flatc: Path, binary: Path) -> Any:
    """Let flatc read a .bfbs and say all that is in it, absent fields included."""
    options = ["--json", "--strict-json", "--defaults-json", "--raw-binary"]
    _run(flatc, *options, "-o", binary.parent, REFLECTION, "--", binary)
    return _without_blanks(parse_json(binary.with_suffix(".json").read_text(encoding="utf-8")))


def _without_blanks(node: Any) -> Any:
    """Strip lines of comments: the model has no blanks around them."""
    if isinstance(node, dict):
        return {
            key: [line.strip() for line in value]
            if key == "documentation"
            else _number(value)
            if key == "value" and isinstance(value, str)
            else _without_blanks(value)
            for key, value in node.items()
        }
    return [_without_blanks(item) for item in node] if isinstance(node, list) else str(node)


def _number(text: str) -> str:
    """The value of an attribute; `0x10` and `16` are one number."""
    try:
        return str(int(text, 0))
    except ValueError:
        return text


def compare(flatc: Path, schema: Path, folder: Path) -> list[str]:
    """Return what differs between flatc's file and ours, as flatc reads them."""
    theirs = as_json(flatc, flatc_writes(flatc, schema, folder))
    assert theirs["fbs_files"]
    return differences(_named(theirs), _named(as_json(flatc, we_write(schema, folder / "ours"))))


def _named(node: Any) -> Any:
    """Lists as mappings from positions, so that differences have a path."""
    if isinstance(node, dict):
        return {key: _named(value) for key, value in node.items()}
    return dict(enumerate(map(_named, node))) if isinstance(node, list) else node


def check_reading(flatc: Path, schema: Path, folder: Path) -> None:
    theirs = flatc_writes(flatc, schema, folder)
    read, ours = read_bfbs(theirs.read_bytes(), theirs), load(schema)
    assert meaning(read) == meaning(ours)
    assert read.stamp == ours.stamp


@pytest.fixture(scope="session")
def executorch_schemas(executorch_schema: Path) -> list[Path]:
    schemas = sorted(executorch_schema.parent.rglob("*.fbs"))
    assert len(schemas) >= 20
    return schemas


def test_the_checked_in_file_is_what_flatc_writes(flatc: Path, tmp_path: Path) -> None:
    theirs = flatc_writes(flatc, EVERYTHING, tmp_path)
    assert theirs.read_bytes() == EVERYTHING.with_suffix(".bfbs").read_bytes()


@pytest.mark.parametrize("name", ["program", "scalar_type", "device_info", "errors"])
def test_our_schemas_are_written_and_read_alike(flatc: Path, tmp_path: Path, name: str) -> None:
    assert compare(flatc, SCHEMA / f"{name}.fbs", tmp_path) == []
    check_reading(flatc, SCHEMA / f"{name}.fbs", tmp_path)


def test_a_schema_that_uses_everything_is_written_alike(flatc: Path, tmp_path: Path) -> None:
    assert compare(flatc, EVERYTHING, tmp_path) == []


def test_all_schemas_of_executorch_are_written_and_read_alike(
    flatc: Path, tmp_path: Path, executorch_schemas: list[Path]
) -> None:
    for schema in executorch_schemas:
        assert compare(flatc, schema, tmp_path) == [], schema
        check_reading(flatc, schema, tmp_path)


@pytest.mark.parametrize("topic", ACCEPTED)
def test_small_schemas_are_written_alike(flatc: Path, tmp_path: Path, topic: str) -> None:
    for text, schema in write_cases(ACCEPTED[topic], tmp_path):
        found = compare(flatc, schema, tmp_path)
        assert bool(found) == (text in SAID_DIFFERENTLY), (text, found)


def test_a_file_without_names_of_files_is_read(flatc: Path, tmp_path: Path) -> None:
    """What flatc writes unless told otherwise."""
    _run(flatc, "-b", "--schema", "-o", tmp_path, "device_info.fbs", cwd=SCHEMA)
    path = tmp_path / "device_info.bfbs"
    schema = read_bfbs(path.read_bytes(), path)
    assert {str(table.location) for table in schema.tables} == {"device_info.bfbs"}
    assert [source.path for source in schema.sources] == ["device_info.bfbs"]
    assert read_bfbs(write_bfbs(schema), path).stamp == schema.stamp


def test_an_older_flatc_is_read(
    executorch_flatc: Path, tmp_path: Path, executorch_schema: Path
) -> None:
    schema = executorch_schema / "program.fbs"
    theirs = flatc_writes(executorch_flatc, schema, tmp_path)
    assert meaning(read_bfbs(theirs.read_bytes(), theirs)) == meaning(load(schema))


@pytest.mark.parametrize("schema", [EVERYTHING, SCHEMA / "program.fbs"], ids=lambda path: path.stem)
def test_flatc_generates_the_same_cpp_from_our_file(
    flatc: Path, tmp_path: Path, schema: Path
) -> None:
    written = {}
    for name, binary in (
        ("theirs", flatc_writes(flatc, schema, tmp_path)),
        ("ours", we_write(schema, tmp_path / "ours")),
    ):
        out = tmp_path / f"cpp_{name}"
        _run(flatc, "--cpp", "-o", out, binary)
        [written[name]] = [path.read_text() for path in out.iterdir()]
    assert len(written["theirs"]) > 1000
    assert written["ours"] == written["theirs"]


def test_flatc_annotates_a_file_by_our_schema(flatc: Path, tmp_path: Path) -> None:
    annotated = {}
    for name, binary in (
        ("theirs", flatc_writes(flatc, REFLECTION, tmp_path)),
        ("ours", we_write(REFLECTION, tmp_path / "ours")),
    ):
        data = tmp_path / name / "everything.bin"
        data.parent.mkdir(exist_ok=True)
        data.write_bytes(EVERYTHING.with_suffix(".bfbs").read_bytes())
        _run(flatc, "--annotate", binary, "--", data, cwd=data.parent)
        text = data.with_suffix(".afb").read_text(encoding="utf-8", errors="replace")
        annotated[name] = [line for line in text.splitlines() if not line.startswith("//")]
    assert len(annotated["theirs"]) > 1000
    assert annotated["ours"] == annotated["theirs"]


def test_our_records_hold_all_that_flatc_reads(flatc: Path, tmp_path: Path) -> None:
    """The records follow flatc's JSON: no field of the format is missing in them."""
    path = flatc_writes(flatc, EVERYTHING, tmp_path)
    said = json.dumps(as_json(flatc, path))
    held = json.dumps(facts(read_records(path.read_bytes())))
    names = {word for word in said.split('"') if word.isidentifier()}
    assert {"padding", "offset64", "fixed_length", "element_size", "included_filenames"} <= names
    keys = {word.split('"')[-1] for word in said.split('":')[:-1]}
    assert keys <= {word.split('"')[-1] for word in held.split('":')[:-1]}
