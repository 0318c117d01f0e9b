"""Pass: one step of lowering that changes a method graph; ours and the user's look the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .graph import MethodGraph

__all__ = ["Pass", "PassOrderError", "PassResult", "run_passes"]


@dataclass(frozen=True, slots=True)
class PassResult:
    """What a pass did.

    Attributes:
        changed: Whether the graph is another than before.
        summary: What to show of it in the report, such as `3 H2D, 1 D2H`.
    """

    changed: bool
    summary: str = ""


@runtime_checkable
class Pass(Protocol):
    """A step that rewrites a method graph in place.

    Attributes:
        name: How the report and messages call it.
        requires: Facts that must hold of a graph that it gets, such as `specs`.
        ensures: Facts that hold of the graph afterwards.
    """

    @property
    def name(self) -> str: ...
    @property
    def requires(self) -> frozenset[str]: ...
    @property
    def ensures(self) -> frozenset[str]: ...
    def __call__(self, graph: MethodGraph, /) -> PassResult: ...


class PassOrderError(ValueError):
    """A pass needs a fact that no earlier step ensures."""


def run_passes(
    passes: Iterable[Pass], graph: MethodGraph, facts: Iterable[str] = ()
) -> dict[str, PassResult]:
    """Run passes in order.

    Args:
        passes: What to run.
        graph: The method; it is changed in place.
        facts: What holds of it already.

    Returns:
        What each did, by name.

    Raises:
        PassOrderError: One requires what nothing before it ensures.
    """
    known = set(facts)
    results: dict[str, PassResult] = {}
    for step in passes:
        if missing := sorted(step.requires - known):
            raise PassOrderError(
                f"the pass {step.name} requires {', '.join(missing)}; "
                f"what holds where it runs: {', '.join(sorted(known)) or 'nothing'}"
            )
        results[step.name] = step(graph)
        known |= step.ensures
    return results
