"""Binary schemas: what flatc writes with `-b --schema`, in and out.

A .bfbs says what a schema means, not how it is written. What it does not hold, and so is not in a
model that was read from one: the order of declarations, places in the text, whether an attribute's
value was quoted, and whether one that is 0 was written at all.
"""

from __future__ import annotations

from pathlib import Path

from .features import Feature
from .includes import BINARY_SUFFIX
from .model import Schema
from .resolve import load_schema

__all__ = ["read_bfbs", "write_bfbs"]


def read_bfbs(
    data: bytes, path: Path, *, features: frozenset[Feature] = frozenset(Feature)
) -> Schema:
    """Read the bytes of a .bfbs.

    `load_schema` reads such files too, beside others; this is for bytes that need not be in a file.

    Args:
        data: The contents.
        path: What messages and the model call it; it ends in `.bfbs`, but need not exist.
        features: Parts of the language to accept.

    Raises:
        SchemaError: The bytes are no binary schema, are damaged, or break a rule of the language.
    """
    assert path.suffix == BINARY_SUFFIX, "a file of another name is read as text"
    return load_schema(
        [path], root=path.parent, messages_from=Path(), features=features, read=lambda _: data
    )


def write_bfbs(schema: Schema) -> bytes:
    """Write a schema as `flatc -b --schema --bfbs-comments --bfbs-builtins` would.

    Files are named relative to the schema's root, as with `--bfbs-filenames`. flatc writes 0 for a
    default above 2^63 - 1 and for -0.0; here, both survive.

    Args:
        schema: A schema of one entry: a .bfbs has one root.

    Raises:
        ValueError: It has several roots.
    """
    from .bfbs_records import records_of
    from .bfbs_wire import write_records

    if len(schema.roots) > 1:
        roots = ", ".join(root.table for root in schema.roots)
        raise ValueError(f"a .bfbs has one root, this schema has {roots}; load each entry alone")
    return write_records(records_of(schema))
