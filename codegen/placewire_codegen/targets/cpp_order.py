"""In what order the generated C++ can define things, and which headers need each other."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import (
    EnumDefinition,
    Schema,
    StructDefinition,
    TableDefinition,
    TypeKind,
    UnionDefinition,
)

Definition = EnumDefinition | UnionDefinition | StructDefinition | TableDefinition


def references(schema: Schema, full_name: str) -> Iterator[str]:
    """Yield what a definition mentions directly: types of fields, or members of a union.

    What a field has as a FlatBuffer of its own is mentioned, too.
    """
    definition = schema.definitions[full_name]
    if isinstance(definition, UnionDefinition):
        types = [member.type for member in definition.members]
    elif isinstance(definition, StructDefinition | TableDefinition):
        types = [field.type.element or field.type for field in definition.fields]
        yield from (field.nested for field in definition.fields if field.nested is not None)
    else:
        return
    for type_ in types:
        if type_.ref is not None:
            yield type_.ref


def class_references(schema: Schema, full_name: str) -> Iterator[str]:
    """Yield what the class of a struct or table mentions: a union's members in its place too."""
    for reference in references(schema, full_name):
        yield reference
        if isinstance(schema.definitions[reference], UnionDefinition):
            yield from references(schema, reference)


def dependency_order(schema: Schema, namespace: str) -> tuple[Definition, ...]:
    """Return the definitions of a namespace, each behind those that it needs, cycles aside."""
    ordered: dict[str, Definition] = {}
    entered: set[str] = set()

    def visit(full_name: str) -> None:
        definition = schema.definitions[full_name]
        if definition.namespace != namespace or full_name in entered:
            return
        entered.add(full_name)
        for reference in references(schema, full_name):
            visit(reference)
        ordered[full_name] = definition

    for definition in (*schema.structs, *schema.tables, *schema.unions):
        visit(definition.full_name)
    return tuple(ordered.values())


def used_namespaces(schema: Schema, namespace: str) -> tuple[str, ...]:
    """Return the other namespaces that the classes and unions of `namespace` mention, sorted."""
    return tuple(
        sorted(
            {
                schema.definitions[reference].namespace
                for definition in (*schema.structs, *schema.tables, *schema.unions)
                if definition.namespace == namespace
                for reference in class_references(schema, definition.full_name)
            }
            - {namespace}
        )
    )


def cyclic_namespaces(schema: Schema, namespace: str) -> frozenset[str]:
    """Return the namespaces that `namespace` mentions and that lead back to it."""
    return frozenset(
        other
        for other in used_namespaces(schema, namespace)
        if namespace in _reachable_namespaces(schema, other)
    )


def _reachable_namespaces(schema: Schema, namespace: str) -> set[str]:
    reached: set[str] = set()
    pending = [namespace]
    while pending:
        for other in used_namespaces(schema, pending.pop()):
            if other not in reached:
                reached.add(other)
                pending.append(other)
    return reached


def has_classes(schema: Schema, namespace: str) -> bool:
    """Return whether a namespace holds a struct, a table, or a union of such."""
    definitions = (*schema.structs, *schema.tables, *schema.unions)
    return any(item.namespace == namespace for item in definitions)


def has_enums(schema: Schema, namespace: str) -> bool:
    """Return whether a namespace holds an enum or a union."""
    return any(item.namespace == namespace for item in (*schema.enums, *schema.unions))


def structs_in_keys(schema: Schema) -> frozenset[str]:
    """Return the structs that keys are or consist of."""
    definitions: tuple[StructDefinition | TableDefinition, ...] = (*schema.structs, *schema.tables)
    fields = [field for each in definitions for field in each.fields if field.key]
    found: set[str] = set()
    while fields:
        type_ = fields.pop().type
        type_ = type_.element or type_
        if type_.kind is TypeKind.STRUCT and type_.ref is not None and type_.ref not in found:
            found.add(type_.ref)
            fields += schema.struct(type_.ref).fields
    return frozenset(found)
