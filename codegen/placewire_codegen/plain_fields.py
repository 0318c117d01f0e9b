"""Reads fields that need no descent: `name: type;`, `name: [type];` and `name: type = value;`.

Most fields of most schemas are so, and to look at their tokens side by side takes a third of the
time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import syntax
from .lexer import FLOAT, IDENTIFIER, INTEGER, Token

__all__ = ["LONGEST", "plain_field"]

LONGEST = 6
"""Tokens of the longest of these fields; behind each there are more, or its table has no end."""

_FIELD = (IDENTIFIER, ":", IDENTIFIER, ";")
_VECTOR = (IDENTIFIER, ":", "[", IDENTIFIER, "]", ";")
_WITH_DEFAULT = (IDENTIFIER, ":", IDENTIFIER, "=")
_VALUES: dict[str, Callable[[str, int, int], syntax.PlainLiteral]] = {
    INTEGER: syntax.IntegerLiteral,
    FLOAT: syntax.FloatLiteral,
    IDENTIFIER: syntax.NameLiteral,
}


def plain_field(tokens: Sequence[Token], doc: syntax.Doc) -> tuple[syntax.Field, int] | None:
    """Return the field that begins with these tokens, and of how many it is.

    Returns None for any other field, and for what is no field.

    Args:
        tokens: The next `LONGEST` ones.
        doc: The doc comment in front of them.
    """
    if len(tokens) < LONGEST:
        return None
    name, _, third, fourth, fifth, _ = tokens
    kinds = tuple([token[0] for token in tokens])
    if kinds[:4] == _FIELD:
        return syntax.Field(name, third, None, (), doc), 4
    if kinds == _VECTOR:
        vector = syntax.VectorType(fourth, third.start, fifth.end)
        return syntax.Field(name, vector, None, (), doc), 6
    if kinds[:4] == _WITH_DEFAULT and kinds[5] == ";" and fifth.kind in _VALUES:
        default = _VALUES[fifth.kind](fifth.text, fifth.start, fifth.end)
        return syntax.Field(name, third, default, (), doc), 6
    return None
