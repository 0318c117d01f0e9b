"""The native codec itself, under sanitizers, reads damaged files without a memory error."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .sanitized import COMPILER, PYTHON, build_package, sanitized_environment

COUNT = 5000


def test_no_damaged_file_leads_out_of_memory(corpus: Path, tmp_path: Path) -> None:
    if shutil.which(COMPILER) is None:
        pytest.skip(f"the sanitizers to preload are those of {COMPILER}, which is not there")
    environment = sanitized_environment(build_package(tmp_path, "_native", flags="-O0"))
    result = subprocess.run(
        [*PYTHON, "-m", "tests.fuzz.mutate_codec", corpus, str(COUNT), "7"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr[:4000]
    assert result.stdout.startswith(f"Outcome(read={COUNT}, sound=")
