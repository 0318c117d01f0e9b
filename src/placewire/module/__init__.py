"""Runs programs: `Module` opens a file, `Method` runs one of its methods; see docs/run.md.

Needs no torch, unless a program has operators of PyTorch.
"""

from .backends import Backend, Delegate, register_backend, unregister_backend
from .metadata import BufferMeta, MethodMeta, TensorMeta, ValueMeta
from .method import Method
from .module import Module
from .outputs import Library

__all__ = [
    "Backend",
    "BufferMeta",
    "Delegate",
    "Library",
    "Method",
    "MethodMeta",
    "Module",
    "TensorMeta",
    "ValueMeta",
    "register_backend",
    "unregister_backend",
]
