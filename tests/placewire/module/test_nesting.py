"""How arguments and results nest: read from a program's text, taken apart and built again."""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict, deque
from typing import Any

import pytest
from placewire_schema.errors import InvalidArgumentError, InvalidProgramError

from placewire.module.nesting import Nesting, parse_nesting

LEAF: dict[str, object] = {"type": None, "context": None, "children_spec": []}


def node(kind: str, context: object, *children: object) -> dict[str, object]:
    return {"type": kind, "context": context, "children_spec": list(children)}


def parsed(root: object) -> Nesting:
    nesting = parse_nesting(json.dumps([1, root]))
    assert nesting is not None
    return nesting


PAIR = node("builtins.tuple", "null", LEAF, LEAF)
MASKED = node("builtins.dict", '["mask", "x"]', LEAF, node("builtins.list", "null", LEAF))
EXAMPLES: list[tuple[object, Any]] = [
    (LEAF, 1),
    (PAIR, (1, 2)),
    (node("builtins.list", "null", LEAF, PAIR), [1, (2, 3)]),
    (MASKED, {"mask": 1, "x": [2]}),
    (node("collections.OrderedDict", '["b", "a"]', LEAF, LEAF), OrderedDict(b=1, a=2)),
    (node("collections.deque", "3", LEAF, LEAF), deque([1, 2], maxlen=3)),
    (node("builtins.tuple", "null"), ()),
]


@pytest.mark.parametrize(("root", "value"), EXAMPLES)
def test_a_value_is_built_again_of_its_leaves(root: object, value: Any) -> None:
    nesting = parsed(root)
    leaves = list(nesting.flatten(value, "args"))
    assert leaves == list(range(1, nesting.leaf_count + 1))
    built = nesting.unflatten(iter(leaves))
    assert built == value
    assert type(built) is type(value)


def test_a_deque_keeps_its_limit() -> None:
    built = parsed(node("collections.deque", "3", LEAF)).unflatten(iter([1]))
    assert built.maxlen == 3


def test_a_defaultdict_makes_defaults_of_builtin_types() -> None:
    context = {
        "default_factory_module": "builtins",
        "default_factory_name": "list",
        "dict_context": ["x"],
    }
    built = parsed(node("collections.defaultdict", context, LEAF)).unflatten(iter([1]))
    assert built == {"x": 1}
    assert isinstance(built, defaultdict)
    assert built["new"] == []


def test_a_file_cannot_have_a_function_called_as_the_factory_of_a_defaultdict() -> None:
    context = {
        "default_factory_module": "os",
        "default_factory_name": "getcwd",
        "dict_context": ["x"],
    }
    built = parsed(node("collections.defaultdict", context, LEAF)).unflatten(iter([1]))
    with pytest.raises(KeyError):
        built["new"]


def test_a_namedtuple_has_its_name_and_its_items() -> None:
    built = parsed(node("collections.namedtuple", "models.Result", LEAF, LEAF)).unflatten(
        iter([1, 2])
    )
    assert built == (1, 2)
    assert type(built).__name__ == "Result"


def test_lists_and_tuples_stand_for_each_other() -> None:
    assert list(parsed(PAIR).flatten([1, 2], "args")) == [1, 2]


def test_a_dictionary_may_have_its_keys_in_any_order() -> None:
    assert list(parsed(MASKED).flatten({"x": [2], "mask": 1}, "args")) == [1, 2]


def test_leaves_are_called_by_how_they_are_reached() -> None:
    names = list(parsed(node("builtins.tuple", "null", LEAF, MASKED)).paths("args"))
    assert names == ["args[0]", "args[1]['mask']", "args[1]['x'][0]"]


@pytest.mark.parametrize(
    ("root", "value", "message"),
    [
        (PAIR, 1, "args is an int; expected a tuple of 2"),
        (PAIR, (1,), "args has 1 items; expected 2"),
        (MASKED, [1, 2], "args is a list; expected a dictionary with the keys: 'mask', 'x'"),
        (MASKED, {"mask": 1}, "args lacks 'x'; its keys are: 'mask', 'x'"),
        (
            MASKED,
            {"mask": 1, "x": [2], "y": 3},
            "args has the unknown 'y'; its keys are: 'mask', 'x'",
        ),
        (MASKED, {"mask": 1, "x": [2, 3]}, "args['x'] has 2 items; expected 1"),
    ],
)
def test_a_value_that_nests_in_another_way_is_refused(
    root: object, value: object, message: str
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        list(parsed(root).flatten(value, "args"))
    assert str(caught.value) == message


def test_an_empty_text_says_nothing() -> None:
    assert parse_nesting("") is None


def _deep(levels: int) -> object:
    root: object = LEAF
    for _ in range(levels):
        root = node("builtins.tuple", "null", root)
    return root


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the nesting is not JSON"),
        ("[" * 100_000, "the nesting is not JSON"),
        ("{}", r"not of the form \[protocol, node\]"),
        (json.dumps([2, LEAF]), "written in protocol 2; expected 1"),
        (json.dumps([1, 5]), "a node has type, context and children_spec; found 5"),
        (json.dumps([1, node("os.system", "null")]), "type 'os.system' are not known"),
        (json.dumps([1, node("builtins.dict", '["a"]')]), r"of 0 has the keys \['a'\]"),
        (json.dumps([1, node("builtins.dict", '[["a"]]', LEAF)]), "cannot be keys"),
        (json.dumps([1, node("builtins.dict", "[", LEAF)]), "the context is not JSON"),
        (json.dumps([1, node("collections.deque", "0", LEAF)]), "cannot hold 0 at most"),
        (json.dumps([1, node("collections.defaultdict", "x", LEAF)]), "has no context"),
        (json.dumps([1, _deep(65)]), "nested deeper than 64 levels"),
    ],
)
def test_a_text_that_is_no_nesting_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidProgramError, match=message):
        parse_nesting(text)
