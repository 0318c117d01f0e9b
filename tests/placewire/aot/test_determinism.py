"""The same model gives the same bytes, and exporting leaves what it is given as it was."""

from __future__ import annotations

import copy
import hashlib
import os
import subprocess
import sys

import pytest
import torch
from torch import nn

from placewire.aot import export

MODEL = """
import hashlib, torch
from torch import nn
from placewire.aot import export
torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4), nn.Mish(), nn.Flatten(), nn.LazyLinear(5)
).eval()
model(torch.zeros(2, 3, 6, 6))
shapes = ({0: torch.export.Dim("batch", max=4)},)
program = torch.export.export(model, (torch.zeros(2, 3, 6, 6),), dynamic_shapes=shapes)
digests = [hashlib.sha256(export(program).pte).hexdigest() for _ in range(2)]
assert digests[0] == digests[1], "a second export in the process differs"
print(digests[0])
"""


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)
        self.register_buffer("scale", torch.full((8,), 0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.attention(x, x, x)[0]) * self.scale


def _digest(seed: int) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(
        [sys.executable, "-c", MODEL], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()[-1]


def test_the_seed_of_hashes_does_not_reach_the_bytes() -> None:
    first = _digest(0)
    assert len(first) == hashlib.sha256().digest_size * 2
    assert _digest(1) == first


def test_a_second_export_gives_the_same_bytes() -> None:
    model, arguments = Attention().eval(), (torch.randn(2, 5, 8),)
    assert export(model, arguments).pte == export(model, arguments).pte


def test_an_exported_program_is_left_as_it_was() -> None:
    program = torch.export.export(Attention().eval(), (torch.randn(2, 5, 8),))
    code, signature = str(program.graph), copy.deepcopy(program.graph_signature)
    metadata = [dict(node.meta) for node in program.graph.nodes]
    tensors = {name: (id(t), t.clone()) for name, t in program.state_dict.items()}
    assert tensors
    export(program)
    assert str(program.graph) == code
    assert program.graph_signature == signature
    for node, before in zip(program.graph.nodes, metadata, strict=True):
        assert node.meta.keys() == before.keys()
        assert all(node.meta[key] is before[key] for key in before)
    assert program.state_dict.keys() == tensors.keys()
    for name, (identity, value) in tensors.items():
        assert id(program.state_dict[name]) == identity
        assert torch.equal(program.state_dict[name], value)


def test_a_module_is_left_as_it_was() -> None:
    model = Attention()
    before = {name: (id(t), t.clone()) for name, t in model.state_dict(keep_vars=True).items()}
    training = [module.training for module in model.modules()]
    export(model, (torch.randn(2, 5, 8),))
    assert [module.training for module in model.modules()] == training
    after = model.state_dict(keep_vars=True)
    assert after.keys() == before.keys()
    for name, (identity, value) in before.items():
        assert id(after[name]) == identity
        assert torch.equal(after[name], value)


@pytest.mark.parametrize("setting", ["grad", "no_grad", "inference"])
def test_the_caller_s_gradient_mode_does_not_reach_the_bytes(setting: str) -> None:
    torch.manual_seed(0)
    program = torch.export.export(Attention().eval(), (torch.randn(2, 5, 8),))
    expected = export(program).pte
    modes = {"grad": torch.enable_grad, "no_grad": torch.no_grad, "inference": torch.inference_mode}
    with modes[setting]():
        assert export(program).pte == expected
