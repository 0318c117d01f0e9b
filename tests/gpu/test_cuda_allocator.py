"""CudaAllocator on the GPUs of this machine: the checks that also run on the test double.

With PLACEWIRE_REQUIRE_GPU=1 a machine without a GPU fails here instead of skipping.
"""

from __future__ import annotations

import os

import pytest
from placewire_schema.errors import NotFoundError

from placewire._core import core
from tests.runtime.case_program import (
    CORE,
    CUDA_SOURCES,
    CaseCompiler,
    CaseProgram,
    case_names,
)
from tests.schema.cpp.building import compilers


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> CaseProgram:
    try:
        count = core.cuda_device_count()
    except NotFoundError as error:
        if os.environ.get("PLACEWIRE_REQUIRE_GPU") == "1":
            pytest.fail(f"PLACEWIRE_REQUIRE_GPU is set, but there is no GPU: {error}")
        pytest.skip(f"NOT RUN, no GPU: {error}")
    assert count > 0
    # Without AddressSanitizer, whose shadow memory is where CUDA wants its own.
    build = CaseCompiler(tmp_path_factory.mktemp("gpu"), compilers()[0], ("-O1",))
    return build.program("cuda_checks", build.core([*CORE, *CUDA_SOURCES]))


@pytest.mark.parametrize("case", case_names("cuda_checks"))
def test_of_any_cuda_library(program: CaseProgram, case: str) -> None:
    program.run(case)
