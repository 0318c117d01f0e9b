"""What tests of the generated C++ share: compiled drivers, and the headers of another schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..packages import generate_package
from .building import NO_RUNTIME, SANITIZERS, SOURCES, Driver, compile_cpp


@pytest.fixture(scope="session")
def program_driver(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Driver:
    """The project's own schemas under address and undefined-behaviour sanitizers."""
    output = tmp_path_factory.mktemp("program") / "driver"
    flags = (*SANITIZERS, *NO_RUNTIME, "-O1")
    return Driver(compile_cpp(SOURCES / "program_driver.cpp", output, *flags, compiler=compiler))


@pytest.fixture(scope="session")
def shapes_headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Include folder with the headers of shapes.fbs."""
    folder = tmp_path_factory.mktemp("shapes")
    generate_package([SOURCES / "shapes.fbs"], folder, name="shapes", targets=("cpp",))
    return folder / "include"


@pytest.fixture(scope="session")
def shapes_driver(
    compiler: str, shapes_headers: Path, tmp_path_factory: pytest.TempPathFactory
) -> Driver:
    """shapes.fbs under address and undefined-behaviour sanitizers."""
    output = tmp_path_factory.mktemp("shapes_driver") / "driver"
    source = SOURCES / "shapes_driver.cpp"
    flags = (*SANITIZERS, *NO_RUNTIME, "-O1")
    return Driver(compile_cpp(source, output, *flags, include=(shapes_headers,), compiler=compiler))
