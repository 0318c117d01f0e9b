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

from . import count, is_terminal, printable, say

if TYPE_CHECKING:
    from placewire_codegen.evolution import Finding, Level
    from placewire_codegen.evolution.files import Batch, FileFinding, FileReader
    from placewire_codegen.evolution.references import References, Side
    from placewire_codegen.evolution.walk_tables import WalkFactory

__all__ = ["NoFileError", "WorkerEndedError", "check_files"]

_FILES_PER_JOB = 1000


class NoFileError(Exception):
    """There is nothing to read; the message says what was looked for."""


class WorkerEndedError(Exception):
    """A process has ended before its files were read; the message says which may be to blame."""


def check_files(
    references: References,
    patterns: list[str],
    base_text: str | None,
    head_text: str | None,
    *,
    level: Level,
    format_: str,
    jobs: int | None,
    root: str | None = None,
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
        root: The table that the files begin with, if it is no root of the new schema.

    Raises:
        NoFileError: A pattern matches no file.
        WorkerEndedError: A process that read files was killed.
        BadReferenceError: A schema cannot be read, or cannot read files.
        ConfigError: The project's configuration is not usable.
    """
    from placewire_codegen.evolution.file_report import FILE_FORMATS

    files = _files(patterns)
    reader = _reader(references, base_text, head_text, root)
    reading = _Reading(files, reader, jobs or _jobs(len(files)))
    for line in FILE_FORMATS[format_](reading.findings(level)):
        typer.echo(printable(line))
    say(reading.summary())
    if reading.unidentified and root is None:
        say(
            f"note: {count(reading.unidentified, 'file')} without the identifier of a root; "
            "if they begin with another table, name it with --root"
        )
    return not reading.touched


def _files(patterns: list[str]) -> list[str]:
    found: dict[str, None] = {}
    for pattern in patterns:
        matches = [pattern] if Path(pattern).is_file() else glob.glob(pattern, recursive=True)  # noqa: PTH207 - a pattern may be absolute
        files = [match for match in matches if not Path(match).is_dir()]
        if matches and not files:
            raise NoFileError(f"{pattern} is a folder; say '{pattern.rstrip('/')}/**/*' to read it")
        if not files:
            raise NoFileError(
                f"{pattern} matches no file; quote a pattern such as 'models/**/*.pte'"
            )
        found |= dict.fromkeys(sorted(files))
    return list(found)


def _jobs(files: int) -> int:
    return max(1, min(os.cpu_count() or 1, files // _FILES_PER_JOB))


def _reader(
    references: References, base_text: str | None, head_text: str | None, root: str | None
) -> FileReader:
    from placewire_codegen.evolution import compare_schemas
    from placewire_codegen.evolution.files import NoSuchRootError, file_reader
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
            root=root,
        )
    except NoSuchRootError as error:
        raise BadReferenceError(f"--root {error} in {head.name}") from None
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
        unidentified: How many had not the identifier of any root.
        done: How many have been read.
    """

    files: list[str]
    reader: FileReader
    jobs: int
    touched: int = 0
    unidentified: int = 0
    done: int = 0

    def findings(self, level: Level) -> Iterator[FileFinding]:
        """Yield what `level` shows, file by file."""
        last = None
        for batch in self._batches():
            for finding in batch.findings:
                self.unidentified += finding.rule == "WRONG_IDENTIFIER"
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
            try:
                for batch in read_files(self.files, self.reader, pool, workers=self.jobs):
                    self.done += batch.count
                    yield batch
                    progress.advance(task, batch.count)
            except BrokenProcessPool:
                raise WorkerEndedError(self._what_was_read()) from None

    def _what_was_read(self) -> str:
        from placewire_codegen.evolution.files import files_under_way

        first, last = files_under_way(self.files, self.done, self.jobs)
        return (
            f"a process that read files was killed after {self.done:,} of {len(self.files):,} "
            f"files, at one from {first} to {last}; "
            "if the memory did not suffice, read them with --jobs 1"
        )
