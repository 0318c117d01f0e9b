"""What all benchmarks share: interleaved timing, goals, and one row of the result table."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Goal:
    """What a ratio must be: a speed-up of at least `limit`, or a cost of at most `limit`."""

    kind: Literal["speedup", "cost"]
    limit: float

    def __str__(self) -> str:
        return f"≥ {self.limit:g}x faster" if self.kind == "speedup" else f"≤ {self.limit:g}x"


def faster(times: float) -> Goal:
    """Return the goal to take at most 1/`times` of the peer's time."""
    return Goal("speedup", times)


def at_most(times: float) -> Goal:
    """Return the goal to take at most `times` the peer's time."""
    return Goal("cost", times)


@dataclass(frozen=True)
class Comparison:
    """One result: ours beside a peer, both measured in the same run.

    Attributes:
        what: What was measured, such as `pack_program, native`.
        peer: What it is compared with.
        seconds: Our time for one run.
        peer_seconds: The peer's time for one run.
        goal: What the ratio must be.
    """

    what: str
    peer: str
    seconds: float
    peer_seconds: float
    goal: Goal

    @property
    def ratio(self) -> float:
        """Peer over ours for a speed-up, ours over peer for a cost."""
        if self.goal.kind == "speedup":
            return self.peer_seconds / self.seconds
        return self.seconds / self.peer_seconds

    @property
    def is_met(self) -> bool:
        """Whether this run reached the goal."""
        if self.goal.kind == "speedup":
            return self.ratio >= self.goal.limit
        return self.ratio <= self.goal.limit


@dataclass(frozen=True)
class Quality:
    """One result that is no time: how far ours and a peer's are from the best there could be.

    Attributes:
        what: What was measured.
        peer: What it is compared with.
        value: Ours over a bound that nobody can beat, so 1 or more.
        peer_value: The peer's over the same bound.
        limit: What ours must not exceed.
    """

    what: str
    peer: str
    value: float
    peer_value: float
    limit: float

    @property
    def is_met(self) -> bool:
        """Whether this run reached the goal."""
        return self.value <= self.limit


@dataclass(frozen=True)
class NotMeasured:
    """A benchmark that could not run here, and why; it is shown, never left out."""

    what: str
    reason: str


def interleaved_minimums(
    tasks: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    warm_up: int = 1,
    turn_seconds: float = 0.0,
) -> dict[str, float]:
    """Time every task once per round, in turn, and return the least seconds of each.

    Taking turns lets a machine that changes its speed slow all tasks alike; the minimum leaves out
    what other processes took. What a task returns is thrown away after the clock has stopped.

    Args:
        tasks: What to run, by name.
        rounds: How often each task has its turn.
        warm_up: Untimed runs of each task before.
        turn_seconds: How long a turn lasts at least; a short task runs several times in it, so that
            it finds the caches as it left them, not as a task of another size did.
    """
    for task in tasks.values():
        for _ in range(warm_up):
            task()
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            best[name] = min(best[name], _least_of_turn(task, turn_seconds))
    return best


def _least_of_turn(task: Callable[[], object], turn_seconds: float) -> float:
    best, end = float("inf"), time.perf_counter() + turn_seconds
    while best == float("inf") or time.perf_counter() < end:
        start = time.perf_counter()
        result = task()
        best = min(best, time.perf_counter() - start)
        del result
    return best


def readable(seconds: float) -> str:
    """Write a duration with three digits and the unit that fits."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


Measurement = Comparison | Quality | NotMeasured


def table(results: Sequence[Measurement]) -> str:
    """Write the results as a Markdown table."""
    lines = [
        "| what | ours | peer | peer's | ratio | goal | |",
        "|---|---:|---|---:|---:|---|---|",
    ]
    for result in results:
        if isinstance(result, NotMeasured):
            lines.append(f"| {result.what} | | | | | | not measured: {result.reason} |")
            continue
        lines.append(f"| {' | '.join(_cells(result))} |")
    return "\n".join(lines)


def _cells(result: Comparison | Quality) -> tuple[str, ...]:
    verdict = "met" if result.is_met else "**missed**"
    if isinstance(result, Quality):
        return (
            result.what,
            f"{result.value:.4f}",
            result.peer,
            f"{result.peer_value:.4f}",
            f"{result.value / result.peer_value:.3g}x",
            f"≤ {result.limit:.4g}",
            verdict,
        )
    return (
        result.what,
        readable(result.seconds),
        result.peer,
        readable(result.peer_seconds),
        f"{result.ratio:.3g}x",
        str(result.goal),
        verdict,
    )
