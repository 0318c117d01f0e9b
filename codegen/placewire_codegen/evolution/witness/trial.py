"""One file that may show a finding, who writes it, and who reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...model import (
    Schema,
)
from .differences import Difference
from .identity import Identity
from .places import Place
from .subjects import Subject
from .values import Values

__all__ = ["Direction", "Trial", "trial_at", "writer_of"]

Json = Any


@dataclass(frozen=True)
class Direction:
    """Who writes and who reads.

    Attributes:
        from_head: The writer goes by HEAD, the reader by BASE.
        identity: What of the writer's schema is what of the reader's.
        values: Makes values of the writer's schema.
    """

    from_head: bool
    identity: Identity
    values: Values

    @property
    def writer(self) -> Schema:
        return self.identity.writer

    @property
    def reader(self) -> Schema:
        return self.identity.reader

    def pick(self, base: Any, head: Any) -> tuple[Any, Any]:
        """Return what the writer has and what the reader has."""
        return (head, base) if self.from_head else (base, head)


@dataclass(frozen=True)
class Trial:
    """A file that may show a finding.

    Attributes:
        direction: Who writes and who reads.
        table: What the file begins with, by the writer's schema.
        reader_table: What the reader takes it to begin with.
        value: What is written.
        paths: Where a difference is about the finding, by the names of either side.
        names: Of differences there, those at the end of which such a name stands are best.
        rules: What the reader must find; empty if any difference will do.
        change: What becomes of the bytes after writing.
        inspect: Finds the difference in the bytes, if no reading shows it.
        as_file: The reader must know files that begin with the table.
        check_identifier: The reader looks at the file identifier.
        by_number: Members of enums are compared by their numbers, too.
    """

    direction: Direction
    table: str
    reader_table: str
    value: Json
    paths: frozenset[str]
    names: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()
    change: Callable[[bytes], bytes] = field(default=lambda buffer: buffer)
    inspect: Callable[[bytes], Difference | None] | None = None
    as_file: bool = False
    check_identifier: bool = False
    by_number: bool = False


def trial_at(
    place: Place, subject: Subject, direction: Direction, fields: dict[int, Json], **more: Any
) -> Trial:
    """Return the trial in which a table at a place has some fields."""
    own, other = direction.pick(subject.base_part, subject.head_part)
    reader = direction.pick(subject.base, subject.head)[1]
    slots = {part.id for part in (own, other) if part is not None}
    names = {part.name for part in (own, other) if part is not None}
    names |= {each.name for each in reader.fields if own is not None and each.id == own.id}
    names |= {f"<slot {slot}>" for slot in slots}
    paths = {place.path(), place.path(direction.identity)}
    return Trial(
        direction,
        place.root,
        direction.identity.types.get(place.root, ""),
        place.value(direction.values, fields),
        frozenset(f"{path}.{name}".removeprefix(".") for path in paths for name in names),
        **more,
    )


def writer_of(subject: Subject, direction: Direction) -> Any:
    return direction.pick(subject.base, subject.head)[0]
