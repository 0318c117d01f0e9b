"""The memory planner: gives tensors that are never alive together the same bytes.

Sizes, offsets and totals are bytes. Times are any whole numbers that grow, such as the positions
of instructions. A tensor is alive in the half-open interval [lower, upper); ExecuTorch's lifetimes
include their end, so theirs of (first, last) is (first, last + 1) here. `docs/plan.md` tells how
the algorithms work and how well they do. Needs no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from placewire_schema.errors import InvalidArgumentError, InvalidTypeError

from ._core import core

__all__ = [
    "MODES",
    "Mode",
    "Plan",
    "PlanProgress",
    "TensorLifetime",
    "Tensors",
    "plan",
    "verify",
]

Mode: TypeAlias = Literal["fast", "search", "exact"]

MODES: tuple[Mode, ...] = ("fast", "search", "exact")
"""How much work to do, least first. No mode gives a larger plan than the one before it."""


class TensorLifetime(NamedTuple):
    """How many bytes a tensor takes, and when.

    A tensor without bytes, or without any time (`lower == upper`), is placed at offset 0 and
    overlaps nothing.

    Attributes:
        size: Bytes, 0 or more.
        lower: When it is written first.
        upper: When it is needed no more; at this time its bytes may be another's already.
    """

    size: int
    lower: int
    upper: int


Tensors: TypeAlias = (
    Sequence[TensorLifetime] | Sequence[tuple[int, int, int]] | npt.NDArray[np.integer]
)
"""Tensors to plan: a sequence of `TensorLifetime`, or an array of whole numbers of shape [n, 3]
with the columns size, lower and upper, which costs nothing per tensor."""

_Columns: TypeAlias = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


class PlanProgress(NamedTuple):
    """How far a search has come.

    Attributes:
        stage: `search` or `exact`.
        done: How many evaluations or nodes were used.
        limit: How many there are at most.
        total: The smallest plan up to now, bytes.
    """

    stage: str
    done: int
    limit: int
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Where each tensor lies.

    Attributes:
        offsets: Bytes from the start of the arena, shape [n], int64, read-only; in the order in
            which the tensors were passed.
        total: How large the arena must be, bytes.
        lower_bound: The most bytes that are alive at any time, each size rounded up to the
            alignment. No plan is smaller.
        algorithm: What found it, such as `skyline by area` or `search`.
        is_optimal: Whether it is known that no plan is smaller.
    """

    offsets: npt.NDArray[np.int64]
    total: int
    lower_bound: int
    algorithm: str
    is_optimal: bool

    @property
    def ratio(self) -> float:
        """The total over the lower bound; 1.0 if there is nothing to place."""
        return self.total / self.lower_bound if self.lower_bound else 1.0


def plan(
    tensors: Tensors,
    *,
    mode: Mode = "fast",
    alignment: int = 1,
    seed: int = 0,
    evaluations: int = 50_000,
    nodes: int = 1_000_000,
    capacity: int | None = None,
    progress: Callable[[PlanProgress], object] | None = None,
) -> Plan:
    """Place tensors so that those alive together do not overlap, in as few bytes as possible.

    The result depends on the arguments alone, not on time, threads or the machine, and was checked
    for overlaps. Other Python threads run meanwhile.

    Args:
        tensors: See `Tensors`.
        mode: `fast` takes the smallest plan of a few fast algorithms, ExecuTorch's among them.
            `search` goes on with a random search, `exact` with a systematic one before that.
        alignment: Every offset is a multiple of this many bytes; sizes are rounded up to it.
        seed: Where the random search starts, 0 to 2**64 - 1.
        evaluations: How many plans of 256 tensors the random search tries; plans of more tensors
            count for more.
        nodes: How many partial plans the systematic search looks at; it takes no more than 4096
            tensors.
        capacity: Stop as soon as the plan has no more bytes than this. Default: go on until it is
            optimal.
        progress: Called now and then while a search runs. If it raises, so does this.

    Returns:
        The plan.

    Raises:
        InvalidArgumentError: `tensors` has another shape, a number is out of range, a lifetime ends
            before it begins, or the sizes add up to 2**63 or more. It is also a `ValueError`.
        InvalidTypeError: `tensors` holds something else than whole numbers. It is also a
            `TypeError`.
        NotSupportedError: There are more than 2**31 - 2 tensors.
        AllocationError: Memory ran out. It is also a `MemoryError`.

    Example:
        >>> plan([TensorLifetime(64, 0, 2), (64, 1, 3), (64, 2, 4)]).offsets.tolist()
        [0, 64, 0]
    """
    if mode not in MODES:
        raise InvalidArgumentError(f"the mode is {mode!r}, expected one of {', '.join(MODES)}")
    for name, value in (("seed", seed), ("evaluations", evaluations), ("nodes", nodes)):
        if not 0 <= value < 2**64:
            raise InvalidArgumentError(f"{name} is {value}, expected 0 to 2**64 - 1")
    offsets, total, lower_bound, algorithm, is_optimal = core.plan(
        *_columns(tensors),
        MODES.index(mode),
        _number("alignment", alignment),
        seed,
        evaluations,
        nodes,
        None if capacity is None else _number("capacity", capacity),
        None if progress is None else lambda *state: progress(PlanProgress(*state)),
    )
    return Plan(np.frombuffer(offsets, np.int64), total, lower_bound, algorithm, is_optimal)


def verify(tensors: Tensors, offsets: npt.ArrayLike, *, alignment: int = 1) -> int:
    """Check where tensors were placed, by whomever.

    Two tensors that are alive together must not share a byte, and every offset must be a multiple
    of `alignment`.

    Args:
        tensors: See `Tensors`.
        offsets: Bytes from the start of the arena, one whole number per tensor.
        alignment: Bytes, at least 1.

    Returns:
        How large the arena must be, bytes: the end of the last tensor, its size rounded up to the
        alignment.

    Raises:
        InvalidProgramError: An offset is negative, misaligned or too large, or two tensors overlap;
            the message names the first pair in time. It is also a `ValueError`.
        InvalidArgumentError, InvalidTypeError, NotSupportedError, AllocationError: As `plan`; also
            if there is another number of offsets than of tensors.

    Example:
        >>> verify([(64, 0, 2), (64, 2, 4)], [0, 0])
        64
    """
    places = _whole_numbers("offsets", offsets)
    if places.ndim != 1:
        raise InvalidArgumentError(f"offsets has the shape {list(places.shape)}, expected [n]")
    return core.verify_plan(*_columns(tensors), places, _number("alignment", alignment))


def _columns(tensors: Tensors) -> _Columns:
    """Size, lower and upper of all tensors, each in one piece."""
    table = _whole_numbers("tensors", tensors)
    if table.size == 0:
        table = table.reshape(0, 3)
    if table.ndim != 2 or table.shape[1] != 3:
        raise InvalidArgumentError(
            f"tensors has the shape {list(table.shape)}, expected [n, 3]: size, lower, upper"
        )
    sizes, lowers, uppers = np.ascontiguousarray(table.T)
    return sizes, lowers, uppers


def _whole_numbers(name: str, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise InvalidArgumentError(f"{name} is no array: {error}") from None
    except OverflowError:
        raise _too_large(name) from None
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        # Whole numbers that fit into no type of numpy's become objects, or floats.
        if all(type(value) is int for value in np.asarray(values, object).flat):
            raise _too_large(name)
        raise InvalidTypeError(f"{name} holds {array.dtype}, expected whole numbers")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise _too_large(name)
    return np.ascontiguousarray(array, np.int64)


def _too_large(name: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{name} holds a number that does not fit into 64 bits")


def _number(name: str, value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise InvalidArgumentError(f"{name} is {value}, which does not fit into 64 bits")
    return value
