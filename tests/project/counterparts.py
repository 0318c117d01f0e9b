"""What a table of counterparts is made of: tests of ExecuTorch, and tests of ours beside each."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from tests.project.tree import ROOT

TESTS = ROOT / "tests"


class OurTest(NamedTuple):
    """A test of ours.

    Attributes:
        file: Its file, below `tests`: Python, or C++ for a case of a test program.
        name: The function, without its class, or the case.
    """

    file: str
    name: str


@dataclass(frozen=True)
class Counterpart:
    """A test of ExecuTorch, and those of ours that show the same.

    Attributes:
        upstream: Name of the test there.
        ours: Tests that show the same behaviour, or ours where it differs.
        because: Why we behave differently on purpose; empty if we do not.
    """

    upstream: str
    ours: tuple[OurTest, ...]
    because: str = ""


@dataclass(frozen=True)
class UpstreamFile:
    """The tests of one file of ExecuTorch.

    Attributes:
        path: Its path there.
        counterparts: Its tests, each once.
    """

    path: str
    counterparts: tuple[Counterpart, ...]


def same(upstream: str, *ours: OurTest) -> Counterpart:
    """A test whose behaviour is ours too."""
    return Counterpart(upstream, ours)


def differs(upstream: str, *ours: OurTest, because: str) -> Counterpart:
    """A test whose behaviour is not ours, and why."""
    return Counterpart(upstream, ours, because)


def is_there(test: OurTest) -> bool:
    """Whether a test of ours exists and is run."""
    if test.file.endswith(".cpp"):
        return test.name in _cases(test.file) and _is_run(test.file)
    return test.name in _functions(test.file)


@cache
def _functions(file: str) -> frozenset[str]:
    """The tests of a Python file: its functions, and those of its test classes."""
    module = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    bodies = [module.body]
    bodies += [
        node.body
        for node in module.body
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test")
    ]
    return frozenset(
        node.name
        for body in bodies
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


@cache
def _cases(file: str) -> frozenset[str]:
    text = (TESTS / file).read_text(encoding="utf-8")
    return frozenset(re.findall(r"\bCASE\((\w+)\)", text))


@cache
def _is_run(file: str) -> bool:
    """Whether a test in Python names a program of cases; such a test runs every case of it."""
    path = TESTS / file
    drivers = path.parents[1].glob("test_*.py")
    return any(f'"{path.stem}"' in driver.read_text(encoding="utf-8") for driver in drivers)
