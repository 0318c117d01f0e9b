"""Kernels that PyTorch brings: every operator of its that writes into tensors it is given."""

from .operators import TorchOperator, find_operator

__all__ = ["TorchOperator", "find_operator"]
