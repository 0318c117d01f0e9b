"""A binary schema that flatc made of a text that uses all it can hold, and how models compare."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from placewire_codegen.bfbs import read_bfbs, write_bfbs
from placewire_codegen.features import Feature
from placewire_codegen.model import Definition, Schema
from placewire_codegen.resolve import load_schema

EVERYTHING = Path(__file__).parent / "binary" / "everything.fbs"
ALL_FEATURES = frozenset(Feature)

_DefinitionT = TypeVar("_DefinitionT", bound=Definition)


def load(path: Path) -> Schema:
    """Load one file, text or binary, with all parts of the language."""
    return load_schema([path], root=path.parent, features=ALL_FEATURES)


def again(schema: Schema) -> Schema:
    """Write a schema and read the result."""
    return read_bfbs(write_bfbs(schema), Path("schema.bfbs"))


def by_name(schema: Schema) -> Schema:
    """Return the schema with its definitions sorted: a binary schema loses their order."""

    def sorted_(definitions: tuple[_DefinitionT, ...]) -> tuple[_DefinitionT, ...]:
        return tuple(sorted(definitions, key=lambda each: each.full_name))

    return Schema(
        files=schema.files,
        enums=sorted_(schema.enums),
        unions=sorted_(schema.unions),
        structs=sorted_(schema.structs),
        tables=sorted_(schema.tables),
        services=sorted_(schema.services),
        roots=schema.roots,
        sources=schema.sources,
    )


def meaning(schema: Schema) -> Any:
    """Return what both kinds of files hold, with comments, without lines and columns."""
    return _without_places(
        by_name(schema).model_dump(mode="json", exclude={"files", "sources", "roots"})
    ) | {"roots": [(root.table, root.identifier, root.extension) for root in schema.roots]}


def _without_places(node: Any) -> Any:
    if isinstance(node, dict):
        return {
            key: value["path"] if key == "location" else _without_places(value)
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [_without_places(item) for item in node]
    return repr(node) if isinstance(node, float) else node  # NaN is not equal to itself


def facts(record: object) -> dict[str, Any]:
    """Return a record with all that it holds, to compare."""
    assert is_dataclass(record)
    assert not isinstance(record, type)
    return asdict(record)
