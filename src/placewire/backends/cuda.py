"""CudaPartitioner: gives operators to a backend that runs them on a CUDA device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from placewire_schema.errors import InvalidArgumentError
from placewire_schema.program import CompileSpec, DeviceType

from placewire.aot.partition import EverythingPartitioner, PredicatePartitioner
from placewire.aot.partition_types import checked_compile_specs
from placewire.device import Device
from placewire.placement import TARGET_DEVICE

from .torch_backend import TorchBackend

if TYPE_CHECKING:
    from collections.abc import Iterable

    from placewire.aot.partition import Backend, NodePredicate

__all__ = ["CudaPartitioner"]


class CudaPartitioner(PredicatePartitioner):
    """Puts parts of a model on a CUDA device.

    The inputs and outputs of its delegates are tensors on that device; the exporter inserts the
    copies. Nothing is decomposed before.

    Args:
        device: The device: a text such as `cuda:1`, a `Device`, or torch's. Default `cuda:0`.
        supports: Tells whether a node is to go there. Default: all that can.
        backend: What compiles the parts. Default: `placewire.torch`.
        compile_specs: What it is told besides. A `target_device` among them is taken instead of
            `device`.

    Raises:
        InvalidArgumentError: That is not a CUDA device; it is also a `ValueError`.
        TypeError: An argument is not of the kind described here.
    """

    def __init__(
        self,
        device: str | Device | torch.device = "cuda:0",
        *,
        supports: NodePredicate = lambda _: True,
        backend: Backend | None = None,
        compile_specs: Iterable[CompileSpec] = (),
    ) -> None:
        if not isinstance(device, str | Device | torch.device):
            raise TypeError(f"device is {device!r}; expected a text such as 'cuda:0', or a Device")
        specs = checked_compile_specs(compile_specs)
        given = [spec for spec in specs if spec.key == TARGET_DEVICE]
        text = bytes(given[0].value).decode("utf-8", "backslashreplace") if given else str(device)
        self.device = Device.parse(text.strip())
        if self.device.type is not DeviceType.CUDA:
            raise InvalidArgumentError(
                f"{text!r} is not a CUDA device; valid is cuda:0 to cuda:127"
            )
        if not given:
            specs += (CompileSpec(TARGET_DEVICE, str(self.device).encode()),)
        backend = TorchBackend() if backend is None else backend
        everything = EverythingPartitioner(backend)
        super().__init__(supports, backend, specs, preserved=everything.preserved)
