"""ExportModel: an entry of the table of models, and how entries are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ExportModel", "Function", "function"]


@dataclass(frozen=True, eq=False)
class ExportModel:
    """A model to export.

    Attributes:
        name: Its name in the table.
        build: Makes the module.
        inputs: Makes example arguments: other values whenever it is called. The module is exported
            with the first ones.
        further: Makes arguments of other sizes, for a model with dynamic shapes.
        dynamic_shapes: As `torch.export.export` takes it.
    """

    name: str
    build: Callable[[], nn.Module]
    inputs: Callable[[], tuple[Any, ...]]
    further: tuple[Callable[[], tuple[Any, ...]], ...] = ()
    dynamic_shapes: Any = None


class Function(nn.Module):
    """A module that calls a function."""

    def __init__(self, body: Callable[..., Any]) -> None:
        super().__init__()
        self.body = body

    def forward(self, *arguments: Any) -> Any:
        return self.body(*arguments)


class _Positional1(Function):
    def forward(self, a: Any) -> Any:
        return self.body(a)


class _Positional2(Function):
    def forward(self, a: Any, b: Any) -> Any:
        return self.body(a, b)


class _Positional3(Function):
    def forward(self, a: Any, b: Any, c: Any) -> Any:
        return self.body(a, b, c)


def function(
    name: str,
    body: Callable[..., Any],
    inputs: Callable[[], tuple[Any, ...]],
    further: tuple[Callable[[], tuple[Any, ...]], ...] = (),
    dynamic_shapes: Any = None,
) -> ExportModel:
    """An entry for a function of up to three arguments."""
    kinds = (_Positional1, _Positional2, _Positional3)
    kind = kinds[body.__code__.co_argcount - 1]
    return ExportModel(name, lambda: kind(body), inputs, further, dynamic_shapes)
