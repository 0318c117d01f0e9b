"""The rules that a buffer can break, named once for both languages.

The verifier reports a rule with two numbers; `text` says what they mean. Generated Python and C++
carry this list, so their messages are equal word for word.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One rule that a buffer can break.

    Attributes:
        name: Its name in findings.
        text: Its message, with `{found}` and `{expected}`.
        is_unknown: Whether it says that the schema does not know something in the buffer.
    """

    name: str
    text: str
    is_unknown: bool = False


STRUCTURE_RULES: tuple[Rule, ...] = (
    Rule("BUFFER_TOO_SMALL", "the buffer has {found} bytes, at least {expected} are needed"),
    Rule("BUFFER_TOO_LARGE", "the buffer has {found} bytes, at most {expected} can be addressed"),
    Rule("HEADER_INVALID", "the extended header says {found}, which does not fit {expected}"),
    Rule("WRONG_IDENTIFIER", "the file identifier is {found}, expected {expected}"),
    Rule("OFFSET_OUT_OF_BOUNDS", "the offset leads to byte {found} of {expected}"),
    Rule("MISALIGNED", "byte {found} is not a multiple of {expected}"),
    Rule("VTABLE_OUT_OF_BOUNDS", "the vtable reaches byte {found} of {expected}"),
    Rule(
        "VTABLE_MALFORMED", "the vtable has {found} bytes, expected an even number from {expected}"
    ),
    Rule("TABLE_OUT_OF_BOUNDS", "the table reaches byte {found} of {expected}"),
    Rule("FIELD_OUTSIDE_TABLE", "the field reaches byte {found} of a table of {expected} bytes"),
    Rule("VECTOR_OUT_OF_BOUNDS", "the elements reach byte {found} of {expected}"),
    Rule("STRUCT_OUT_OF_BOUNDS", "the struct reaches byte {found} of {expected}"),
    Rule("STRING_NOT_TERMINATED", "the byte after the string is {found}, expected {expected}"),
    Rule("STRING_NOT_UTF8", "the string is not UTF-8 from its byte {found} on"),
    Rule("REQUIRED_FIELD_MISSING", "the field is required, but absent"),
    Rule("UNION_VALUE_MISSING", "the union has the tag {found}, but no value"),
    Rule("UNION_TAG_MISSING", "the union has a value, but no tag"),
    Rule("UNION_LENGTH_MISMATCH", "the vector has {found} tags for {expected} values"),
    Rule("TOO_DEEP", "tables nest {found} deep, at most {expected} are read"),
    Rule("BUDGET_EXCEEDED", "shared parts unfold to {found} bytes, at most {expected} are read"),
)
"""What the verifier checks; the first broken rule ends its walk."""

MEANING_RULES: tuple[Rule, ...] = (
    Rule("FIELD_ABSENT", "the field is absent, but every writer writes it"),
    Rule("UNKNOWN_ENUM_VALUE", "{found} is not a value of {expected}", is_unknown=True),
    Rule("UNKNOWN_UNION_MEMBER", "the tag {found} is not a member of {expected}", is_unknown=True),
    Rule(
        "UNKNOWN_FIELD",
        "slot {found} is set, but this schema has only {expected}",
        is_unknown=True,
    ),
    # What is not listed may be unknown too.
    Rule("MORE_FINDINGS", "{found} more are not listed", is_unknown=True),
)
"""What the codec finds while it reads a sound buffer; the last counts what is beyond the limit."""

MOST_FINDINGS = 1000
"""How many meaning findings of one buffer the codec lists; a small buffer can have millions."""
