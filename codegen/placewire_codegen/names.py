"""Spellings of schema names, and the service that keeps them clear of keywords and each other."""

from __future__ import annotations

import builtins
import keyword
import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[A-Z]+")

CPP_KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires return
    short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
    xor xor_eq NULL EOF TRUE FALSE ERROR OVERFLOW UNDERFLOW DOMAIN INFINITY NAN errno stdin stdout
    stderr assert offsetof linux unix""".split()
)
PYTHON_KEYWORDS = frozenset(keyword.kwlist)
PYTHON_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))


class Name:
    """A schema name with every spelling that a target may need.

    >>> Name("execution_plan").pascal, Name("EValue").snake, Name("ET12File").upper_snake
    ('ExecutionPlan', 'e_value', 'ET12_FILE')
    """

    __slots__ = ("raw", "words")

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.words: tuple[str, ...] = tuple(
            word for part in raw.split("_") for word in _split_words(part)
        )

    def __str__(self) -> str:
        return self.raw

    @property
    def snake(self) -> str:
        return "_".join(word.lower() for word in self.words) or self.raw

    @property
    def upper_snake(self) -> str:
        return self.snake.upper()

    @property
    def pascal(self) -> str:
        return "".join(word[:1].upper() + word[1:] for word in self.words) or self.raw

    @property
    def camel(self) -> str:
        return self.pascal[:1].lower() + self.pascal[1:]


def _split_words(part: str) -> list[str]:
    """Split at case changes; digits stay with the word before them (`QINT8` is one word)."""
    words: list[str] = []
    for word in _WORD.findall(part):
        if word.isdigit() and words:
            words[-1] += word
        else:
            words.append(word)
    return words


class NameScope:
    """Hands out identifiers that are neither reserved nor taken, adding `_` until they are free.

    One scope stands for one namespace of the target language: a module, a class body, a parameter
    list. The order of the requests decides who keeps the plain name, so ask in schema order.
    """

    def __init__(self, reserved: frozenset[str] | set[str] = frozenset()) -> None:
        self._taken = set(reserved)

    def claim(self, wanted: str) -> str:
        """Return `wanted`, or the first of `wanted_`, `wanted__`, ... that is free, and take it."""
        name = wanted
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name
