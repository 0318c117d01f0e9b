"""What to generate and where: `[tool.placewire]` of a pyproject.toml, or the command line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from .names import Name

TargetName = Literal["python", "cpp", "nanobind", "docs"]
ALL_TARGETS: tuple[TargetName, ...] = ("python", "cpp", "nanobind", "docs")


class ConfigError(Exception):
    """The configuration cannot be used; the message says which key of which file, and why."""


class OutputPaths(BaseModel):
    """Where each target goes, relative to the project's root.

    Attributes:
        python: The package itself; its last part is the import name.
        cpp: Root of the include path; `cpp_namespace` spells the folder below it for the headers.
        nanobind: Sources of the native module.
        docs: Schema reference in Markdown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    python: Path
    cpp: Path
    nanobind: Path
    docs: Path


class ProjectConfig(BaseModel):
    """One run of the generator.

    Attributes:
        root: Folder that all other paths, and those in generated files, are relative to.
        schemas: The entry files. What they include is generated too.
        include: Folders to search for included files, after the folder of the including one.
        modules: Module name for each namespace; a namespace that is not listed is called by its
            last part in snake case (`schema` for the global one).
        package: Import name of the generated Python package.
        cpp_namespace: C++ namespace around the modules.
        targets: What to generate.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    schemas: tuple[Path, ...] = Field(min_length=1)
    include: tuple[Path, ...] = ()
    modules: dict[str, str] = {}
    package: str
    cpp_namespace: str
    targets: tuple[TargetName, ...] = ALL_TARGETS
    output: OutputPaths

    @field_validator("package")
    @classmethod
    def _is_importable(cls, package: str) -> str:
        if not all(part.isidentifier() for part in package.split(".")):
            raise ValueError(f"{package!r} is not an import name")
        return package

    @field_validator("modules")
    @classmethod
    def _modules_are_identifiers(cls, modules: dict[str, str]) -> dict[str, str]:
        for namespace, module in modules.items():
            if not module.isidentifier() or module.startswith("_"):
                raise ValueError(f"namespace {namespace!r} cannot become the module {module!r}")
        return modules

    @property
    def output_directories(self) -> tuple[Path, ...]:
        """The folders that belong to the chosen targets, relative to the root."""
        folders = {
            "python": self.output.python,
            "cpp": self.header_directory,
            "nanobind": self.output.nanobind,
            "docs": self.output.docs,
        }
        return tuple(folders[target] for target in self.targets)

    def module(self, namespace: str) -> str:
        """Name of the module that holds the definitions of `namespace`."""
        listed = self.modules.get(namespace)
        if listed is not None:
            return listed
        return Name(namespace.rpartition(".")[2]).snake if namespace else "schema"

    @property
    def include_prefix(self) -> str:
        """How an `#include` reaches the headers: `placewire/schema`."""
        return self.cpp_namespace.replace("::", "/")

    @property
    def header_directory(self) -> Path:
        return self.output.cpp / self.include_prefix


def load_project(root: Path) -> ProjectConfig:
    """Read `[tool.placewire]` of `root`/pyproject.toml.

    Raises:
        ConfigError: The file or the table is missing, or a value is not usable.
    """
    path = root / "pyproject.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))["tool"]["placewire"]
    except FileNotFoundError:
        raise ConfigError(
            f"{path} does not exist; run in a project, or pass --schema and --out"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except KeyError:
        raise ConfigError(
            f"{path} has no table [tool.placewire]; add one, or pass --schema and --out"
        ) from None
    return _validated({**table, "root": root}, f"{path}, [tool.placewire]")


def command_line_project(
    schemas: list[Path],
    output: Path,
    *,
    targets: list[str],
    include: list[Path],
    package: str | None,
    cpp_namespace: str | None,
) -> ProjectConfig:
    """Describe a run that has no pyproject.toml: everything goes below `output`.

    The package is called after the first schema if no name is given.

    Raises:
        ConfigError: A value is not usable.
    """
    name = package or Name(schemas[0].stem).snake
    return _validated(
        {
            "root": Path.cwd(),
            "schemas": schemas,
            "include": include,
            "package": name,
            "cpp_namespace": cpp_namespace or name,
            "targets": targets or ["python"],
            "output": {
                "python": output / name,
                "cpp": output / "include",
                "nanobind": output / "bindings",
                "docs": output / "docs",
            },
        },
        "command line",
    )


def _validated(values: dict[str, Any], source: str) -> ProjectConfig:
    try:
        return ProjectConfig.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors()
        )
        raise ConfigError(f"{source}: {problems}") from error
