"""flatc's C++ and we see the same defaults of strings and vectors, which flatc's Python refuses."""

from __future__ import annotations

import importlib
import json
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.schema.cpp.building import compilers
from tests.schema.packages import generate_package

PACKAGE = "contents_schema"
SOURCE = Path(__file__).with_name("default_contents.cpp")
SCHEMA = """
table Contents {
  text: string = "x";
  must: string = "needed" (required);
  empty: string = "";
  numbers: [int] = [];
}
root_type Contents;
"""


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("contents") / "contents.fbs"
    path.write_text(SCHEMA, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def ours(schema: Path) -> ModuleType:
    """The generated package, with the codec in Python."""
    package = generate_package(
        [Path(schema.name)], schema.parent, name=PACKAGE, targets=("python",)
    )
    return package.module("_pure")


@pytest.fixture(scope="module")
def contents(ours: ModuleType, schema: Path) -> Any:
    """The generated class."""
    (module,) = [path.stem for path in (schema.parent / PACKAGE / "_descriptors").glob("[a-z]*.py")]
    return importlib.import_module(f"{ours.__name__.partition('.')[0]}.{module}").Contents


@pytest.fixture(scope="module")
def program(flatc: Path, schema: Path) -> Path:
    """What flatc's C++ makes of files, see default_contents.cpp."""
    found = compilers()
    if not found:
        pytest.skip("no C++ compiler: neither $CXX nor g++, clang++ or c++ is there")
    folder = schema.parent
    _run(flatc, "--cpp", "-o", folder, schema)
    includes = (f"-I{folder}", f"-isystem{flatc.parents[1] / 'include'}")
    output = folder / "default_contents"
    command = [found[0], "-std=c++17", *includes, str(SOURCE), "-o", str(output)]
    subprocess.run(command, check=True, capture_output=True)
    return output


def _run(flatc: Path, *arguments: str | Path) -> None:
    subprocess.run([flatc, *arguments], check=True, capture_output=True)


def seen_by_flatc(program: Path, buffers: list[bytes]) -> tuple[list[Any], bytes]:
    """Return what flatc's C++ reads from each buffer, and what it writes of nothing."""
    files = [program.with_name(f"{number}.bin") for number in range(len(buffers))]
    for file, buffer in zip(files, buffers, strict=True):
        file.write_bytes(buffer)
    done = subprocess.run([program, *files], check=True, capture_output=True, text=True)
    *read, written = done.stdout.splitlines()
    assert len(read) == len(buffers)
    return [json.loads(line) for line in read], bytes.fromhex(written)


def facts(obj: Any) -> dict[str, Any]:
    """Return what the program prints of the same object."""
    return {
        **{name: getattr(obj, name) for name in ("text", "must", "empty")},
        "numbers": len(obj.numbers),
    }


def without_fields(buffer: bytes, *slots: int) -> bytes:
    """Return the buffer of a Contents with some fields left out."""
    data = bytearray(buffer)
    root = int.from_bytes(data[:4], "little")
    vtable = root - int.from_bytes(data[root : root + 4], "little", signed=True)
    for slot in slots:
        data[vtable + 4 + 2 * slot : vtable + 6 + 2 * slot] = bytes(2)
    return bytes(data)


def test_flatc_reads_what_we_write(ours: ModuleType, contents: Any, program: Path) -> None:
    objects = [contents(), contents(text="", must="", empty="y", numbers=[1, 2])]
    read, _ = seen_by_flatc(program, [ours.pack(obj, {}) for obj in objects])
    assert read == [facts(obj) for obj in objects]


def test_both_read_the_same_from_fields_that_are_left_out(
    ours: ModuleType, contents: Any, program: Path
) -> None:
    full = ours.pack(contents(text="t", must="m", empty="e", numbers=[7]), {})
    buffers = [without_fields(full, *slots) for slots in ((), (0,), (2,), (3,), (0, 2, 3))]
    read, _ = seen_by_flatc(program, buffers)
    assert read == [facts(ours.unpack(contents, buffer, True, None)) for buffer in buffers]  # noqa: FBT003
    assert read[-1] == {"text": "x", "must": "m", "empty": "", "numbers": 0}


def test_both_refuse_the_absence_of_what_is_required(
    ours: ModuleType, contents: Any, program: Path
) -> None:
    damaged = without_fields(ours.pack(contents(), {}), 1)
    assert seen_by_flatc(program, [damaged])[0] == ["refused"]
    assert [finding.rule for finding in ours.verify(contents, damaged)] == [
        "REQUIRED_FIELD_MISSING"
    ]


def test_we_read_what_flatc_writes_of_nothing(
    ours: ModuleType, contents: Any, program: Path
) -> None:
    _, written = seen_by_flatc(program, [])
    assert ours.unpack(contents, written, True, None) == contents()  # noqa: FBT003


def test_we_read_what_flatc_writes_from_json(
    ours: ModuleType, contents: Any, flatc: Path, schema: Path
) -> None:
    file = schema.with_name("given.json")
    file.write_text('{"must": "m", "numbers": [1]}', encoding="utf-8")
    _run(flatc, "--binary", "-o", schema.parent, schema, file)
    read = ours.unpack(contents, file.with_suffix(".bin").read_bytes(), True, None)  # noqa: FBT003
    assert read == contents(must="m", numbers=[1])


def test_flatcs_json_of_what_we_write_says_the_same(
    ours: ModuleType, contents: Any, flatc: Path, schema: Path
) -> None:
    file = schema.with_name("ours.bin")
    file.write_bytes(ours.pack(contents(text="", numbers=[3]), {}))
    options = ("--json", "--strict-json", "--raw-binary", "-o", schema.parent)
    _run(flatc, *options, schema, "--", file)
    said = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    assert said == {"text": "", "must": "needed", "empty": "", "numbers": [3]}
