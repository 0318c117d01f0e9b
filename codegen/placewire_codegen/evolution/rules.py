"""The rules of evolution: what a schema must keep, and who breaks if it does not.

A rule is named after what it asks for. Its level is that of the worst that a change against it can
do, so one kind of change that can do harm on two levels has two rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["RULES", "Affected", "Level", "Rule", "rule"]


class Level(str, Enum):
    """What a change breaks, the worst first."""

    WIRE = "wire"
    """Bytes are misread or rejected."""
    SEMANTIC = "semantic"
    """Bytes are read, and mean something else."""
    SOURCE = "source"
    """Only code or JSON breaks."""

    def shows(self, other: Level) -> bool:
        """Whether a report of this level has what is of the other."""
        order = list(Level)
        return order.index(other) <= order.index(self)


class Affected(str, Enum):
    """Who breaks."""

    OLD_READERS = "old readers of new files"
    NEW_READERS = "new readers of old files"
    CODE = "code"


@dataclass(frozen=True)
class Rule:
    """What a schema must keep.

    Attributes:
        name: Stable name, UPPER_SNAKE.
        level: What a change against it breaks.
        meaning: What it asks for, in one sentence.
        affected: Who breaks, unless a finding knows better.
        consequence: How they break, in one sentence.
    """

    name: str
    level: Level
    meaning: str
    affected: tuple[Affected, ...]
    consequence: str


_OLD, _NEW, _CODE = Affected.OLD_READERS, Affected.NEW_READERS, Affected.CODE
_BOTH = (_OLD, _NEW)
_MISREAD = "Old readers misread or reject new files, and new readers old ones."
_OTHER_VALUES = "Old readers get other values from new files, and new readers from old ones."
_COMPILE = "Code and JSON that use the old name break; files do not."

RULES: dict[str, Rule] = {
    one.name: one
    for one in (
        Rule(
            "FIELD_SAME_SLOT",
            Level.WIRE,
            "A field of a table keeps its slot.",
            _BOTH,
            "Old readers look for the field where new files have another; new readers likewise.",
        ),
        Rule(
            "FIELD_NO_DELETE",
            Level.WIRE,
            "A field stays in its table or struct; what is of no use any more is deprecated.",
            _BOTH,
            "New readers do not know what old files have there, and misread it once another field "
            "takes the place; old readers miss it in new files.",
        ),
        Rule(
            "FIELD_SAME_WIRE_TYPE",
            Level.WIRE,
            "The bytes of a field keep their form: width, kind, and what an offset leads to.",
            _BOTH,
            _MISREAD,
        ),
        Rule(
            "FIELD_SAME_OFFSET_SIZE",
            Level.WIRE,
            "A field keeps its `offset64` and `vector64`.",
            _BOTH,
            _MISREAD,
        ),
        Rule(
            "FIELD_SAME_REQUIRED",
            Level.WIRE,
            "A field neither becomes required nor stops to be.",
            _BOTH,
            "One side rejects files in which the other has left the field out.",
        ),
        Rule(
            "FIELD_NO_NEW_REQUIRED",
            Level.WIRE,
            "A new field is not required.",
            (_NEW,),
            "New readers reject every old file, since none has the field.",
        ),
        Rule(
            "FIELD_SAME_NESTED_ROOT",
            Level.WIRE,
            "What is nested in a `[ubyte]` keeps its root: its table, or FlexBuffers.",
            _BOTH,
            "Old readers misread or reject the bytes nested in new files; new readers likewise.",
        ),
        Rule(
            "STRUCT_SAME_LAYOUT",
            Level.WIRE,
            "A struct keeps its size and its alignment.",
            _BOTH,
            "Old readers find what lies in and behind the struct in the wrong place in new files, "
            "and new readers likewise.",
        ),
        Rule(
            "STRUCT_FIELD_SAME_OFFSET",
            Level.WIRE,
            "A field of a struct keeps its offset.",
            _BOTH,
            "Old readers take the field from other bytes of new files, and new readers likewise.",
        ),
        Rule(
            "ENUM_SAME_UNDERLYING_TYPE",
            Level.WIRE,
            "An enum keeps the width of its numbers.",
            _BOTH,
            _MISREAD,
        ),
        Rule(
            "UNION_SAME_UNDERLYING_TYPE",
            Level.WIRE,
            "A union keeps the type of its tag.",
            _BOTH,
            _MISREAD,
        ),
        Rule(
            "UNION_MEMBER_SAME_TAG",
            Level.WIRE,
            "A member of a union keeps its tag.",
            _BOTH,
            "Old readers take the member in new files for another, and new readers likewise.",
        ),
        Rule(
            "UNION_MEMBER_NO_DELETE",
            Level.WIRE,
            "A member stays in its union.",
            (_NEW,),
            "New readers cannot read old files that hold it.",
        ),
        Rule(
            "UNION_MEMBER_SAME_TYPE",
            Level.WIRE,
            "What lies behind a tag of a union keeps its type.",
            _BOTH,
            _MISREAD,
        ),
        Rule(
            "TYPE_SAME_KIND",
            Level.WIRE,
            "A table stays a table, a struct a struct, an enum an enum, a union a union.",
            _BOTH,
            _MISREAD,
        ),
        Rule(
            "SCHEMA_SAME_ROOT",
            Level.WIRE,
            "Files keep beginning with the same table.",
            _BOTH,
            _MISREAD,
        ),
        Rule(
            "SCHEMA_SAME_IDENTIFIER",
            Level.WIRE,
            "Files keep their identifier.",
            _BOTH,
            "Readers that check the identifier reject the files of the other side.",
        ),
        Rule(
            "RPC_SERVICE_NO_DELETE",
            Level.WIRE,
            "An rpc service stays, under its name.",
            (_OLD,),
            "Old clients call what new servers do not have.",
        ),
        Rule(
            "RPC_METHOD_NO_DELETE",
            Level.WIRE,
            "A method stays in its rpc service, under its name.",
            (_OLD,),
            "Old clients call what new servers do not have.",
        ),
        Rule(
            "RPC_METHOD_SAME_TYPES",
            Level.WIRE,
            "A method keeps what it takes and what it returns.",
            _BOTH,
            "Clients and servers of different age misread each other.",
        ),
        Rule(
            "RPC_METHOD_SAME_STREAMING",
            Level.WIRE,
            "A method keeps what it streams.",
            _BOTH,
            "Clients and servers of different age wait for each other, or fail.",
        ),
        Rule(
            "FIELD_SAME_VALUES",
            Level.SEMANTIC,
            "The bytes of a field keep standing for the same values.",
            _BOTH,
            _OTHER_VALUES,
        ),
        Rule(
            "FIELD_SAME_DEFAULT",
            Level.SEMANTIC,
            "A field that is not written keeps reading as the same value.",
            _BOTH,
            "Where the field was left out, old readers get the old default from new files, and new "
            "readers the new one from old files.",
        ),
        Rule(
            "FIELD_NO_REUSE",
            Level.SEMANTIC,
            "The slot of one field is not given to another.",
            _BOTH,
            "New readers take what old files have there for the new field; old readers likewise.",
        ),
        Rule(
            "FIELD_NO_UNDEPRECATE",
            Level.SEMANTIC,
            "A deprecated field stays deprecated.",
            (_NEW,),
            "New readers see values again that old files have carried along unused.",
        ),
        Rule(
            "FIELD_SAME_PRESENT",
            Level.SEMANTIC,
            "A field keeps its `present`, and a new one has none.",
            _BOTH,
            "Strict readers of one side refuse files in which the other has left the field out.",
        ),
        Rule(
            "FIELD_SAME_KEY",
            Level.SEMANTIC,
            "A table or struct keeps its key.",
            _BOTH,
            "Searching by halving misses entries in vectors that the other side has sorted.",
        ),
        Rule(
            "FIELD_SAME_ALIGNMENT",
            Level.SEMANTIC,
            "A vector or string keeps its `force_align`.",
            _BOTH,
            "Code that relies on the alignment breaks on files of the side that aligns less.",
        ),
        Rule(
            "FIELD_SAME_HASH",
            Level.SEMANTIC,
            "A hashed field keeps its algorithm.",
            _BOTH,
            "Hashes of one side are looked up in vain by the other.",
        ),
        Rule(
            "STRUCT_SAME_PADDING",
            Level.SEMANTIC,
            "Padding of a struct stays unused.",
            (_NEW,),
            "New readers take for the field what old writers happened to leave there, mostly 0.",
        ),
        Rule(
            "ENUM_SAME_SIGN",
            Level.SEMANTIC,
            "The numbers of an enum stay signed, or unsigned.",
            _BOTH,
            _OTHER_VALUES,
        ),
        Rule(
            "ENUM_MEMBER_SAME_NUMBER",
            Level.SEMANTIC,
            "A member of an enum keeps its number.",
            _BOTH,
            "Old readers take the member in new files for another, and new readers likewise.",
        ),
        Rule(
            "ENUM_MEMBER_NO_DELETE",
            Level.SEMANTIC,
            "A member stays in its enum.",
            (_NEW,),
            "New readers find a number without a name in old files.",
        ),
        Rule(
            "ENUM_MEMBER_NO_REUSE",
            Level.SEMANTIC,
            "The number of one member is not given to another.",
            _BOTH,
            "New readers take the old member in old files for the new one; old readers likewise.",
        ),
        Rule(
            "SCHEMA_SAME_HEADER",
            Level.SEMANTIC,
            "A root keeps its `extended_header`.",
            _BOTH,
            "Readers of one side do not look for the end of the program where the other writes it.",
        ),
        Rule("FIELD_SAME_NAME", Level.SOURCE, "A field keeps its name.", (_CODE,), _COMPILE),
        Rule(
            "FIELD_SAME_TYPE",
            Level.SOURCE,
            "A field keeps its type also where the bytes are the same.",
            (_CODE,),
            "Code that uses the field may not compile; files read the same.",
        ),
        Rule(
            "FIELD_NO_DEPRECATE",
            Level.SOURCE,
            "A field is not deprecated.",
            (_CODE,),
            "Code that uses the field breaks where generated code leaves it out; old files still "
            "read, and new ones lack it.",
        ),
        Rule(
            "ENUM_MEMBER_SAME_NAME",
            Level.SOURCE,
            "A member of an enum keeps its name.",
            (_CODE,),
            _COMPILE,
        ),
        Rule(
            "ENUM_SAME_BIT_FLAGS",
            Level.SOURCE,
            "An enum keeps its `bit_flags`.",
            (_CODE,),
            "Generated types differ; the numbers are compared one by one.",
        ),
        Rule(
            "UNION_MEMBER_SAME_NAME",
            Level.SOURCE,
            "A member of a union keeps its name.",
            (_CODE,),
            _COMPILE,
        ),
        Rule(
            "TYPE_NO_DELETE",
            Level.SOURCE,
            "A type stays; what used it on the wire is reported by itself.",
            (_CODE,),
            "Code that uses the type breaks.",
        ),
        Rule(
            "TYPE_SAME_NAME",
            Level.SOURCE,
            "A type keeps its name and its namespace.",
            (_CODE,),
            _COMPILE,
        ),
        Rule(
            "SCHEMA_SAME_EXTENSION",
            Level.SOURCE,
            "Files keep their extension.",
            (_CODE,),
            "Tools that find files by their extension miss those of the other side.",
        ),
        Rule(
            "ATTRIBUTE_SAME_VALUE",
            Level.SOURCE,
            "Attributes that do not concern the wire keep their values.",
            (_CODE,),
            "Code that is generated from the attribute, or asks for it, changes.",
        ),
        Rule(
            "WAIVER_USED",
            Level.SOURCE,
            "A waiver waives something.",
            (_CODE,),
            "A waiver that nothing needs would hide the next finding of its kind; remove it.",
        ),
    )
}
"""All rules by name, the worst level first."""


def rule(name: str) -> Rule:
    """Return the rule of that name; a wrong one is a fault of ours."""
    return RULES[name]
