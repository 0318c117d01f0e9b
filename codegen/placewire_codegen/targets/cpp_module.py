"""One module of the generated C++: what it defines, and which headers of others it needs when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from ..model import Schema, TableDefinition, Type
from .cpp_names import CppNames
from .cpp_order import (
    Definition,
    cyclic_namespaces,
    dependency_order,
    has_classes,
    has_enums,
    used_namespaces,
)


class CppModule:
    """The code of one namespace, for the headers that define something for each of its types.

    Attributes:
        schema: The whole schema.
        names: Names of all its definitions.
        namespace: Namespace of the schema that the module holds.
    """

    def __init__(self, schema: Schema, names: CppNames, namespace: str) -> None:
        self.schema = schema
        self.names = names
        self.namespace = namespace

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """What its classes need, and they themselves, each behind those that it needs."""
        return dependency_order(self.schema, self.namespace)

    @cached_property
    def cyclic(self) -> frozenset[str]:
        """Namespaces whose classes need this module in turn."""
        return cyclic_namespaces(self.schema, self.namespace)

    @cached_property
    def early(self) -> tuple[str, ...]:
        """Namespaces whose classes must be known before those of this one."""
        return tuple(other for other in self._neighbours if other not in self.cyclic)

    @cached_property
    def late(self) -> tuple[str, ...]:
        """Namespaces whose headers can only be included behind the classes of this one."""
        return tuple(other for other in self._neighbours if other in self.cyclic)

    @cached_property
    def _used(self) -> tuple[str, ...]:
        return used_namespaces(self.schema, self.namespace)

    @cached_property
    def _neighbours(self) -> tuple[str, ...]:
        return tuple(other for other in self._used if has_classes(self.schema, other))

    def includes(self, header: str, own: Iterable[str]) -> tuple[str, ...]:
        """Return what stands on top: `header` of other modules, and what only this one needs."""
        others = (self.names.include(other, header) for other in self.early)
        return tuple(sorted((*others, *own)))

    def late_includes(self, header: str) -> tuple[str, ...]:
        """Return `header` of the modules that in turn need this one."""
        return tuple(self.names.include(other, header) for other in self.late)

    def enum_includes(self) -> Iterator[str]:
        """Yield the headers of all enums and union tags that the classes mention."""
        for other in (self.namespace, *self._used):
            if has_enums(self.schema, other):
                yield self.names.include(other, "enums.h")

    def reference(self, type_: Type) -> str:
        """Spell the definition behind a type as code of this module must."""
        assert type_.ref is not None
        return self.names.type(type_.ref, seen_from=self.namespace)


class ModuleBuilder:
    """What the builders of headers that define something for each type of a module begin with."""

    def __init__(self, schema: Schema, names: CppNames, namespace: str) -> None:
        self._module = CppModule(schema, names, namespace)
        self._schema = schema
        self._names = names

    def _needed_early(
        self,
        definitions: Iterable[Definition],
        references: Callable[[Schema, str], Iterable[str]],
        *,
        by_itself: bool,
    ) -> set[str]:
        """Return what `definitions` mention before it is defined.

        Args:
            definitions: In the order in which they are defined.
            references: Returns what a definition mentions.
            by_itself: Whether a definition that mentions itself does so too early.
        """
        defined: set[str] = set()
        early: set[str] = set()
        for definition in definitions:
            mentioned = set(references(self._schema, definition.full_name))
            early |= mentioned - defined - (set() if by_itself else {definition.full_name})
            defined.add(definition.full_name)
        return early

    def _roots(self) -> Iterator[TableDefinition]:
        """Yield the root tables of the module."""
        for root in self._schema.roots:
            table = self._schema.table(root.table)
            if table.namespace == self._module.namespace:
                yield table
