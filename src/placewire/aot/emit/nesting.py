"""Nesting: how arguments and results of a method nest, as text that a program can carry."""

from __future__ import annotations

from torch.utils import _pytree as pytree

__all__ = ["nesting_text"]


def nesting_text(spec: pytree.TreeSpec | None) -> str:
    """A pytree as JSON, in the form that ExecuTorch's programs have it.

    A container whose type has no serialized name, such as what `torch.max(x, 1)` gives back,
    becomes a tuple of its items.
    """
    assert spec is not None, "a method has a nesting; only bodies of control flow have none"
    return pytree.treespec_dumps(_with_names_only(spec))


def _with_names_only(spec: pytree.TreeSpec) -> pytree.TreeSpec:
    if spec.is_leaf():
        return spec
    children = [_with_names_only(child) for child in spec.children()]
    known = pytree.SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if known is None or known.serialized_type_name == pytree.NO_SERIALIZED_TYPE_NAME_FOUND:
        return pytree.treespec_tuple(children)
    return pytree.TreeSpec(spec.type, spec.context, children)
