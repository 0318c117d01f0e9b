"""ExecuTorch's own memory planning function, fed with bare lifetimes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy.typing as npt


class ExecutorchGreedy:
    """Tensors as ExecuTorch's `greedy` takes them; made once, planned as often as wanted.

    Args:
        tensors: Size, lower and upper of each, shape [n, 3]; each has bytes and a lifetime.
        alignment: Bytes.

    Raises:
        ImportError: ExecuTorch is not installed.
    """

    def __init__(self, tensors: npt.NDArray[Any], alignment: int = 1) -> None:
        """Make the specs, which is not part of planning."""
        import torch
        from executorch.exir.memory_planning import greedy
        from executorch.exir.tensor import TensorSpec

        self._greedy = greedy
        self._alignment = alignment
        self._specs = []
        for size, lower, upper in tensors.tolist():
            spec = TensorSpec(torch.uint8, torch.Size([size]))
            spec.alignment = alignment
            spec.lifetime = [lower, upper - 1]  # it includes its end
            self._specs.append(spec)

    def plan(self) -> tuple[int, list[int]]:
        """Return the total and the offsets. Of tensors of equal size the last is placed first."""
        # A list in the place of the set that it usually gets, whose order differs from run to run.
        result = self._greedy(self._alignment, self._specs, SimpleNamespace(), None)
        offsets = [result.spec_dict[spec].mem_offset for spec in self._specs]
        return result.bufsizes[1] if self._specs else 0, offsets
