"""One run of the generator: load the schemas, render every target, compare, write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module, resources
from pathlib import Path
from types import ModuleType

from . import stamp
from .config import ProjectConfig, TargetName
from .features import Feature
from .model import Schema
from .outputs import Changes, ClashError, compare, write
from .render import GeneratedFile, Templates
from .resolve import load_schema

Render = Callable[[Schema, ProjectConfig, Templates], Iterator[GeneratedFile]]


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


def generate(
    config: ProjectConfig,
    *,
    check: bool = False,
    force: bool = False,
    inputs: stamp.Inputs | None = None,
    messages_from: Path | None = None,
) -> Result:
    """Generate everything that `config` asks for; with `check`, only compare.

    Args:
        config: What to generate and where.
        check: Write nothing.
        force: Replace files that are not ours, too.
        inputs: Takes what the run reads, for `remember`.
        messages_from: Folder that messages name schemas from; the project's root if not given.

    Raises:
        SchemaError: The schemas have errors; all of them are in it.
        ClashError: An output would take the place of something else.
        WriteError: A file could not be written. If that is seen before the first is replaced, as
            with a full disk, nothing has changed.
        OSError: A template or an output cannot be read.
    """
    inputs = inputs or stamp.Inputs()
    inputs.read_all(stamp.generator_files(template_directory()))
    schema = load_schema(
        [config.root / path for path in config.schemas],
        include_directories=[config.root / path for path in config.include],
        root=config.root,
        messages_from=messages_from,
        features=_common_features(config.targets),
        read=inputs.read,
    )
    files = tuple(render_all(schema, config))
    changes = compare(config.root, files, config.output_directories)
    clashes = tuple(clash for clash in changes.clashes if not (force and clash.can_be_forced))
    if not check:
        if clashes:
            raise ClashError(clashes)
        write(config.root, files, changes)
    return Result(schema, files, changes)


def render_all(schema: Schema, config: ProjectConfig) -> Iterator[GeneratedFile]:
    """Render the files of all targets, in the order in which they are configured."""
    templates = Templates(template_directory(), schema.files, config.package)
    for target in config.targets:
        render: Render = _module_of(target).render
        yield from render(schema, config, templates)


def _common_features(targets: Iterable[TargetName]) -> frozenset[Feature]:
    """Return the parts of the language that all `targets` handle."""
    handled: list[frozenset[Feature]] = [_module_of(target).FEATURES for target in targets]
    return frozenset(Feature).intersection(*handled)


def _module_of(target: TargetName) -> ModuleType:
    """Return the module of a target; only those of a run are imported."""
    return import_module(f".targets.{target}", __package__)


def remember(config: ProjectConfig, result: Result, inputs: stamp.Inputs) -> None:
    """Record that the project's files are fresh, so that the next run can see it at once.

    Args:
        config: What was generated.
        result: What came out.
        inputs: What the run and `load_project` have read.
    """
    outputs = {config.root / file.path: stamp.hash_of(file.content) for file in result.files}
    folders = sorted({path.parent for path in outputs})
    stamp.record(config.root, {**inputs.hashes, **outputs}, folders)
