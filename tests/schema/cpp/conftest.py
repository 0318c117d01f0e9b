"""What tests of the generated C++ share: compiled drivers, and the headers of another schema."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewire_codegen.config import OutputPaths, ProjectConfig
from placewire_codegen.generate import template_directory
from placewire_codegen.outputs import compare, write
from placewire_codegen.render import Templates
from placewire_codegen.resolve import load_schema
from placewire_codegen.targets import cpp

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
    schema = load_schema([SOURCES / "shapes.fbs"], root=SOURCES, features=cpp.FEATURES)
    config = ProjectConfig(
        root=folder,
        schemas=(SOURCES / "shapes.fbs",),
        package="shapes",
        cpp_namespace="placewire::schema",
        output=OutputPaths(
            python=Path("python"), cpp=Path("include"), nanobind=Path("n"), docs=Path("docs")
        ),
    )
    files = tuple(
        cpp.render(schema, config, Templates(template_directory(), schema.files, config.package))
    )
    write(folder, files, compare(folder, files, [config.header_directory]))
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
