"""Names that clash, and modules that need each other: all of it imports, compiles and packs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from placewire_codegen.config import OutputPaths, ProjectConfig
from placewire_codegen.generate import generate

from tests.schema.cpp.building import compile_native, compilers

SCHEMA = Path(__file__).parent / "clashing.fbs"
OTHER = "namespace left; table T { x: int; next: T; } root_type T;"
MODULES = """a b class_ dataclasses encode enum import_ left objects pack_top right schema text
    third typing words""".split()
SHARED_NAMESPACE = "common::code"

# Fills every field as deep as it goes, in each codec; views, which hold nanobind's types, agree.
ROUND_TRIP = """
import dataclasses, types, typing
import clashing

def filled(cls, depth):
    hints = typing.get_type_hints(cls)
    made = cls()
    for field in dataclasses.fields(cls):
        if not (type(getattr(made, field.name)) is list and getattr(made, field.name)):
            setattr(made, field.name, value(hints[field.name], depth))
    return made

def value(hint, depth):
    if isinstance(hint, types.UnionType):
        members = [m for m in typing.get_args(hint) if m is not type(None)]
        return value(members[depth % len(members)], depth)
    if typing.get_origin(hint) is list:
        each = value(typing.get_args(hint)[0], depth)
        return [] if each is None else [each]
    if dataclasses.is_dataclass(hint):
        return filled(hint, depth - 1) if depth else hint()
    return list(hint)[-1] if hasattr(hint, "__members__") else hint(1)

top = filled(clashing.schema.Top, 5)
data = clashing.pack_top_(top)
assert len(data) > 5000, len(data)
assert clashing.verify_top_(data) == []
assert clashing.unpack_top_(data) == top
assert clashing.view(clashing.schema.Top, data) == top
print(clashing.codec_name(), hash(data))
"""

# Two packages in one C++ namespace, each with a native codec and views of its own.
BOTH = """
import clashing, other
from clashing.left import T
from other.left import T as Other

for _ in range(2):
    first = clashing.view(T, clashing.pack(T(both=clashing.right.Both())))
    second = other.view(Other, other.pack(Other(5, Other(6))))
    assert type(first) is not type(second)
    assert first.both == clashing.right.Both()
    assert second == Other(5, Other(6))
    assert second.next.x == 6
    assert list(first.us or []) == []
assert (clashing.codec_name(), other.codec_name()) == ("native", "native")
"""


def generate_package(root: Path, schema: str, package: str) -> Path:
    """Generate everything for a schema; what it makes has the C++ namespace that others have."""
    (root / f"{package}.fbs").write_text(schema, encoding="utf-8")
    generate(
        ProjectConfig(
            root=root,
            schemas=(Path(f"{package}.fbs"),),
            package=package,
            cpp_namespace=SHARED_NAMESPACE,
            targets=("python", "cpp", "nanobind"),
            output=OutputPaths(
                python=Path(package), cpp=Path("include"), nanobind=Path("bindings"), docs=Path("d")
            ),
        )
    )
    return root


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is generated from clashing.fbs."""
    root = tmp_path_factory.mktemp("clashing")
    return generate_package(root, SCHEMA.read_text(encoding="utf-8"), "clashing")


@pytest.fixture(scope="module")
def native(folder: Path) -> Path:
    """The same with a native codec."""
    if not compilers():
        pytest.skip("no C++ compiler: neither $CXX nor g++, clang++ or c++ is there")
    compile_native(folder, "clashing")
    return folder


def run(code: str, *folders: Path, **environment: str) -> str:
    """Run Python with `folders` on its path and return what it prints; warnings are errors."""
    path = os.pathsep.join(map(str, folders))
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={"PYTHONPATH": path, "PYTHONHASHSEED": "0", **environment},
        check=False,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    return result.stdout


def test_every_namespace_is_a_module(folder: Path) -> None:
    public = {path.stem for path in (folder / "clashing").glob("*.py") if path.stem[0] != "_"}
    assert public - {"reflection"} == set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_modules_that_need_each_other_import_in_any_order(folder: Path, module: str) -> None:
    run(f"from clashing.{module} import *; import clashing", folder)


def test_a_union_across_modules_is_a_type_at_run_time(folder: Path) -> None:
    code = """
from clashing import left, right
assert left.Either == left.T | right.T | left.Twig | left.text_ | left.both
assert isinstance(right.Other(), right.Either) and issubclass(left.Twig, right.T)
assert left.T().c is right.Colour.GREY and right.T().c is left.Colour.BLUE
"""
    run(code, folder)


def test_mypy_takes_the_types(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", "clashing"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.stdout.startswith("Success: no issues found in "), result.stdout


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_headers_compile_without_a_warning(folder: Path, compiler: str) -> None:
    if compiler not in compilers():
        pytest.skip(f"{compiler} is not there")
    headers = sorted((folder / "include").rglob("*.h"))
    assert len(headers) > 5 * len(MODULES)
    source = folder / "all.cpp"
    source.write_text("".join(f'#include "{header}"\n' for header in headers))
    flags = ("-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
    command = [compiler, *flags, "-fsyntax-only", "-Iinclude", str(source)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[:4000]


def test_both_codecs_write_the_same(native: Path) -> None:
    python = run(ROUND_TRIP, native, PLACEWIRE_PURE_PYTHON="1").split()
    compiled = run(ROUND_TRIP, native).split()
    assert (python[0], compiled[0]) == ("python", "native")
    assert python[1] == compiled[1]


def test_two_native_codecs_share_a_cpp_namespace_in_one_process(
    native: Path, tmp_path: Path
) -> None:
    compile_native(generate_package(tmp_path, OTHER, "other"), "other")
    run(BOTH, native, tmp_path)
