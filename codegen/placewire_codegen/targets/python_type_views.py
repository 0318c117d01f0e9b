"""Views of a module of generated Python types: classes and fields as finished strings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MemberView:
    name: str
    value: str
    docstring: str | None = None


@dataclass(frozen=True)
class EnumAttributeView:
    """A schema attribute of members, as a property that looks into a table."""

    name: str
    type: str
    summary: str
    table: str
    lookup: str
    members: list[MemberView]


@dataclass(frozen=True)
class ExceptionClassView:
    name: str
    bases: str
    member: str
    docstring: str


@dataclass(frozen=True)
class EnumView:
    name: str
    base: str
    docstring: str
    members: list[MemberView]
    attributes: list[EnumAttributeView]
    exception_base: str | None
    exception_table: str
    exceptions: list[ExceptionClassView]


@dataclass(frozen=True)
class FieldView:
    name: str
    annotation: str
    default: str


@dataclass(frozen=True)
class NestedFieldView:
    """A field that holds a FlatBuffer, and the methods that read and write it.

    Attributes:
        none: What the annotation of its root ends with, and its value may be: ` | None` or nothing.
    """

    name: str
    root: str
    none: str
    unpack: str
    view: str
    pack: str


@dataclass(frozen=True)
class TableView:
    name: str
    docstring: str
    bases: str
    fields: list[FieldView]
    nested: list[NestedFieldView]


@dataclass(frozen=True)
class UnionView:
    name: str
    alternatives: str
    docstring: str


@dataclass(frozen=True)
class TypeModule:
    """One module, as finished strings in the order in which they are placed.

    Attributes:
        late_imports: Of modules that import this one, too. They come behind the classes, which is
            all that such a module needs from here while it is being imported itself.
        members: Classes of union members; their bases may be in a module that is imported late.
    """

    summary: str
    imports: list[str]
    late_imports: list[str]
    exports: list[str]
    enum_bases: list[str]
    typing_names: list[str]
    needs_field: bool
    needs_codec: bool
    enums: list[EnumView]
    tables: list[TableView]
    members: list[TableView]
    unions: list[UnionView]
