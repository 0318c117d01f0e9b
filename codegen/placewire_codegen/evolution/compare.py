"""Compares two schemas: everything that BASE promised and HEAD does not keep."""

from __future__ import annotations

from pathlib import PurePosixPath

from ..model import AnyDefinition, Location, Schema, TableDefinition
from .compare_definitions import compare_definitions, kind_of
from .compare_roots import compare_roots
from .compare_services import compare_services
from .comparison import Comparison
from .findings import Finding
from .matching import match_types
from .rules import Level

__all__ = ["compare_schemas", "is_identical_on_the_wire"]


def compare_schemas(base: Schema, head: Schema) -> list[Finding]:
    """Return every finding, in the order of HEAD's files; what is gone altogether comes last.

    Args:
        base: The schema that files and code of old go by.
        head: The schema that is to follow it.
    """
    comparison = Comparison(base, head, match_types(base, head))
    for name, definition in base.definitions.items():
        new = comparison.names.get(name)
        if new is None:
            _report_gone(definition, comparison)
            continue
        other = head.definitions[new]
        if new != name:
            _report_other_name(definition, other, comparison)
        compare_definitions(definition, other, comparison)
    compare_roots(comparison)
    compare_services(comparison)
    return sorted(comparison.findings, key=_place)


def is_identical_on_the_wire(base: Schema, head: Schema) -> bool:
    """Whether each schema reads all that the other may write, to the last enum member."""
    return not _knows_less(head, base) and not _knows_less(base, head)


def _knows_less(base: Schema, head: Schema) -> bool:
    """Whether HEAD misreads, rejects or cannot name something that BASE may write."""
    if any(_has_lost_fields(table, head) for table in base.tables):
        return True  # most schemas that differ at all do so, and it is quickly seen
    return any(
        finding.level is Level.WIRE or finding.rule.name == "ENUM_MEMBER_NO_DELETE"
        for finding in compare_schemas(base, head)
    )


def _has_lost_fields(table: TableDefinition, head: Schema) -> bool:
    other = head.definitions.get(table.full_name)
    return isinstance(other, TableDefinition) and len(other.fields) < len(table.fields)


def _report_gone(definition: AnyDefinition, comparison: Comparison) -> None:
    comparison.add(
        "TYPE_NO_DELETE",
        definition.full_name,
        f"is gone; it was {kind_of(definition)}",
        base=definition.location,
    )


def _report_other_name(base: AnyDefinition, head: AnyDefinition, comparison: Comparison) -> None:
    comparison.add(
        "TYPE_SAME_NAME",
        head.full_name,
        f"was called `{base.full_name}`; its content is the same",
        base=base.location,
        head=head.location,
    )


def _place(finding: Finding) -> tuple[bool, str, int, int, str, str]:
    location = finding.head or finding.base or Location(path="", line=0, column=0)
    return (
        finding.head is None,
        PurePosixPath(location.path).as_posix(),
        location.line,
        location.column,
        finding.path,
        finding.rule.name,
    )
