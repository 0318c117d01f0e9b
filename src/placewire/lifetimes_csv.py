"""Files of tensor lifetimes: CSV with the columns lower, upper and size, as minimalloc has them."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from placewire_schema.errors import InvalidArgumentError

from .planner import TensorLifetime

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["LifetimeTable"]

_OFFSET = "offset"
_NEEDED = ("lower", "upper", "size")
_NUMBER = re.compile(r"[+-]?[0-9]+")
_MOST = 2**63 - 1
_PROBLEMS_SHOWN = 10
_COLUMNS_SHOWN = 8
_NAME_SHOWN = 60
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
"""What other programs separate cells by."""


@dataclass(frozen=True)
class LifetimeTable:
    """The rows of a file, as they stand there, and the tensors that they mean.

    Attributes:
        columns: The names of all columns.
        rows: The cells of each row, as many as there are columns.
        tensors: The tensor of each row.
    """

    columns: tuple[str, ...]
    rows: list[list[str]]
    tensors: list[TensorLifetime]

    @classmethod
    def load(cls, path: Path) -> LifetimeTable:
        """Read a file.

        The first line names the columns, in any order: lower, upper, size, and whatever else; a
        tensor is alive in the half-open interval [lower, upper). Empty lines are left out.

        Raises:
            InvalidArgumentError: Something in it is not as it should be; the message lists what,
                with the lines.
            OSError: The file cannot be read.
        """
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidArgumentError(
                f"{path}: byte {error.start} is not UTF-8; save the file as CSV in UTF-8"
            ) from None
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            return cls._read(path, reader)
        except csv.Error as error:
            raise InvalidArgumentError(f"{path}:{reader.line_num}: {error}") from None

    @classmethod
    def _read(cls, path: Path, reader: _Reader) -> LifetimeTable:
        columns = tuple(name.strip() for name in next(reader, ()))
        missing = [name for name in _NEEDED if name not in columns]
        if missing:
            raise InvalidArgumentError(
                f"{path}:1: there is no column {', '.join(missing)}; {_found(columns)}; the first "
                "line must name the columns id,lower,upper,size"
                f"{_hint(columns)}"
            )
        twice = sorted({name for name in columns if columns.count(name) > 1})
        if twice:
            raise InvalidArgumentError(f"{path}:1: there are two columns {', '.join(twice)}")
        table = cls(columns, [], [])
        problems: list[str] = []
        for row in reader:
            if row:
                problems += (f"{path}:{reader.line_num}: {text}" for text in table._add(row))
        if problems:
            more = len(problems) - _PROBLEMS_SHOWN
            problems[_PROBLEMS_SHOWN:] = [f"and {more} more lines"] if more > 0 else []
            raise InvalidArgumentError("\n".join(problems))
        return table

    def _add(self, row: list[str]) -> Iterator[str]:
        """Add a row; yield what is wrong with it."""
        if len(row) != len(self.columns):
            yield f"there are {len(row)} cells, expected {len(self.columns)}"
            return
        cells = dict(zip(self.columns, row, strict=True))
        wrong = [name for name in _NEEDED if _number(cells[name]) is None]
        if wrong:
            shown = ", ".join(f"{name} is {cells[name]!r}" for name in wrong)
            yield f"{shown}, expected a whole number of 64 bits"
            return
        lower, upper, size = (int(cells[name]) for name in _NEEDED)
        if size < 0:
            yield f"size is {size}, expected 0 or more"
        elif lower > upper:
            yield f"the lifetime ends at {upper}, before it begins at {lower}"
        else:
            self.rows.append(row)
            self.tensors.append(TensorLifetime(size, lower, upper))

    def with_offsets(self, offsets: Iterable[int]) -> str:
        """The file with a column `offset`, which is the last one unless it was there already."""
        has_offset = _OFFSET in self.columns
        place = self.columns.index(_OFFSET) if has_offset else len(self.columns)
        stream = io.StringIO(newline="")
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.columns if has_offset else (*self.columns, _OFFSET))
        for row, offset in zip(self.rows, offsets, strict=True):
            writer.writerow([*row[:place], offset, *row[place + 1 :]])
        return stream.getvalue()


def _found(columns: tuple[str, ...]) -> str:
    names = [repr(_shortened(name)) for name in columns[:_COLUMNS_SHOWN]]
    if not any(columns):
        return "found none"
    more = len(columns) - len(names)
    return f"found {', '.join(names)}" + (f" and {more} more" if more else "")


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME_SHOWN else f"{name[:_NAME_SHOWN]}..."


def _hint(columns: tuple[str, ...]) -> str:
    """What the first line looks like instead, if it can be told."""
    for delimiter, name in _DELIMITERS.items():
        names = [cell.strip(" \"'") for column in columns for cell in column.split(delimiter)]
        if len(names) > len(columns) and _lowered(names) >= set(_NEEDED):
            return f", and cells are separated by commas, not by {name}"
    if _lowered(columns) >= set(_NEEDED):
        return ", in lower case"
    return ""


def _lowered(names: Iterable[str]) -> set[str]:
    return {name.strip().lower() for name in names}


def _number(cell: str) -> int | None:
    """A whole number of 64 bits, or `None`."""
    text = cell.strip()
    if not _NUMBER.fullmatch(text) or len(text) > 20:
        return None
    number = int(text)
    return number if -_MOST - 1 <= number <= _MOST else None


if TYPE_CHECKING:
    from typing import Protocol

    class _Reader(Protocol):
        """What `csv.reader` gives."""

        line_num: int

        def __iter__(self) -> Iterator[list[str]]: ...
        def __next__(self) -> list[str]: ...
