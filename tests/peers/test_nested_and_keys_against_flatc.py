"""flatc judges nested FlatBuffers and sorted vectors: its C++ code, its verifier and its JSON."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.schema.cpp.building import compilers
from tests.schema.packages import Package, generate_package

SCHEMA = Path(__file__).with_name("orchard.fbs")
PROGRAM = Path(__file__).with_name("orchard.cpp")
NAMES = ["", "a", "aa", "ab", "b", "z", "zz", "Ä", "é", "🍎", "\uffff"]
ABSENT = ["c", "ac", "🍏"]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory, flatc: Path) -> Package:
    """Our package and headers, with those of flatc beside them."""
    root = tmp_path_factory.mktemp("orchard")
    subprocess.run([flatc, "--cpp", "-o", root / "peer", SCHEMA], check=True)
    return generate_package([SCHEMA], root, name="orchard_schema", targets=("python", "cpp"))


@pytest.fixture(scope="module")
def folder(generated: Package) -> Path:
    """Where all of it is."""
    return generated.folder


@pytest.fixture(scope="module")
def package(generated: Package) -> ModuleType:
    return generated.module()


@pytest.fixture(scope="module")
def program(folder: Path, flatc: Path) -> Path:
    if not compilers():
        pytest.skip("no C++ compiler")
    output = folder / "orchard"
    command = [
        *(compilers()[0], "-std=c++17", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Werror"),
        *("-isystem", str(flatc.parents[1] / "include"), "-isystem", str(folder / "peer")),
        *("-I", str(folder / "include"), str(PROGRAM), "-o", str(output)),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[:4000]
    return output


@pytest.fixture(scope="module")
def orchard(package: ModuleType) -> Any:
    """An orchard whose vectors are not sorted, and which holds another one."""
    t = package.orchard
    source = random.Random("orchard")
    spots = [t.Spot(bytes(source.choices(range(256), k=4)), i) for i in range(9)]
    rows = [t.Row([source.randint(-9, 9), -1], source.randrange(1 << 32)) for _ in range(12)]
    areas = [t.Area(source.randint(0, 255), spot) for spot in spots]
    made = t.Orchard(
        trees=[t.Tree(t.Kind.PLUM, [t.Fruit("b"), t.Fruit("a")]), t.Tree(t.Kind.APPLE)],
        spots=spots,
        areas=areas,
        rows=rows,
        fields=[t.Field(source.sample(rows, 2), i) for i in range(8)],
        fruits=[t.Fruit(name, price) for price, name in enumerate(NAMES)],
        measures=[t.Measure(value) for value in (7.0, -1.5, 0.25, -9.0)],
    )
    made.pack_fruit_bytes(t.Fruit("outer", 0.5))
    inner = t.Orchard(fruits=[t.Fruit("x", 1.0)])
    inner.pack_fruit_bytes(t.Fruit("inner", 0.75))
    made.pack_nest(inner)
    source.shuffle(made.fruits)
    return made


@pytest.fixture(scope="module")
def sorted_orchard(package: ModuleType, orchard: Any) -> Any:
    """The same with all its vectors sorted."""
    copy = package.unpack_orchard(package.pack_orchard(orchard))
    for name in ("trees", "spots", "areas", "rows", "fields", "fruits", "measures"):
        package.sort_by_key(getattr(copy, name))
    for tree in copy.trees:
        package.sort_by_key(tree.fruits or [])
    return copy


def run(*command: object) -> str:
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=True
    ).stdout


def to_json(flatc: Path, folder: Path, data: bytes) -> Any:
    file = folder / "read.bin"
    file.write_bytes(data)
    run(flatc, "--json", "--strict-json", "--natural-utf8", "-o", folder, SCHEMA, "--", file)
    return json.loads((folder / "read.json").read_text(encoding="utf-8"))


def from_json(flatc: Path, folder: Path, text: str) -> bytes:
    file = folder / "write.json"
    file.write_text(text, encoding="utf-8")
    run(flatc, "-b", "-o", folder, SCHEMA, file)
    return (folder / "write.bin").read_bytes()


def test_both_verifiers_accept_what_we_pack(
    package: ModuleType, program: Path, orchard: Any, tmp_path: Path
) -> None:
    file = tmp_path / "orchard.bin"
    file.write_bytes(package.pack_orchard(orchard))
    assert run(program, "verify", file) == "1 1\n"


def test_what_our_verifier_accepts_theirs_accepts(
    package: ModuleType, program: Path, orchard: Any, tmp_path: Path
) -> None:
    data = package.pack_orchard(orchard)
    files = []
    for place in range(0, len(data), 2):
        for byte in (0, 1, 255):
            file = tmp_path / f"{place}_{byte}.bin"
            file.write_bytes(data[:place] + bytes([byte]) + data[place + 1 :])
            files.append(file)
    answers = run(program, "verify", *files).split("\n")[:-1]
    assert len(answers) == len(files) > 1000
    # Theirs looks neither at the bytes of strings nor at the alignment in the whole of what is
    # nested, and neither at the identifier if it is not told to.
    assert "0 1" not in answers
    assert {"0 0", "1 1"} <= set(answers)


def test_their_verifier_refuses_an_empty_nested_buffer_as_ours_does(
    package: ModuleType, program: Path, tmp_path: Path
) -> None:
    t = package.orchard
    made = t.Orchard()
    made.pack_fruit_bytes(t.Fruit("x"))
    data = bytearray(package.pack_orchard(made))
    inner = data.index(made.fruit_bytes)
    data[inner - 4 : inner] = bytes(4)
    file = tmp_path / "empty.bin"
    file.write_bytes(data)
    assert run(program, "verify", file) == "0 0\n"


def test_views_see_the_same_nested_roots(
    package: ModuleType, program: Path, orchard: Any, tmp_path: Path
) -> None:
    file = tmp_path / "orchard.bin"
    file.write_bytes(package.pack_orchard(orchard))
    assert run(program, "nested", file) == "0.5 0.5\n0.75 0.75\n"


def test_flatc_prints_nested_buffers_as_their_objects(
    package: ModuleType, flatc: Path, orchard: Any, tmp_path: Path
) -> None:
    read = to_json(flatc, tmp_path, package.pack_orchard(orchard))
    assert read["fruit_bytes"] == {"name": "outer", "price": 0.5}
    assert read["nest"]["fruits"] == [{"name": "x", "price": 1.0}]
    assert read["nest"]["fruit_bytes"] == {"name": "inner", "price": 0.75}


def test_we_read_what_flatc_nests(package: ModuleType, flatc: Path, tmp_path: Path) -> None:
    text = '{"nest": {"fruits": [{"name": "x", "price": 0.5}], "fruit_bytes": {"name": "y"}}}'
    data = from_json(flatc, tmp_path, text)
    assert package.verify_orchard(data) == []
    nest = package.unpack_orchard(data).unpack_nest()
    assert nest.fruits == [package.orchard.Fruit("x", 0.5)]
    assert nest.unpack_fruit_bytes() == package.orchard.Fruit("y")
    assert package.unpack_orchard(package.pack_orchard(nest)) == nest


def test_flatc_sorts_tables_when_it_reads_json_as_sort_by_key_does(
    package: ModuleType, flatc: Path, orchard: Any, sorted_orchard: Any, tmp_path: Path
) -> None:
    read = to_json(flatc, tmp_path, package.pack_orchard(orchard))
    assert [fruit["name"] for fruit in read["fruits"]] == [fruit.name for fruit in orchard.fruits]
    # It gives up where the key of a struct is an array or a struct.
    sortable = {name: read[name] for name in ("trees", "rows", "fruits", "measures")}
    theirs = package.unpack_orchard(from_json(flatc, tmp_path, json.dumps(sortable)))
    assert theirs.fruits == sorted_orchard.fruits != orchard.fruits
    assert theirs.trees == sorted_orchard.trees != orchard.trees
    assert theirs.measures == sorted_orchard.measures != orchard.measures
    assert theirs.rows == sorted_orchard.rows != orchard.rows


def test_pack_keeps_the_order_that_it_is_given(package: ModuleType, orchard: Any) -> None:
    again = package.unpack_orchard(package.pack_orchard(orchard))
    assert again == orchard
    assert [fruit.name for fruit in again.fruits] != sorted(NAMES)


def test_lookups_find_what_theirs_find(
    package: ModuleType, program: Path, sorted_orchard: Any, tmp_path: Path
) -> None:
    file = tmp_path / "sorted.bin"
    file.write_bytes(package.pack_orchard(sorted_orchard))
    lines = run(program, "lookup", file, *NAMES, *ABSENT).splitlines()
    found = [line.split(" ") for line in lines]
    assert {what for what, *_ in found} == {
        *("fruit", "tree", "measure", "spot", "area", "row", "field")
    }
    assert [theirs for _, theirs, _ in found] == [seen for _, _, seen in found]
    prices = [float(price) for what, price, _ in found if what == "fruit" and price != "none"]
    assert prices == [float(NAMES.index(name)) for name in NAMES]
    assert [price for what, price, _ in found[: len(NAMES + ABSENT)]][-len(ABSENT) :] == [
        "none"
    ] * len(ABSENT)


def test_python_finds_the_same(package: ModuleType, sorted_orchard: Any) -> None:
    t, lookup = package.orchard, package.lookup
    assert [lookup(sorted_orchard.fruits, name).price for name in NAMES] == list(range(len(NAMES)))
    assert [lookup(sorted_orchard.fruits, name) for name in ABSENT] == [None] * len(ABSENT)
    assert lookup(sorted_orchard.trees, t.Kind.APPLE).kind is t.Kind.APPLE
    assert lookup(sorted_orchard.trees, t.Kind.PEAR) is None
    for spot in sorted_orchard.spots:
        assert lookup(sorted_orchard.spots, spot.cell) is spot
    for area in sorted_orchard.areas:
        assert lookup(sorted_orchard.areas, area.spot) is area
    for field in sorted_orchard.fields:
        assert lookup(sorted_orchard.fields, field.rows) == field


def test_an_element_without_a_key_is_an_error(package: ModuleType, orchard: Any) -> None:
    with pytest.raises(TypeError, match="Orchard is no table or struct that has a key"):
        package.lookup([orchard], 1)
    with pytest.raises(TypeError, match="int is no table or struct"):
        package.sort_by_key([1])


def test_a_key_of_another_type_is_an_error(package: ModuleType, sorted_orchard: Any) -> None:
    with pytest.raises(TypeError):
        package.lookup(sorted_orchard.fruits, 1)
