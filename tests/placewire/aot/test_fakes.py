"""Fake values: one object for all tensors alike, in a shape environment of our own."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import Dim

from placewire.aot.fakes import FakeValues


class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        rows = x.shape[0]
        return torch.cat([x, x]) * rows, x.view(rows * 2, 2), torch.arange(rows)


def _exported() -> torch.export.ExportedProgram:
    shapes = ({0: Dim("rows", min=2, max=9)},)
    return torch.export.export(Doubled(), (torch.randn(3, 4),), dynamic_shapes=shapes)


def test_tensors_alike_share_one_object() -> None:
    fakes = FakeValues()
    first = fakes.canonical(torch.zeros(2, 3))
    assert fakes.canonical(torch.ones(2, 3)) is first
    assert fakes.tensor(torch.float32, (2, 3)) is first


def test_dtype_shape_and_strides_tell_tensors_apart() -> None:
    fakes = FakeValues()
    made = [torch.zeros(2, 2), torch.zeros(2, 2).int(), torch.zeros(2, 3), torch.zeros(2, 3).t()]
    assert len({id(fakes.canonical(tensor)) for tensor in made}) == len(made)


def test_tuples_keep_their_form() -> None:
    fakes = FakeValues()
    expected = (fakes.tensor(torch.float32, (2,)), 3)
    assert fakes.canonical([torch.zeros(2), 3]) == expected


def test_numbers_that_compare_equal_have_keys_of_their_own() -> None:
    fakes = FakeValues()
    alike = [1, 1.0, True]
    assert len(set(map(fakes.key, alike))) == len(alike)
    assert fakes.key(float("nan")) == fakes.key(float("nan"))


def test_symbolic_sizes_live_in_an_environment_of_our_own() -> None:
    program = _exported()
    (node,) = program.graph.find_nodes(op="placeholder")
    fakes = FakeValues([node.meta["val"]])
    size = fakes.canonical(node.meta["val"]).shape[0]  # type: ignore[attr-defined]
    assert size.node.shape_env is not node.meta["val"].fake_mode.shape_env
    assert fakes.upper_bound(size) == 9
    assert fakes.upper_bound(size * 2 + 1) == 19


def test_tracing_leaves_mkldnn_as_it_was() -> None:
    before = torch._C._get_mkldnn_enabled()
    with FakeValues().tracing():
        assert not torch._C._get_mkldnn_enabled()
    assert torch._C._get_mkldnn_enabled() == before
