"""The generated Python code of a schema, imported under a name of its own.

So a process can read and write what several versions of a schema describe, at the same time.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib import import_module, invalidate_caches
from pathlib import Path
from threading import Lock
from types import ModuleType

from .config import OutputPaths, ProjectConfig
from .generate import template_directory
from .model import Schema
from .render import Templates
from .targets import python

__all__ = ["RenderedPackage", "render_package", "unsupported_parts"]

_lock = Lock()
_UNSUPPORTED = ("flexbuffer", "hash", "offset64", "vector64")


@dataclass(frozen=True)
class RenderedPackage:
    """The files of a Python package that reads and writes by a schema; can be sent elsewhere.

    Attributes:
        name: Import name, which says which schema it is for.
        files: Path, relative to the folder of the package, and text of each file.
    """

    name: str
    files: tuple[tuple[str, str], ...]

    def load(self) -> ModuleType:
        """Import the package, once in a process, whichever thread comes first."""
        with _lock:
            return _load(self)


def render_package(schema: Schema) -> RenderedPackage:
    """Render the Python package of a schema."""
    name = f"placewire_schema_{schema.stamp}"
    unused = Path("unused")
    config = ProjectConfig(
        root=Path(),
        schemas=tuple(map(Path, schema.files)),
        modules={namespace: f"module_{n}" for n, namespace in enumerate(schema.namespaces)},
        package=name,
        cpp_namespace=name,
        targets=("python",),
        output=OutputPaths(python=Path(name), cpp=unused, nanobind=unused, docs=unused),
    )
    templates = Templates(template_directory(), schema.files, name)
    files = python.render(schema, config, templates)
    return RenderedPackage(name, tuple((file.path, file.text) for file in files))


def unsupported_parts(schema: Schema) -> list[str]:
    """Return the fields that generated Python code cannot read, with the attribute that is why."""
    return [
        f"{table.full_name}.{field.name} ({attribute})"
        for table in schema.tables
        for field in table.fields
        for attribute in _UNSUPPORTED
        if attribute in field.attributes
    ]


@cache
def _load(package: RenderedPackage) -> ModuleType:
    for path, text in package.files:
        target = Path(_folder().name) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    invalidate_caches()
    sys.path.insert(0, _folder().name)
    try:
        return _complete(import_module(package.name))
    finally:
        sys.path.remove(_folder().name)


def _complete(package: ModuleType) -> ModuleType:
    """Import what a package would import only when it is used: its folder is not on the path."""
    reflection = import_module(f"{package.__name__}.reflection")
    reflection.tables()
    reflection.structs()
    return package


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for packages, which goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="placewire-packages-")
