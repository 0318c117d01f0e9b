"""How the arguments of a call become the inputs of a method."""

from __future__ import annotations

import json

import pytest
from placewire_schema.errors import InvalidArgumentError

from placewire.module.signature import Signature
from tests.placewire.module.test_nesting import LEAF, PAIR, node


def tree(*args: object, **kwargs: object) -> str:
    positional = node("builtins.tuple", "null", *args)
    keywords = node("builtins.dict", json.dumps(list(kwargs)), *kwargs.values())
    return json.dumps([1, node("builtins.tuple", "null", positional, keywords)])


NESTED = Signature("forward", tree(LEAF, PAIR, mask=LEAF), 4)


def test_nested_arguments_become_flat_inputs() -> None:
    assert NESTED.inputs((1, (2, 3)), {"mask": 4}) == [1, 2, 3, 4]


def test_inputs_are_named_by_their_place_in_the_call() -> None:
    assert NESTED.input_names == ("args[0]", "args[1][0]", "args[1][1]", "kwargs['mask']")


def test_a_signature_shows_a_call() -> None:
    assert str(NESTED) == "forward(*, (*, *), mask=*)"


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((1,), {}, "forward takes 2 arguments, forward(*, (*, *), mask=*); 1 was given"),
        ((1, 2), {"mask": 4}, "args[1] is an int; expected a tuple of 2"),
        ((1, (2, 3)), {}, "kwargs lacks 'mask'; its keys are: 'mask'"),
        (
            (1, (2, 3)),
            {"m": 1, "mask": 2},
            "kwargs has the unknown 'm'; its keys are: 'mask'",
        ),
    ],
)
def test_a_call_that_does_not_fit_is_refused(
    args: tuple[object, ...], kwargs: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        NESTED.inputs(args, kwargs)
    assert str(caught.value) == message


def test_keywords_in_the_place_of_arguments_are_named() -> None:
    with pytest.raises(InvalidArgumentError, match=r"; 0 were given, and the keywords x, y$"):
        Signature("forward", "", 2).inputs((), {"x": 1, "y": 2})


def test_keywords_are_refused_where_a_method_takes_none() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"takes no keyword arguments, .*; given were mask"
    ):
        Signature("forward", tree(LEAF), 1).inputs((1,), {"mask": 2})


def test_without_keywords_the_whole_nesting_is_that_of_the_arguments() -> None:
    signature = Signature("forward", json.dumps([1, PAIR]), 2)
    assert signature.inputs((1, 2), {}) == [1, 2]


@pytest.mark.parametrize("text", ["", tree(LEAF)])
def test_what_does_not_say_how_the_inputs_nest_takes_them_flat(text: str) -> None:
    signature = Signature("forward", text, 2)
    assert signature.inputs((1, 2), {}) == [1, 2]
    with pytest.raises(
        InvalidArgumentError, match=r"forward takes 2 arguments, forward\(\*, \*\); 3 were given"
    ):
        signature.inputs((1, 2, 3), {})
