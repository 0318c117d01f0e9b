"""Stand-in until the planner is merged."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class P:
    offsets: list[int]
    total: int
    lower_bound: int


def plan(sizes, lower, upper):
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    off = [0] * len(sizes)
    done = []
    for i in order:
        conf = sorted(
            (off[j], off[j] + sizes[j]) for j in done if lower[j] < upper[i] and lower[i] < upper[j]
        )
        pos = 0
        for a, b in conf:
            if pos + sizes[i] <= a:
                break
            pos = max(pos, b)
        off[i] = pos
        done.append(i)
    tot = max((off[i] + sizes[i] for i in done), default=0)
    return P(off, tot, tot)
