"""All that torch knows of symbolic sizes, written down, so that two times can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import ShapeEnv

__all__ = ["environment_of", "written_down"]

# What torch remembers to save time; another caller may fill them at any time.
_CACHES = {
    "_expr_sym_node_id",
    "_prev_cache_key",
    "_replacements_version_counter",
    "fake_tensor_cache",
    "fx_node_cache",
}


def environment_of(program: ExportedProgram) -> ShapeEnv:
    """The shape environment in which the symbolic sizes of a program live."""
    values = [node.meta.get("val") for node in program.graph.nodes]
    found = {
        id(value.fake_mode.shape_env): value.fake_mode.shape_env
        for value in values
        if isinstance(value, torch._subclasses.FakeTensor)
    }
    (environment,) = found.values()
    assert isinstance(environment, ShapeEnv)
    return environment


def written_down(environment: ShapeEnv) -> dict[str, Any]:
    """The attributes of a shape environment, caches left out, each container copied.

    Values such as guards are compared by being the same objects.
    """
    return {
        name: _copied(value) for name, value in vars(environment).items() if name not in _CACHES
    }


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item) for item in value]
    if isinstance(value, set | frozenset):
        return set(value)
    return value
