"""Files of several GB, and files larger than the memory; sparse, so that they cost no disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from placewire_schema.program import DataSegment, NamedData, Program

from placewire.pte import PteFile, check_file
from tests.placewire.files import header_of, with_area, with_u64

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30
SIZE = 4 * GIB + 4096


def _sparse_file(path: Path, size: int) -> None:
    """One segment of `size` zeros, and a second one behind it that is named `end`."""
    program = Program(
        segments=[DataSegment(size=size), DataSegment(offset=size, size=3)],
        named_data=[NamedData(key="end", segment_index=1)],
    )
    head = with_area(program, b"")
    base = header_of(head)[2]
    with path.open("wb") as file:
        file.write(with_u64(head, 32, size + 3))
        file.seek(base + size)
        file.write(b"end")


def test_data_beyond_four_gigabytes_is_edited_and_saved(tmp_path: Path) -> None:
    source, target = tmp_path / "large.pte", tmp_path / "edited.pte"
    _sparse_file(source, SIZE)
    pte = PteFile.load(source)
    assert bytes(pte.named_data["end"]) == b"end"
    pte.named_data["end"] = b"another end"
    pte.save(target)
    again = PteFile.load(target)
    assert again.program.segments == [
        DataSegment(size=SIZE),
        DataSegment(offset=SIZE, size=11),
    ]
    assert bytes(again.named_data["end"]) == b"another end"
    assert target.stat().st_blocks * 512 < GIB, "zeros are holes"


def test_a_file_larger_than_the_memory_loads(tmp_path: Path) -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    path = tmp_path / "huge.pte"
    _sparse_file(path, 4 * memory)
    pte = PteFile.load(path)
    assert bytes(pte.named_data["end"]) == b"end"
    assert check_file(path) == []
