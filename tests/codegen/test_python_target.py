"""The Python of a schema that is hard to be right about: endless defaults, equal and odd names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCHEMA = """
attribute "rank";
namespace {namespace};
table Endless {{ again: Endless (required); __debug__: int; __x: int; }}
enum Odd : byte {{ _x_, __doc__, name, value }}
enum Ranked : byte {{ property (rank: 7), other (rank: 8) }}
table Flag {{ on: bool; }}
table Flags {{ first: Flag; second: Flag; }}
union Tree {{ Not, Leaf }}
table Not {{ child: Tree (required); odd: Odd; }}
table Leaf {{ value: int; }}
root_type Not;
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with the package `trees`, generated from two namespaces with equal tables."""
    schemas = []
    for namespace in ("oak", "elm"):
        schema = tmp_path / f"{namespace}.fbs"
        schema.write_text(SCHEMA.format(namespace=namespace))
        schemas += ["--schema", str(schema)]
    subprocess.run(
        [sys.executable, "-m", "placewire_codegen", *schemas, "--out", ".", "--package", "trees"],
        cwd=tmp_path,
        check=True,
    )
    return tmp_path


def run(package: Path, code: str) -> str:
    """Run code with the package on the path; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", f"import trees\nfrom trees import oak\n{code}"],
        cwd=package,
        env={"PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_default_takes_the_member_that_ends(package: Path) -> None:
    assert run(package, "print(oak.Not().child)") == "Leaf(value=0)\n"


def test_a_table_that_cannot_end_begins_without_its_field(package: Path) -> None:
    assert run(package, "print(oak.Endless().again)") == "None\n"


def test_a_field_without_a_possible_default_is_still_required(package: Path) -> None:
    code = "try: trees.pack(oak.Endless())\nexcept trees.PackError as error: print(error)"
    assert run(package, code) == "again: must not be None: the schema requires this field\n"


def test_names_that_python_keeps_for_itself_lose_their_underscores(package: Path) -> None:
    assert run(package, "print([odd.name for odd in oak.Odd])") == (
        "['x_', 'doc__', 'name_', 'value_']\n"
    )


def test_equal_root_tables_get_functions_by_module(package: Path) -> None:
    code = "tree = oak.Not()\nprint(trees.unpack_oak_not(trees.pack_oak_not(tree)) == tree)"
    assert run(package, code) == "True\n"


def test_a_member_does_not_hide_what_makes_properties(package: Path) -> None:
    assert run(package, "print([member.rank for member in oak.Ranked])") == "[7, 8]\n"


def test_a_table_without_large_fields_is_aligned_wherever_it_begins(package: Path) -> None:
    code = "flags = oak.Flags(oak.Flag(True), oak.Flag(True))\nprint("
    code += "trees.verify(oak.Flags, trees.pack(flags)), trees.codec_name())"
    assert run(package, code) == "[] python\n"


def test_a_type_does_not_hide_a_module_that_another_type_needs(tmp_path: Path) -> None:
    schema = tmp_path / "trees.fbs"
    schema.write_text(
        "namespace elm; enum Leaf : byte { GREEN } namespace oak; table elm { x: int; } "
        "table Oak { leaf: elm.Leaf; name: elm; }"
    )
    subprocess.run(
        [sys.executable, "-m", "placewire_codegen", "--schema", "trees.fbs", "--out", "."],
        cwd=tmp_path,
        check=True,
    )
    assert run(tmp_path, "print(oak.Oak(name=oak.elm_(3)))") == (
        "Oak(leaf=<Leaf.GREEN: 0>, name=elm_(x=3))\n"
    )
