"""Asks torch which operator a call reaches, without running any."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import torch
from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torch._ops import OpOverload

    from placewire.kernels.call import Call


class _ReachedError(Exception):
    def __init__(self, overload: OpOverload, arguments: Mapping[str, object]) -> None:
        super().__init__(str(overload))
        self.overload = overload
        self.arguments = arguments


class _Stop(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Lets no operator run."""

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        names = [argument.name for argument in func._schema.arguments]
        found: dict[str, object] = {
            argument.name: argument.default_value for argument in func._schema.arguments
        }
        found.update(zip(names, args, strict=False))
        found.update(kwargs or {})
        raise _ReachedError(func, found)


def reaches(call: Call, overload: OpOverload, arguments: Sequence[object]) -> bool:
    """Whether a call runs this operator with these arguments.

    The operator that takes a tensor where this one takes a number counts, if it gets the number.
    """
    positional = [_at(place, arguments) for place in call.positional]
    keywords = {name: _at(place, arguments) for name, place in call.keywords}
    try:
        with warnings.catch_warnings(), _Stop():  # type: ignore[no-untyped-call]
            warnings.simplefilter("error")
            call.function(*positional, **keywords)
    except _ReachedError as reached:
        return _is_meant(reached, overload, arguments)
    except (TypeError, RuntimeError, UserWarning, NotImplementedError, ValueError, IndexError):
        return False
    return False


def _at(place: int | tuple[int, ...], arguments: Sequence[object]) -> object:
    if isinstance(place, tuple):
        return tuple(arguments[index] for index in place)
    return arguments[place]


def _is_meant(reached: _ReachedError, overload: OpOverload, arguments: Sequence[object]) -> bool:
    ours, theirs = overload._schema.arguments, reached.overload._schema.arguments
    if reached.overload.overloadpacket is not overload.overloadpacket or len(ours) != len(theirs):
        return False
    for wanted, our, their in zip(arguments, ours, theirs, strict=True):
        number = str(our.type) == "number" and str(their.type) == "Tensor"
        if our.name != their.name or not (number or str(our.type) == str(their.type)):
            return False
        if not _is_same(reached.arguments[our.name], wanted):
            return False
    return True


def _is_same(found: object, wanted: object) -> bool:
    if isinstance(wanted, torch.Tensor):
        return found is wanted
    if isinstance(found, torch.Tensor):
        return found.ndim == 0 and found.item() == wanted
    if isinstance(wanted, list):
        return isinstance(found, list | tuple) and all(map(_is_same, found, wanted))
    return found == wanted


def samples(overload: OpOverload) -> Iterator[list[object]]:
    """Arguments of every kind that an operator takes: each argument varied, the others usual."""
    choices = [_choices(argument) for argument in overload._schema.arguments]
    usual = [choice[0] for choice in choices]
    yield list(usual)
    for index, choice in enumerate(choices):
        for value in choice[1:]:
            yield [*usual[:index], value, *usual[index + 1 :]]


def _choices(argument: torch._C.Argument) -> list[object]:
    text = str(argument.real_type)
    if text.startswith("Optional["):
        return [*_values(text.removeprefix("Optional[").removesuffix("]")), None]
    return _values(text)


def _values(text: str) -> list[object]:
    tensor = torch.empty(2, 2)
    values: dict[str, list[object]] = {
        "Tensor": [tensor],
        "number": [3, 2.5, True],
        "float": [2.5, 3.0],
        "int": [3, 0],
        "SymInt": [3, 0],
        "bool": [True, False],
        "str": ["none"],
        "ScalarType": [torch.float32],
        "MemoryFormat": [torch.contiguous_format],
        "List[int]": [[1, 2], [3]],
        "List[SymInt]": [[1, 2], [3]],
        "List[float]": [[1.0, 2.5]],
        "List[bool]": [[True, False, True]],
        "List[Tensor]": [[tensor, tensor]],
        "List[Optional[Tensor]]": [[tensor, None]],
    }
    return values[text]
