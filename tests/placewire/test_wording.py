"""Messages speak of values and names in plain English."""

from __future__ import annotations

import pytest

from placewire.wording import described, did_you_mean


@pytest.mark.parametrize(
    ("value", "words"), [(1, "an int"), (None, "None"), (int, "the class int"), ([], "a list")]
)
def test_a_value_is_described_by_its_kind(value: object, words: str) -> None:
    assert described(value) == words


def test_a_name_that_is_close_to_one_is_asked_about() -> None:
    assert did_you_mean("forwrad", ["forward", "decode"]) == "; did you mean 'forward'?"
    assert did_you_mean("x", ["forward", "decode"]) == ""
    assert did_you_mean("x", []) == ""
