"""Imports and includes go one way: codegen alone, generated alone, src on generated."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.project.tree import ROOT, files, relative

STANDARD_LIBRARY = sys.stdlib_module_names | {"_typeshed"}  # the latter for type checkers
STANDARD_HEADER = re.compile(r"[a-z_]+|c[a-z]+|(sys|fcntl|unistd|dlfcn)(/[a-z]+)?(\.h)?")


@dataclass(frozen=True)
class Part:
    """A part of the tree and the packages that it may import besides the standard library."""

    folder: str
    may_import: frozenset[str]


PYTHON_PARTS = (
    Part(
        "codegen/placewire_codegen",
        frozenset({"placewire_codegen", "flatbuffers", "jinja2", "pydantic", "typer", "rich"}),
    ),
    Part("generated/placewire_schema", frozenset({"placewire_schema"})),
    Part(
        "src/placewire",
        frozenset(
            {
                "placewire",
                "placewire_schema",
                "numpy",
                "pydantic",
                "rich",
                "typer",
                "typing_extensions",  # comes with pydantic, and is for type checkers only
            }
        ),
    ),
)
# Where `src` may use more: for the version, the commands that run the generator, the fixtures, and
# the parts that need torch.
EXCEPTIONS = {
    "placewire_codegen": (
        "src/placewire/__init__.py",
        "src/placewire/__main__.py",
        "src/placewire/cli.py",
        "src/placewire/commands/",
        "src/placewire/demo/",
    ),
    "pytest": ("src/placewire/pytest_plugin.py",),
    "sympy": ("src/placewire/aot/",),  # comes with torch: the language of its symbolic sizes
    "torch": (
        "src/placewire/aot/",
        "src/placewire/kernels/",
        "src/placewire/backends/",
        "src/placewire/module/inputs.py",  # for type checkers only
    ),
}


@dataclass(frozen=True)
class Import:
    """An absolute import: the top-level package, and where it stands."""

    package: str
    path: Path
    line: int


def _imports(path: Path) -> Iterator[Import]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name.partition(".")[0], path, node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module is not None
            yield Import(node.module.partition(".")[0], path, node.lineno)


def _is_excepted(found: Import) -> bool:
    return relative(found.path).startswith(EXCEPTIONS.get(found.package, ("\0",)))


@pytest.mark.parametrize("part", PYTHON_PARTS, ids=lambda part: str(part.folder))
def test_a_part_imports_only_what_it_may(part: Part) -> None:
    found = [
        item for path in files(part.folder, suffixes=(".py", ".pyi")) for item in _imports(path)
    ]
    assert found, f"{part.folder} has no imports at all; is it in another place now?"
    wrong = [
        f"{relative(item.path)}:{item.line}: {item.package}"
        for item in found
        if item.package not in STANDARD_LIBRARY | part.may_import and not _is_excepted(item)
    ]
    assert not wrong, f"{part.folder} must not import:\n" + "\n".join(wrong)


CPP_PARTS = {
    "generated/include": ("placewire/schema/",),
    "generated/bindings": ("placewire/schema/", "nanobind/", "Python.h", "structmember.h"),
    "src/runtime": ("placewire/schema/", "placewire/runtime/"),
    "src/backends/cuda": ("placewire/schema/", "placewire/runtime/", "placewire/backends/"),
    "src/bindings": (
        *("placewire/schema/", "placewire/runtime/", "placewire/backends/"),
        *("nanobind/", "Python.h"),
    ),
}


def _includes(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if found:
            yield number, found[1]


@pytest.mark.parametrize("folder", CPP_PARTS)
def test_a_part_includes_only_what_it_may(folder: str) -> None:
    found = [
        (path, line, header)
        for path in files(folder, suffixes=(".h", ".cpp"))
        for line, header in _includes(path)
    ]
    assert found, f"{folder} has no includes at all; is it in another place now?"
    wrong = [
        f"{relative(path)}:{line}: {header}"
        for path, line, header in found
        if not header.startswith(CPP_PARTS[folder])
        and not STANDARD_HEADER.fullmatch(header)
        and not (ROOT / folder / header).is_file()
    ]
    assert not wrong, f"{folder} must not include:\n" + "\n".join(wrong)


def _modules_loaded_by(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sorted(sys.modules), sep='\\n')"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


GENERATE = """
from placewire.cli import main
sys.argv = ["placewire", "generate", "--check"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


def test_generate_starts_without_the_generated_package() -> None:
    loaded = _modules_loaded_by(GENERATE)
    assert "placewire_codegen" in loaded
    assert not {name for name in loaded if name.partition(".")[0] == "placewire_schema"}


NOTHING_TO_DO = """
from placewire.__main__ import main
sys.argv = ["placewire", "generate"]
main()
"""


def test_generate_with_nothing_to_do_loads_nothing_heavy() -> None:
    _modules_loaded_by(GENERATE)
    tops = {name.partition(".")[0] for name in _modules_loaded_by(NOTHING_TO_DO)}
    assert "placewire_codegen" in tops
    assert not tops & {"placewire_schema", "jinja2", "numpy", "pydantic", "rich", "typer"}


def test_the_generated_package_loads_nothing_from_outside_the_standard_library() -> None:
    before = _modules_loaded_by("")
    loaded = _modules_loaded_by("import placewire_schema") - before
    tops = {name.partition(".")[0] for name in loaded}
    assert "placewire_schema" in tops
    assert tops - set(STANDARD_LIBRARY) <= {"placewire_schema", "nanobind"}


def test_reading_files_needs_no_torch() -> None:
    loaded = _modules_loaded_by(
        "sys.modules['torch'] = None\nimport placewire, placewire.pte, placewire.cli"
    )
    assert "placewire.pte" in loaded
