"""Parts of the language that the front end reads, but that generated code cannot handle yet."""

from __future__ import annotations

from enum import Enum


class Feature(Enum):
    """A part of the language; the value names it in messages.

    Whoever teaches all targets one of these adds it to `SUPPORTED`.
    """

    ARRAYS = "fixed arrays"
    FLEXBUFFERS = "flexbuffers"
    HASHES = "hashed fields"
    NESTED_FLATBUFFERS = "nested FlatBuffers"
    OFFSETS_64 = "64-bit offsets"
    SERVICES = "rpc services"
    STRING_ALIGNMENT = "aligned strings"
    UNION_STRINGS = "strings in unions"
    UNION_STRUCTS = "structs in unions"
    UNION_TAG_TYPES = "unions with a tag type of their own"
    VECTORS_OF_UNIONS = "vectors of unions"


SUPPORTED: frozenset[Feature] = frozenset()
