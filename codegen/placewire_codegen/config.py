"""What to generate and where: `[tool.placewire]` of a pyproject.toml, or the command line."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from .names import (
    CPP_KEYWORDS,
    MODULE_RESERVED,
    Name,
    NameScope,
    why_not_cpp_namespace,
    why_not_module,
    why_not_package,
)

TargetName = Literal["python", "cpp", "nanobind", "docs", "bfbs"]
DEFAULT_TARGETS: tuple[TargetName, ...] = ("python", "cpp", "nanobind", "docs")
_SHARED_FOLDERS = ("bindings", "docs", "include")


class ConfigError(Exception):
    """The configuration cannot be used; the message says which key of which file, and why."""


class NoProjectError(ConfigError):
    """No project is described; what to do instead depends on the command, which adds it."""


class OutputPaths(BaseModel):
    """Where each target goes, relative to the project's root.

    Attributes:
        python: The package itself; its last part is the import name.
        cpp: Root of the include path; `cpp_namespace` spells the folder below it for the headers.
        nanobind: Sources of the native module.
        docs: Schema reference in Markdown.
        bfbs: Binary schemas, one for each entry; only needed for that target.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    python: Path
    cpp: Path
    nanobind: Path
    docs: Path
    bfbs: Path | None = None


class Waiver(BaseModel):
    """Findings of the evolution check that somebody has decided to live with.

    Attributes:
        rule: Name of the rule.
        path: Full name of what may break it: `namespace.Table.field`. `*` stands for any text.
        reason: Why that is no harm.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str
    path: str = Field(min_length=1)
    reason: str = Field(min_length=1)


class CompatConfig(BaseModel):
    """What the evolution check goes by.

    Attributes:
        history: Folder of the released schemas, one folder for each version; `history` beside the
            first schema if not given.
        waivers: Findings that are not reported.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    history: Path | None = None
    waivers: tuple[Waiver, ...] = ()


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
        targets: What to generate; all but binary schemas if not given.
        compat: What the evolution check goes by.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    schemas: tuple[Path, ...] = Field(min_length=1)
    include: tuple[Path, ...] = ()
    modules: dict[str, str] = {}
    package: str
    cpp_namespace: str
    targets: tuple[TargetName, ...] = DEFAULT_TARGETS
    output: OutputPaths
    compat: CompatConfig = CompatConfig()

    @field_validator("package")
    @classmethod
    def _is_importable(cls, package: str) -> str:
        problem = why_not_package(package)
        if problem:
            raise ValueError(f"{problem}; choose another name")
        return package

    @field_validator("cpp_namespace")
    @classmethod
    def _can_be_declared(cls, namespace: str) -> str:
        problem = why_not_cpp_namespace(namespace)
        if problem:
            raise ValueError(problem)
        return namespace

    @field_validator("modules")
    @classmethod
    def _modules_are_identifiers(cls, modules: dict[str, str]) -> dict[str, str]:
        for namespace, module in modules.items():
            problem = why_not_module(module)
            if problem:
                raise ValueError(
                    f"namespace {namespace!r} cannot become the module {module!r}: {problem}"
                )
        return modules

    @model_validator(mode="after")
    def _binary_schemas_have_places(self) -> ProjectConfig:
        if "bfbs" not in self.targets:
            return self
        if self.output.bfbs is None:
            raise ValueError("output.bfbs is missing; say where the binary schemas go")
        first: dict[Path, Path] = {}
        for schema in self.schemas:
            path = self.binary_schema(schema)
            if first.setdefault(path, schema) != schema:
                raise ValueError(f"{first[path]} and {schema} would both become {path}")
            if _absolute(self.root / path) == _absolute(self.root / schema):
                raise ValueError(f"{schema} would be overwritten; choose another output folder")
        return self

    def binary_schema(self, schema: Path) -> Path:
        """Where the binary schema of an entry goes."""
        assert self.output.bfbs is not None, "validated with the target"
        return self.output.bfbs / f"{schema.stem}.bfbs"

    @property
    def history(self) -> Path:
        """Folder of the released schemas, one folder for each version."""
        given = self.compat.history
        return self.root / (self.schemas[0].parent / "history" if given is None else given)

    @property
    def output_directories(self) -> tuple[Path, ...]:
        """The folders that the chosen targets have to themselves, relative to the root."""
        folders = {
            "python": self.output.python,
            "cpp": self.header_directory,
            "nanobind": self.output.nanobind,
            "docs": self.output.docs,
        }
        return tuple(folders[target] for target in self.targets if target in folders)

    def module(self, namespace: str) -> str:
        """Name of the module that holds the definitions of `namespace`."""
        listed = self.modules.get(namespace)
        if listed is not None:
            return listed
        last = Name(namespace.rpartition(".")[2]).snake if namespace else "schema"
        return NameScope(MODULE_RESERVED).claim(last.lstrip("_") or "schema")

    @property
    def include_prefix(self) -> str:
        """How an `#include` reaches the headers: `placewire/schema`."""
        return self.cpp_namespace.replace("::", "/")

    @property
    def header_directory(self) -> Path:
        return self.output.cpp / self.include_prefix


def load_project(root: Path, *, read: Callable[[Path], bytes] = Path.read_bytes) -> ProjectConfig:
    """Read `[tool.placewire]` of `root`/pyproject.toml, whose contents `read` returns.

    Raises:
        NoProjectError: The file or the table is missing.
        ConfigError: The file cannot be read, or a value is not usable.
    """
    path = root / "pyproject.toml"
    try:
        table = tomllib.loads(read(path).decode())["tool"]["placewire"]
    except FileNotFoundError:
        raise NoProjectError(f"{path} does not exist") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except KeyError:
        raise NoProjectError(f"{path} has no table [tool.placewire]") from None
    source = f"{path}, [tool.placewire]"
    config = _validated({**table, "root": root}, source)
    _check_outputs(config, source)
    return config


def _check_outputs(config: ProjectConfig, source: str) -> None:
    """Report outputs outside the project, and a package whose folder is not called like it."""
    for target, path in config.output:
        if path is not None and (path.is_absolute() or ".." in path.parts):
            raise ConfigError(f"{source}: output.{target}: `{path}` lies outside the project")
    folder, name = config.output.python.name, config.package.rpartition(".")[2]
    if folder != name:
        raise ConfigError(
            f"{source}: output.python: the folder of package `{config.package}` must be called "
            f"`{name}`, not `{folder}`"
        )


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

    The package is called after the first schema if no name is given, and the C++ namespace after
    the package. Each package has folders of its own, so that several can share `output`. The root
    is the folder of the schemas, so that files do not tell from where they were generated.

    Raises:
        ConfigError: A value is not usable.
    """
    name = Name(schemas[0].stem).snake if package is None else package
    problem = why_not_package(name)
    if problem:
        raise ConfigError(f"--package: {problem}; choose another name")
    if name in _SHARED_FOLDERS:
        folders = ", ".join(f"`{folder}`" for folder in _SHARED_FOLDERS)
        raise ConfigError(f"--package: {folders} are folders that packages share, not packages")
    root = Path(os.path.commonpath([_absolute(schema).parent for schema in schemas]))
    parts = name.split(".")
    return _validated(
        {
            "root": root,
            "schemas": [_seen_from(root, schema) for schema in schemas],
            "include": [_seen_from(root, folder) for folder in include],
            "package": name,
            "cpp_namespace": _cpp_namespace(parts) if cpp_namespace is None else cpp_namespace,
            "targets": targets or ["python"],
            "output": {
                "python": _seen_from(root, output.joinpath(*parts)),
                "cpp": _seen_from(root, output / "include"),
                "nanobind": _seen_from(root, output.joinpath("bindings", *parts)),
                "docs": _seen_from(root, output.joinpath("docs", *parts)),
                "bfbs": _seen_from(root, output),
            },
        },
        "command line",
    )


def _cpp_namespace(parts: list[str]) -> str:
    return "::".join(NameScope(CPP_KEYWORDS).claim(part) for part in parts)


def _seen_from(root: Path, path: Path) -> Path:
    """Return `path` relative to `root`, or absolute if it lies elsewhere.

    Links are not followed: behind one, `..` would lead to another place.
    """
    absolute = _absolute(path)
    return absolute.relative_to(root) if absolute.is_relative_to(root) else absolute


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` follows links


def _validated(values: dict[str, Any], source: str) -> ProjectConfig:
    try:
        return ProjectConfig.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(
            ": ".join(filter(None, [".".join(map(str, problem["loc"])), _words(problem["msg"])]))
            for problem in error.errors()
        )
        raise ConfigError(f"{source}: {problems}") from error


def _words(message: str) -> str:
    """What a validator says, without the name of the exception that pydantic puts in front."""
    return message.removeprefix("Value error, ")
