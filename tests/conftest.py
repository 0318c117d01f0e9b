"""What all tests share: the corpus of real files."""

from __future__ import annotations

from pathlib import Path

import pytest

_TESTS = Path(__file__).parent


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real .pte files: the shared one beside the repository, else our own copy."""
    for folder in (_TESTS.parents[1] / "shared" / "corpus", _TESTS / "corpus"):
        if any(folder.glob("*.pte")):
            return folder
    raise FileNotFoundError("tests/corpus holds no .pte file; check out the repository again")
