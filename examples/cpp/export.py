"""Exports the model that the C++ program runs: a line `w * x + b` through four points."""

from __future__ import annotations

import sys

import torch

import placewire


class Line(torch.nn.Module):
    """Scales its input by a weight of its own, and shifts it by another input."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, 10.0, 100.0, 1000.0]))

    def forward(self, x: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        """Return `weight * x + shift`, float32[4] like all of them."""
        return self.weight * x + shift


if __name__ == "__main__":
    artifact = placewire.export(Line(), (torch.zeros(4), torch.zeros(4)))
    artifact.save(sys.argv[1] if len(sys.argv) > 1 else "line.pte")
