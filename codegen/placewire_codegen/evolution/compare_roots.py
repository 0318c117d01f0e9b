"""What files begin with: root tables, identifiers, extensions."""

from __future__ import annotations

from pathlib import PurePosixPath

from ..model import Root, Schema, TypeKind
from .comparison import Comparison

__all__ = ["compare_roots", "pair_roots"]


def pair_roots(comparison: Comparison) -> list[tuple[Root, Root | None]]:
    """Find each root of BASE in HEAD: by its table, else by the name of its file."""
    left = list(comparison.head.roots)
    found: dict[int, Root] = {}
    for is_counterpart in (_is_same_table, _is_same_file):
        for index, old in enumerate(comparison.base.roots):
            if index in found:
                continue
            new = next((root for root in left if is_counterpart(old, root, comparison)), None)
            if new is not None:
                found[index] = new
                left.remove(new)
    alone = len(comparison.base.roots) == len(comparison.head.roots) == 1
    if alone and not found:
        found[0] = left[0]
    return [(old, found.get(index)) for index, old in enumerate(comparison.base.roots)]


def _is_same_table(old: Root, new: Root, comparison: Comparison) -> bool:
    return comparison.is_same(old.table, new.table)


def _is_same_file(old: Root, new: Root, _: Comparison) -> bool:
    return PurePosixPath(old.location.path).name == PurePosixPath(new.location.path).name


def compare_roots(comparison: Comparison) -> None:
    """Report what has changed about the beginning of files."""
    for old, new in pair_roots(comparison):
        if new is None:
            _report_gone(old, comparison)
        else:
            _compare_root(old, new, comparison)
    if not comparison.base.roots:
        _report_gone_tables(comparison)


def _report_gone(old: Root, comparison: Comparison) -> None:
    table = comparison.names.get(old.table)
    definition = comparison.head.definitions.get(table) if table is not None else None
    comparison.add(
        "SCHEMA_SAME_ROOT",
        table or old.table,
        "is the root of files no more",
        base=old.location,
        head=None if definition is None else definition.location,
    )


def _compare_root(old: Root, new: Root, comparison: Comparison) -> None:
    base_at, head_at = old.location, new.location
    if not comparison.is_same(old.table, new.table):
        message = f"is the root of files, where {old.table} was"
        comparison.add("SCHEMA_SAME_ROOT", new.table, message, base=base_at, head=head_at)
    if old.identifier != new.identifier:
        comparison.add(
            "SCHEMA_SAME_IDENTIFIER",
            new.table,
            f"file identifier is {_quoted(new.identifier)}, was {_quoted(old.identifier)}",
            base=base_at,
            head=head_at,
        )
    if old.extension != new.extension:
        comparison.add(
            "SCHEMA_SAME_EXTENSION",
            new.table,
            f"file extension is {_quoted(new.extension)}, was {_quoted(old.extension)}",
            base=base_at,
            head=head_at,
        )
    before, after = _header(comparison.base, old), _header(comparison.head, new)
    if before != after:
        comparison.add(
            "SCHEMA_SAME_HEADER",
            new.table,
            f"`extended_header` is {_quoted(after)}, was {_quoted(before)}",
            base=base_at,
            head=head_at,
        )


def _quoted(text: str | None) -> str:
    return "none" if text is None else f'"{text}"'


def _header(schema: Schema, root: Root) -> str | None:
    value = schema.definitions[root.table].attributes.get("extended_header")
    return None if value is None else str(value)


def _report_gone_tables(comparison: Comparison) -> None:
    """Where no root is named, files begin with a table that nothing else holds."""
    held = _held_tables(comparison.base)
    for table in comparison.base.tables:
        if table.full_name not in comparison.names and table.full_name not in held:
            comparison.add(
                "SCHEMA_SAME_ROOT",
                table.full_name,
                "is gone; nothing else held it, so files began with it",
                base=table.location,
            )


def _held_tables(schema: Schema) -> set[str]:
    """Return the tables that are only a part of others."""
    types = [field.type for table in schema.tables for field in table.fields]
    types += [member.type for union in schema.unions for member in union.members]
    inner = [type_.element or type_ for type_ in types]
    held = {type_.ref for type_ in inner if type_.kind is TypeKind.TABLE and type_.ref is not None}
    for service in schema.services:
        for method in service.methods:
            held |= {method.request, method.response}
    nested = {field.nested for table in schema.tables for field in table.fields}
    return held | {name for name in nested if name is not None}
