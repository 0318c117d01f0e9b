"""The emitter: a lowered and planned graph becomes the values and instructions of a program."""

from .calls import number_operator
from .constant_methods import check_constant, emit_constant_method
from .constants import ConstantPool
from .delegates import BlobPool
from .method import emit_method

__all__ = [
    "BlobPool",
    "ConstantPool",
    "check_constant",
    "emit_constant_method",
    "emit_method",
    "number_operator",
]
