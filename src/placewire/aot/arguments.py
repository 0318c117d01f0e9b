"""Arguments nest in tuples, lists and dictionaries; this goes through what stands in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["collected", "mapped", "replaced"]

Item = TypeVar("Item")


def mapped(structure: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to every leaf; lists become tuples."""
    if isinstance(structure, list | tuple):
        return tuple(mapped(item, function) for item in structure)
    if isinstance(structure, dict):
        return {key: mapped(item, function) for key, item in structure.items()}
    if isinstance(structure, slice):
        return slice(*mapped((structure.start, structure.stop, structure.step), function))
    return function(structure)


def replaced(structure: Any, types: type | tuple[type, ...], new: Mapping[Any, Any]) -> Any:
    """Put `new[leaf]` in the place of every leaf of some types; it must be there."""
    return mapped(structure, lambda leaf: new[leaf] if isinstance(leaf, types) else leaf)


def collected(structure: Any, types: type[Item] | tuple[type[Item], ...]) -> list[Item]:
    """All leaves of some types, in their order, each once."""
    found: dict[Item, None] = {}

    def see(leaf: Any) -> Any:
        if isinstance(leaf, types):
            found[leaf] = None
        return leaf

    mapped(structure, see)
    return list(found)
