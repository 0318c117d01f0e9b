"""Literals to default values: what each spelling means for a field's type, and what fits."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from . import syntax
from .diagnostics import closest
from .lexer import FLOAT_SPELLING, INTEGER_SPELLING, read_integer
from .model import ScalarKind, Type
from .scope import Context, Definitions, spelling_of

_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "deg": lambda x: x / math.pi * 180.0,
    "rad": lambda x: x / 180.0 * math.pi,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
}
_FUNCTION_DECIMALS = 12
_FLOAT_NAME = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)

# Words that may stand quoted or not.
_Word: TypeAlias = syntax.NameLiteral | syntax.StringLiteral


class Default(NamedTuple):
    """Default of a scalar field; `value` is None for `null`, which makes the field optional.

    That of a string is its text, that of a vector `()`.
    """

    value: int | float | str | tuple[()] | None


def read_default(
    literal: syntax.Value,
    type_: Type,
    context: Context,
    known: Definitions,
) -> Default | None:
    """Value of the default of a scalar or enum field; None if it is wrong, which is reported.

    The value of a `bool` is 0 or 1; whether an enum has a member of the value is not checked.
    """
    scalar = type_.scalar
    assert scalar is not None, "only scalars and enums have such defaults"
    if isinstance(literal, syntax.IntegerLiteral) and scalar.is_integer:  # as most are
        value = read_integer(literal.text)
        return Default(value) if _fits(value, type_, literal, context) else None
    if isinstance(literal, syntax.NameLiteral) and type_.ref is not None and literal.text != "null":
        values = known.values_of(type_.ref)
        if values is not None and literal.text in values:  # one member, as it nearly always is
            return Default(values[literal.text])
    if isinstance(literal, syntax.InvalidLiteral):
        return None
    if isinstance(literal, (syntax.EmptyVectorLiteral, syntax.CallLiteral)):
        return _call(literal, scalar, context)
    if isinstance(literal, (syntax.NameLiteral, syntax.StringLiteral)) and literal.text == "null":
        return Default(None)
    number: int | float | None
    if scalar.is_float:
        number = _float(literal, context)
    else:
        number = _integer(literal, type_, context, known)
        if number is None or not _fits(number, type_, literal, context):
            return None
        if scalar is ScalarKind.BOOL:
            number = int(number != 0)
    return None if number is None else Default(number)


def _call(
    literal: syntax.EmptyVectorLiteral | syntax.CallLiteral, scalar: ScalarKind, context: Context
) -> Default | None:
    if isinstance(literal, syntax.EmptyVectorLiteral):
        context.error(literal, f"expected a default of type {spelling_of(scalar)}, found `[]`")
        return None
    if not scalar.is_float:
        context.error(
            literal,
            f"`{literal.text}(...)` gives a float; the field's type is {spelling_of(scalar)}",
        )
        return None
    number = _float(literal, context)
    return None if number is None else Default(number)


def _float(literal: syntax.Value, context: Context) -> float | None:
    if isinstance(literal, syntax.InvalidLiteral):
        return None
    if isinstance(literal, syntax.CallLiteral):
        return _evaluate(literal, context)
    if not isinstance(literal, syntax.EmptyVectorLiteral):
        text = literal.text
        if isinstance(literal, syntax.StringLiteral):
            text = text.strip(" ")
        if FLOAT_SPELLING.fullmatch(text):
            return _float_of_spelling(text)
        if _FLOAT_NAME.fullmatch(text):
            return float(text)
        if INTEGER_SPELLING.fullmatch(text):
            context.error(
                literal,
                f"a float cannot be written as hexadecimal integer `{text}`",
                hint=f"write `{text}p0` or `{read_integer(text)}`",
            )
            return None
        shown = _shown(literal) if isinstance(literal, syntax.StringLiteral) else f"`{text}`"
        context.error(literal, f"expected a number, found {shown}")
        return None
    context.error(literal, "expected a number, found `[]`")
    return None


def _float_of_spelling(text: str) -> float:
    if "x" not in text and "X" not in text:
        return float(text)
    try:
        return float.fromhex(text)
    except OverflowError:
        return -math.inf if text.startswith("-") else math.inf


def _evaluate(call: syntax.CallLiteral, context: Context) -> float | None:
    function = _FUNCTIONS.get(call.text)
    if function is None:
        hint = "functions are " + ", ".join(f"`{name}`" for name in _FUNCTIONS)
        if call.text[0] in "+-":
            hint = "a function takes no sign; put the sign before its argument"
        context.error(call, f"unknown function `{call.text}`", hint=hint)
        return None
    argument = _float(call.argument, context)
    if argument is None:
        return None
    try:
        # flatc keeps the result as text with so many digits, and readers and writers must agree.
        return round(function(argument), _FUNCTION_DECIMALS)
    except ValueError:  # outside the function's domain, where C gives NaN
        return math.nan


def _integer(
    literal: syntax.Value, type_: Type, context: Context, known: Definitions
) -> int | None:
    scalar = type_.scalar
    assert scalar is not None
    if isinstance(literal, syntax.IntegerLiteral):
        return read_integer(literal.text)
    if isinstance(literal, syntax.FloatLiteral):
        context.error(
            literal, f"expected an integer for {spelling_of(scalar)}, found `{literal.text}`"
        )
        return None
    assert isinstance(literal, (syntax.NameLiteral, syntax.StringLiteral))
    if scalar is ScalarKind.BOOL and literal.text in ("true", "false"):
        return int(literal.text == "true")
    number = literal.text.strip(" ")
    if isinstance(literal, syntax.StringLiteral) and INTEGER_SPELLING.fullmatch(number):
        return read_integer(number)
    if scalar is ScalarKind.BOOL:
        context.error(literal, f"expected `true`, `false` or an integer, found {_shown(literal)}")
        return None
    return _members(literal, type_, context, known)


def _members(literal: _Word, type_: Type, context: Context, known: Definitions) -> int | None:
    """Value of a member's name, or of several, which are combined with OR.

    A field of an enum names its own members; a plain integer field says which enum: `"E.B"`.
    """
    value = 0
    for word in literal.text.split(" "):
        owner, member = type_.ref, word
        if owner is None:
            enum_name, dot, member = word.partition(".")
            owner = _find_enum(enum_name if dot else "", literal, context)
        if owner is None:
            return None
        values = known.values_of(owner)
        if values is None:
            context.error(literal, f"`{owner}` is not an enum")
            return None
        if member not in values:
            if owner not in known.unreadable:
                _report_member(owner, member, values, literal, context)
            return None
        value |= values[member]
    return value


def _find_enum(name: str, literal: _Word, context: Context) -> str | None:
    if name:
        symbol = context.find(syntax.identifier(name, literal), "enum")
        return None if symbol is None else symbol.full_name
    context.error(
        literal,
        f"expected an integer, found {_shown(literal)}",
        hint='a member of an enum is written as "Enum.MEMBER" here, in quotes',
    )
    return None


def _report_member(
    owner: str, member: str, values: Mapping[str, int], literal: _Word, context: Context
) -> None:
    guess = closest(member, values)
    last = member.rpartition(".")[2]
    if last in values:
        hint = f'write "{last}"; the type says which enum it is'
    elif guess is not None:
        hint = f"did you mean `{guess}`?"
    else:
        hint = "its members are " + ", ".join([*map("`{}`".format, values)][:6])
    context.error(literal, f"`{owner.rpartition('.')[2]}` has no member `{member}`", hint=hint)


def _shown(literal: _Word) -> str:
    quote = '"' if isinstance(literal, syntax.StringLiteral) else "`"
    return f"{quote}{literal.text}{quote}"


def _fits(value: int, type_: Type, literal: syntax.Value, context: Context) -> bool:
    scalar = type_.scalar
    assert scalar is not None
    if type_.ref is not None and not isinstance(literal, syntax.IntegerLiteral):
        return True  # a member's value; if it did not fit, its declaration has been reported
    # flatc stores a bool as a byte and takes any value of one.
    maximum = 255 if scalar is ScalarKind.BOOL else scalar.maximum
    if scalar.minimum <= value <= maximum:
        return True
    context.error(
        literal,
        f"{value} is out of range for {spelling_of(scalar)} ({scalar.minimum}..{maximum})",
    )
    return False
