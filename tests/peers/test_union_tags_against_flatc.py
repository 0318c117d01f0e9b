"""flatc's C++ judges unions with a tag type of their own, which its Python and its JSON refuse."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.schema.cpp.building import compilers
from tests.schema.forging import Forged
from tests.schema.packages import Package, generate_package

SCHEMA = Path(__file__).with_name("tags.fbs")
PROGRAM = Path(__file__).with_name("tags.cpp")
TAGS_OF_FINDS = 4
"""The id of the field of tags in front of `finds`."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    folder = tmp_path_factory.mktemp("tags")
    return generate_package([SCHEMA], folder, name="tags_schema", targets=("python",))


@pytest.fixture(scope="module")
def types(package: Package) -> ModuleType:
    return package.module("tags")


@pytest.fixture(scope="module")
def walks(types: Any) -> list[Any]:
    """Every member of both unions, alone and in a vector that has an element without a value."""
    finds = [types.Leaf(-3), types.Stone("flint"), types.Spot(7, -8), types.text("größe")]
    prizes = [types.Leaf(1), types.gem("opal"), types.most(2), None]
    alone = [types.Walk(first=find, prize=prize) for find, prize in zip(finds, prizes, strict=True)]
    vectors = [[finds[3], *finds], [finds[1], None, finds[2]], []]
    return [*alone, *(types.Walk(finds=vector) for vector in vectors)]


@pytest.fixture(scope="module")
def program(package: Package, flatc: Path) -> Path:
    """What flatc's C++ makes of files, see tags.cpp."""
    if not compilers():
        pytest.skip("no C++ compiler: neither $CXX nor g++, clang++ or c++ is there")
    output = package.folder / "peer"
    subprocess.run([flatc, "--cpp", "--gen-object-api", "-o", output, SCHEMA], check=True)
    includes = ("-isystem", str(flatc.parents[1] / "include"), "-isystem", str(output))
    built = output / "tags"
    command = [compilers()[0], "-std=c++17", "-O0", *includes, str(PROGRAM), "-o", str(built)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[:4000]
    return built


def read_by_flatc(program: Path, folder: Path, buffers: list[bytes]) -> tuple[list[Any], list[Any]]:
    """Return what flatc reads of each buffer, and what it writes of it, see tags.cpp."""
    files = [folder / f"{number}.bin" for number in range(len(buffers))]
    for file, buffer in zip(files, buffers, strict=True):
        file.write_bytes(buffer)
    said = subprocess.run([program, *files], check=True, capture_output=True, text=True).stdout
    read = [json.loads(line) for line in said.splitlines()]
    assert len(read) == len(buffers)
    again = [file.with_name(f"{file.name}.again") for file in files]
    return read, [file.read_bytes() if file.exists() else None for file in again]


def facts(types: Any, walk: Any) -> list[Any]:
    """Return what the program prints of an object."""

    def tagged(value: Any, tags: dict[type[Any] | None, int]) -> list[Any]:
        shown: Any
        match value:
            case None:
                shown = None
            case types.Spot(x=x, y=y):
                shown = [x, y]
            case types.Leaf(weight=weight):
                shown = weight
            case types.Stone(name=name):
                shown = name
            case types.text(value=text):
                shown = text
        return [tags[None if value is None else type(value)], shown]

    finds = {None: 0, types.Leaf: 300, types.Stone: 1, types.Spot: 65535, types.text: 7}
    prizes = {None: 0, types.Leaf: 5, types.gem: 70000, types.most: 2147483647}
    return [
        tagged(walk.first, finds),
        tagged(walk.prize, prizes),
        [tagged(find, finds) for find in walk.finds or []],
    ]


def test_flatc_reads_every_member_by_its_tag(
    package: Package, types: ModuleType, walks: list[Any], program: Path, tmp_path: Path
) -> None:
    assert len(walks) > 4
    read, _ = read_by_flatc(program, tmp_path, [package.module().pack(walk) for walk in walks])
    assert read == [facts(types, walk) for walk in walks]


def test_we_read_what_flatc_writes(
    package: Package, types: ModuleType, walks: list[Any], program: Path, tmp_path: Path
) -> None:
    ours = package.module()
    _, written = read_by_flatc(program, tmp_path, [ours.pack(walk) for walk in walks])
    assert [data is None for data in written] == [None in (walk.finds or []) for walk in walks]
    for walk, data in zip(walks, written, strict=True):
        if data is None:  # flatc's writer aborts on an element without a value
            continue
        assert ours.verify(types.Walk, data) == []
        assert facts(types, ours.unpack(types.Walk, data)) == facts(types, walk)


def test_both_refuse_values_without_tags(
    package: Package, types: Any, program: Path, tmp_path: Path
) -> None:
    ours = package.module()
    forged = Forged(ours.pack(types.Walk(finds=[types.Leaf(1), types.Leaf(2)])))
    forged.put(forged.child(forged.root(), TAGS_OF_FINDS), 4, 1)
    read, _ = read_by_flatc(program, tmp_path, [bytes(forged)])
    assert read == ["refused"]
    assert [finding.rule for finding in ours.verify(types.Walk, forged)] == [
        "UNION_LENGTH_MISMATCH"
    ]
