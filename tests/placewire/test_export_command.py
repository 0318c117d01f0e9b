"""`placewire export`: from a factory in a file to a program, or to an error and no file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from placewire.pte import PteFile
from placewire.validate import validate
from tests.placewire.test_cli import run

MODELS = """
import torch

def network():
    layers = torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)
    return torch.nn.Sequential(*layers).eval(), (torch.zeros(2, 8),)

def unsupported():
    class Spectrum(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.svd(x)
    return Spectrum(), (torch.zeros(3, 3),)

def number():
    return 3

def broken():
    return {}["weights"]

def branching():
    class Branching(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x
    return Branching(), (torch.zeros(3),)

def mismatched():
    return torch.nn.Linear(8, 4), (torch.zeros(2, 3),)
"""

STATEFUL_MODELS = """
import torch

class Counter(torch.nn.Module):
    def __init__(self, start):
        super().__init__()
        self.register_buffer("count", torch.full((4,), start))

    def forward(self, x):
        self.count += x
        return self.count * 2

def exported(start):
    return torch.export.export(Counter(start), (torch.ones(4),))

def one_state():
    return {"one": exported(0.0), "other": exported(0.0)}

def two_states():
    return {"one": exported(0.0), "other": exported(1.0)}
"""


@pytest.fixture
def models(tmp_path: Path) -> Path:
    path = tmp_path / "models.py"
    path.write_text(MODELS)
    return path


@pytest.fixture
def stateful_models(tmp_path: Path) -> Path:
    path = tmp_path / "stateful_models.py"
    path.write_text(STATEFUL_MODELS)
    return path


def test_a_whole_model_goes_to_a_device(models: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.pte"
    result = run("export", f"{models}:network", "--device", "CUDA:1", "-o", out)
    assert result.code == 0
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    assert "delegates 1" in lines
    assert "H2D 1 copy, 64 bytes a call" in lines
    assert "D2H 1 copy, 32 bytes a call" in lines
    assert validate(out.read_bytes()) == []
    (plan,) = PteFile.load(out).program.execution_plan
    assert [delegate.id for delegate in plan.delegates] == ["placewire.torch"]
    (device,) = plan.non_const_buffer_device or []
    assert (device.buffer_idx, device.device_type.name, device.device_index) == (2, "CUDA", 1)


def test_the_report_is_json_if_wanted(models: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.pte"
    result = run("export", f"{models}:network", "-o", out, "--json", "--planner", "search")
    report = json.loads(result.out)
    assert report["bytes"] == out.stat().st_size
    assert report["methods"]["forward"]["operators"] == {"aten::linear.out": 2, "aten::relu.out": 1}
    assert report["seconds"].keys() >= {"torch.export", "decompose", "plan memory", "validate"}


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("-", "a program is not text, so it goes to a file"),
        (".", ". is a folder; name a file in it"),
        ("nowhere/m.pte", "the folder nowhere is not there; create it first"),
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_the_work(out: str, message: str) -> None:
    result = run("export", "no_such_file.py:network", "-o", out)
    assert result.code == 2
    assert message in " ".join(result.err.replace("│", " ").split())


def test_the_host_has_one_device(models: Path, tmp_path: Path) -> None:
    result = run("export", f"{models}:network", "-o", tmp_path / "m.pte", "--device", "cpu:1")
    assert result.code == 2
    assert "cpu:1 is not there: the host is cpu:0" in result.err
    assert not list(tmp_path.glob("*.pte"))


def test_memory_that_methods_share_is_shown_once(stateful_models: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.pte"
    options = ["export", f"{stateful_models}:one_state", "-o", out, "--share-mutable-buffers"]
    result = run(*options)
    assert result.code == 0
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    start = lines.index("shared by all methods")
    assert lines[start + 1 :] == ["memory cpu:0 16 bytes for 1 tensor, 1.00x the lower bound"]
    report = json.loads(run(*options, "--json").out)
    assert report["shared_buffers"] == [
        {"device": "cpu:0", "pool": 0, "size": 16, "lower_bound": 16, "tensors": 1}
    ]
    sizes = [plan.non_const_buffer_sizes for plan in PteFile.load(out).program.execution_plan]
    assert [each[2:] for each in sizes] == [[16], [16]]


def test_methods_that_cannot_share_their_buffers_are_named(
    stateful_models: Path, tmp_path: Path
) -> None:
    out = tmp_path / "m.pte"
    result = run("export", f"{stateful_models}:two_states", "-o", out, "--share-mutable-buffers")
    assert result.code == 1
    assert "count: one and other have different initial values" in result.err
    assert not out.exists()


def test_what_cannot_be_exported_is_listed_and_nothing_is_written(
    models: Path, tmp_path: Path
) -> None:
    out = tmp_path / "m.pte"
    out.write_bytes(b"as it was")
    result = run("export", f"{models}:unsupported", "-o", out)
    assert result.code == 1
    assert "linalg_svd" in result.err
    assert "return torch.linalg.svd(x)" in result.err
    assert out.read_bytes() == b"as it was"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("models.py", "is not of the form module.py:factory, nor a .pt2 file"),
        ("models.py:missing", "has no 'missing'; it has branching, broken, mismatched, network, "),
        ("models.py:number", "gives an int; expected (module, (argument, ...))"),
        ("absent.py:network", "there is no such file"),
        ("absent.pt2", "there is no such file"),
        ("no_such_package:network", "cannot import no_such_package"),
    ],
)
def test_a_source_that_is_no_model_is_refused_with_what_is(
    models: Path, source: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from placewire.aot.source import SourceError, load_source

    monkeypatch.chdir(models.parent)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(SourceError) as caught:
        load_source(source)
    assert message in str(caught.value)


def test_a_file_does_not_take_the_place_of_a_module_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from placewire.aot.source import load_source

    (tmp_path / "json.py").write_text(MODELS)
    monkeypatch.setattr(sys, "path", list(sys.path))
    _, args, _ = load_source(f"{tmp_path / 'json.py'}:network")
    assert args is not None
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    ("factory", "messages"),
    [
        ("broken", ["cannot be loaded: KeyError: 'weights'", 'in broken: return {}["weights"]']),
        ("branching", ["cannot be exported: ", "in forward: return x if x.sum() > 0 else -x"]),
        ("mismatched", ["cannot be exported: ", "but got [2, 3] X [8, 4]"]),
    ],
)
def test_a_failure_of_the_user_s_code_or_of_torch_is_short_and_names_the_line(
    models: Path, tmp_path: Path, factory: str, messages: list[str]
) -> None:
    out = tmp_path / "m.pte"
    result = run("export", f"{models}:{factory}", "-o", out)
    assert result.code == 1
    assert result.out == ""
    assert "Traceback" not in result.err
    assert result.err.rstrip().endswith("--traceback shows where in full")
    for message in messages:
        assert message in result.err
    # torch itself may show the graph it has made so far before.
    assert len(result.err.partition("error: ")[2].splitlines()) <= 4
    assert not out.exists()


def test_the_whole_traceback_is_there_if_wanted(models: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.pte"
    command = [sys.executable, "-m", "placewire", "export", f"{models}:broken", "-o", str(out)]
    done = subprocess.run([*command, "--traceback"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback (most recent call last)" in done.stderr
    assert "KeyError: 'weights'" in done.stderr
    assert not out.exists()


def test_a_file_that_does_not_run_is_told_in_short(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import torch\nnumber = 1 / 0\n")
    result = run("export", f"{path}:network", "-o", tmp_path / "m.pte")
    assert result.code == 1
    assert "ZeroDivisionError: division by zero" in result.err
    assert f"{path}:2 in <module>: number = 1 / 0" in result.err
    assert "Traceback" not in result.err


def test_a_device_that_there_cannot_be_is_refused(tmp_path: Path) -> None:
    result = run("export", "models.py:network", "--device", "cuda:300", "-o", tmp_path / "m.pte")
    assert result.code == 2
    assert "'cuda:300' is not a device" in " ".join(result.err.split())
