"""The ahead-of-time half of the backend `placewire.torch`: PyTorch runs any part of a graph."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placewire_schema.program import CompileSpec
    from torch.export import ExportedProgram

__all__ = ["TorchBackend"]


class TorchBackend:
    """Keeps a part of a graph as it is: the blob is what `torch.export.save` writes of it.

    The same part gives the same bytes.
    """

    @property
    def id(self) -> str:
        return "placewire.torch"

    def preprocess(self, subgraph: ExportedProgram, compile_specs: Sequence[CompileSpec]) -> bytes:  # noqa: ARG002 - the protocol's
        """The bytes of the exported program; `torch.export.load` reads them."""
        stream = io.BytesIO()
        torch.export.save(subgraph, stream)
        return stream.getvalue()
