"""Messages speak of values in plain English."""

from __future__ import annotations

import pytest
import torch
from torch.fx.immutable_collections import immutable_list

from placewire.aot.wording import described, with_article


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1, "an int"),
        (immutable_list([1]), "an immutable_list"),
        ([1], "a list"),
        (None, "None"),
        (torch.ops.aten.relu.default, "aten.relu.default"),
    ],
)
def test_a_value_is_described_by_its_kind(value: object, words: str) -> None:
    assert described(value) == words


@pytest.mark.parametrize(
    "words", ["an _Everything", "a uint8", "a UnionType", "an OpOverload", "an unsigned", "a bool"]
)
def test_the_article_is_that_of_the_spoken_word(words: str) -> None:
    assert with_article(words.partition(" ")[2]) == words
