"""placewire: reads, checks, rewrites and makes PyTorch programs that live on more than one device.

`export` makes a program of a PyTorch model (it needs torch), `Module` runs one, `PteFile` is a
program file, `Device` a place for tensors and `Tensor` one there; `placewire.retarget` moves a
program from one device to another. The types that a program is made of are in the generated package
`placewire_schema`. This module imports none of it until a name is used, so that `placewire
generate` works even when the generated package does not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from placewire_codegen import __version__

if TYPE_CHECKING:
    from .aot import Artifact, ExportConfig
    from .aot.export import export
    from .custom_kernels import ScopedKernel, kernel
    from .device import Device
    from .module import Module
    from .pte import PteFile
    from .tensors import Tensor

__all__ = [
    "Artifact",
    "Device",
    "ExportConfig",
    "Module",
    "PteFile",
    "ScopedKernel",
    "Tensor",
    "__version__",
    "export",
    "kernel",
]

_HOMES = {
    "Artifact": "aot",
    "Device": "device",
    "ExportConfig": "aot",
    "Module": "module",
    "PteFile": "pte",
    "ScopedKernel": "custom_kernels",
    "Tensor": "tensors",
    "export": "aot",
    "kernel": "custom_kernels",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
