"""What is generated from `pains.fbs`: a package with both codecs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ..cpp.building import compile_native
from ..packages import Package, generate_package

FOLDER = Path(__file__).parent


@pytest.fixture(scope="session")
def pains_package(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> Package:
    """The package `pains`, with both codecs."""
    assert compiler
    root = tmp_path_factory.mktemp("pains")
    for name in ("pains.fbs", "inbox.fbs"):
        shutil.copy(FOLDER / name, root)
    package = generate_package(
        [Path("pains.fbs")],
        root,
        name="pains",
        targets=("python", "cpp", "nanobind"),
        cpp_namespace="pains",
    )
    compile_native(root, "pains")
    return package


@pytest.fixture(scope="session")
def folder(pains_package: Package) -> Path:
    """The folder that the package is in."""
    return pains_package.folder


@pytest.fixture(scope="session")
def package(pains_package: Package) -> ModuleType:
    """The package, imported."""
    return pains_package.module()


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
