"""What planners are measured on: made-up programs of any length, and minimalloc's real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from placewire.lifetimes_csv import LifetimeTable

IntArray = npt.NDArray[np.int64]

INSTANCES = sorted((Path(__file__).parents[1] / "tests" / "memplan").glob("*.csv"))
"""A to H of minimalloc."""

CAPACITY = 1_048_576
"""What each of them is known to fit into, bytes."""


def instance(path: Path) -> IntArray:
    """The tensors of a file: size, lower and upper of each, shape [n, 3]."""
    return np.array(LifetimeTable.load(path).tensors, np.int64)


def forward_like(count: int) -> IntArray:
    """Tensors of an inference: most die soon, some are residuals, a few live long."""
    random = np.random.default_rng(count)
    lower = np.arange(count)
    length = random.integers(2, 5, count)
    length = np.where(random.random(count) < 0.1, random.integers(10, 50, count), length)
    length = np.where(random.random(count) < 0.02, random.integers(200, 2200, count), length)
    return np.stack([64 << random.integers(0, 12, count), lower, lower + length], axis=1)


def train_like(count: int) -> IntArray:
    """Activations that wait for their gradient, and gradients that die soon."""
    random = np.random.default_rng(count)
    lower = np.arange(count)
    upper = np.where(lower < count // 2, count - lower, lower + 2) + random.integers(0, 4, count)
    return np.stack([64 * random.integers(1, 4097, count), lower, upper], axis=1)


def random_intervals(count: int) -> IntArray:
    """Sizes, starts and lengths from uniform distributions."""
    random = np.random.default_rng(count)
    lower = random.integers(0, count, count)
    upper = lower + random.integers(1, count // 20 + 2, count)
    return np.stack([64 * random.integers(1, 4097, count), lower, upper], axis=1)
