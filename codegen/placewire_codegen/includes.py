"""Finds, reads and parses the schema files: the entries and all that they include."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import syntax
from .diagnostics import Diagnostics, Source, Span
from .parser import parse


@dataclass(frozen=True, slots=True)
class Unit:
    """An entry file with what it includes, each file once and after those that it includes.

    Attributes:
        entry: The entry file, which is the last of `trees`; None if it could not be read.
        complete: False if a file could not be read, so that names may be missing.
    """

    entry: syntax.SyntaxTree | None
    trees: tuple[syntax.SyntaxTree, ...]
    complete: bool


BINARY_SUFFIX = ".bfbs"
"""Ends the name of a binary schema; all other files are read as text."""

_DEEPEST_INCLUDE = 100


def read_bytes(path: Path) -> bytes:
    """Return the contents of a file, as `SchemaFiles` reads them unless told otherwise."""
    return path.read_bytes()


class SchemaFiles:
    """Reads schema files, each once however often it is named.

    Args:
        include_directories: Where an include is looked for if it is not beside its includer.
        root: Directory that paths in the model are relative to.
        messages_from: Directory that paths in messages are relative to.
        diagnostics: Takes what is wrong with the files.
        read: Returns the contents of a file, by the path that it was found under.
    """

    def __init__(
        self,
        include_directories: Sequence[Path],
        *,
        root: Path,
        messages_from: Path,
        diagnostics: Diagnostics,
        read: Callable[[Path], bytes],
    ) -> None:
        self._include_directories = tuple(include_directories)
        self._root = _Base(root)
        self._messages_from = _Base(messages_from)
        self._diagnostics = diagnostics
        self._read_bytes = read
        self._depth = 0
        self._read: dict[Path, syntax.SyntaxTree | None] = {}
        self.paths: list[str] = []
        """All files so far as the model names them, each after those that it includes."""
        self.message_paths: list[str] = []
        """The same files as messages name them."""
        self.includes: dict[str, list[str]] = {}
        """What each text file includes, by the names that the model has for both."""

    def unit(self, entry: Path) -> Unit:
        """Read an entry file and its includes; what cannot be read is reported and left out."""
        visited: dict[Path, syntax.SyntaxTree | None] = {}
        trees: list[syntax.SyntaxTree] = []
        self._visit(entry, None, visited, trees)
        return Unit(visited[entry.resolve()], tuple(trees), complete=None not in visited.values())

    def _visit(
        self,
        named: Path,
        included_at: Span | None,
        visited: dict[Path, syntax.SyntaxTree | None],
        trees: list[syntax.SyntaxTree],
    ) -> None:
        path = named.resolve()
        first_time = path not in self._read
        if first_time:
            self._read[path] = self._parse(named, included_at)
        tree = visited[path] = self._read[path]
        if tree is not None:
            for include in tree.includes:
                span = tree.span(include.path)
                found = self._find(include.path.text, named, span if first_time else None)
                if found is not None and first_time:
                    including = self.includes.setdefault(self._root.relative(named), [])
                    including.append(self._root.relative(found))
                if found is None:
                    visited[path / include.path.text] = None
                elif found.resolve() not in visited and self._depth < _DEEPEST_INCLUDE:
                    self._depth += 1
                    self._visit(found, span, visited, trees)
                    self._depth -= 1
                elif found.resolve() not in visited:
                    self._diagnostics.error(span, f"more than {_DEEPEST_INCLUDE} nested includes")
            trees.append(tree)
        if first_time:
            self.paths.append(self._root.relative(named))
            self.message_paths.append(self._messages_from.relative(named))

    def _find(self, wanted: str, includer: Path, report_at: Span | None) -> Path | None:
        """The file that an include names: beside its includer, else in an include directory.

        An includer that is a link has two places: that of the link comes first.
        """
        beside = dict.fromkeys((includer.parent, includer.resolve().parent))
        directories = (*beside, *self._include_directories)
        for directory in directories:
            candidate = directory / wanted
            if candidate.exists():
                return candidate
        if report_at is not None:
            shown = dict.fromkeys(map(self._messages_from.relative, directories))
            looked = ", ".join(f"`{directory}`" for directory in shown)
            self._diagnostics.error(
                report_at,
                f'included file "{wanted}" does not exist',
                hint=f"looked in {looked}; name its folder as an include directory",
            )
        return None

    def _parse(self, path: Path, included_at: Span | None) -> syntax.SyntaxTree | None:
        shown = self._messages_from.relative(path)
        try:
            data = self._read_bytes(path)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            message = f"cannot read the file: {reason[:1].lower()}{reason[1:]}"
            if included_at is None:
                self._diagnostics.file_error(shown, message)
            else:
                self._diagnostics.error(included_at, f"`{shown}`: {message}")
            return None
        if path.suffix == BINARY_SUFFIX:
            return self._parse_binary(path, data, included_at)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self._report_encoding(shown, error)
            return None
        source = Source(shown, text, model_path=self._root.relative(path))
        return parse(source, self._diagnostics)

    def _parse_binary(
        self, path: Path, data: bytes, included_at: Span | None
    ) -> syntax.SyntaxTree | None:
        if included_at is not None:
            self._diagnostics.error(
                included_at,
                "a binary schema cannot be included",
                hint="name it beside this file, or include the .fbs that it was made from",
            )
            return None
        from .bfbs_source import file_name, source_of  # only who has a .bfbs pays for the imports
        from .bfbs_wire import DamagedError, read_records

        shown = self._messages_from.relative(path)
        try:
            records = read_records(data)
            source = source_of(records, path=shown, model_path=self._root.relative(path))
        except DamagedError as damage:
            self._diagnostics.file_error(shown, str(damage), hint=damage.hint)
            return None
        origins = tuple(
            (file_name(file.filename), tuple(map(file_name, file.included_filenames)))
            for file in records.fbs_files
        )
        return parse(source, self._diagnostics)._replace(origins=origins)

    def _report_encoding(self, shown: str, error: UnicodeDecodeError) -> None:
        before = error.object[: error.start].decode()
        source = Source(shown, error.object.decode(errors="replace"))
        self._diagnostics.error(
            Span(source, len(before), len(before) + 1),
            f"byte 0x{error.object[error.start]:02X} is not UTF-8",
            hint="save the file as UTF-8",
        )


class _Base:
    """A directory that paths are made relative to.

    A path is kept as it was named if that lies in the directory, so that the name does not tell
    where a link leads; otherwise, links are followed first.
    """

    def __init__(self, directory: Path) -> None:
        self._named = os.path.abspath(directory)  # noqa: PTH100 - `resolve` follows links
        self._real = directory.resolve()

    def relative(self, path: Path) -> str:
        named = Path(os.path.relpath(path, self._named))
        if ".." in named.parts:
            named = Path(os.path.relpath(path.resolve(), self._real))
        return named.as_posix()
