"""What the tests of the generated code share: both codecs, each of which every test must pass."""

from __future__ import annotations

from importlib import import_module
from typing import cast

import pytest
from placewire_schema._select import Codec


@pytest.fixture(scope="session", params=["_pure", "_native"], ids=["python", "native"])
def codec(request: pytest.FixtureRequest) -> Codec:
    """One of the two codecs. A native one that is missing fails the test: install the package."""
    return cast(Codec, import_module(f"placewire_schema.{request.param}"))
