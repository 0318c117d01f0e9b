"""What the tests of generated code share: both codecs, which every test must pass; a compiler."""

from __future__ import annotations

from importlib import import_module
from typing import cast

import pytest
from placewire_schema._select import Codec

from .cpp.building import compilers


@pytest.fixture(scope="session", params=["_pure", "_native"], ids=["python", "native"])
def codec(request: pytest.FixtureRequest) -> Codec:
    """One of the two codecs. A native one that is missing fails the test: install the package."""
    return cast(Codec, import_module(f"placewire_schema.{request.param}"))


@pytest.fixture(scope="session")
def compiler() -> str:
    """The machine's first C++ compiler."""
    found = compilers()
    if not found:
        pytest.skip("no C++ compiler: neither $CXX nor g++, clang++ or c++ is there")
    return found[0]
