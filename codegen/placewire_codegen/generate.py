"""One run of the generator: load the schemas, render every target, compare, write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from . import stamp
from .config import ProjectConfig, TargetName
from .model import Schema
from .render import Changes, GeneratedFile, Templates, compare, write
from .resolve import load_schema
from .targets import cpp, docs, nanobind, python

Render = Callable[[Schema, ProjectConfig, Templates], Iterator[GeneratedFile]]

_RENDERERS: dict[TargetName, Render] = {
    "python": python.render,
    "cpp": cpp.render,
    "nanobind": nanobind.render,
    "docs": docs.render,
}


@dataclass(frozen=True)
class Result:
    """What a run found: the files it is about, and how the disk differed from them."""

    schema: Schema
    files: tuple[GeneratedFile, ...]
    changes: Changes


def template_directory() -> Path:
    """Return the folder of the templates: in the installed package, else at the checkout's top."""
    installed = Path(str(resources.files(__package__))) / "templates"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "templates"


def generate(config: ProjectConfig, *, check: bool = False) -> Result:
    """Generate everything that `config` asks for; with `check`, only compare.

    Raises:
        SchemaError: The schemas have errors; all of them are in it.
        OSError: A file could not be written. Nothing has been replaced then.
    """
    schema = load_schema(
        [config.root / path for path in config.schemas],
        include_directories=[config.root / path for path in config.include],
        root=config.root,
    )
    files = tuple(render_all(schema, config))
    changes = compare(config.root, files, config.output_directories)
    if not check:
        write(config.root, files, changes)
    if not check or not changes:
        stamp.record(config.root, _watched_paths(schema, config, files))
    return Result(schema, files, changes)


def render_all(schema: Schema, config: ProjectConfig) -> Iterator[GeneratedFile]:
    """Render the files of all targets, in the order in which they are configured."""
    templates = Templates(template_directory(), schema.files)
    for target in config.targets:
        yield from _RENDERERS[target](schema, config, templates)


def _watched_paths(
    schema: Schema, config: ProjectConfig, files: Iterable[GeneratedFile]
) -> list[Path]:
    outputs = [config.root / file.path for file in files]
    return [
        config.root / "pyproject.toml",
        *(config.root / path for path in schema.files),
        *stamp.generator_files(template_directory()),
        *outputs,
        *sorted({path.parent for path in outputs}),
    ]
