"""Finds the buffers that the methods of a program share, and refuses those that cannot be one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from .graph import InputKind, MethodGraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .graph import GraphInput

__all__ = ["Difference", "SharedBufferError", "mark_shared_buffers"]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two methods that do not agree on a buffer.

    Attributes:
        buffer: Its qualified name.
        what: In what they differ: `shape`, `dtype`, ...
        methods: The methods.
        found: What each of them has, in words; empty if that cannot be shown.
    """

    buffer: str
    what: str
    methods: tuple[str, str]
    found: tuple[str, str] = ("", "")

    def __str__(self) -> str:
        one, other = self.methods
        if not any(self.found):
            return f"{self.buffer}: {one} and {other} have different {self.what}s"
        a, b = self.found
        return f"{self.buffer}: the {self.what} is {a} in {one}, {b} in {other}"


class SharedBufferError(ValueError):
    """Methods have buffers of one name that cannot be one buffer.

    Attributes:
        differences: All of them.
    """

    def __init__(self, differences: Sequence[Difference]) -> None:
        self.differences = tuple(differences)
        listed = "\n".join(f"    {difference}" for difference in differences)
        super().__init__(
            "share_mutable_buffers makes buffers of one name one buffer, and these differ:\n"
            f"{listed}\nexport all methods from one module in one state, give different buffers "
            "different names, or leave share_mutable_buffers off"
        )


def mark_shared_buffers(methods: Sequence[MethodGraph]) -> None:
    """Tell each method which of the buffers that it only reads are changed by another.

    Args:
        methods: All methods of a program, as they were captured.

    Raises:
        SharedBufferError: A buffer has another dtype, shape or initial value in another method; all
            such are listed.
    """
    users: defaultdict[str, list[tuple[str, GraphInput]]] = defaultdict(list)
    for method in methods:
        for node, given in zip(method.placeholders, method.inputs, strict=True):
            of_model = given.kind not in (InputKind.USER, InputKind.OPERAND)
            if of_model and isinstance(given.value, torch.Tensor) and node.users:
                users[given.name].append((method.name, given))
    differences: list[Difference] = []
    for name, found in users.items():
        if not any(given.mutated for _, given in found):
            continue
        (first, expected), *others = found
        expected.shared = True
        for method_name, given in others:
            given.shared = True
            differences += _differences(name, (first, method_name), expected.value, given.value)
    if differences:
        raise SharedBufferError(differences)


def _differences(
    name: str, methods: tuple[str, str], one: torch.Tensor, other: torch.Tensor
) -> list[Difference]:
    forms: list[tuple[str, Any, Any]] = [
        ("dtype", one.dtype, other.dtype),
        ("shape", list(one.shape), list(other.shape)),
    ]
    found = [Difference(name, what, methods, (str(a), str(b))) for what, a, b in forms if a != b]
    if not found and not _equal(one, other):
        found.append(Difference(name, "initial value", methods))
    return found


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors of one form have the same bits, so that NaN is equal to itself."""
    same = one.data_ptr() == other.data_ptr() and one.stride() == other.stride()
    return (same and one.device == other.device) or torch.equal(_bits(one), _bits(other))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
