"""Backends that come with placewire. Needs torch."""

from .cuda import CudaPartitioner
from .torch_backend import TorchBackend

__all__ = ["CudaPartitioner", "TorchBackend"]
