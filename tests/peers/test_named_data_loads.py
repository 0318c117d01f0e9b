"""ExecuTorch loads and runs a file that has named data of backends beside the device table."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
runtime = pytest.importorskip(
    "executorch.runtime", reason="executorch is not installed; pip install '.[peer]'"
)

from torch import nn  # noqa: E402

from placewire.aot import NamedData, export  # noqa: E402
from placewire.pte import DEVICE_TABLE_KEY  # noqa: E402
from tests.placewire.aot.demo_backend import ADD, EachAlone, matrices, module  # noqa: E402
from tests.placewire.aot.test_named_data import WEIGHTS, Naming  # noqa: E402


def test_a_method_runs_in_a_file_with_named_data(tmp_path: Path) -> None:
    network, example = nn.Linear(4, 4).eval(), torch.randn(2, 4)
    backend = Naming([{"weights": NamedData(WEIGHTS, alignment=4096)}])
    artifact = export(
        {
            "delegated": torch.export.export(module(lambda a, b: a + b), matrices(2), strict=False),
            "plain": torch.export.export(network, (example,), strict=False),
        },
        partitioners=[EachAlone([ADD], ["cuda:0"], backend)],
    )
    assert list(artifact.file.named_data) == ["weights", DEVICE_TABLE_KEY]
    artifact.save(tmp_path / "named.pte")
    program = runtime.Runtime.get().load_program(tmp_path / "named.pte")
    assert program.method_names == {"delegated", "plain"}
    (result,) = program.load_method("plain").execute([example])
    torch.testing.assert_close(result, network(example))
