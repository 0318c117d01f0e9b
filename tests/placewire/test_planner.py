"""The planner: what holds for every plan, what it makes of known inputs, what it refuses."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewire_schema.errors import (
    InvalidArgumentError,
    InvalidProgramError,
    InvalidTypeError,
)

from benchmarks.lifetimes import (
    CAPACITY,
    INSTANCES,
    IntArray,
    forward_like,
    instance,
    random_intervals,
    train_like,
)
from placewire.planner import MODES, Mode, PlanProgress, TensorLifetime, plan, verify
from tests.placewire.plan_inputs import (
    aligned,
    lower_bound,
    overlapping,
    shared_object_total,
    tensor_lists,
)

LARGEST = 2**63 - 1


@given(
    tensors=tensor_lists,
    mode=st.sampled_from(MODES),
    alignment=st.sampled_from([1, 3, 16]),
)
@settings(max_examples=300, deadline=None)
def test_every_plan_is_sound(tensors: IntArray, mode: Mode, alignment: int) -> None:
    result = plan(tensors, mode=mode, alignment=alignment, evaluations=50, nodes=500)
    sizes = aligned(tensors[:, 0], alignment)
    rounded = np.column_stack([sizes, tensors[:, 1:]])
    assert overlapping(rounded, result.offsets) == []
    assert (result.offsets % alignment == 0).all()
    assert (result.offsets >= 0).all()
    takes_part = (sizes > 0) & (tensors[:, 1] < tensors[:, 2])
    ends = (result.offsets + sizes)[takes_part]
    assert result.total == max(ends, default=0)
    assert (result.offsets[~takes_part] == 0).all()
    assert result.lower_bound == lower_bound(tensors, alignment)
    assert result.total >= result.lower_bound
    assert result.is_optimal or result.total > result.lower_bound
    assert verify(tensors, result.offsets, alignment=alignment) == result.total


@given(tensors=tensor_lists, alignment=st.sampled_from([1, 16]))
@settings(max_examples=300, deadline=None)
def test_no_plan_is_larger_than_that_of_the_shared_object_rule(
    tensors: IntArray, alignment: int
) -> None:
    assert plan(tensors, alignment=alignment).total <= shared_object_total(tensors, alignment)


@given(tensors=tensor_lists)
@settings(max_examples=200, deadline=None)
def test_no_mode_gives_a_larger_plan_than_the_one_before(tensors: IntArray) -> None:
    fast, search, exact = (
        plan(tensors, mode=mode, evaluations=50, nodes=500).total for mode in MODES
    )
    assert fast >= search >= exact


def best_total(tensors: IntArray) -> int:
    """The least total of all plans, found by trying all orders."""
    rows = [tuple(map(int, row)) for row in tensors if row[0] > 0 and row[1] < row[2]]
    best = sum(size for size, _, _ in rows)

    def place(left: list[tuple[int, ...]], placed: list[tuple[int, ...]], total: int) -> None:
        nonlocal best
        if total >= best:
            return
        if not left:
            best = total
            return
        for index, (size, lower, upper) in enumerate(left):
            support = max((top for a, b, top in placed if a < upper and lower < b), default=0)
            place(
                left[:index] + left[index + 1 :],
                [*placed, (lower, upper, support + size)],
                max(total, support + size),
            )

    place(rows, [], 0)
    return best


@given(
    tensors=st.lists(
        st.tuples(st.integers(1, 9), st.integers(0, 6), st.integers(1, 5)).map(
            lambda parts: (parts[0], parts[1], parts[1] + parts[2])
        ),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=300, deadline=None)
def test_the_exact_mode_finds_the_smallest_plan_of_few_tensors(
    tensors: list[tuple[int, int, int]],
) -> None:
    result = plan(tensors, mode="exact", evaluations=0)
    assert result.is_optimal
    assert result.total == best_total(np.array(tensors, np.int64))


def test_the_exact_mode_proves_that_the_lower_bound_cannot_be_reached() -> None:
    # Two long ones and three short ones that meet each other in a ring.
    tensors = [
        (2, 0, 2),
        (2, 1, 4),
        (1, 0, 1),
        (3, 3, 6),
        (2, 5, 8),
        (1, 2, 3),
        (3, 7, 9),
        (3, 0, 9),
    ]
    result = plan(tensors, mode="exact")
    assert result.is_optimal
    assert result.total == best_total(np.array(tensors, np.int64))


def test_all_instances_are_there() -> None:
    assert [path.name[0] for path in INSTANCES] == list("ABCDEFGH")


@pytest.mark.parametrize(
    ("path", "total", "bound"),
    list(
        zip(
            INSTANCES,
            (1238016, 1221632, 1275904, 1169408, 1303552, 1302528, 1271808, 1230848),
            (1048576, 1048576, 1039360, 986112, 1048576, 1048576, 1048576, 1048576),
            strict=True,
        )
    ),
    ids=lambda value: value.name[0] if isinstance(value, Path) else "",
)
def test_the_fast_mode_gives_known_totals(path: Path, total: int, bound: int) -> None:
    result = plan(instance(path))
    assert (result.total, result.lower_bound) == (total, bound)
    assert not result.is_optimal


def test_one_pass_needs_less_than_122_percent_of_the_lower_bound() -> None:
    ratios = [plan(instance(path)).ratio for path in INSTANCES]
    assert len(ratios) == 8
    assert np.mean(ratios) <= 1.22
    assert max(ratios) <= 1.29


@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: path.name[0])
def test_a_short_search_makes_an_instance_smaller(path: Path) -> None:
    tensors = instance(path)
    fast = plan(tensors)
    search = plan(tensors, mode="search", evaluations=2000)
    assert search.algorithm == "search"
    assert search.total < fast.total
    assert search.total <= 1.16 * search.lower_bound


@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: path.name[0])
def test_the_exact_mode_finds_the_known_capacity(path: Path) -> None:
    result = plan(instance(path), mode="exact", capacity=CAPACITY, evaluations=0)
    assert result.algorithm == "exact"
    assert result.total <= CAPACITY


def test_a_seed_gives_one_plan_and_another_seed_another() -> None:
    tensors = instance(INSTANCES[0])
    first, again, other = (
        plan(tensors, mode="search", evaluations=500, seed=seed) for seed in (7, 7, 8)
    )
    assert first.offsets.tolist() == again.offsets.tolist()
    assert first.offsets.tolist() != other.offsets.tolist()


def test_a_plan_does_not_depend_on_the_process() -> None:
    program = (
        "from placewire.planner import plan\n"
        "from benchmarks.lifetimes import INSTANCES, instance\n"
        "print(plan(instance(INSTANCES[1]), mode='search', evaluations=300).offsets.tolist())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize("make", [forward_like, train_like, random_intervals])
def test_a_hundred_thousand_tensors_are_planned(make: object) -> None:
    assert callable(make)
    tensors = make(100_000)
    result = plan(tensors)
    assert result.total <= 1.06 * result.lower_bound
    assert verify(tensors, result.offsets) == result.total


def test_a_tensor_that_ends_makes_room_for_one_that_begins() -> None:
    assert plan([TensorLifetime(64, 0, 2), TensorLifetime(64, 2, 4)]).total == 64


def test_gaps_in_time_do_not_matter() -> None:
    tensors = [(64, -(2**63), -5), (64, -5, 7), (32, -6, 2**63 - 1)]
    result = plan(tensors)
    assert (result.total, result.lower_bound) == (96, 96)
    assert verify(tensors, result.offsets) == result.total


@pytest.mark.parametrize("mode", MODES)
def test_nothing_to_plan_takes_no_bytes(mode: Mode) -> None:
    for tensors in ([], [(0, 1, 5)], [(8, 3, 3)]):
        result = plan(tensors, mode=mode)
        assert (result.total, result.lower_bound, result.is_optimal) == (0, 0, True)
        assert result.offsets.tolist() == [0] * len(tensors)
        assert result.ratio == 1.0


def test_the_largest_sizes_there_are_can_be_planned() -> None:
    result = plan([(LARGEST, 0, 1)], mode="exact")
    assert (result.total, result.is_optimal) == (LARGEST, True)
    result = plan([(LARGEST - 2, 0, 1), (1, 0, 2), (1, 1, 3)], mode="exact", evaluations=10)
    assert result.total == LARGEST - 1


def test_sizes_that_add_up_to_too_much_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"tensor 1: .* more than 2\^63 - 1 bytes"):
        plan([(LARGEST, 0, 1), (1, 5, 6)])
    with pytest.raises(InvalidArgumentError, match=r"tensor 0: .* more than 2\^63 - 1 bytes"):
        plan([(LARGEST, 0, 1)], alignment=16)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ([(-1, 0, 1)], "tensor 0: the size is -1, expected 0 or more"),
        ([(1, 0, 1), (1, 2, 1)], "tensor 1: the lifetime ends at 1, before it begins at 2"),
        ([(1, 2)], r"tensors has the shape \[1, 2\], expected \[n, 3\]: size, lower, upper"),
        ([1, 2, 3], r"tensors has the shape \[3\], expected"),
        ([(1, 2), (1, 2, 3)], "tensors is no array"),
        ([(2**63, 0, 1)], "tensors holds a number that does not fit into 64 bits"),
        ([(2**80, 0, 1)], "tensors holds a number that does not fit into 64 bits"),
        (np.array([[2**63, 0, 1]], np.uint64), "does not fit into 64 bits"),
    ],
)
def test_impossible_tensors_are_refused(tensors: list[tuple[int, int, int]], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        plan(tensors)


@pytest.mark.parametrize("value", [1.5, 1.0, "1", None, True])
def test_what_is_no_whole_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidTypeError, match=r"tensors holds .*, expected whole numbers"):
        plan([(value, value, value)])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "slow"}, "the mode is 'slow', expected one of fast, search, exact"),
        ({"alignment": 0}, "the alignment is 0, expected 1 or more"),
        ({"alignment": 2**63}, "alignment is 9223372036854775808, which does not fit"),
        ({"seed": -1}, "seed is -1, expected 0 to"),
        ({"evaluations": -1}, "evaluations is -1, expected 0 to"),
        ({"nodes": 2**64}, "nodes is 18446744073709551616, expected 0 to"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        plan([(1, 0, 1)], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.uint64, np.int64])
def test_arrays_of_any_whole_numbers_are_taken(dtype: type) -> None:
    tensors: npt.NDArray[np.integer] = np.array([(64, 0, 2), (64, 1, 3), (64, 2, 4)], dtype)
    for layout in (tensors, np.asfortranarray(tensors), tensors[::-1][::-1]):
        assert plan(layout).total == 128


def test_offsets_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        plan([(1, 0, 1)]).offsets[0] = 5


def test_progress_is_told_and_can_stop_the_search() -> None:
    told: list[PlanProgress] = []
    tensors = instance(INSTANCES[3])
    plan(tensors, mode="exact", evaluations=1000, nodes=3000, progress=told.append)
    assert {state.stage for state in told} == {"search", "exact"}
    assert all(0 < state.done <= state.limit for state in told)
    assert [state.total for state in told] == sorted((s.total for s in told), reverse=True)

    def stop(_: PlanProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan(tensors, mode="search", progress=stop)


def test_a_capacity_that_is_reached_ends_the_search() -> None:
    told: list[PlanProgress] = []
    tensors = instance(INSTANCES[0])
    result = plan(tensors, mode="search", capacity=1_200_000, progress=told.append)
    assert 1_048_576 < result.total <= 1_200_000
    assert len(told) < 50
    assert not result.is_optimal


def test_other_threads_run_meanwhile() -> None:
    tensors = instance(INSTANCES[7])
    worker = threading.Thread(
        target=plan, args=(tensors,), kwargs={"mode": "search", "evaluations": 20_000}
    )
    worker.start()
    rounds = 0
    while worker.is_alive():
        worker.join(0.001)
        rounds += 1
    assert rounds > 10


@given(tensors=tensor_lists, data=st.data())
@settings(max_examples=300, deadline=None)
def test_the_verifier_finds_an_overlap_if_and_only_if_there_is_one(
    tensors: IntArray, data: st.DataObject
) -> None:
    offsets = np.array(
        data.draw(st.lists(st.integers(0, 300), min_size=len(tensors), max_size=len(tensors))),
        np.int64,
    )
    pairs = overlapping(tensors, offsets)
    if not pairs:
        assert verify(tensors, offsets) >= 0
        return
    with pytest.raises(InvalidProgramError, match=r"tensors (\d+) and (\d+) overlap") as caught:
        verify(tensors, offsets)
    _, first, _, second, *_ = str(caught.value).split()
    assert (int(second), int(first)) in pairs


def test_a_forged_overlap_in_a_large_plan_is_found() -> None:
    tensors = random_intervals(20_000)
    offsets = plan(tensors).offsets.copy()
    alive = np.flatnonzero((tensors[:, 1] <= 10_000) & (tensors[:, 2] > 10_000))
    first, second = alive[:2]
    offsets[second] = offsets[first] + tensors[first, 0] - 1
    with pytest.raises(InvalidProgramError, match="overlap"):
        verify(tensors, offsets)


def test_an_overlap_is_described() -> None:
    with pytest.raises(InvalidProgramError) as caught:
        verify([(64, 0, 4), (8, 9, 10), (8, 3, 5)], [0, 0, 63])
    assert str(caught.value) == (
        "tensors 0 and 2 overlap: both are alive at 3, in the bytes [0, 64) and [63, 71)"
    )


@pytest.mark.parametrize(
    ("offsets", "error", "message"),
    [
        ([-16], InvalidProgramError, "tensor 0: the offset is -16, expected 0 or more"),
        ([8], InvalidProgramError, "tensor 0: the offset is 8, which is no multiple of 16"),
        ([2**63 - 16], InvalidProgramError, r"so that it ends beyond 2\^63 - 1"),
        ([0, 0], InvalidArgumentError, "there are 2 offsets for 1 tensors"),
        ([[0]], InvalidArgumentError, r"offsets has the shape \[1, 1\], expected \[n\]"),
        ([0.5], InvalidTypeError, "offsets holds float64, expected whole numbers"),
    ],
)
def test_impossible_offsets_are_refused(
    offsets: list[int], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        verify([(64, 0, 1)], offsets, alignment=16)


def test_planning_needs_no_torch() -> None:
    program = (
        "import sys\nsys.modules['torch'] = None\n"
        "from placewire.planner import plan\nassert plan([(8, 0, 1)]).total == 8"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
