"""The example of a user's own project is fresh, and the page about it shows what it has.

That it builds, and passes its own tests, is a step of `.ci/run`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from placewire_codegen.config import load_project
from placewire_codegen.generate import generate

from tests.project.markdown import Block, blocks
from tests.project.tree import ROOT, relative

EXAMPLE = ROOT / "examples" / "own_schema"
PAGE = ROOT / "docs" / "own_schema.md"
FILES = {
    "cmake": ["CMakeLists.txt"],
    "cpp": ["reader/report.cpp"],
    "fbs": ["schema/pipeline.fbs", "schema/units.fbs"],
    "toml": ["pyproject.toml"],
}
SHOWN = blocks(PAGE)


def test_what_the_example_generates_is_fresh() -> None:
    result = generate(load_project(EXAMPLE), check=True)
    assert len(result.files) > 40
    assert not result.changes, "run `make regen` and commit the result"


def test_the_page_shows_every_kind_of_file() -> None:
    assert {block.language for block in SHOWN} == set(FILES)


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: f"{block.language}-{block.line}")
def test_what_the_page_shows_is_a_part_of_the_example(block: Block) -> None:
    files = [EXAMPLE / name for name in FILES[block.language]]
    texts = [file.read_text(encoding="utf-8") for file in files]
    assert any(f"\n{block.text}" in f"\n{text}" for text in texts), (
        f"{relative(PAGE)}:{block.line} is not what {', '.join(map(relative, files))} has"
    )


def test_the_page_shows_the_whole_table_of_placewire() -> None:
    text = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    table = text[text.index("[tool.placewire]") : text.index("[tool.scikit-build]")].strip()
    assert table in [block.text.strip() for block in SHOWN]


def test_ci_builds_a_copy_with_what_is_installed() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert f'cp -r {relative(EXAMPLE)} "$work/own_schema"' in script
    assert "  pip install --quiet --no-build-isolation '.[test]'\n  pytest\n" in script


def test_the_readme_of_the_example_names_every_folder_of_it() -> None:
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    kept = [path for path in EXAMPLE.iterdir() if path.is_dir() and path.name[0] not in "._"]
    folders = {path.name for path in kept if path.name != "build"}
    assert len(folders) > 4
    missing = [name for name in sorted(folders) if f"`{name}/" not in readme]
    assert not missing


def test_the_example_does_not_know_where_it_is() -> None:
    sources = [path for path in _sources() if "placewire_schema" in path.read_text("utf-8")]
    assert not sources, "a user's project has a schema of its own"


def _sources() -> list[Path]:
    found = [path for path in EXAMPLE.rglob("*") if path.suffix in {".py", ".cpp", ".h", ".fbs"}]
    assert found
    return found
