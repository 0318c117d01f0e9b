"""Arguments of public functions: wrong types, told by parameter, what was found and expected."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from placewire_schema.errors import InvalidArgumentError, InvalidTypeError

from .wording import described, is_encodable

__all__ = [
    "HIGHEST_SIZE",
    "checked_flag",
    "checked_function",
    "checked_integer",
    "checked_items",
    "checked_text",
    "wrong_type",
]

HIGHEST_SIZE = 2**64 - 1
"""Greatest number of bytes that the core can count."""


def wrong_type(parameter: str, found: object, expected: str) -> InvalidTypeError:
    """The error about an argument of a wrong type."""
    return InvalidTypeError(f"{parameter} is {described(found)}; expected {expected}")


def checked_text(parameter: str, value: object) -> str:
    """A text.

    Raises:
        InvalidTypeError: It is none.
        InvalidArgumentError: It has lone surrogates, so that UTF-8 cannot hold it.
    """
    if not isinstance(value, str):
        raise wrong_type(parameter, value, "a text")
    if not is_encodable(value):
        raise InvalidArgumentError(f"{parameter} is {value!r}, which UTF-8 cannot hold")
    return value


def checked_flag(parameter: str, value: object) -> bool:
    """A bool.

    Raises:
        InvalidTypeError: It is none; what counts as true elsewhere, such as `"no"`, does not here.
    """
    if not isinstance(value, bool | np.bool_):
        raise wrong_type(parameter, value, "True or False")
    return bool(value)


def checked_integer(
    parameter: str, value: object, *, minimum: int = 0, maximum: int = HIGHEST_SIZE
) -> int:
    """An integer.

    Raises:
        InvalidTypeError: It is none.
        InvalidArgumentError: It is out of range.
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise wrong_type(parameter, value, "an integer") from None
    if not minimum <= number <= maximum:
        raise InvalidArgumentError(f"{parameter} is {number}; expected {minimum} to {maximum}")
    return number


def checked_function(parameter: str, value: object) -> Callable[..., Any]:
    """Something that can be called.

    Raises:
        InvalidTypeError: It cannot.
    """
    if not callable(value):
        raise wrong_type(parameter, value, "a function")
    return value


def checked_items(parameter: str, value: object, expected: str) -> list[Any]:
    """The items of a list, or of anything else that has some; a text has none.

    Raises:
        InvalidTypeError: It has none.
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise wrong_type(parameter, value, expected)
    return list(value)
