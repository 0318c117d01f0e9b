"""Target: which kernels the runtime that a program is for brings with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Compat", "Target", "target_of"]

Compat = Literal["executorch-1.5", "placewire"]
"""The runtimes that a program can be exported for."""


@dataclass(frozen=True)
class Target:
    """A runtime, as far as the exporter has to know it.

    Attributes:
        name: The name of its compatibility level.
        kernels: What it registers, as `aten::add.out`; without a dot for the default overload.
    """

    name: Compat
    kernels: frozenset[str]

    def has(self, kernel: str) -> bool:
        return kernel in self.kernels


@cache
def target_of(compat: Compat) -> Target:
    """The target of a compatibility level.

    Both levels have the kernels of ExecuTorch 1.5, since a program for our own runtime must not
    need an operator that has none there without a reason.
    """
    return Target(compat, frozenset(_listed("executorch_1_5.txt")))


def _listed(name: str) -> Iterable[str]:
    text = (files(__package__) / "targets" / name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
