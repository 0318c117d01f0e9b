"""`placewire demo` does what it says, from a checkout and from an installation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from placewire import _runtime
from placewire.pte import PteFile

ROOT = Path(__file__).parents[2]

# As in the demo itself: an editable installation must not come before the packages of the test.
BOOT = """
import sys
from importlib.machinery import PathFinder
sys.meta_path.insert(0, PathFinder)
sys.argv[0] = "placewire"
from placewire.cli import main
main()
"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages as a wheel lays them out, with all that the demo starts from inside."""
    site = tmp_path_factory.mktemp("site")
    without_caches = shutil.ignore_patterns("__pycache__", "*.so*")
    for name, source in {
        "placewire": "src/placewire",
        "placewire_codegen": "codegen/placewire_codegen",
        "placewire_codegen/schema": "schema",
        "placewire_codegen/templates": "templates",
        "placewire_schema": "generated/placewire_schema",
    }.items():
        shutil.copytree(ROOT / source, site / name, ignore=without_caches)
    shutil.copy(ROOT / "pyproject.toml", site / "placewire_codegen")
    core = Path(_runtime.__file__)
    shutil.copy(core, site / "placewire")
    if (core.parent / "lib").is_dir():
        shutil.copytree(core.parent / "lib", site / "placewire" / "lib")
    return site


def _run(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BOOT, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def shown(installation: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("empty")
    process = _run(installation, folder, "demo")
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""
    assert list(folder.iterdir()) == []
    return process.stdout


def test_the_new_line_is_shown(shown: str) -> None:
    assert re.search(r"^ +\+ +VULKAN = 2 \(dlpack: 7, alignment: \d+\),$", shown, re.MULTILINE)


@pytest.mark.parametrize(
    "path",
    [
        "generated/placewire_schema/program.py",
        "generated/include/placewire/schema/program/enums.h",
        "generated/bindings/",
        "generated/docs/program.md",
    ],
)
def test_the_files_that_follow_are_listed(shown: str, path: str) -> None:
    assert re.search(rf"^ +{re.escape(path)}\S* +\+\d+ +-\d+$", shown, re.MULTILINE)


def test_the_new_member_is_shown(shown: str) -> None:
    assert "(<DeviceType.VULKAN: 2>, 256)" in shown


def test_the_unknown_device_is_reported_with_its_path(shown: str) -> None:
    line = "execution_plan[0].values[0].val.extra_tensor_info.device_type: 2 is not"
    assert line in shown


def test_one_finding_stands_for_all(shown: str) -> None:
    (position,) = [i for i, line in enumerate(shown.splitlines()) if ": 2 is not" in line]
    assert shown.splitlines()[position + 1].strip() == "and 4 more"


def test_the_refusal_is_shown_in_a_line(shown: str) -> None:
    (line,) = [line for line in shown.splitlines() if "UnknownContentError" in line]
    assert line.endswith("would lose what this version's schema does not know")


def test_there_are_no_colours_when_nobody_watches(shown: str) -> None:
    assert "\x1b" not in shown
    assert not re.search(r" +$", shown, re.MULTILINE)


def test_the_folder_can_be_kept(installation: Path, tmp_path: Path) -> None:
    assert _run(installation, tmp_path, "demo", "--keep", "kept").returncode == 0
    kept = tmp_path / "kept"
    assert "VULKAN = 2" in (kept / "schema" / "program.fbs").read_text()
    assert "VULKAN = 2" in (kept / "generated/placewire_schema/program.py").read_text()
    (finding, *_) = PteFile.load(kept / "vulkan.pte").unknown
    assert finding.rule == "UNKNOWN_ENUM_VALUE"


def test_a_folder_that_is_there_is_not_touched(installation: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    process = _run(installation, tmp_path, "demo", "--keep", "kept")
    assert process.returncode == 1
    assert process.stderr.endswith("kept is there already; name a folder that is not\n")
    assert list((tmp_path / "kept").iterdir()) == []


def test_the_checkout_is_enough(tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "schema").rglob("*.fbs")}
    assert before
    process = subprocess.run(
        [sys.executable, "-m", "placewire", "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert "vulkan:0" in process.stdout
    assert {path: path.stat().st_mtime_ns for path in (ROOT / "schema").rglob("*.fbs")} == before
