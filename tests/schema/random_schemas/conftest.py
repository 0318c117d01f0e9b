"""What is generated from a batch of random schemas at once: a package with both codecs, a program.

Compiling takes far longer than everything else, so one native module and one C++ program hold the
whole batch, each schema in namespaces of its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from ..agreement import Codecs, codecs_of
from ..cpp.building import NO_RUNTIME, SANITIZERS, Driver, compile_cpp, compile_native
from ..packages import generate_package
from .batch import SEEDS, Batch, driver_source
from .schemas import random_schema

FUZZ = Path(__file__).parents[2] / "fuzz"


@pytest.fixture(scope="session")
def batch(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> Batch:
    """The package of all schemas, with its native codec."""
    pytest.importorskip("nanobind", reason="compiling a native codec needs nanobind")
    assert compiler
    folder = tmp_path_factory.mktemp("random_schemas")
    schemas = [random_schema(Random(seed), f"s{seed}") for seed in SEEDS]
    entries = [
        schema.write(folder / "schemas" / str(seed))
        for seed, schema in zip(SEEDS, schemas, strict=True)
    ]
    package = generate_package(
        [entry.relative_to(folder) for entry in entries],
        folder,
        name="random_schemas",
        targets=("python", "cpp", "nanobind"),
        modules=module_names(entries),
    )
    compile_native(folder, package.name)
    return Batch(
        package, {schema.root: entry for schema, entry in zip(schemas, entries, strict=True)}
    )


def module_names(entries: list[Path]) -> dict[str, str]:
    """Name a module for each namespace, unlike all others."""
    words = [
        line.removeprefix("namespace ").rstrip(";")
        for entry in entries
        for file in sorted(entry.parent.glob("*.fbs"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("namespace ")
    ]
    return {namespace: re.sub("[._]+", "_", namespace).lower().rstrip("_") for namespace in words}


@pytest.fixture(scope="session")
def codecs(batch: Batch) -> Codecs:
    """The native and the Python codec of the batch."""
    assert batch.package.module().codec_name() == "native"
    return codecs_of(batch.package.name)


@pytest.fixture(scope="session")
def driver(batch: Batch, compiler: str) -> Driver:
    """The headers of the batch under address and undefined-behaviour sanitizers."""
    folder = batch.package.folder
    source = folder / "driver.cpp"
    source.write_text(driver_source(batch.package), encoding="utf-8")
    flags = (*SANITIZERS, *NO_RUNTIME, "-O0")
    include = (folder / "include", FUZZ)
    return Driver(
        compile_cpp(source, folder / "driver", *flags, include=include, compiler=compiler)
    )
