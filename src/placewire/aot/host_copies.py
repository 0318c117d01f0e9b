"""HostCopies: the data of a model's tensors on the host, wherever the model has them."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses import FakeTensor

__all__ = ["HostCopies"]


class HostCopies:
    """Copies tensors of other devices to the host; those on the host are taken as they are.

    Nothing reads their addresses: that is left to the device's own copy. Tensors that share memory
    there share it here, so that what is written to one of them is still seen through the other.
    """

    def __init__(self) -> None:
        self._storages: dict[int, tuple[torch.Tensor, torch.UntypedStorage]] = {}
        self._whole: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def copy_of(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor on the host, without gradients; on `meta`, if it has no data."""
        if not _has_data(tensor):
            return torch.empty_strided(
                tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta"
            )
        if tensor.device.type in ("cpu", "meta"):
            return tensor.detach()
        kind: Any = type(tensor)
        if kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
            return self._copied_whole(tensor)
        return self._copied_storage(tensor)

    def _copied_whole(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a tensor whose class alone knows where its data is."""
        known = self._whole.get(id(tensor))
        if known is None:
            # Kept, so that no other tensor gets its identity.
            known = self._whole[id(tensor)] = tensor, tensor.detach().cpu()
        return known[1]

    def _copied_storage(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        known = self._storages.get(storage._cdata)
        if known is None:
            known = self._storages[storage._cdata] = tensor, storage.cpu()  # type: ignore[no-untyped-call]
        host = torch.empty(0, dtype=tensor.dtype)
        return host.set_(known[1], tensor.storage_offset(), tensor.shape, tensor.stride())


def _has_data(tensor: torch.Tensor) -> bool:
    """Whether the bytes of a tensor on the host can be read.

    Those of a fake tensor cannot, nor those that torch.export keeps of a gradient it recorded.
    """
    if isinstance(tensor, FakeTensor):
        return False
    if tensor.device.type != "cpu" or tensor.nbytes == 0:
        return True
    try:
        tensor.data_ptr()
    except RuntimeError:
        return False
    return True
