"""The backend `placewire.torch`: PyTorch runs any part of a graph."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import torch

from .torch_delegate import TorchDelegate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placewire_schema.program import CompileSpec
    from torch.export import ExportedProgram

    from placewire._core import core

__all__ = ["TorchBackend"]


class TorchBackend:
    """Keeps a part of a graph as it is: the blob is what `torch.export.save` writes of it.

    The same part gives the same bytes. A blob is code: who gives this backend to a module
    trusts the file.
    """

    @property
    def id(self) -> str:
        return "placewire.torch"

    def preprocess(self, subgraph: ExportedProgram, compile_specs: Sequence[CompileSpec]) -> bytes:  # noqa: ARG002 - the protocol's
        """The bytes of the exported program; `torch.export.load` reads them."""
        stream = io.BytesIO()
        torch.export.save(subgraph, stream)
        return stream.getvalue()

    def load(self, description: core.DelegateDescription) -> TorchDelegate:
        """Prepare a delegate of a program, to run where its tensors lie.

        Raises:
            DelegateVersionError: This version of torch cannot read the blob.
        """
        return TorchDelegate(description)
