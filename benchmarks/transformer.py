"""Makes the benchmarks' input: a transformer of any depth, lowered by ExecuTorch's own pipeline.

The file is ExecuTorch's work from end to end, so what the benchmarks measure is what users have.
Building 96 layers takes minutes, so results are kept in the system's temporary directory.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import math
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

MODEL_DIMENSION = 64
SEQUENCE_LENGTH = 16


def transformer_pte(layers: int) -> bytes:
    """Return the .pte file of a transformer with `layers` layers.

    The program of 96 layers has 35,539 tables in about 781,600 bytes; each layer adds 370 tables.

    Args:
        layers: Number of layers, at least 1.

    Returns:
        The whole file, weights included (about 200 kB a layer).

    Raises:
        ImportError: torch or executorch is not installed.
    """
    version = importlib.metadata.version("executorch")
    cached = Path(tempfile.gettempdir()) / f"placewire-transformer-{version}-{layers}.pte"
    if not cached.exists():
        part = cached.with_suffix(f".{os.getpid()}")
        part.write_bytes(_lower(layers))
        part.replace(cached)
    return cached.read_bytes()


def exported_transformer(layers: int) -> ExportedProgram:
    """Return what torch.export makes of a transformer with `layers` layers."""
    import torch

    torch.manual_seed(0)
    model = _transformer(layers).eval()
    example = (torch.randn(1, SEQUENCE_LENGTH, MODEL_DIMENSION),)
    return torch.export.export(model, example, strict=False)


def _lower(layers: int) -> bytes:
    from executorch.exir import to_edge

    return bytes(to_edge(exported_transformer(layers)).to_executorch().buffer)


def _transformer(layers: int) -> torch.nn.Module:
    from torch import nn

    class Layer(nn.Module):
        """A pre-norm block: one attention head, then a feed-forward network."""

        def __init__(self) -> None:
            super().__init__()
            size = MODEL_DIMENSION
            self.query, self.key, self.value, self.output = (
                nn.Linear(size, size) for _ in range(4)
            )
            self.attention_norm, self.feed_forward_norm = nn.LayerNorm(size), nn.LayerNorm(size)
            self.expand, self.contract = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            normed = self.attention_norm(x)
            query, key = self.query(normed), self.key(normed)
            scores = query @ key.transpose(-2, -1) / math.isqrt(MODEL_DIMENSION)
            x = x + self.output(scores.softmax(-1) @ self.value(normed))
            hidden = nn.functional.gelu(self.expand(self.feed_forward_norm(x)))
            result: torch.Tensor = x + self.contract(hidden)
            return result

    return nn.Sequential(*(Layer() for _ in range(layers)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("layers", type=int)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.output.write_bytes(transformer_pte(arguments.layers))


if __name__ == "__main__":
    main()
