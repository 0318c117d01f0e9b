"""The same model gives the same bytes, and exporting leaves what it is given as it was."""

from __future__ import annotations

import copy
import hashlib
import os
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram

from placewire.aot import export
from placewire.backends import CudaPartitioner
from tests.placewire.aot.shape_environments import environment_of, written_down

# Each in a process of its own, so that it may have a seed of its own.
MODELS = """
import hashlib, torch
from torch import nn
from placewire.aot import ExportConfig, PredicatePartitioner, export
from placewire.backends import CudaPartitioner, TorchBackend
from placewire_schema.program import CompileSpec

class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 3)
        self.norm = nn.GroupNorm(2, 4)
        self.linear = nn.Linear(64, 5)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        x = nn.functional.mish(self.norm(self.convolution(x)))
        x = self.linear(x.flatten(1))
        x = torch.cond(x.sum() > 0, lambda x: (x.sin(), x + 1), lambda x: (x.cos(), x - 1), (x,))
        return self.looped(*x)

    def looped(self, x, y):
        def goes_on(i, x, y):
            return i < 3
        def step(i, x, y):
            return i + 1, (x + y).sin(), y * 2
        return torch.while_loop(goes_on, step, (torch.tensor(0), x, y))

def on(device, operator):
    specs = [CompileSpec("target_device", device)]
    return PredicatePartitioner(lambda node: node.target is operator, TorchBackend(), specs)

torch.manual_seed(0)
example = torch.zeros(2, 3, 6, 6)
model = Network().eval()
shapes = ({0: torch.export.Dim("batch", max=4)},)
varying = torch.export.export(model, (example,), dynamic_shapes=shapes)
fixed = torch.export.export(model, (example,))
add, sin = torch.ops.aten.add.Tensor, torch.ops.aten.sin.default
devices = [on(b"cuda:1", add), on(b"cuda:0", sin), CudaPartitioner("cuda:2")]

for name, programs, partitioners, settings in [
    ("control flow", varying, [], {}),
    ("devices", fixed, devices, {"planner": "search"}),
    ("devices and sizes", varying, devices, {"compat": "placewire", "stacktraces": True}),
    (
        "methods",
        {"one": varying, "other": fixed},
        devices,
        {"compat": "placewire", "share_mutable_buffers": True},
    ),
]:
    def exported():
        pte = export(programs, partitioners=partitioners, config=settings).pte
        return hashlib.sha256(pte).hexdigest()
    first, second = exported(), exported()
    assert first == second, f"{name}: a second export in the process differs"
    print(first, name)
"""
WAYS = ["control flow", "devices", "devices and sizes", "methods"]


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)
        self.register_buffer("scale", torch.full((8,), 0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.attention(x, x, x)[0]) * self.scale


def _digests(seed: int) -> dict[str, str]:
    """Digest of the bytes of each way to export the network, exported twice in one process."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(
        [sys.executable, "-c", MODELS], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    return {name: digest for digest, _, name in lines}


@pytest.fixture(scope="module")
def digests() -> tuple[dict[str, str], dict[str, str]]:
    return _digests(0), _digests(1)


@pytest.mark.parametrize("way", WAYS)
def test_the_seed_of_hashes_does_not_reach_the_bytes(
    digests: tuple[dict[str, str], dict[str, str]], way: str
) -> None:
    first, second = digests
    assert len(first[way]) == 2 * hashlib.sha256().digest_size
    assert first[way] == second[way]


def test_each_way_gives_other_bytes(digests: tuple[dict[str, str], dict[str, str]]) -> None:
    # Else a setting without effect would hide what it should show.
    assert list(digests[0]) == WAYS
    assert len(set(digests[0].values())) == len(WAYS)


def test_a_second_export_gives_the_same_bytes() -> None:
    model, arguments = Attention().eval(), (torch.randn(2, 5, 8),)
    assert export(model, arguments).pte == export(model, arguments).pte


def test_traces_of_branches_are_the_same_in_a_second_export() -> None:
    # torch numbers the code that it generates for them, on and on.
    class Branching(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))

    files = [
        export(Branching(), (torch.ones(3),), config={"stacktraces": True}).pte for _ in range(2)
    ]
    assert b"return torch.cond(x.sum() > 0" in files[0]
    assert files[0] == files[1]


class Everything(nn.Module):
    """Has a state, a branch, a loop and sizes that depend on data, beside a size that varies."""

    state: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("state", torch.ones(4))

    def forward(self, x: torch.Tensor, count: torch.Tensor) -> Any:
        self.state += x.sum(0)
        x = torch.cond(x.shape[0] > 3, lambda x: x.sin(), lambda x: x.cos() * 2, (x,))
        number: Any = count.item()
        torch._check(number >= 0)
        torch._check(number <= 7)
        _, x = torch.while_loop(
            lambda i, _: i < 3, lambda i, x: (i + 1, x + 1), (torch.tensor(0), self.linear(x))
        )
        return torch.cat([x, x]) * x.shape[0], torch.zeros(number) + 1


def _everything() -> ExportedProgram:
    example = (torch.randn(3, 4), torch.tensor(5))
    shapes = ({0: Dim("rows", min=2, max=9)}, None)
    return torch.export.export(Everything().eval(), example, dynamic_shapes=shapes)


WAYS_TO_EXPORT: dict[str, dict[str, Any]] = {
    "plain": {},
    "devices": {"partitioners": [CudaPartitioner("cuda:1")]},
    "placewire": {
        "partitioners": [CudaPartitioner("cuda:1")],
        "config": {"compat": "placewire", "share_mutable_buffers": True},
    },
}


@pytest.mark.parametrize("way", WAYS_TO_EXPORT)
def test_a_shape_environment_is_left_as_it_was(way: str) -> None:
    program = _everything()
    environment = environment_of(program)
    before = written_down(environment)
    assert len(before["var_to_range"]) > 1
    assert before["deferred_runtime_asserts"]
    export(program, **WAYS_TO_EXPORT[way])
    after = written_down(environment)
    assert after.keys() == before.keys()
    assert {name for name in before if after[name] != before[name]} == set()


def test_a_change_of_a_shape_environment_would_be_noticed() -> None:
    program = _everything()
    environment = environment_of(program)
    before = written_down(environment)
    (x,) = (node for node in program.graph.find_nodes(op="placeholder") if node.name == "x")
    size = x.meta["val"].shape[0]
    with environment.ignore_fresh_unbacked_symbols():
        environment.create_unbacked_symint()
        assert bool(size > 4) in (True, False)
    after = written_down(environment)
    changed = {name for name in before if after[name] != before[name]}
    assert changed >= {"unbacked_symint_counter", "var_to_range"}


@pytest.mark.parametrize("way", WAYS_TO_EXPORT)
def test_an_exported_program_is_left_as_it_was(way: str) -> None:
    program = _everything()
    modules = [
        module
        for module in program.graph_module.modules()
        if isinstance(module, torch.fx.GraphModule)
    ]
    assert len(modules) == 5  # with two branches, a condition and a step
    nodes = [node for module in modules for node in module.graph.nodes]
    metadata = [dict(node.meta) for node in nodes]
    text, signature = str(program), copy.deepcopy(program.graph_signature)
    ranges = dict(program.range_constraints)
    tensors = {name: (id(t), t.clone()) for name, t in program.state_dict.items()}
    constants = {name: id(value) for name, value in program.constants.items()}
    assert tensors
    export(program, **WAYS_TO_EXPORT[way])
    assert str(program) == text
    assert program.graph_signature == signature
    assert program.range_constraints == ranges
    assert [node for module in modules for node in module.graph.nodes] == nodes
    for node, before in zip(nodes, metadata, strict=True):
        assert node.meta.keys() == before.keys()
        assert all(node.meta[key] is before[key] for key in before)
    assert {name: id(value) for name, value in program.constants.items()} == constants
    assert program.state_dict.keys() == tensors.keys()
    for name, (identity, value) in tensors.items():
        assert id(program.state_dict[name]) == identity
        assert torch.equal(program.state_dict[name], value)


def test_an_exported_program_still_computes_what_it_did() -> None:
    program, given = _everything(), (torch.randn(6, 4), torch.tensor(2))
    expected = copy.deepcopy(program).module()(*given)
    export(program, **WAYS_TO_EXPORT["placewire"])
    torch.testing.assert_close(program.module()(*given), expected)


@pytest.mark.parametrize(
    ("model", "example"),
    [
        (Attention(), (torch.randn(2, 5, 8),)),
        (Everything(), (torch.randn(3, 4), torch.tensor(5))),
    ],
    ids=["attention", "everything"],
)
def test_a_module_is_left_as_it_was(model: nn.Module, example: tuple[torch.Tensor, ...]) -> None:
    before = {name: (id(t), t.clone()) for name, t in model.state_dict(keep_vars=True).items()}
    training = [module.training for module in model.modules()]
    gradients = [tensor.requires_grad for tensor in model.parameters()]
    attributes = [dict(vars(module)) for module in model.modules()]
    arguments = [tensor.clone() for tensor in example]
    export(model, example, partitioners=[CudaPartitioner()])
    assert [module.training for module in model.modules()] == training
    assert [tensor.requires_grad for tensor in model.parameters()] == gradients
    for module, own in zip(model.modules(), attributes, strict=True):
        # torch.export puts an equal tuple in the place of one.
        assert vars(module).keys() == own.keys()
        assert all(
            vars(module)[key] is value or vars(module)[key] == value for key, value in own.items()
        )
    assert all(map(torch.equal, example, arguments))
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
