"""Random graphs of views and in-place operators give on ExecuTorch's runtime what eager gives."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings

pytest.importorskip("executorch.runtime", reason="the executorch wheel is not installed")

from tests.peers.beside_eager import check_calls
from tests.peers.random_writes import WRITING, Step, random_module


@settings(
    max_examples=int(os.environ.get("PLACEWIRE_EXAMPLES", "200")),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(WRITING)
def test_what_eager_does_to_views_and_buffers_the_runtime_does(drawn: list[Step]) -> None:
    model, (first, second, _) = random_module(drawn)
    check_calls(model, (first,), (second,))
