"""Passes run in order, know what must hold before them, and say what they did."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import nn

from placewire.aot import MethodGraph, PassOrderError, PassResult, export


@dataclass(frozen=True)
class Noted:
    """A pass that writes down that it ran."""

    name: str
    log: list[str]
    requires: frozenset[str] = frozenset()
    ensures: frozenset[str] = frozenset()

    def __call__(self, graph: MethodGraph, /) -> PassResult:
        self.log.append(f"{self.name} on {graph.name}")
        return PassResult(changed=False, summary=f"saw {len(list(graph.graph.nodes))} nodes")


def _export(*passes: Noted) -> dict[str, str]:
    artifact = export(nn.ReLU(), (torch.zeros(2),), passes=passes)
    return artifact.report.methods["forward"].notes


def test_passes_run_in_the_order_in_which_they_are_given() -> None:
    log: list[str] = []
    _export(Noted("first", log), Noted("second", log))
    assert log == ["first on forward", "second on forward"]


def test_passes_of_one_name_are_told_apart_in_the_report() -> None:
    notes = _export(Noted("look", []), Noted("look", []), Noted("look", []))
    assert list(notes) == ["look", "look (2)", "look (3)"]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Noted("", []), "the name of the pass Noted is ''; expected a text"),
        (Noted("x", [], requires=["specs"]), r"requires of the pass x is \['specs'\]; expected a"),  # type: ignore[arg-type]
        (Noted("x", [], ensures=None), "ensures of the pass x is None; expected a set of texts"),  # type: ignore[arg-type]
    ],
)
def test_what_a_pass_says_of_itself_is_checked(step: Noted, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        _export(step)


def test_what_a_pass_did_is_in_the_report() -> None:
    assert _export(Noted("look", [])) == {"look": "saw 3 nodes"}


def test_a_pass_may_require_what_lowering_has_established() -> None:
    log: list[str] = []
    _export(Noted("late", log, requires=frozenset({"kernels", "specs"})))
    assert log


def test_a_pass_may_require_what_an_earlier_one_ensures() -> None:
    log: list[str] = []
    _export(
        Noted("fuse", log, ensures=frozenset({"fused"})),
        Noted("check", log, requires=frozenset({"fused"})),
    )
    assert len(log) == 2


def test_a_missing_requirement_names_the_pass_and_what_is_missing() -> None:
    with pytest.raises(PassOrderError, match="the pass check requires fused; what holds"):
        _export(Noted("check", [], requires=frozenset({"fused"})))
