"""Which type of BASE is which of HEAD: by full name, and where that is gone, by use and content.

A type has been renamed, or moved to another namespace, if HEAD has a new one in its place that
reads the same bytes and has the same names inside. Since types refer to each other, candidates are
taken to be renamed together, and those that contradict that are struck off until none does.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import (
    AnyDefinition,
    EnumDefinition,
    Schema,
    StructDefinition,
    TableDefinition,
    Type,
    UnionDefinition,
)
from .compare_definitions import compare_definitions
from .compare_roots import pair_roots
from .compare_tables import pair_fields
from .compare_unions import pair_members
from .comparison import Comparison
from .rules import Level

__all__ = ["match_types"]

# A type with another content is not the same under another name.
_CONTENT_RULES = frozenset(
    """FIELD_SAME_NAME FIELD_NO_REUSE ENUM_MEMBER_SAME_NAME ENUM_MEMBER_NO_REUSE
    ENUM_MEMBER_NO_DELETE ENUM_MEMBER_SAME_NUMBER""".split()
)


def match_types(base: Schema, head: Schema) -> dict[str, str]:
    """Return the full name in HEAD of every type of BASE that is still there."""
    names = {name: name for name in base.definitions if name in head.definitions}
    if len(names) == len(base.definitions) or len(names) == len(head.definitions):
        return names
    names |= _consistent(_candidates_by_use(base, head, names), names, base, head)
    return names | _consistent(_candidates_by_content(base, head, names), names, base, head)


def _consistent(
    candidates: dict[str, str], names: dict[str, str], base: Schema, head: Schema
) -> dict[str, str]:
    """Return the candidates that are the same type if all that are returned are."""
    kept = dict(candidates)
    while True:
        trial = Comparison(base, head, names | kept)
        contradicted = [old for old, new in kept.items() if not _fits(old, new, trial)]
        if not contradicted:
            return kept
        for old in contradicted:
            del kept[old]


def _fits(old: str, new: str, trial: Comparison) -> bool:
    trial.findings.clear()
    compare_definitions(trial.base.definitions[old], trial.head.definitions[new], trial)
    return not any(
        finding.level is Level.WIRE or finding.rule.name in _CONTENT_RULES
        for finding in trial.findings
    )


def _candidates_by_use(base: Schema, head: Schema, names: dict[str, str]) -> dict[str, str]:
    """Pair types that are gone with new ones that fields, tags and roots have in their place."""
    found: dict[str, str] = {}
    taken = set(names.values())
    pending = list(names.items())
    for old, new in pair_roots(Comparison(base, head, names)):
        if new is not None:
            pending.append((old.table, new.table))
    while pending:
        old_name, new_name = pending.pop()
        if old_name not in names and old_name not in found and new_name not in taken:
            if type(base.definitions[old_name]) is not type(head.definitions[new_name]):
                continue
            found[old_name] = new_name
            taken.add(new_name)
        elif names.get(old_name, found.get(old_name)) != new_name:
            continue
        pending += [
            (before, after)
            for before, after in _used_types(base.definitions[old_name], head.definitions[new_name])
            if before not in names and before not in found and after not in taken
        ]
    return found


def _used_types(base: AnyDefinition, head: AnyDefinition) -> Iterator[tuple[str, str]]:
    """Yield the types that stand in the same places of two definitions."""
    for old, new in _types_in_place(base, head):
        before, after = old.element or old, new.element or new
        if before.ref is not None and after.ref is not None:
            yield before.ref, after.ref


def _types_in_place(base: AnyDefinition, head: AnyDefinition) -> Iterator[tuple[Type, Type]]:
    if isinstance(base, UnionDefinition) and isinstance(head, UnionDefinition):
        for member, other in pair_members(base, head):
            if other is not None:
                yield member.type, other.type
        return
    if isinstance(base, TableDefinition) and isinstance(head, TableDefinition):
        tables = pair_fields(base, head)
        pairs = (*tables.same, *tables.renamed)
    elif isinstance(base, StructDefinition) and isinstance(head, StructDefinition):
        structs = pair_fields(base, head)
        pairs = (*structs.same, *structs.renamed)
    else:
        return
    for old, new in pairs:
        yield old.type, new.type


def _candidates_by_content(base: Schema, head: Schema, names: dict[str, str]) -> dict[str, str]:
    """Pair the types that are left, where exactly one on each side has the same names inside."""
    taken = set(names.values())
    left = _by_content(base, set(names))
    come = _by_content(head, taken)
    found: dict[str, str] = {}
    for content, old in left.items():
        new = come.get(content, [])
        if len(old) == len(new) == 1 and (_has_content(content) or _last(old[0]) == _last(new[0])):
            found[old[0]] = new[0]
            continue
        for name in old:
            same = [other for other in new if _last(other) == _last(name)]
            if len(same) == 1:
                found[name] = same[0]
    return found


_Content = tuple[str, tuple[tuple[str, int], ...]]


def _by_content(schema: Schema, known: set[str]) -> dict[_Content, list[str]]:
    found: dict[_Content, list[str]] = {}
    for name, definition in schema.definitions.items():
        if name not in known:
            found.setdefault(_content(definition), []).append(name)
    return found


def _content(definition: AnyDefinition) -> _Content:
    """Return the kind of a definition, and names and places of what is in it."""
    kind = type(definition).__name__
    if isinstance(definition, EnumDefinition):
        return kind, tuple((member.name, member.value) for member in definition.members)
    if isinstance(definition, UnionDefinition):
        return kind, tuple((member.name, member.tag) for member in definition.members)
    return kind, tuple((field.name, field.id) for field in definition.fields)


def _has_content(content: _Content) -> bool:
    return bool(content[1])


def _last(full_name: str) -> str:
    return full_name.rpartition(".")[2]
