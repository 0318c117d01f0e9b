"""The functions that torch generated for its operators: the calls with the least ado.

`torch.ops.aten.add.out` matches every call against the schema; `torch.add(..., out=)` was generated
for it and takes half the time. Which overload such a function chooses depends on its arguments, so
`direct.txt` lists those that are known to choose the operator itself, or the one that takes a
tensor where it takes a number; a test asks torch about each operator and all kinds of arguments.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import torch

from .call import Call

if TYPE_CHECKING:
    from torch._ops import OpOverload

    from .call import Place

__all__ = ["HOMES", "call_of", "call_through", "is_listed", "plain_call"]

HOMES = {
    "torch": torch._C._VariableFunctions,
    "nn": torch._C._nn,
    "Tensor": torch.Tensor,
}
"""Where torch keeps the functions that it generated, by the names in `direct.txt`."""


def call_of(overload: OpOverload) -> Call:
    """The fastest call of an operator that is known to be one."""
    home = _listed().get(_wire_name(overload))
    call = None if home is None else call_through(overload, home)
    return plain_call(overload) if call is None else call


def is_listed(overload: OpOverload) -> bool:
    """Whether a function is known that torch generated for the operator."""
    return _wire_name(overload) in _listed()


def plain_call(overload: OpOverload) -> Call:
    """The call that always works: the operator itself."""
    arguments = list(enumerate(overload._schema.arguments))
    positional = tuple(index for index, argument in arguments if not argument.kwarg_only)
    keywords = tuple((argument.name, index) for index, argument in arguments if argument.kwarg_only)
    return Call(overload._op, positional, keywords)


def call_through(overload: OpOverload, home: str) -> Call | None:
    """The call of the function of the operator's name in one of `HOMES`; None if it has none.

    What has a default goes by name: older overloads of some functions take a number first.
    """
    function = getattr(HOMES[home], overload._schema.name.partition("::")[2], None)
    if function is None:
        return None
    arguments = list(enumerate(overload._schema.arguments))
    outs = tuple(index for index, argument in arguments if argument.is_out)
    required = tuple(i for i, a in arguments if not (a.kwarg_only or a.has_default_value()))
    keywords: list[tuple[str, Place]] = [
        (argument.name, index)
        for index, argument in arguments
        if index not in required and index not in outs
    ]
    if outs:
        keywords.append(("out", outs if len(outs) > 1 else outs[0]))
    return Call(function, required, tuple(keywords))


def _wire_name(overload: OpOverload) -> str:
    name = overload._schema.overload_name
    return f"{overload._schema.name}.{name}" if name else overload._schema.name


@cache
def _listed() -> dict[str, str]:
    """The homes of the functions, by operator."""
    lines = (files(__package__) / "direct.txt").read_text("utf-8").splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))
