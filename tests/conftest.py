"""What all tests share: the corpus of real files, and the option that records goldens anew."""

from __future__ import annotations

from pathlib import Path

import pytest

_TESTS = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="write what the tests got over the goldens; read the difference before you commit it",
    )


@pytest.fixture(scope="session")
def update_goldens(pytestconfig: pytest.Config) -> bool:
    """Whether goldens are to be recorded instead of compared."""
    return bool(pytestconfig.getoption("--update-goldens"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real .pte files: the shared one beside the repository, else our own copy."""
    for folder in (_TESTS.parents[1] / "shared" / "corpus", _TESTS / "corpus"):
        if any(folder.glob("*.pte")):
            return folder
    raise FileNotFoundError("tests/corpus holds no .pte file; check out the repository again")
