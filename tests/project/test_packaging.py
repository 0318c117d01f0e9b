"""The installed distribution carries what it promises, and the project's files agree about it."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import placewire_codegen
import pytest

import placewire
from tests.project.markdown import blocks
from tests.project.tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_installed_version_is_the_one_of_the_tree() -> None:
    installed = importlib.metadata.version("placewire")
    assert installed == placewire_codegen.__version__, "install again"


def test_the_version_is_written_once() -> None:
    assert "version" not in PROJECT["project"]
    assert placewire.__version__ is placewire_codegen.__version__
    version = (_cmake_directory() / "placewireConfigVersion.cmake").read_text(encoding="utf-8")
    assert f'set(PACKAGE_VERSION "{placewire_codegen.__version__}")' in version


def test_the_demo_finds_the_table_of_the_project() -> None:
    folder = Path(placewire_codegen.__path__[0])
    files = [folder / "pyproject.toml", folder.parents[1] / "pyproject.toml"]
    (file, *_) = [file for file in files if file.is_file()]
    table = tomllib.loads(file.read_text(encoding="utf-8"))["tool"]["placewire"]
    assert table == PROJECT["tool"]["placewire"]


@pytest.mark.parametrize("extra", ["torch", "test", "peer", "dev"])
def test_an_extra_exists(extra: str) -> None:
    assert extra in importlib.metadata.metadata("placewire").get_all("Provides-Extra", [])


def test_the_generator_finds_its_schemas_and_templates() -> None:
    package = resources.files("placewire_codegen")
    for name in ("schema/program.fbs", "templates/docs/module.md.jinja"):
        assert package.joinpath(*name.split("/")).is_file(), name


def test_every_package_is_typed() -> None:
    for package in ("placewire", "placewire_codegen", "placewire_schema"):
        assert resources.files(package).joinpath("py.typed").is_file(), package


def test_python_m_placewire_names_the_folder_of_the_cmake_package() -> None:
    assert (_cmake_directory() / "placewireConfig.cmake").is_file()


def test_the_cmake_project_in_the_docs_builds_and_prints_what_they_show(
    tmp_path: Path, corpus: Path
) -> None:
    shown = {block.language: block.text for block in blocks(ROOT / "docs" / "cpp.md")}
    (tmp_path / "CMakeLists.txt").write_text(shown["cmake"])
    (tmp_path / "main.cpp").write_text(shown["cpp"])
    _run(["cmake", "-S.", "-Bbuild", "-GNinja", f"-Dplacewire_DIR={_cmake_directory()}"], tmp_path)
    _run(["cmake", "--build", "build"], tmp_path)
    assert _run(["build/lister", str(corpus / "dev_add.pte")], tmp_path) == shown["text"]


def _run(command: list[str], folder: Path) -> str:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def _cmake_directory() -> Path:
    result = subprocess.run(
        [sys.executable, "-m", "placewire", "--cmake-dir"],
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(result.stdout.strip())


def test_the_changelog_says_what_is_unreleased() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = re.search(r"^## Unreleased\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert unreleased, "CHANGELOG.md needs a section `## Unreleased`"
    assert re.search(r"^- \S", unreleased[1], re.MULTILINE), "the section must list a change"
