"""Reads real files through the new schema, and says which of them a finding touches.

A `FileReader` is made once and sent wherever files are read: it holds the generated code of the
new schema, and what to look for in what the old one wrote. `read_files` runs on anything with the
interface of `concurrent.futures`: a pool of processes, or a Dask or Ray cluster.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import Any

from ..model import Schema
from ..schema_package import RenderedPackage, render_package
from .findings import Finding
from .matching import match_types
from .rules import Level
from .touched import FILE, Trigger, triggers
from .usage import DamagedError, UsagePlan, plan_usage
from .walk_tables import WalkFactory, WalkTables, walk_tables

__all__ = [
    "Batch",
    "FileFinding",
    "FileReader",
    "NoSuchRootError",
    "file_reader",
    "files_under_way",
    "read_files",
]

UNREADABLE = "FILE_READABLE"
"""Rule of a file that the system does not let us read."""
OF_OLD_SCHEMA = "FILE_OF_BASE"
"""Rule of a file that is not what the old schema describes."""

_BATCH = 256
_WAITING_PER_WORKER = 4
_MAPPED = 1 << 16
_IDENTIFIER = slice(4, 8)


class NoSuchRootError(ValueError):
    """The new schema has no table of that name, or several."""


@dataclass(frozen=True)
class FileFinding:
    """What is the matter with a file.

    Attributes:
        file: Its path.
        rule: Of the evolution check, or of reading.
        level: How bad it is.
        at: Path in the file of the first thing that is touched; empty for the file as a whole.
        path: What of the schema the finding is about; empty if reading has found it.
        message: What is, and what was, without a full stop.
    """

    file: str
    rule: str
    level: Level
    at: str
    path: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}: {self.level.value}: "
        about = f"{self.at or 'the file'}: "
        what = f"{self.path} {self.message}" if self.path else self.message
        return f"{place}{about}{what} [{self.rule}]"


@dataclass(frozen=True)
class Batch:
    """Some files that have been read.

    Attributes:
        count: How many.
        findings: What is the matter with them, in their order.
    """

    count: int
    findings: tuple[FileFinding, ...]


@dataclass(frozen=True)
class InstalledPackage:
    """A generated package that can be imported, whose native codec is the fastest reader.

    Attributes:
        name: Import name.
        stamp: Hash of the schema that it must have been generated from.
    """

    name: str
    stamp: str

    def load(self) -> ModuleType:
        """Import the package.

        Raises:
            ImportError: It is not there, or of another schema.
        """
        package = import_module(self.name)
        stamp: str = package.MODEL_STAMP
        if stamp != self.stamp:
            raise ImportError(f"{self.name} was generated from another schema")
        import_module(f"{self.name}.reflection")
        return package


@dataclass(frozen=True)
class _Root:
    """A root of HEAD: its full name, that of BASE, and the identifier of its files."""

    table: str
    base_table: str
    identifier: bytes | None


@dataclass(frozen=True)
class NativeWalk:
    """What compiled code needs to read by a schema; can be pickled.

    Attributes:
        tables: The schema.
        factory: Makes what walks by it.
    """

    tables: WalkTables
    factory: WalkFactory

    def finder(self) -> _Finder:
        """Return what walks, which is made once in a process."""
        return _finder(self)


class _Finder:
    """A walk in compiled code, and the triggers that it knows by number."""

    def __init__(self, native: NativeWalk) -> None:
        self._find = native.tables.walk(native.factory).find
        self._triggers = native.tables.triggers
        self._roots = dict(native.tables.roots)

    def find(self, data: object, root: str, *, check_identifier: bool) -> dict[Trigger, str] | None:
        """Return what is asked for and there; None if Python has to look."""
        if root not in self._roots:
            return None
        table, identifier, magic = self._roots[root]
        places = self._find(data, table, identifier if check_identifier else "", magic)
        if places is None:
            return None
        found = zip(self._triggers, places, strict=True)
        return {trigger: place for trigger, place in found if place is not None}


@dataclass(frozen=True)
class FileReader:
    """Reads files by the new schema; can be pickled.

    Attributes:
        package: The generated code of the new schema.
        roots: What a file can begin with. The first is taken if no identifier fits.
        plan: What to look for by the old schema; None if nothing can touch a file.
        touching: Which findings, by position, what is looked for belongs to.
        findings: The findings of the comparison.
        by_head: Verifies by the new schema in compiled code, if there is any for it.
        by_base: Looks by the old schema for what `plan` does, and leaves the rest to it.
    """

    package: RenderedPackage | InstalledPackage
    roots: tuple[_Root, ...]
    plan: UsagePlan | None
    touching: tuple[tuple[Trigger, tuple[int, ...]], ...]
    findings: tuple[tuple[str, Level, str, str], ...]
    by_head: NativeWalk | None = None
    by_base: NativeWalk | None = None

    def read(self, files: Sequence[str]) -> Batch:
        """Read files one after the other. What cannot be read is a finding."""
        verifies = _verifiers(self.package, self.roots)
        by_head = self.by_head.finder() if self.by_head is not None else None
        by_base = self.by_base.finder() if self.by_base is not None else None
        found: list[FileFinding] = []
        for file in files:
            try:
                data = _contents(file)
            except OSError as error:
                reason = error.strerror or str(error)
                found.append(FileFinding(file, UNREADABLE, Level.WIRE, "", "", reason))
                continue
            verify, root = verifies.get(bytes(data[_IDENTIFIER])) or verifies[None]
            if by_head is None or by_head.find(data, root.table, check_identifier=True) is None:
                found += (self._problem(file, problem) for problem in verify(data))
            if self.plan is not None:
                found += self._touched(file, data, root, by_base)
        return Batch(len(files), tuple(found))

    def _places(
        self, data: bytes | mmap.mmap, root: _Root, by_base: _Finder | None
    ) -> dict[Trigger, str]:
        """Return the first place of all that is asked for.

        Raises:
            DamagedError: The file is not what the old schema describes.
        """
        assert self.plan is not None
        if by_base is not None:
            places = by_base.find(data, root.base_table, check_identifier=False)
            if places is not None:
                return places
        with memoryview(data) as view:
            return self.plan.find(view, root.base_table)

    def _problem(self, file: str, problem: Any) -> FileFinding:  # noqa: ANN401 - of any package
        unknown = _module(self.package).UNKNOWN_RULES
        level = Level.SEMANTIC if problem.rule in (*unknown, "FIELD_ABSENT") else Level.WIRE
        return FileFinding(file, problem.rule, level, problem.path, "", problem.message)

    def _touched(
        self, file: str, data: bytes | mmap.mmap, root: _Root, by_base: _Finder | None
    ) -> Iterator[FileFinding]:
        try:
            places = {FILE: "", **self._places(data, root, by_base)}
        except DamagedError as error:
            message = f"not what the old schema says: {error}"
            yield FileFinding(file, OF_OLD_SCHEMA, Level.WIRE, "", "", message)
            return
        for trigger, positions in self.touching:
            if trigger in places:
                for position in positions:
                    rule, level, path, message = self.findings[position]
                    yield FileFinding(file, rule, level, places[trigger], path, message)


def file_reader(
    head: Schema,
    *,
    base: Schema | None = None,
    findings: Sequence[Finding] = (),
    installed: str | None = None,
    walks: WalkFactory | None = None,
    root: str | None = None,
) -> FileReader:
    """Make a reader of files.

    Args:
        head: The schema that is to read them.
        base: The schema that they were written by.
        findings: Of the comparison of the two.
        installed: Import name of a package that may have been generated from `head`.
        walks: Compiled code that walks by any schema; only Python reads if there is none.
        root: The table of `head` that the files begin with, if that is no root of it: its full
            name, or its name if there is one such table.

    Raises:
        NoSuchRootError: `head` does not have `root`.
        ValueError: `head` has no root type, so no file begins with anything.
    """
    if root is None and not head.roots:
        raise ValueError("the new schema has no root_type, so it says nothing of files")
    roots = _roots(head, base) if root is None else [_named_root(root, head, base)]
    touching = triggers(base, findings) if base is not None else {}
    wanted = frozenset(touching)
    plan = plan_usage(base, wanted) if base is not None and wanted else None
    package = _package(head, installed)
    by_head = by_base = None
    if walks is not None and isinstance(package, RenderedPackage):
        by_head = NativeWalk(walk_tables(head), walks)
    if walks is not None and base is not None and plan is not None:
        by_base = NativeWalk(walk_tables(base, sorted(wanted, key=repr)), walks)
    return FileReader(
        package=package,
        roots=tuple(roots),
        plan=plan,
        touching=tuple((trigger, tuple(positions)) for trigger, positions in touching.items()),
        findings=tuple((one.rule.name, one.level, one.path, one.message) for one in findings),
        by_head=by_head,
        by_base=by_base,
    )


def read_files(
    files: Iterable[str],
    reader: FileReader,
    executor: Executor | None = None,
    *,
    workers: int = 1,
) -> Iterator[Batch]:
    """Read files and yield what was found, in their order.

    Only a few batches for each worker are under way at a time, so any number of files can be read.

    Args:
        files: Their paths, which the workers must be able to open.
        reader: What reads them.
        executor: Where to read: anything that offers `submit` as `concurrent.futures` has it. The
            files are read in this thread if there is none.
        workers: How many batches the executor reads at a time.
    """
    paths = iter(files)
    batches = iter(lambda: list(islice(paths, _BATCH)), [])
    if executor is None:
        yield from map(reader.read, batches)
        return
    waiting: deque[Future[Batch]] = deque()
    for batch in batches:
        waiting.append(executor.submit(reader.read, batch))
        if len(waiting) >= workers * _WAITING_PER_WORKER:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def files_under_way(files: Sequence[str], count: int, workers: int) -> tuple[str, str]:
    """Return the first and the last file that `read_files` reads at a time.

    Args:
        files: All of them.
        count: How many it has read before.
        workers: How many batches the executor reads at a time.
    """
    last = min(len(files), count + _BATCH * workers * _WAITING_PER_WORKER) - 1
    return files[count], files[last]


def _package(head: Schema, installed: str | None) -> RenderedPackage | InstalledPackage:
    if installed is not None:
        package = InstalledPackage(installed, head.stamp)
        try:
            package.load()
        except (ImportError, AttributeError):
            pass  # it is of another schema, or not there
        else:
            return package
    return render_package(head)


def _roots(head: Schema, base: Schema | None) -> Iterator[_Root]:
    for root in head.roots:
        names = {} if base is None else {one.identifier: one.table for one in base.roots}
        same_name = base is not None and root.table in {one.table for one in base.roots}
        other = root.table if same_name else names.get(root.identifier, root.table)
        identifier = None if root.identifier is None else root.identifier.encode()
        yield _Root(root.table, other, identifier)
    if base is not None:
        # What the old schema called by another identifier is still recognised by it.
        for root in base.roots:
            if root.identifier and root.table in {one.table for one in head.roots}:
                yield _Root(root.table, root.table, root.identifier.encode())


def _named_root(name: str, head: Schema, base: Schema | None) -> _Root:
    """Return a table as the only root, of files with any identifier if it is no root otherwise."""
    found = [one.full_name for one in head.tables if name == one.full_name]
    found = found or [one.full_name for one in head.tables if name == one.name]
    if len(found) != 1:
        known = f"there are {', '.join(found)}" if found else "there is no such table"
        raise NoSuchRootError(f"{name}: {known}")
    names = {} if base is None else match_types(base, head)
    old = next((old for old, new in names.items() if new == found[0]), found[0])
    return _Root(found[0], old, None)


_Verify = Callable[[Any], list[Any]]


@cache
def _module(package: RenderedPackage | InstalledPackage) -> ModuleType:
    return package.load()


@cache
def _finder(native: NativeWalk) -> _Finder:
    return _Finder(native)


@cache
def _verifiers(
    package: RenderedPackage | InstalledPackage, roots: tuple[_Root, ...]
) -> dict[bytes | None, tuple[_Verify, _Root]]:
    """Return what verifies a file, by its identifier; None stands for every other."""
    module = _module(package)
    reflection = import_module(f"{module.__name__}.reflection")
    types = {table.wire_name: type_ for type_, table in reflection.tables().items()}
    codec = import_module(f"{module.__name__}._select").codec()
    found: dict[bytes | None, tuple[_Verify, _Root]] = {}
    for root in roots:
        verify = _verifier(codec, types[root.table])
        found.setdefault(root.identifier, (verify, root))
        found.setdefault(None, (verify, root))
    return found


def _verifier(codec: Any, type_: type[Any]) -> _Verify:  # noqa: ANN401 - a module of any package
    verify = codec.verify
    return lambda data: verify(type_, data, True)  # noqa: FBT003 - its arguments have no names


def _contents(file: str) -> bytes | mmap.mmap:
    """Return what a file holds; a large one is mapped, since only its beginning is needed.

    Raises:
        OSError: It cannot be read, or is a device, a pipe or the like, which may have no end.
    """
    # Opening a pipe would wait for somebody who writes into it.
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        data = os.read(descriptor, _MAPPED)
        if len(data) < _MAPPED:
            return data
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)
