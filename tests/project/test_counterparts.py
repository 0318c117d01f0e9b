"""Every test that ExecuTorch has of its device support has a counterpart here, or a reason."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.project.counterparts import OurTest, is_there
from tests.project.exporter_counterparts import EXPORTER
from tests.project.runtime_counterparts import RUNTIME
from tests.project.tree import ROOT

FILES = (*EXPORTER, *RUNTIME)
COUNTERPARTS = [counterpart for file in FILES for counterpart in file.counterparts]
# Beside the repository, as the corpus; not part of it.
REFERENCE = ROOT.parent / "shared" / "reference" / "executorch.md"


def test_both_halves_have_tables() -> None:
    assert EXPORTER
    assert RUNTIME
    assert all(file.counterparts for file in FILES)


def test_no_test_of_executorch_is_listed_twice() -> None:
    listed = Counter(
        (file.path, counterpart.upstream) for file in FILES for counterpart in file.counterparts
    )
    assert [name for name, count in listed.items() if count > 1] == []
    assert max(Counter(file.path for file in FILES).values()) == 1


def test_every_one_has_a_test_of_ours() -> None:
    assert [counterpart.upstream for counterpart in COUNTERPARTS if not counterpart.ours] == []


def test_every_test_of_ours_that_is_named_is_there_and_run() -> None:
    named = {test for counterpart in COUNTERPARTS for test in counterpart.ours}
    assert named
    assert sorted(test for test in named if not is_there(test)) == []


@pytest.mark.parametrize(
    "missing",
    [
        OurTest("placewire/aot/test_devices.py", "test_of_nothing"),
        OurTest("placewire/aot/test_devices.py", "TestOneDelegate"),
        OurTest("runtime/cpp/copy_checks.cpp", "of_nothing"),
        OurTest("schema/cpp/test_writer.py", "CASE"),
    ],
)
def test_a_test_that_is_not_there_would_be_noticed(missing: OurTest) -> None:
    assert not is_there(missing)


def test_every_name_of_the_reference_is_listed() -> None:
    if not REFERENCE.exists():
        pytest.skip(f"NOT RUN: there is no {REFERENCE.name} beside the repository")
    found = _python_names(REFERENCE.read_text(encoding="utf-8"))
    assert len(found) > 30
    listed = {counterpart.upstream for counterpart in COUNTERPARTS}
    missing = [
        name
        for name in found
        if name not in listed
        # The reference cuts some names short.
        and not (name.endswith("_") and any(each.startswith(name) for each in listed))
    ]
    assert missing == []


def _python_names(reference: str) -> list[str]:
    """The names of tests in Python that the items of the device support have there.

    Those in C++ cannot be told from the names of types, and are compared by hand.
    """
    items = reference.partition("## A. ")[2].partition("### A22")[0]
    return sorted(set(re.findall(r"\btest_\w+\b(?!\.(?:py|cpp))", items)))
