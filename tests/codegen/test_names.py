"""Names keep their words through every spelling, and never meet a keyword or each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewire_codegen.names import Name, NameScope, PythonNameScope


@pytest.mark.parametrize(
    ("raw", "snake", "pascal"),
    [
        ("EValue", "e_value", "EValue"),
        ("execution_plan", "execution_plan", "ExecutionPlan"),
        ("QUINT8", "quint8", "QUINT8"),
        ("HTTPServer2", "http_server2", "HTTPServer2"),
        ("x", "x", "X"),
        ("_", "_", "_"),
    ],
)
def test_a_name_splits_into_words(raw: str, snake: str, pascal: str) -> None:
    assert (Name(raw).snake, Name(raw).pascal) == (snake, pascal)


def test_a_taken_name_gets_an_underscore() -> None:
    scope = NameScope()
    assert [scope.claim("x"), scope.claim("x"), scope.claim("x")] == ["x", "x_", "x__"]


def test_a_reserved_name_is_never_handed_out() -> None:
    assert NameScope({"class"}).claim("class") == "class_"


@given(st.lists(st.sampled_from(["a", "a_", "a__", "if", "b"])))
def test_a_scope_hands_out_each_name_once(wanted: list[str]) -> None:
    scope = NameScope({"if"})
    names = [scope.claim(name) for name in wanted]
    assert len(set(names)) == len(names)
    assert "if" not in names


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("__x", "x"),
        ("__x__", "x__"),
        ("_x_", "x_"),
        ("_x", "_x"),
        ("x_", "x_"),
        ("__", "x_"),
        ("__1", "x_1"),
        ("__class", "class_"),
    ],
)
def test_python_gives_underscores_at_the_front_no_meaning(wanted: str, name: str) -> None:
    assert PythonNameScope({"class"}).claim(wanted) == name
