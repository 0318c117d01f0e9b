"""Kernels that PyTorch brings: every operator of its that writes into tensors it is given."""

from .source import torch_kernels

__all__ = ["torch_kernels"]
