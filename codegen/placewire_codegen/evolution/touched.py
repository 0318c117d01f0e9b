"""What a file must hold to be touched by a finding: the parts of BASE that the finding is about.

Only what breaks new readers of old files can touch a file that exists; code and old readers are no
matter of files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model import (
    EnumDefinition,
    Location,
    Schema,
    StructDefinition,
    TableDefinition,
    UnionDefinition,
)
from .findings import Finding
from .rules import Affected, Level

__all__ = ["FILE", "Trigger", "triggers"]

Trigger = tuple[str | int, ...]
"""A kind with what it is about: `("present", table, slot)`, `("absent", table, slot)`,
`("type", name)` for any use of a table, struct, enum or union, `("number", enum, number)`,
`("tag", union, tag)`, `("root", table)`, and `FILE`."""

FILE: Trigger = ("file",)
"""Every file."""

_IF_ABSENT = frozenset({"FIELD_SAME_DEFAULT", "FIELD_SAME_REQUIRED", "FIELD_SAME_PRESENT"})
_NOT_IN_FILES = ("RPC_", "WAIVER_", "TYPE_NO_", "TYPE_SAME_NAME")


def triggers(base: Schema, findings: Iterable[Finding]) -> dict[Trigger, list[int]]:
    """Return what in a file is touched by which findings, by their positions in `findings`.

    Args:
        base: The schema that files were written by.
        findings: Of the comparison with the schema that is to read them.
    """
    subjects = dict(_subjects(base))
    found: dict[Trigger, list[int]] = {}
    for position, finding in enumerate(findings):
        if _touches_files(finding):
            found.setdefault(_trigger(finding, base, subjects), []).append(position)
    return found


def _touches_files(finding: Finding) -> bool:
    return (
        finding.level is not Level.SOURCE
        and Affected.NEW_READERS in finding.affected
        and not finding.rule.name.startswith(_NOT_IN_FILES)
    )


def _trigger(
    finding: Finding, base: Schema, subjects: dict[tuple[Location, str], Trigger]
) -> Trigger:
    """Return what of BASE a finding is about; `FILE` if that cannot be told."""
    place = finding.base
    if place is None:
        return FILE
    if finding.rule.name.startswith("SCHEMA_"):
        return subjects.get((place, "root"), FILE)
    trigger = subjects.get((place, "" if place.line else finding.path))
    if trigger is None:
        # Something new, in a binary schema: it is in what its path begins with.
        parent = finding.path.rpartition(".")[0]
        return ("type", parent) if parent in base.definitions else FILE
    if trigger[0] == "present" and finding.rule.name in _IF_ABSENT:
        return ("absent", *trigger[1:])
    return trigger


def _subjects(base: Schema) -> Iterator[tuple[tuple[Location, str], Trigger]]:
    """Yield each declaration of BASE by its place; by its full name, too, if that has no line."""
    for root in base.roots:
        yield (root.location, "root"), ("root", root.table)
        yield (base.definitions[root.table].location, "root"), ("root", root.table)
    for full_name, definition in base.definitions.items():
        yield _key(definition.location, full_name), ("type", full_name)
        match definition:
            case TableDefinition(fields=fields):
                for field in fields:
                    place = _key(field.location, f"{full_name}.{field.name}")
                    yield place, ("present", full_name, field.id)
            case StructDefinition(fields=fields):
                for field in fields:
                    yield _key(field.location, f"{full_name}.{field.name}"), ("type", full_name)
            case EnumDefinition(members=numbers):
                for number in numbers:
                    place = _key(number.location, f"{full_name}.{number.name}")
                    yield place, ("number", full_name, number.value)
            case UnionDefinition(members=members):
                for member in members:
                    place = _key(member.location, f"{full_name}.{member.name}")
                    yield place, ("tag", full_name, member.tag)


def _key(location: Location, name: str) -> tuple[Location, str]:
    return location, "" if location.line else name
