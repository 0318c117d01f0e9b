"""What a finding is about, in both schemas."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...model import (
    AnyDefinition,
    EnumDefinition,
    EnumMember,
    Field,
    Root,
    Schema,
    UnionDefinition,
    UnionMember,
)
from ..compare_roots import pair_roots
from ..comparison import Comparison
from ..findings import Finding
from ..matching import match_types
from .places import HOLDER, type_of, with_holder

__all__ = ["Subject", "Subjects"]

Part = Field | EnumMember | UnionMember


@dataclass(frozen=True)
class Subject:
    """A definition, and what of it a finding is about.

    Attributes:
        base: The definition in BASE, if it is there.
        head: The definition in HEAD.
        base_part: The field or member in BASE; None for what is new, and if all of it is meant.
        head_part: The same in HEAD; None for what is gone.
        holder: Full name of a table in both schemas that holds the type.
    """

    base: AnyDefinition | None
    head: AnyDefinition | None
    base_part: Part | None
    head_part: Part | None
    holder: str | None


@dataclass
class Subjects:
    """Finds subjects, and adds to both schemas the tables that hold them.

    Attributes:
        base: The old schema, with the tables that witnesses need.
        head: The new one.
        names: Full name in HEAD of each type of BASE that is still there.
    """

    base: Schema
    head: Schema
    names: dict[str, str] = field(init=False)
    _holders: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.names = match_types(self.base, self.head)

    def of(self, finding: Finding) -> Subject:
        """Return what a finding is about."""
        head = self.head.definitions.get(finding.path)
        part = ""
        if head is None:
            owner, _, part = finding.path.rpartition(".")
            head = self.head.definitions.get(owner)
        if head is None:
            return Subject(self.base.definitions.get(finding.path), None, None, None, None)
        old_name = next((old for old, new in self.names.items() if new == head.full_name), "")
        base = self.base.definitions.get(old_name)
        new_part = _parts(head).get(part)
        return Subject(base, head, _old_part(base, part, new_part), new_part, self._holder(head))

    def roots(self, path: str) -> tuple[Root, Root | None] | None:
        """Return the roots that a finding of that path is about."""
        for old, new in pair_roots(Comparison(self.base, self.head, self.names)):
            name = new.table if new is not None else self.names.get(old.table, old.table)
            if name == path:
                return old, new
        return None

    def prepare(self, finding: Finding) -> None:
        """Add the table that holds what a finding is about."""
        subject = self.of(finding)
        if subject.base is None or subject.head is None or subject.holder is not None:
            return
        number = len(self._holders) + 1
        name = f"{HOLDER}{number}"
        self._holders[subject.head.full_name] = name
        self.base = with_holder(self.base, number, type_of(self.base, subject.base.full_name))
        self.head = with_holder(self.head, number, type_of(self.head, subject.head.full_name))
        self.names[name] = name

    def _holder(self, head: AnyDefinition) -> str | None:
        return self._holders.get(head.full_name)


def _parts(definition: AnyDefinition | None) -> dict[str, Part]:
    if isinstance(definition, EnumDefinition | UnionDefinition):
        return {member.name: member for member in definition.members}
    return {} if definition is None else {each.name: each for each in definition.fields}


def _old_part(base: AnyDefinition | None, name: str, new: Part | None) -> Part | None:
    """Return what was there: under that name, else in that place."""
    parts = _parts(base)
    if not name or name in parts or new is None:
        return parts.get(name)
    return next((part for part in parts.values() if _number(part) == _number(new)), None)


def _number(part: Part) -> int:
    if isinstance(part, EnumMember):
        return part.value
    return part.tag if isinstance(part, UnionMember) else part.offset
