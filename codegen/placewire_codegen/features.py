"""Parts of the language that the front end reads, but not every target generates code for."""

from __future__ import annotations

from enum import Enum


class Feature(Enum):
    """A part of the language that not every target handles; the value names it in messages.

    Each module of `targets` lists those that it handles as `FEATURES`; a run accepts what all of
    its targets do.
    """

    ARRAYS = "fixed arrays"
    BIT_FLAGS = "bit flags"
    DEFAULT_CONTENTS = "defaults of strings and vectors"
    FLEXBUFFERS = "flexbuffers"
    LARGE_LAYOUTS = "tables and structs larger than 64 KiB"
    HASHES = "hashed fields"
    NESTED_FLATBUFFERS = "nested FlatBuffers"
    OFFSETS_64 = "64-bit offsets"
    SERVICES = "rpc services"
    STRUCTS = "structs"
    UNION_STRINGS = "strings in unions"
    UNION_STRUCTS = "structs in unions"
    UNION_TAG_TYPES = "unions with a tag type of their own"
    VECTORS_OF_UNIONS = "vectors of unions"


SUPPORTED: frozenset[Feature] = frozenset({Feature.BIT_FLAGS, Feature.STRUCTS})
"""What is accepted unless a caller says otherwise."""
