"""The walk by a schema as data survives damaged buffers and damaged descriptions of schemas.

What it accepts as a program, the generated verifier accepts, too; see mutate_walk.cpp.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from placewire_codegen.evolution.history import Version
from placewire_codegen.evolution.references import References

from tests.codegen.evolution.test_files import SHOP, schema
from tests.fuzz.walk_description import walk_driver, write_description
from tests.placewire.test_schema_walk import roots
from tests.schema.cpp.building import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from placewire_codegen.model import Schema

COUNT = 20_000


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> Path:
    return walk_driver(tmp_path_factory.mktemp("walk"), compiler)


def run(driver: Path, kind: str, described: Schema, files: list[Path], folder: Path) -> list[int]:
    """Return how many buffers were sound, how many descriptions, and what those accepted."""
    result = subprocess.run(
        [driver, str(COUNT), "1", kind, write_description(described, folder), *files],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[:4000]
    return [int(part.split()[0]) for part in result.stdout.split(",")[:3]]


def test_damaged_programs_are_walked_without_a_crash(
    driver: Path, corpus: Path, tmp_path: Path
) -> None:
    program = References(ROOT).project_side().schema
    files = sorted(corpus.glob("*.pte"))
    assert len(files) > 10
    sound, descriptions, accepted = run(driver, "program", program, files, tmp_path)
    # Every outcome is frequent, or the damage would not test much.
    assert COUNT // 20 < sound < COUNT * 3 // 4
    assert COUNT // 20 < descriptions < COUNT
    assert COUNT // 20 < accepted < descriptions


def test_damaged_buffers_of_every_kind_of_field_are_walked_without_a_crash(
    driver: Path, tmp_path: Path
) -> None:
    described = schema(tmp_path, SHOP)
    files = []
    for number, data in enumerate(roots(Version.of("shop", described))):
        files.append(tmp_path / f"{number}.bin")
        files[-1].write_bytes(data)
    assert len(files) > 3
    sound, descriptions, accepted = run(driver, "any", described, files, tmp_path)
    assert COUNT // 20 < sound < COUNT * 3 // 4
    assert COUNT // 20 < descriptions < COUNT
    assert COUNT // 20 < accepted < descriptions
