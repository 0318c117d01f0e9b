"""`placewire compat --files`: tells which real files a change of a schema touches."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from . import count, fail, is_terminal, printable, say

if TYPE_CHECKING:
    from placewire_codegen.evolution import Finding, Level
    from placewire_codegen.evolution.files import Batch, FileFinding, FileReader
    from placewire_codegen.evolution.references import References, Side
    from placewire_codegen.evolution.walk_tables import WalkFactory

__all__ = ["NoFileError", "check_files"]

_FILES_PER_JOB = 1000


class NoFileError(Exception):
    """There is nothing to read; the message says what was looked for."""


def check_files(
    references: References,
    patterns: list[str],
    base_text: str | None,
    head_text: str | None,
    *,
    level: Level,
    format_: str,
    jobs: int | None,
) -> bool:
    """Read files, write what touches them, and return whether nothing does.

    Args:
        references: Reads the schemas.
        patterns: What the user gave with `--files`.
        base_text: Names the old schema; without one, it is the project's last release.
        head_text: Names the new schema; without one, it is the project's.
        level: What to leave out.
        format_: How to write.
        jobs: How many processes read; as many as pay off if not given.

    Raises:
        NoFileError: A pattern matches no file.
        BadReferenceError: A schema cannot be read, or cannot read files.
        ConfigError: The project's configuration is not usable.
    """
    from placewire_codegen.evolution.file_report import FILE_FORMATS

    files = _files(patterns)
    reader = _reader(references, base_text, head_text)
    reading = _Reading(files, reader, jobs or _jobs(len(files)))
    try:
        for line in FILE_FORMATS[format_](reading.findings(level)):
            typer.echo(printable(line))
    except BrokenProcessPool:
        raise fail("a process that read files has ended; try --jobs 1") from None
    say(reading.summary())
    return not reading.touched


def _files(patterns: list[str]) -> list[str]:
    found: dict[str, None] = {}
    for pattern in patterns:
        matches = [pattern] if Path(pattern).is_file() else glob.glob(pattern, recursive=True)  # noqa: PTH207 - a pattern may be absolute
        files = [match for match in matches if not Path(match).is_dir()]
        if not files:
            raise NoFileError(
                f"{pattern} matches no file; quote a pattern such as 'models/**/*.pte'"
            )
        found |= dict.fromkeys(sorted(files))
    return list(found)


def _jobs(files: int) -> int:
    return max(1, min(os.cpu_count() or 1, files // _FILES_PER_JOB))


def _reader(references: References, base_text: str | None, head_text: str | None) -> FileReader:
    from placewire_codegen.evolution import compare_schemas
    from placewire_codegen.evolution.files import file_reader
    from placewire_codegen.evolution.references import BadReferenceError
    from placewire_codegen.schema_package import unsupported_parts

    head = references.project_side() if head_text is None else references.side(head_text)
    unsupported = unsupported_parts(head.schema)
    if unsupported:
        raise BadReferenceError(
            f"{head.name}: generated Python code cannot read {', '.join(unsupported)}"
        )
    base = _base(references, base_text, head, is_project=head_text is None)
    found: list[Finding] = []
    if base is not None:
        found = compare_schemas(base.schema, head.schema)
        if head_text is None:
            found = _not_waived(references, found)
    try:
        return file_reader(
            head.schema,
            base=None if base is None else base.schema,
            findings=found,
            installed=_installed(references, head_text),
            walks=_walks(),
        )
    except ValueError as error:
        raise BadReferenceError(f"{head.name}: {error}") from None


def _walks() -> WalkFactory | None:
    """Return what walks by any schema, so it does not matter which one the core is built from."""
    try:
        from .._runtime import SchemaWalk
    except ImportError:
        return None  # the core has not been built; Python reads as well, only slower
    return SchemaWalk


def _base(references: References, text: str | None, head: Side, *, is_project: bool) -> Side | None:
    """Return the old schema. That of a project is its last release, if nothing else is named."""
    if text is not None:
        return references.side(text, head)
    if is_project and references.releases():
        return references.side("release:latest", head)
    say("note: no old schema is named (--against), so files are only read by the new one")
    return None


def _not_waived(references: References, findings: list[Finding]) -> list[Finding]:
    from placewire_codegen.evolution.waivers import waive

    source = str(references.project_folder / "pyproject.toml")
    left = waive(findings, references.project().compat.waivers, source)
    return [finding for finding in left if finding.rule.name != "WAIVER_USED"]


def _installed(references: References, head_text: str | None) -> str | None:
    """Return the package of the project; it may have a native codec, which reads much faster."""
    from placewire_codegen.config import ConfigError

    try:
        return references.project().package
    except ConfigError:
        if head_text is None:
            raise
        return None


@dataclass
class _Reading:
    """Reads files with progress, and counts.

    Attributes:
        files: Their paths.
        reader: What reads them.
        jobs: How many processes do.
        touched: How many files something was shown of.
    """

    files: list[str]
    reader: FileReader
    jobs: int
    touched: int = 0

    def findings(self, level: Level) -> Iterator[FileFinding]:
        """Yield what `level` shows, file by file."""
        last = None
        for batch in self._batches():
            for finding in batch.findings:
                if level.shows(finding.level):
                    self.touched += finding.file != last
                    last = finding.file
                    yield finding

    def summary(self) -> str:
        read = f"{count(len(self.files), 'file')} read"
        return f"{read}, {self.touched:,} with findings" if self.touched else f"{read}, no findings"

    def _batches(self) -> Iterator[Batch]:
        from placewire_codegen.evolution.files import read_files
        from rich.console import Console
        from rich.progress import MofNCompleteColumn, Progress

        console = Console(stderr=True)
        with ExitStack() as stack:
            pool = stack.enter_context(ProcessPoolExecutor(self.jobs)) if self.jobs > 1 else None
            columns = (*Progress.get_default_columns(), MofNCompleteColumn())
            progress = Progress(
                *columns,
                console=console,
                disable=not console.is_terminal,
                redirect_stdout=is_terminal(),  # else findings would follow the bar to stderr
            )
            stack.enter_context(progress)
            task = progress.add_task("reading", total=len(self.files))
            for batch in read_files(self.files, self.reader, pool, workers=self.jobs):
                yield batch
                progress.advance(task, batch.count)
