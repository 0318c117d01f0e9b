"""Random models, exported by ExecuTorch and by us, compute on both runtimes what eager does."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")
executorch_runtime = pytest.importorskip(
    "executorch.runtime", reason="executorch is not installed; pip install '.[peer]'"
)
exir = pytest.importorskip("executorch.exir")

from hypothesis import HealthCheck, given, settings  # noqa: E402

import placewire  # noqa: E402

from .random_models import RandomModel, arguments, random_models  # noqa: E402

if TYPE_CHECKING:
    from torch import Tensor
    from torch.export import ExportedProgram

EXAMPLES = int(os.environ.get("PLACEWIRE_EXAMPLES", "200"))

compared: Counter[tuple[str, str]] = Counter()
"""How often each pair of exporter and runtime was compared with eager."""


def of_executorch(pte: bytes, inputs: tuple[Tensor, ...]) -> list[Tensor]:
    program = executorch_runtime.Runtime.get().load_program(pte)
    found = program.load_method("forward").execute([item.clone() for item in inputs])
    return [item.clone() for item in found]


def of_placewire(pte: bytes, inputs: tuple[Tensor, ...]) -> list[Tensor]:
    with placewire.Module(pte) as module:
        return list(module.forward(*inputs))


RUNTIMES = {"ExecuTorch": of_executorch, "placewire": of_placewire}


def exported_by_executorch(exported: ExportedProgram) -> bytes | None:
    """Its .pte, or None where its own pipeline refuses the model, for whatever reason."""
    config = exir.EdgeCompileConfig(_check_ir_validity=False)
    try:
        return bytes(exir.to_edge(exported, compile_config=config).to_executorch().buffer)
    except Exception:
        return None


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(random_models)
def test_both_exports_agree_with_eager_on_both_runtimes(model: RandomModel) -> None:
    exported = torch.export.export(model, arguments(0))
    files = {"placewire": placewire.export(exported).pte}
    theirs = exported_by_executorch(exported)
    if theirs is not None:
        files["ExecuTorch"] = theirs
    for seed in (1, 2):
        inputs = arguments(seed)
        with torch.no_grad():
            expected = model(*inputs)
        for exporter, pte in files.items():
            for runtime, run in RUNTIMES.items():
                found = run(pte, inputs)
                assert len(found) == len(expected) > 0
                for one, other in zip(found, expected, strict=True):
                    torch.testing.assert_close(
                        one, other, rtol=1e-4, atol=1e-5, msg=f"{exporter} on {runtime}"
                    )
                compared[exporter, runtime] += 1


def test_most_models_were_compared_on_all_four_ways() -> None:
    if not compared:
        pytest.skip("the random models were not selected")
    assert compared["placewire", "placewire"] == compared["placewire", "ExecuTorch"]
    assert compared["ExecuTorch", "placewire"] >= 0.9 * compared["placewire", "placewire"]
