"""Builds mutate_walk.cpp, and writes for it what `evolution.walk_tables` says of a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from placewire_codegen.evolution.references import References
from placewire_codegen.evolution.walk_tables import walk_tables

from tests.runtime.case_program import INCLUDE, RUNTIME
from tests.schema.cpp.building import HEADERS, NO_RUNTIME, ROOT, SANITIZERS, compile_cpp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from placewire_codegen.evolution.touched import Trigger
    from placewire_codegen.model import Schema


def walk_driver(folder: Path, compiler: str) -> Path:
    """Compile the walk and the driver under sanitizers."""
    return compile_cpp(
        ROOT / "tests" / "fuzz" / "mutate_walk.cpp",
        folder / "mutate_walk",
        *(*SANITIZERS, *NO_RUNTIME, "-O1"),
        *(str(RUNTIME / name) for name in ("schema_walk.cpp", "walk_schema.cpp")),
        include=(HEADERS, *INCLUDE),
        compiler=compiler,
    )


def write_program_description(folder: Path) -> Path:
    """Write the description of our schema of programs."""
    return write_description(References(ROOT).project_side().schema, folder)


def write_description(schema: Schema, folder: Path) -> Path:
    """Write one line of words: `#3` begins three rows, `'name` is text, all else a number.

    The first root comes first, then how much is looked for, which is all, then the definitions.
    """
    described = walk_tables(schema, list(_triggers(schema)))
    index, identifier, magic = dict(described.roots)[schema.roots[0].table]
    head = (index, identifier, magic, len(described.triggers))
    definitions = (described.tables, described.structs, described.enums, described.unions)
    path = folder / "description.txt"
    line = " ".join(word for row in (head, *map(list, definitions)) for word in _words(row))
    path.write_text(line, encoding="utf-8")
    return path


def _triggers(schema: Schema) -> Iterator[Trigger]:
    for table in schema.tables:
        yield "root", table.full_name
        for field in table.fields:
            yield "present", table.full_name, field.id
            yield "absent", table.full_name, field.id
    for enum in schema.enums:
        yield from (("number", enum.full_name, member.value) for member in enum.members)
    for union in schema.unions:
        yield from (("tag", union.full_name, member.tag) for member in union.members)
    yield from (("type", name) for name in schema.definitions)


def _words(value: Any) -> Iterator[str]:
    """A list is rows; a tuple is one row, whose last part is rows if it is a tuple of tuples."""
    if isinstance(value, list):
        yield f"#{len(value)}"
        for row in value:
            yield from _words(row)
    elif isinstance(value, tuple):
        for part in value:
            is_rows = isinstance(part, tuple) and all(isinstance(each, tuple) for each in part)
            yield from _words(list(part) if is_rows else part)
    else:
        yield f"'{value}" if isinstance(value, str) else str(int(value))
