"""A file with 2 GiB of constants is opened without being read: only what is used is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from placewire_schema.program import Tensor  # noqa: E402
from torch import nn  # noqa: E402

from placewire import Module  # noqa: E402
from placewire.aot import export  # noqa: E402
from placewire.pte import PteFile  # noqa: E402

WIDTH = 512
ROWS = 2**31 // (4 * WIDTH)
USED = (7, ROWS - 1)
"""Rows that are not zero; all others are holes in the file."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    small = export(nn.Embedding(4, WIDTH), (torch.tensor([0, 1]),))
    (plan,) = small.program.execution_plan
    tensors = [value.val for value in plan.values if isinstance(value.val, Tensor)]
    (weight,) = [tensor for tensor in tensors if tensor.sizes == [4, WIDTH]]
    weight.sizes[0] = ROWS
    table = np.zeros((ROWS, WIDTH), dtype=np.float32)
    for row in USED:
        table[row] = row
    path = tmp_path_factory.mktemp("large") / "table.pte"
    PteFile(small.program, [table.data]).save(path)
    return path


def test_the_file_is_as_large_as_it_is_meant_to_be(large: Path) -> None:
    status = large.stat()
    assert status.st_size > 2**31
    assert status.st_blocks * 512 < 2**24  # its holes take no room


def test_opening_and_executing_touch_only_the_pages_that_are_used(large: Path) -> None:
    with Module(large, library="torch") as module:
        module.method("forward")
        assert _resident(large) < 2**18
        found = module.forward(torch.tensor(USED))
        assert found[:, 0].tolist() == list(USED)
        # Linux maps some neighbours of a page that is read.
        assert 0 < _resident(large) < 2**20


def _resident(path: Path) -> int:
    """Bytes of the file that are mapped and present in this process."""
    maps = Path("/proc/self/smaps").read_text()
    sections = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", maps, flags=re.MULTILINE)
    of_file = [section for section in sections if str(path) in section.partition("\n")[0]]
    assert of_file
    return sum(int(rss) * 1024 for rss in re.findall(r"^Rss: +(\d+) kB", "".join(of_file), re.M))
