"""Released schemas and their golden buffers: how a release is frozen, and how it is checked.

A release is a folder with the schemas as they were and a folder `golden`: for each table, buffers
made by the code that was generated from these schemas, and in `contents.json` what they say.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ..config import ProjectConfig
from ..model import Schema
from ..schema_package import render_package
from .contents import contents, differences
from .golden_objects import GoldenObjects
from .matching import match_types

__all__ = ["GOLDEN", "HistoryError", "Version", "freeze", "golden_buffers", "history_problems"]

GOLDEN = "golden"
"""Folder of the golden buffers, in that of their release."""

_CONTENTS = "contents.json"


class HistoryError(Exception):
    """A release cannot be frozen or checked; the message says why, and what to do."""


@dataclass(frozen=True)
class Version:
    """A schema and the code that was generated from it.

    Attributes:
        name: How a message calls it.
        schema: The schema.
        package: Its generated package.
    """

    name: str
    schema: Schema
    package: ModuleType

    @classmethod
    def of(cls, name: str, schema: Schema) -> Version:
        """Generate the code of a schema and import it."""
        return cls(name, schema, render_package(schema).load())

    def tables(self) -> dict[str, type[Any]]:
        """Return the classes of the tables by full name, sorted."""
        described = self.package.reflection.tables()
        return {described[type_].wire_name: type_ for type_ in sorted(described, key=repr)}

    def read(self, table: str, data: bytes) -> dict[str, Any]:
        """Return what a buffer says, whose root is a table of this version.

        Raises:
            ValueError: The buffer is damaged, by this version; it is the package's `CodecError`.
        """
        type_ = self.tables()[table]
        obj = self.package.unpack(type_, data, strict=False, check_identifier=False)
        return contents(obj, self.package)


def golden_buffers(version: Version) -> Iterator[tuple[str, str, bytes]]:
    """Yield table, variant and bytes of every golden buffer; see `GoldenObjects`."""
    objects = GoldenObjects(version.package)
    for table, type_ in sorted(version.tables().items()):
        for variant, obj in objects.variants(type_):
            yield table, variant, version.package.pack(obj)


def freeze(config: ProjectConfig, schema: Schema, name: str) -> Path:
    """Copy the project's schemas to its history, with golden buffers; return the folder.

    Args:
        config: The project.
        schema: What its schemas say, with paths relative to the current folder.
        name: The version.

    Raises:
        HistoryError: A schema is not below the folder of the project's first one, so that it would
            not be found from the history.
    """
    top = (config.root / config.schemas[0]).parent
    files = [Path(path) for path in schema.files]
    outside = [str(path) for path in files if not path.resolve().is_relative_to(top.resolve())]
    if outside:
        raise HistoryError(
            f"{', '.join(outside)}: not in {top}, where the project's first schema is; "
            "move all schemas there, so that they can be kept together"
        )
    target = config.history / name
    unfinished = config.history / f".{name}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        for path in files:
            copy = unfinished / path.resolve().relative_to(top.resolve())
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        write_golden_buffers(Version.of(name, schema), unfinished)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target


def write_golden_buffers(version: Version, folder: Path) -> None:
    """Write the golden buffers of a version and what they say into the folder of its release."""
    golden = folder / GOLDEN
    golden.mkdir()
    said = {}
    for table, variant, data in golden_buffers(version):
        name = f"{table}.{variant}"
        (golden / f"{name}.bin").write_bytes(data)
        said[name] = version.read(table, data)
    text = json.dumps(said, indent=1, ensure_ascii=False)
    (golden / _CONTENTS).write_text(text + "\n", encoding="utf-8")


def history_problems(folder: Path, then: Version, now: Version | None) -> Iterator[str]:
    """Yield what is wrong with a release, and what today's code and its code misread.

    Args:
        folder: The folder of the release.
        then: Its schema.
        now: Today's. A table that it has no more is not read. None if it has broken with the
            release, so that only the code of the release has to read its own buffers.
    """
    golden = folder / GOLDEN
    if not golden.is_dir():
        yield f"{golden} is missing, the folder of the golden buffers"
        return
    try:
        said = _read_contents(golden / _CONTENTS)
    except HistoryError as error:
        yield str(error)
        return
    yield from _missing(golden, said, then)
    names = match_types(then.schema, now.schema) if now is not None else {}
    tables = then.tables()
    for name, expected in said.items():
        path = golden / f"{name}.bin"
        table = name.rpartition(".")[0]
        if not path.is_file() or table not in tables:
            continue  # reported as missing, or as of no table
        for reader, known_as in ((then, table), (now, names.get(table))):
            if reader is not None and known_as is not None:
                yield from _misread(path, reader, known_as, expected)
    if now is not None:
        yield from _misread_from_today(then, now)


def _read_contents(path: Path) -> dict[str, dict[str, Any]]:
    """Return what each golden buffer of a release holds.

    Raises:
        HistoryError: The file is missing, or is not what `write_golden_buffers` writes.
    """
    advice = "restore it as it was released"
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HistoryError(f"{path} cannot be read: {error.strerror}; {advice}") from None
    except ValueError as error:
        raise HistoryError(f"{path} is not JSON: {error}; {advice}") from None
    if not isinstance(said, dict) or not all(isinstance(each, dict) for each in said.values()):
        raise HistoryError(f"{path} is not one JSON object that holds one a buffer; {advice}")
    return said


def _missing(golden: Path, said: dict[str, Any], then: Version) -> Iterator[str]:
    """Yield the golden buffers that are missing, and the files that are none."""
    tables = then.tables()
    needed = {f"{table}.{variant}" for table in tables for variant in ("empty", "1")}
    there = {path.stem for path in golden.glob("*.bin")}
    for name in sorted((needed | set(said)) - there):
        yield f"{golden / name}.bin is missing"
    for name in sorted(there - set(said)):
        yield f"{golden / name}.bin is not in {_CONTENTS}, which says what each buffer holds"
    for name in sorted(name for name in said if name.rpartition(".")[0] not in tables):
        yield f"{golden / _CONTENTS}: {name} is of no table of the release"


def _misread(path: Path, reader: Version, table: str, expected: dict[str, Any]) -> Iterator[str]:
    what = f"{path}, read by {reader.name}"
    try:
        found = reader.read(table, path.read_bytes())
    except ValueError as error:
        yield f"{what}: {error}"
        return
    for difference in differences(expected, found):
        yield f"{what}: {difference}"


def _misread_from_today(then: Version, now: Version) -> Iterator[str]:
    """Yield what the code of a release reads wrongly from today's buffers."""
    earlier = {new: old for old, new in match_types(then.schema, now.schema).items()}
    for table, variant, data in golden_buffers(now):
        if table not in earlier or earlier[table] not in then.tables():
            continue
        what = f"today's {table}.{variant}, read by {then.name}"
        try:
            found = then.read(earlier[table], data)
        except ValueError as error:
            yield f"{what}: {error}"
            continue
        for difference in differences(found, now.read(table, data)):
            yield f"{what}: {difference}"
