"""A backend for the corpus: it adds, on the host or in the memory behind a simulated device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from placewire import Tensor
from placewire._core import core
from placewire.testing import SimulatedDevice

SOURCE = """
import numpy as np

class Adding:
    id = "BackendWithCompilerDemo"

    def load(self, description):
        return self

    def execute(self, arguments):
        left, right = (np.frombuffer(tensor.read(), np.float32) for tensor in arguments[:2])
        arguments[2].write(left + right)
"""
"""A module with such a backend, for the command line: it copies, so any device will do."""


@dataclass
class AddingBackend:
    """Runs delegates of `BackendWithCompilerDemo`, which add two float32 tensors.

    Attributes:
        devices: The simulated devices by name.
        loaded: What each delegate was loaded with.
    """

    devices: Mapping[str, SimulatedDevice] = field(default_factory=dict)
    id: str = "BackendWithCompilerDemo"
    loaded: list[dict[str, object]] = field(default_factory=list)

    def load(self, description: core.DelegateDescription) -> Adding:
        assert b"aten.add.Tensor" in bytes(description.blob)
        # Facts only: the description itself belongs to the module, which owns this backend.
        self.loaded.append(
            {
                "blob": bytes(description.blob),
                "is_blob_readonly": description.blob.readonly,
                "options": description.options,
                "device": str(description.device),
                "method": description.method,
                "arguments": [str(tensor.device) for tensor in description.arguments],
                "named_data": description.named_data("nothing"),
            }
        )
        return Adding(self.devices)


@dataclass
class Adding:
    """One delegate."""

    devices: Mapping[str, SimulatedDevice]

    def execute(self, arguments: tuple[object, ...]) -> None:
        left, right, result = map(self._elements, arguments)
        np.add(left, right, out=result)

    def _elements(self, tensor: object) -> np.ndarray[Any, Any]:
        assert isinstance(tensor, Tensor)
        device = self.devices.get(str(tensor.device))
        if device is None:
            return np.from_dlpack(tensor)
        elements = np.frombuffer(device.view(tensor.address, tensor.nbytes), np.float32)
        return elements.reshape(tensor.shape)
