"""The stamp of a schema stands for what code is generated from it, and for nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from placewire_codegen.config import OutputPaths, ProjectConfig
from placewire_codegen.model import Schema
from placewire_codegen.targets.cpp_names import CppNames
from placewire_codegen.targets.cpp_objects import ObjectNames
from placewire_codegen.targets.python_names import PythonNames

from tests.codegen.binary_schemas import again

Read = Callable[[str], Schema]


def test_a_text_and_its_file_have_one_stamp(read: Read) -> None:
    schema = read(
        "union V { Z } union U { A, Z } enum E : byte { B, A } struct T { a: int; } "
        "struct S { t: T; } table Z { u: U; v: [V]; s: [S] = []; e: E; n: int = 7; } "
        "table A {} root_type Z;"
    )
    assert [table.name for table in again(schema).tables] == ["A", "Z"]
    assert again(schema).stamp == schema.stamp


def test_the_stamp_does_not_depend_on_the_order_of_declarations(read: Read) -> None:
    one = read("table A { b: B; } table B {} enum E : byte { X } enum F : byte { X }")
    two = read("enum F : byte { X } table B {} enum E : byte { X } table A { b: B; }")
    assert one.tables != two.tables
    assert one.stamp == two.stamp
    assert one.stamp != read("table A { b: B; } table B {} enum E : byte { X }").stamp


def test_what_a_target_calls_things_does_not_depend_on_their_order(read: Read) -> None:
    """Else one stamp could stand for packages that name things differently."""
    folder = Path("out")
    output = OutputPaths(python=folder, cpp=folder, nanobind=folder, docs=folder)
    config = ProjectConfig(
        root=folder, schemas=(Path("a.fbs"),), package="p", cpp_namespace="p", output=output
    )
    declared = ["table class {}", "table class_ {}", "union U { x: class }", "union V { x: class }"]
    names = []
    for texts in (declared, declared[::-1]):
        schema = read(" ".join(texts))
        cpp = CppNames(schema, config)
        python, objects = PythonNames(schema, config), ObjectNames(schema, cpp)
        names.append(
            {
                name: (python.type_name(name), cpp.local_type(schema.definitions[name]))
                for name in schema.definitions
            }
            | {
                f"{union.name}.x": (
                    python.member_class(union, union.members[0]),
                    objects.member_class(union, union.members[0]),
                )
                for union in schema.unions
            }
        )
    assert names[0] == names[1]
    assert sorted(names[0].values()) == sorted(set(names[0].values()))
    assert len(names[0]) == 6


def test_a_union_says_whether_it_names_the_type_of_its_tag(read: Read) -> None:
    unions = "union U: ubyte { T } union V { T } table T {}"
    schema = again(read(unions))
    assert [union.names_tag_type for union in schema.unions] == [True, False]
    assert schema.stamp == read("union U { T } union V { T } table T {}").stamp
