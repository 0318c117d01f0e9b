"""The package that is generated from `language.fbs`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from placewire_codegen.config import command_line_project
from placewire_codegen.generate import generate

SCHEMA = Path(__file__).parent / "language.fbs"


@pytest.fixture(scope="session")
def language(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The generated package; its types are in `language.language`."""
    folder = tmp_path_factory.mktemp("generated")
    generate(
        command_line_project(
            [SCHEMA],
            folder,
            targets=["python"],
            include=[],
            package="language",
            cpp_namespace=None,
        )
    )
    sys.path.insert(0, str(folder))
    try:
        yield import_module("language")
    finally:
        sys.path.remove(str(folder))
