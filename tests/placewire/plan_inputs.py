"""What tests of the planner need: few random tensors, and slow ways to get what it should get."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from benchmarks.lifetimes import IntArray

_TENSOR = st.tuples(st.integers(0, 100), st.integers(-20, 20), st.integers(0, 15)).map(
    lambda parts: (parts[0], parts[1], parts[1] + parts[2])
)

tensor_lists = st.lists(_TENSOR, max_size=40).map(
    lambda rows: np.array(rows, np.int64).reshape(-1, 3)
)
"""Few tensors with many meetings, with empty ones among them."""


def lower_bound(tensors: IntArray, alignment: int = 1) -> int:
    """The most bytes alive at any start of a lifetime."""
    sizes = aligned(tensors[:, 0], alignment)
    return max(
        (
            int(sizes[(tensors[:, 1] <= time) & (time < tensors[:, 2])].sum())
            for time in tensors[:, 1]
        ),
        default=0,
    )


def aligned(sizes: IntArray, alignment: int) -> IntArray:
    """Sizes rounded up."""
    return (sizes + alignment - 1) // alignment * alignment


def overlapping(tensors: IntArray, offsets: IntArray) -> list[tuple[int, int]]:
    """All pairs that share a byte at some time, found the slow way."""
    size, lower, upper = tensors.T
    return [
        (i, j)
        for i in range(len(tensors))
        for j in range(i)
        if max(lower[i], lower[j]) < min(upper[i], upper[j])
        and max(offsets[i], offsets[j]) < min(offsets[i] + size[i], offsets[j] + size[j])
    ]


def shared_object_total(tensors: IntArray, alignment: int = 1) -> int:
    """What ExecuTorch's rule comes to: objects that lie end to end.

    Tensors come from the largest to the smallest; of equal ones the last comes first. Each takes
    the start of the first object in which nobody lives at its time, else the first one in which it
    fits above those who do, else a new one.
    """
    rows = [
        (int(size), int(lower), int(upper))
        for size, lower, upper in zip(
            aligned(tensors[:, 0], alignment), tensors[:, 1], tensors[:, 2], strict=True
        )
        if size > 0 and lower < upper
    ]
    rows.sort(key=lambda row: row[0])
    objects: list[tuple[int, list[tuple[int, int, int]]]] = []
    for size, lower, upper in reversed(rows):
        heights = [
            max((top for a, b, top in content if a < upper and lower < b), default=0)
            for _, content in objects
        ]
        free = [i for i, height in enumerate(heights) if height == 0]
        above = [i for i, height in enumerate(heights) if height + size <= objects[i][0]]
        chosen = (free or above or [len(objects)])[0]
        if chosen == len(objects):
            objects.append((size, []))
            heights.append(0)
        objects[chosen][1].append((lower, upper, heights[chosen] + size))
    return sum(size for size, _ in objects)
