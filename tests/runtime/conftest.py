"""What tests of the runtime share: the core compiled with sanitizers and instruments."""

from __future__ import annotations

import pytest

from tests.runtime.validate_driver import ValidateDriver
from tests.schema.cpp.building import compilers


@pytest.fixture(scope="session")
def compiler() -> str:
    """The C++ compiler of this machine."""
    found = compilers()
    if not found:
        pytest.skip("no C++ compiler: neither $CXX nor g++, clang++ or c++ is there")
    return found[0]


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> ValidateDriver:
    """The validator under sanitizers, with every basic block and every allocation counted."""
    return ValidateDriver.build(tmp_path_factory.mktemp("validate"), compiler)
