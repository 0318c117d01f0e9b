"""Whatever fails, and at whatever stage: no file is written, and one that is there stays."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from placewire_schema import Finding
from typer.testing import CliRunner

from placewire.aot import EverythingPartitioner, InvalidOutputError, UnsupportedError, export
from placewire.aot.report import Report
from placewire.backends import TorchBackend
from placewire.cli import app
from tests.placewire.aot.demo_backend import adds_on, matrices, module

MODEL = """
import torch

def network():
    return torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU()), (torch.zeros(2, 8),)
"""
STAGES = [
    "torch.export",
    "decompose",
    "partition",
    "lower delegates",
    "layouts",
    "simplify",
    "specs",
    "passes",
    "plan memory",
    "emit",
    "container",
    "validate",
]


def test_these_are_all_the_stages() -> None:
    model = torch.nn.Linear(8, 4)
    partitioner = EverythingPartitioner(TorchBackend())
    report = export(model, (torch.zeros(2, 8),), partitioners=[partitioner]).report
    assert list(report.seconds) == STAGES


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a model and nothing else; logs of torch are as they were after."""
    (tmp_path / "models.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("placewire.aot.source.silence_torch", lambda: None)
    return tmp_path


def _command(folder: Path) -> Any:
    arguments = [f"{folder / 'models.py'}:network", "--device", "cuda:0", "-o", "m.pte"]
    return CliRunner().invoke(app, ["export", *arguments])


def _contents(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path.name: path.read_bytes() for path in paths}


def test_without_a_failure_the_file_is_there(folder: Path) -> None:
    assert _command(folder).exit_code == 0
    assert sorted(_contents(folder)) == ["m.pte", "models.py"]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("before", [None, b"as it was"], ids=["new", "existing"])
def test_a_failure_in_a_stage_leaves_the_folder_as_it_was(
    folder: Path, stage: str, before: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if before is not None:
        (folder / "m.pte").write_bytes(before)
    contents = _contents(folder)
    begun: list[str] = []
    original = Report.stage

    @contextmanager
    def failing(self: Report, name: str) -> Iterator[None]:
        begun.append(name)
        with original(self, name):
            yield
        if name == stage:
            raise MemoryError(f"there is no memory for {name}")

    monkeypatch.setattr(Report, "stage", failing)
    result = _command(folder)
    assert result.exit_code == 1
    assert f"MemoryError: there is no memory for {stage}" in result.output
    assert begun[-1] == stage
    assert _contents(folder) == contents


def test_a_program_that_is_not_valid_is_not_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = Finding("SIZE_NEGATIVE", "error", "execution_plan[0]", 8, "a size is negative")
    # The function has the name of its module, which hides it.
    monkeypatch.setattr(sys.modules["placewire.aot.export"], "validate", lambda _: [finding])
    with pytest.raises(InvalidOutputError, match="a size is negative") as caught:
        export(torch.nn.ReLU(), (torch.zeros(2),))
    assert caught.value.findings == (finding,)
    result = _command(folder)
    assert result.exit_code == 1
    assert "a size is negative" in result.output
    assert sorted(_contents(folder)) == ["models.py"]


def test_exporting_alone_writes_no_file(folder: Path) -> None:
    contents = _contents(folder)
    artifact = export(module(lambda a, b: a + b), matrices(2), partitioners=[adds_on("cuda")])
    assert _contents(folder) == contents
    artifact.save(folder / "m.pte")
    assert _contents(folder) == {**contents, "m.pte": artifact.pte}


def test_what_cannot_be_exported_is_told_before_any_later_stage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[str] = []
    original = Report.stage

    def recorded(self: Report, name: str) -> Any:
        begun.append(name)
        return original(self, name)

    monkeypatch.setattr(Report, "stage", recorded)
    model = module(lambda a, b: torch.lgamma(a + b))
    with pytest.raises(UnsupportedError):
        export(model, matrices(2), partitioners=[adds_on("cuda:0")])
    assert set(begun) == set(STAGES[:3])
