"""The benchmark frame computes ratios the right way round and hides nothing."""

from __future__ import annotations

import importlib
from functools import partial
from pathlib import Path

import pytest
from placewire_codegen.resolve import load_schema

from benchmarks.__main__ import BENCHMARKS
from benchmarks.front_end import large_schema
from benchmarks.measure import (
    Comparison,
    NotMeasured,
    Quality,
    at_most,
    faster,
    interleaved_minimums,
    readable,
    table,
)


def test_a_speed_up_is_the_peers_time_over_ours() -> None:
    result = Comparison("pack", "peer", seconds=2.0, peer_seconds=500.0, goal=faster(250))
    assert result.ratio == 250
    assert result.is_met


def test_a_cost_is_our_time_over_the_peers() -> None:
    result = Comparison("import", "peer", seconds=9.0, peer_seconds=10.0, goal=at_most(0.8))
    assert result.ratio == pytest.approx(0.9)
    assert not result.is_met


def test_a_missed_goal_is_shown_as_missed() -> None:
    lines = table([Comparison("pack", "peer", 1.0, 2.0, faster(3))]).splitlines()
    assert lines[-1] == "| pack | 1 s | peer | 2 s | 2x | ≥ 3x faster | **missed** |"


def test_a_quality_is_met_up_to_its_limit() -> None:
    met, missed = (Quality("plan", "peer", value, 1.5, limit=1.2) for value in (1.2, 1.21))
    lines = table([met, missed]).splitlines()
    assert lines[-2:] == [
        "| plan | 1.2000 | peer | 1.5000 | 0.8x | ≤ 1.2 | met |",
        "| plan | 1.2100 | peer | 1.5000 | 0.807x | ≤ 1.2 | **missed** |",
    ]


def test_what_was_not_measured_is_shown_with_its_reason() -> None:
    lines = table([NotMeasured("verify", "flatc is not installed")]).splitlines()
    assert lines[-1] == "| verify | | | | | | not measured: flatc is not installed |"


def test_tasks_take_turns() -> None:
    order: list[str] = []
    tasks = {name: partial(order.append, name) for name in "ab"}
    best = interleaved_minimums(tasks, rounds=2, warm_up=1)
    assert order == ["a", "b", "a", "b", "a", "b"]
    assert set(best) == {"a", "b"}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (265e-6, "265 µs"), (7.4e-9, "7.4 ns")],
)
def test_durations_are_written_with_the_unit_that_fits(seconds: float, text: str) -> None:
    assert readable(seconds) == text


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_offers_run(name: str) -> None:
    assert callable(importlib.import_module(f"benchmarks.{name}").run)


def test_the_large_schema_is_as_large_as_that_of_tflite(tmp_path: Path) -> None:
    path = tmp_path / "operators.fbs"
    path.write_text(large_schema(), encoding="utf-8")
    assert path.stat().st_size >= 45_000
    assert len(load_schema([path], root=tmp_path).tables) == 170
