"""Generates a package and headers for any schemas, and makes objects for them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import HealthCheck, given, settings
from placewire_codegen.config import OutputPaths, ProjectConfig, TargetName
from placewire_codegen.generate import generate
from placewire_codegen.model import Schema
from placewire_codegen.targets.python_names import PythonNames

from .strategies import objects

CPP_NAMESPACE = "placewire::schema"
"""The namespace of headers that the C++ drivers of the tests can include."""


class Package:
    """What was generated from some schemas.

    Attributes:
        name: Import name.
        folder: Holds the package, `include` and `bindings`.
        config: What was generated and how.
        schema: The model that it was generated from.
    """

    def __init__(self, name: str, folder: Path, config: ProjectConfig, schema: Schema) -> None:
        self.name = name
        self.folder = folder
        self.config = config
        self.schema = schema

    def module(self, name: str = "") -> ModuleType:
        """Import a module of the package; the package itself if there is no name."""
        sys.path.insert(0, str(self.folder))
        try:
            return import_module(f"{self.name}.{name}" if name else self.name)
        finally:
            sys.path.remove(str(self.folder))

    def class_of(self, full_name: str) -> type[Any]:
        """Return the class of a table."""
        reflection = self.module("reflection")
        found: list[type[Any]] = [
            type_
            for type_ in reflection.tables()
            if reflection.describe(type_).wire_name == full_name
        ]
        assert len(found) == 1, full_name
        return found[0]

    def deprecated_fields(self) -> set[tuple[str, str]]:
        """Return the full name of the table and the name of each, which C++ does not show."""
        tables = self.schema.tables
        return {(t.full_name, f.name) for t in tables for f in t.fields if f.deprecated}

    def member_names(self) -> dict[type[Any], dict[int, str]]:
        """Return what the schema calls the members of each enum, by their values."""
        names = PythonNames(self.schema, self.config)
        return {
            getattr(
                self.module(names.module_of(enum.full_name)), names.type_name(enum.full_name)
            ): {member.value: member.name for member in enum.members}
            for enum in self.schema.enums
        }


def generate_package(
    schemas: Sequence[Path],
    folder: Path,
    *,
    name: str,
    targets: tuple[TargetName, ...],
    cpp_namespace: str = CPP_NAMESPACE,
    include: Sequence[Path] = (),
    modules: dict[str, str] | None = None,
) -> Package:
    """Generate for `targets` below `folder`."""
    config = ProjectConfig(
        root=folder,
        schemas=tuple(schemas),
        include=tuple(include),
        modules=modules or {},
        package=name,
        cpp_namespace=cpp_namespace,
        targets=targets,
        output=OutputPaths(
            python=Path(name), cpp=Path("include"), nanobind=Path("bindings"), docs=Path("docs")
        ),
    )
    return Package(name, folder, config, generate(config).schema)


def examples(type_: type[Any], count: int, *, largest_list: int = 2) -> list[Any]:
    """Return random objects of a table.

    They are the same ones in every run of the same tests, but others with another version of
    hypothesis or when other modules are loaded, as it draws from the constants of those, too.
    """
    found: list[Any] = []

    @settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(objects(type_, largest_list=largest_list))
    def collect(obj: Any) -> None:
        found.append(obj)

    collect()
    return found
