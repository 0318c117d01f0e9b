"""What of the writer's schema is what of the reader's, whatever it is called there."""

from __future__ import annotations

from collections.abc import Iterable

from ...model import EnumDefinition, Field, Schema, StructDefinition, TableDefinition
from ..compare_tables import pair_fields
from ..compare_unions import pair_members
from ..findings import Finding

__all__ = ["Identity"]

_REUSED = ("FIELD_NO_REUSE", "ENUM_MEMBER_NO_REUSE")


class Identity:
    """Finds the counterparts of what is in one schema.

    Args:
        base: The old schema.
        head: The new one.
        names: Full name in HEAD of each type of BASE that is still there.
        findings: Tell what has taken the place of something else without being it.
        from_head: The writer goes by HEAD, and BASE reads; else the other way round.
    """

    def __init__(
        self,
        base: Schema,
        head: Schema,
        names: dict[str, str],
        findings: Iterable[Finding],
        *,
        from_head: bool,
    ) -> None:
        self.writer, self.reader = (head, base) if from_head else (base, head)
        self.types = {new: old for old, new in names.items()} if from_head else dict(names)
        self._base = base
        self._head = head
        self._from_head = from_head
        self._reused = {f.path for f in findings if f.rule.name in _REUSED}

    def fields(
        self, writer: TableDefinition | StructDefinition, reader: TableDefinition | StructDefinition
    ) -> tuple[list[tuple[Field, Field | None]], list[Field]]:
        """Return each field of the writer with the reader's, and what only the reader has."""
        base, head = (reader, writer) if self._from_head else (writer, reader)
        if isinstance(base, TableDefinition) and isinstance(head, TableDefinition):
            tables = pair_fields(base, head)
            pairs = (*tables.same, *tables.renamed)
        elif isinstance(base, StructDefinition) and isinstance(head, StructDefinition):
            structs = pair_fields(base, head)
            pairs = (*structs.same, *structs.renamed)
        else:
            return [(field, None) for field in writer.fields], list(reader.fields)
        kept = [
            (new, old) if self._from_head else (old, new)
            for old, new in pairs
            if f"{head.full_name}.{new.name}" not in self._reused
        ]
        counterparts = {one.name: other for one, other in kept}
        known = {other.name for _, other in kept}
        return (
            [(field, counterparts.get(field.name)) for field in writer.fields],
            [field for field in reader.fields if field.name not in known],
        )

    def counterpart(self, table: str, field: Field) -> Field | None:
        """Return the reader's field for one of the writer's table; None if it has none."""
        other = self.types.get(table)
        writer = self.writer.definitions[table]
        reader = self.reader.definitions.get(other or "")
        if not isinstance(writer, TableDefinition | StructDefinition) or not isinstance(
            reader, TableDefinition | StructDefinition
        ):
            return None
        pairs, _ = self.fields(writer, reader)
        return next((other for one, other in pairs if one.name == field.name), None)

    def member_names(self, writer: EnumDefinition, reader: EnumDefinition) -> dict[str, str]:
        """Return what the reader calls the writer's members; what it does not have is left out."""
        base, head = (reader, writer) if self._from_head else (writer, reader)
        new_names = {member.name for member in head.members}
        old_names = {member.name for member in base.members}
        names = {name: name for name in old_names & new_names}
        come = {m.value: m.name for m in head.members if m.name not in old_names}
        for member in base.members:
            name = come.get(member.value)
            is_renamed = member.name not in new_names and name is not None
            if name is not None and is_renamed and self._is_kept(head, name):
                names[member.name] = name
        return {new: old for old, new in names.items()} if self._from_head else names

    def _is_kept(self, head: EnumDefinition, name: str) -> bool:
        return f"{head.full_name}.{name}" not in self._reused

    def tags(self, writer: str, reader: str) -> dict[int, int]:
        """Return the reader's tag for each of the writer's that it has."""
        base, head = (reader, writer) if self._from_head else (writer, reader)
        pairs = pair_members(self._base.union(base), self._head.union(head))
        tags = {old.tag: new.tag for old, new in pairs if new is not None}
        return {new: old for old, new in tags.items()} if self._from_head else tags
