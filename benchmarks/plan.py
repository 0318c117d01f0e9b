"""The memory planner against ExecuTorch's `greedy`: how many bytes, and how long it takes.

Bytes are compared on minimalloc's instances, as ratios to the most bytes alive at once, which no
plan can beat. Time is compared on made-up programs of 10,000 tensors. ExecuTorch would take hours
for 100,000 of them; its time grows at least with the square of their number, so there it counts as
100 times the time for 10,000.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import mean

from placewire.planner import MODES, Plan, plan, verify

from .executorch_greedy import ExecutorchGreedy
from .lifetimes import (
    CAPACITY,
    INSTANCES,
    IntArray,
    forward_like,
    instance,
    random_intervals,
    train_like,
)
from .measure import (
    Comparison,
    Measurement,
    NotMeasured,
    Quality,
    at_most,
    faster,
    interleaved_minimums,
    readable,
)

PEER = "ExecuTorch greedy"
ONE_LIMITS = {"fast": 1.29, "search": 1.12}
MEAN_LIMITS = {"fast": 1.22, "search": 1.08, "exact": CAPACITY / 986_112}
PROGRAMS: dict[str, Callable[[int], IntArray]] = {
    "forward-like": forward_like,
    "train-like": train_like,
    "random": random_intervals,
}
FEW, MANY = 10_000, 100_000


def run() -> list[Measurement]:
    """Measure both; what is not installed is named."""
    try:
        return [*_instances(), *_programs()]
    except ImportError as error:
        return [NotMeasured("plan", f"{error.name} is not installed")]


def _instances() -> list[Measurement]:
    assert INSTANCES, "the instances are not there"
    rows: list[Measurement] = []
    ratios: dict[str, list[float]] = {mode: [] for mode in MODES}
    peers: list[float] = []
    for path in INSTANCES:
        tensors = instance(path)
        peer_ratio = ExecutorchGreedy(tensors).plan()[0] / plan(tensors).lower_bound
        peers.append(peer_ratio)
        for mode in MODES:
            start = time.perf_counter()
            result = plan(tensors, mode=mode)
            seconds = time.perf_counter() - start
            limit = ONE_LIMITS.get(mode, CAPACITY / result.lower_bound)
            what = f"plan {path.name[0]}, {len(tensors)} tensors, {mode}, {readable(seconds)}"
            rows.append(Quality(what, PEER, result.ratio, peer_ratio, limit))
            ratios[mode].append(result.ratio)
    rows += [
        Quality(f"plan A to H, {mode}, mean", PEER, mean(ratios[mode]), mean(peers), limit)
        for mode, limit in MEAN_LIMITS.items()
    ]
    return rows


def _programs() -> list[Measurement]:
    rows: list[Measurement] = []
    for name, make in PROGRAMS.items():
        few, many = make(FEW), make(MANY)
        greedy = ExecutorchGreedy(few)
        totals: dict[str, int] = {}

        def peer(greedy: ExecutorchGreedy = greedy, totals: dict[str, int] = totals) -> None:
            totals["peer"] = greedy.plan()[0]

        best = interleaved_minimums(
            {"few": _planning(few), PEER: peer, "many": _planning(many)}, rounds=1, warm_up=0
        )
        # Ours is so short that one run says little.
        best |= interleaved_minimums({"few": _planning(few)}, rounds=5)
        result, large = plan(few), plan(many)
        rows += [
            Comparison(f"plan {FEW:,}, {name}", PEER, best["few"], best[PEER], faster(50)),
            Comparison(
                f"plan {MANY:,}, {name}",
                f"{PEER}, extrapolated: 100 times its time for {FEW:,}",
                best["many"],
                100 * best[PEER],
                faster(50),
            ),
            _size(f"plan {FEW:,}, {name}, bytes", result, totals["peer"]),
            _verifying(f"verify {MANY:,}, {name}", many, large, best["many"]),
        ]
    return rows


def _planning(tensors: IntArray) -> Callable[[], Plan]:
    return lambda: plan(tensors)


def _size(what: str, result: Plan, peer_total: int) -> Quality:
    peer_ratio = peer_total / result.lower_bound
    return Quality(what, PEER, result.ratio, peer_ratio, limit=peer_ratio)


def _verifying(what: str, tensors: IntArray, result: Plan, planning: float) -> Comparison:
    best = interleaved_minimums({"verify": lambda: verify(tensors, result.offsets)}, rounds=3)
    return Comparison(what, "planning it", best["verify"], planning, at_most(1))
