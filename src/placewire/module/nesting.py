"""Nesting: how the arguments and results of a method lie in tuples, lists and dictionaries.

A program carries it as the JSON text of a PyTorch pytree, protocol 1: `[1, node]`, where a node is
`{"type": name, "context": ..., "children_spec": [node, ...]}` and a leaf has the type null. Facts
of the format: `torch.utils._pytree`. No torch is needed here.
"""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from placewire_schema.errors import InvalidArgumentError, InvalidProgramError

from placewire.wording import described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["LEAF", "Container", "Nesting", "parse_nesting"]

_PROTOCOL = 1
_DEEPEST = 64
"""Levels that a nesting may have, so that no file can exhaust the interpreter's stack."""

_DICTIONARIES = ("builtins.dict", "collections.OrderedDict", "collections.defaultdict")
_IMMUTABLE = "torch.fx.immutable_collections.immutable_"
_SPELLINGS = {
    f"{_IMMUTABLE}list": "builtins.list",
    f"{_IMMUTABLE}dict": "builtins.dict",
    "torch.Size": "builtins.tuple",
}
_DEFAULTS: dict[str, Callable[[], object]] = {
    kind.__name__: kind for kind in (list, dict, set, tuple, int, float, str, bool)
}


@dataclass(frozen=True, slots=True)
class Container:
    """One container: what makes it again of its children, and how to reach them.

    Attributes:
        type: Name of its type on the wire, such as `builtins.dict`.
        keys: Of a dictionary: the key of each child.
        build: Makes the container of its children.
    """

    type: str
    keys: tuple[Any, ...] | None
    build: Callable[[Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Nesting:
    """A leaf, or a container with its children.

    Attributes:
        container: `None` for a leaf.
        children: What is in the container, in order.
    """

    container: Container | None = None
    children: tuple[Nesting, ...] = ()

    @classmethod
    def of_tuple(cls, children: Sequence[Nesting]) -> Nesting:
        """A tuple of some children."""
        return cls(Container("builtins.tuple", None, tuple), tuple(children))

    @property
    def leaf_count(self) -> int:
        """Number of values in it."""
        if self.container is None:
            return 1
        return sum(child.leaf_count for child in self.children)

    def flatten(self, value: object, path: str) -> Iterator[object]:
        """Take the leaves out of a value that nests like this.

        Lists and tuples stand for each other. Dictionaries may have their keys in any order.

        Args:
            value: The value.
            path: What it is called in messages.

        Raises:
            InvalidArgumentError: It nests in another way; the message says where.
        """
        if self.container is None:
            yield value
            return
        for child, item, item_path in zip(
            self.children, self._items(value, path), self._paths(path), strict=True
        ):
            yield from child.flatten(item, item_path)

    def paths(self, path: str) -> Iterator[str]:
        """What each leaf is called, if the whole is called `path`: `args[0]["mask"]`."""
        if self.container is None:
            yield path
            return
        for child, child_path in zip(self.children, self._paths(path), strict=True):
            yield from child.paths(child_path)

    def unflatten(self, leaves: Iterator[Any]) -> Any:  # noqa: ANN401 - any nesting
        """Build the value again, taking as many leaves as it has."""
        if self.container is None:
            return next(leaves)
        return self.container.build([child.unflatten(leaves) for child in self.children])

    def _paths(self, path: str) -> list[str]:
        assert self.container is not None
        keys = self.container.keys or range(len(self.children))
        return [f"{path}[{key!r}]" for key in keys]

    def _items(self, value: object, path: str) -> Sequence[object]:
        """The value's children, in the order of this nesting's."""
        assert self.container is not None
        if self.container.keys is not None:
            return _values(value, self.container.keys, path)
        if not isinstance(value, (list, tuple, deque)):
            raise InvalidArgumentError(
                f"{path} is {described(value)}; expected a {_short(self.container.type)} of "
                f"{len(self.children)}"
            )
        if len(value) != len(self.children):
            raise InvalidArgumentError(
                f"{path} has {len(value)} items; expected {len(self.children)}"
            )
        return tuple(value)

    def __str__(self) -> str:
        """A sketch for people: `(*, [*, *], {'mask': *})`."""
        if self.container is None:
            return "*"
        parts = [str(child) for child in self.children]
        if self.container.keys is not None:
            pairs = zip(self.container.keys, parts, strict=True)
            return f"{{{', '.join(f'{key!r}: {part}' for key, part in pairs)}}}"
        if self.container.type == "builtins.list":
            return f"[{', '.join(parts)}]"
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


LEAF = Nesting()
"""A single value."""


def parse_nesting(text: str) -> Nesting | None:
    """Read the nesting that a program has for the inputs or outputs of a method.

    Args:
        text: The JSON text.

    Returns:
        The nesting; `None` if the text is empty, as for methods that take nothing.

    Raises:
        InvalidProgramError: It is no pytree, or has a container of an unknown type.
    """
    if not text:
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidProgramError(f"the nesting is not JSON: {error}") from None
    match document:
        case [protocol, node] if protocol == _PROTOCOL:
            return _node(node, "nesting", 1)
        case [protocol, _]:
            raise InvalidProgramError(
                f"the nesting is written in protocol {protocol!r}; expected {_PROTOCOL}"
            )
        case _:
            raise InvalidProgramError("the nesting is not of the form [protocol, node]")


def _node(node: object, path: str, depth: int) -> Nesting:
    if depth > _DEEPEST:
        raise InvalidProgramError(f"{path}: nested deeper than {_DEEPEST} levels")
    match node:
        case {"type": None, "children_spec": []}:
            return LEAF
        case {"type": str(name), "context": context, "children_spec": list(specs)}:
            children = tuple(
                _node(spec, f"{path}.children_spec[{index}]", depth + 1)
                for index, spec in enumerate(specs)
            )
            name = _SPELLINGS.get(name, name)
            return Nesting(_container(name, context, len(children), path), children)
        case _:
            raise InvalidProgramError(
                f"{path}: a node has type, context and children_spec; found {_excerpt(node)}"
            )


def _container(name: str, context: object, count: int, path: str) -> Container:
    if name in _DICTIONARIES:
        return _dictionary(name, context, count, path)
    if name == "builtins.tuple":
        return Container(name, None, tuple)
    if name == "builtins.list":
        return Container(name, None, list)
    if name == "collections.deque":
        limit = _decoded(context, path)
        if limit is not None and (not isinstance(limit, int) or limit < count):
            raise InvalidProgramError(f"{path}: a deque of {count} cannot hold {limit!r} at most")
        return Container(name, None, lambda items: deque(items, maxlen=limit))
    if name == "collections.namedtuple":
        named = _named_tuple(str(context).rpartition(".")[2], count)
        return Container(name, None, lambda items: named(*items))
    raise InvalidProgramError(
        f"{path}: containers of type {name!r} are not known; known are tuple, list, dict, "
        "OrderedDict, defaultdict, deque and namedtuple"
    )


def _dictionary(name: str, context: object, count: int, path: str) -> Container:
    if name == "collections.defaultdict":
        return _default_dictionary(context, count, path)
    keys = _keys(_decoded(context, path), count, path)
    kind: Callable[[Any], Any] = dict if name == "builtins.dict" else OrderedDict
    return Container(name, keys, lambda items: kind(zip(keys, items, strict=True)))


def _default_dictionary(context: object, count: int, path: str) -> Container:
    """A defaultdict; what makes its defaults is looked up among Python's own types only.

    A file must not make anybody import a module: another factory becomes none.
    """
    if not isinstance(context, Mapping):
        raise InvalidProgramError(f"{path}: a defaultdict has no context; found {context!r}")
    is_builtin = context.get("default_factory_module") == "builtins"
    factory = _DEFAULTS.get(str(context.get("default_factory_name"))) if is_builtin else None
    keys = _keys(context.get("dict_context"), count, path)
    return Container(
        "collections.defaultdict",
        keys,
        lambda items: defaultdict(factory, zip(keys, items, strict=True)),
    )


def _keys(keys: object, count: int, path: str) -> tuple[Any, ...]:
    if not isinstance(keys, list) or len(keys) != count:
        raise InvalidProgramError(
            f"{path}: a dictionary of {count} has the keys {_excerpt(keys)}; expected a list of "
            "as many"
        )
    if any(isinstance(key, list | dict) for key in keys) or len(set(keys)) != count:
        raise InvalidProgramError(f"{path}: {_excerpt(keys)} cannot be keys of a dictionary")
    return tuple(keys)


def _decoded(context: object, path: str) -> object:
    """A context is JSON text inside the JSON text."""
    try:
        return json.loads(context) if isinstance(context, str) else context
    except (ValueError, RecursionError) as error:
        raise InvalidProgramError(f"{path}: the context is not JSON: {error}") from None


def _named_tuple(name: str, count: int) -> Callable[..., tuple[Any, ...]]:
    """A namedtuple for a file's: the file has its name, but not those of its fields."""
    fields = [f"field{index}" for index in range(count)]
    is_usable = name.isidentifier() and not iskeyword(name)
    return namedtuple(name if is_usable else "NamedTuple", fields)


def _values(value: object, keys: tuple[Any, ...], path: str) -> Sequence[object]:
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(
            f"{path} is {described(value)}; expected a dictionary with the keys: {_listed(keys)}"
        )
    missing = [key for key in keys if key not in value]
    unknown = [key for key in value if key not in keys]
    if missing or unknown:
        problems = [
            f"{label} {_listed(found)}"
            for label, found in (("lacks", missing), ("has the unknown", unknown))
            if found
        ]
        raise InvalidArgumentError(
            f"{path} {' and '.join(problems)}; its keys are: {_listed(keys)}"
        )
    return [value[key] for key in keys]


def _listed(keys: Sequence[object]) -> str:
    return ", ".join(map(repr, keys)) or "none"


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _excerpt(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
