"""What a public module defines is in its `__all__`, and what is in `__all__` exists."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from tests.project.tree import ROOT, files, relative

FOLDERS = {"src": "placewire", "generated": "placewire_schema"}


def _is_public(path: Path) -> bool:
    """Tell whether no part of the module's name begins with an underscore."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return not any(part.startswith("_") and part != "__init__" for part in parts)


MODULES = [
    path
    for folder, package in FOLDERS.items()
    for path in files(f"{folder}/{package}", suffixes=(".py",))
    if _is_public(path)
]


def _module_name(path: Path) -> str:
    _, *parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def _public_definitions(path: Path) -> set[str]:
    """Return the public names that a module itself defines; type variables are no offer."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign) and "TypeVar(" not in ast.unparse(node.value):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


def test_both_packages_have_public_modules() -> None:
    names = {_module_name(path) for path in MODULES}
    assert {"placewire", "placewire.pte", "placewire_schema", "placewire_schema.program"} <= names


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_public_module_lists_what_it_offers(path: Path) -> None:
    module = importlib.import_module(_module_name(path))
    assert hasattr(module, "__all__"), "add `__all__`, or begin the module's name with `_`"
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert not missing, f"`__all__` lists names that do not exist: {missing}"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_no_public_name_is_left_out(path: Path) -> None:
    module = importlib.import_module(_module_name(path))
    left_out = _public_definitions(path) - set(getattr(module, "__all__", ()))
    assert not left_out, f"add them to `__all__`, or begin them with `_`: {sorted(left_out)}"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_what_a_public_module_offers_is_public(path: Path) -> None:
    offered = importlib.import_module(_module_name(path)).__all__
    dunder = {"__version__"}
    assert not [name for name in offered if name.startswith("_") and name not in dunder]
