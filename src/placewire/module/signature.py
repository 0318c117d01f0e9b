"""Signature: how the arguments of a call become the inputs of a method, and what they are called.

PyTorch exports `f(*args, **kwargs)` with the inputs nested as `(args, kwargs)`. Where a program
says nothing, or nothing that fits its number of inputs, the arguments are the inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from placewire_schema.errors import InvalidArgumentError

from .nesting import Nesting, parse_nesting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Signature"]


class Signature:
    """What a method is called with.

    Args:
        method: Its name, for messages.
        tree: Its inputs' nesting, as the program has it.
        input_count: Number of its inputs.

    Raises:
        InvalidProgramError: The nesting cannot be read.
    """

    def __init__(self, method: str, tree: str, input_count: int) -> None:
        self._method = method
        self._count = input_count
        nesting = parse_nesting(tree)
        if nesting is not None and nesting.leaf_count != input_count:
            nesting = None
        self._args, self._kwargs = _arguments(nesting)

    @property
    def input_names(self) -> tuple[str, ...]:
        """What each input is called: `args[0]`, `kwargs["mask"]`."""
        if self._args is None:
            return tuple(f"args[{index}]" for index in range(self._count))
        names = list(self._args.paths("args"))
        if self._kwargs is not None:
            names += self._kwargs.paths("kwargs")
        return tuple(names)

    def inputs(self, args: Sequence[object], kwargs: Mapping[str, object]) -> list[object]:
        """Take the inputs out of the arguments of a call, in the order of the method's.

        Raises:
            InvalidArgumentError: The arguments nest in another way, or are too few or too many.
        """
        if self._args is None:
            return self._flat(args, kwargs)
        self._check_number(args, kwargs)
        inputs = list(self._args.flatten(tuple(args), "args"))
        if self._kwargs is not None and self._kwargs.children:
            inputs += self._kwargs.flatten(dict(kwargs), "kwargs")
        elif kwargs:
            raise self._no_keywords(kwargs)
        return inputs

    def _flat(self, args: Sequence[object], kwargs: Mapping[str, object]) -> list[object]:
        if len(args) != self._count:
            raise InvalidArgumentError(
                f"{self._method} takes {_arguments_in_words(self._count)}, {self}; "
                f"{_given_in_words(len(args), kwargs)}"
            )
        if kwargs:
            raise self._no_keywords(kwargs)
        return list(args)

    def _check_number(self, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        assert self._args is not None
        expected = len(self._args.children)
        if len(args) != expected:
            raise InvalidArgumentError(
                f"{self._method} takes {_arguments_in_words(expected)}, {self}; "
                f"{_given_in_words(len(args), kwargs)}"
            )

    def _no_keywords(self, kwargs: Mapping[str, object]) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"{self._method} takes no keyword arguments, {self}; given were {', '.join(kwargs)}"
        )

    def __str__(self) -> str:
        """A sketch of a call, with a star for each value: `forward(*, [*, *], mask=*)`."""
        if self._args is None:
            parts = ["*"] * self._count
        else:
            parts = [str(child) for child in self._args.children]
        if self._kwargs is not None and self._kwargs.container is not None:
            keys = self._kwargs.container.keys or ()
            parts += [
                f"{key}={child}" for key, child in zip(keys, self._kwargs.children, strict=True)
            ]
        return f"{self._method}({', '.join(parts)})"


def _arguments(nesting: Nesting | None) -> tuple[Nesting | None, Nesting | None]:
    """The nesting of positional and of keyword arguments."""
    if nesting is None or nesting.container is None or nesting.container.keys is not None:
        return None, None
    match nesting.children:
        case [Nesting() as args, Nesting() as kwargs] if _is_call(args, kwargs):
            return args, kwargs
        case _:
            return nesting, None


def _is_call(args: Nesting, kwargs: Nesting) -> bool:
    return (
        args.container is not None
        and args.container.keys is None
        and kwargs.container is not None
        and kwargs.container.keys is not None
        and all(isinstance(key, str) for key in kwargs.container.keys)
    )


def _arguments_in_words(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _given_in_words(count: int, kwargs: Mapping[str, object]) -> str:
    """What a call brought: `1 was given`, `0 were given, and the keywords x, y`."""
    text = "1 was given" if count == 1 else f"{count} were given"
    if kwargs:
        text += f", and the keyword{'s' if len(kwargs) > 1 else ''} {', '.join(kwargs)}"
    return text
