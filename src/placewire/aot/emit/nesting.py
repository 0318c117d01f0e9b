"""Nesting: how arguments and results of a method nest, as text that a program can carry."""

from __future__ import annotations

from torch.utils import _pytree as pytree

__all__ = ["nesting_text"]


def nesting_text(spec: pytree.TreeSpec | None) -> str:
    """A pytree as JSON, in the form that ExecuTorch's programs have it.

    A container that cannot be told in JSON becomes a tuple of its items: one whose type has no
    serialized name, such as what `torch.max(x, 1)` gives back or a named tuple that nobody has
    registered with torch, or one whose keys JSON has no words for.
    """
    assert spec is not None, "a method has a nesting; only bodies of control flow have none"
    return pytree.treespec_dumps(_with_names_only(spec))


def _with_names_only(spec: pytree.TreeSpec) -> pytree.TreeSpec:
    if spec.is_leaf():
        return spec
    children = [_with_names_only(child) for child in spec.children()]
    if not _has_text(spec):
        return pytree.treespec_tuple(children)
    return pytree.TreeSpec(spec.type, spec.context, children)


def _has_text(spec: pytree.TreeSpec) -> bool:
    """Whether a container, whatever is in it, is the same again after it was JSON."""
    known = pytree.SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if known is None or known.serialized_type_name == pytree.NO_SERIALIZED_TYPE_NAME_FOUND:
        return False
    items: list[pytree.TreeSpec] = [pytree.treespec_leaf() for _ in spec.children()]
    alone = pytree.TreeSpec(spec.type, spec.context, items)
    try:
        return pytree.treespec_loads(pytree.treespec_dumps(alone)) == alone
    except Exception:  # whoever registered the type wrote what raises here
        return False
