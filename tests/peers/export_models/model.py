"""ExportModel: an entry of the table of models, and how entries are written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.export import ExportedProgram

__all__ = ["ExportModel", "Function", "function"]

SEEDS = (1, 2, 3)


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

    @cache  # noqa: B019  # the table lives as long as the process
    def exported(self) -> tuple[nn.Module, ExportedProgram]:
        """The module, always with the same weights, and what torch exports of it."""
        torch.manual_seed(0)
        module = self.build().eval()
        program = torch.export.export(
            module, self.inputs(), dynamic_shapes=self.dynamic_shapes, strict=False
        )
        return module, program

    def arguments(self) -> list[tuple[Any, ...]]:
        """The arguments of each call, the same ones whenever it is asked."""
        found = []
        for seed in SEEDS:
            torch.manual_seed(seed)
            found.append(self.inputs())
        return found + [make() for make in self.further]


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
