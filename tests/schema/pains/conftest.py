"""What is generated from `pains.fbs`: a package with both codecs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from placewire_codegen.config import OutputPaths, ProjectConfig
from placewire_codegen.generate import generate

from ..cpp.building import compile_native

FOLDER = Path(__file__).parent


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> Path:
    """The folder that the package `pains` is in."""
    assert compiler
    root = tmp_path_factory.mktemp("pains")
    for name in ("pains.fbs", "inbox.fbs"):
        (root / name).write_text((FOLDER / name).read_text(encoding="utf-8"), encoding="utf-8")
    generate(
        ProjectConfig(
            root=root,
            schemas=(Path("pains.fbs"),),
            package="pains",
            cpp_namespace="pains",
            targets=("python", "cpp", "nanobind"),
            output=OutputPaths(
                python=Path("pains"), cpp=Path("include"), nanobind=Path("bindings"), docs=Path("d")
            ),
        )
    )
    compile_native(root, "pains")
    return root


@pytest.fixture(scope="session")
def package(folder: Path) -> Iterator[ModuleType]:
    """The generated package."""
    sys.path.insert(0, str(folder))
    try:
        yield import_module("pains")
    finally:
        sys.path.remove(str(folder))


@pytest.fixture(params=["python", "native"])
def pains(
    package: ModuleType, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """The package with one of its codecs in use."""
    select = import_module("pains._select")
    monkeypatch.setenv("PLACEWIRE_PURE_PYTHON", "1" if request.param == "python" else "0")
    select.codec.cache_clear()
    assert package.codec_name() == request.param
    yield package
    select.codec.cache_clear()
