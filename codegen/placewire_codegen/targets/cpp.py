"""Target `cpp`: header-only C++17 that views, verifies and writes buffers of the schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from ..config import ProjectConfig
from ..model import Schema
from ..render import GeneratedFile, Templates
from .cpp_enums import enum_views
from .cpp_names import CppNames
from .cpp_views import ViewBuilder

_SMALLEST_EMPTY_STRUCT = 16


def render(schema: Schema, config: ProjectConfig, templates: Templates) -> Iterator[GeneratedFile]:
    """Yield the support headers, then the headers of every module."""
    names = CppNames(schema, config)
    directory = config.header_directory.as_posix()
    yield GeneratedFile(
        f"{directory}/wire.h",
        templates.render(
            "cpp/wire.h.jinja",
            namespace=names.namespace,
            model_stamp=schema.stamp,
            largest_struct_size=_largest_struct_size(schema),
        ),
    )
    for namespace in schema.namespaces:
        module = names.module(namespace)
        for header, text in _module_headers(schema, names, namespace, templates):
            yield GeneratedFile(f"{directory}/{module}/{header}", text)


def _module_headers(
    schema: Schema, names: CppNames, namespace: str, templates: Templates
) -> Iterator[tuple[str, str]]:
    place = {"namespace": f"{names.namespace}::{names.module(namespace)}"}
    described = f"namespace {namespace}" if namespace else "the global namespace"
    enums = tuple(enum_views(schema, names, namespace))
    if enums:
        yield (
            "enums.h",
            templates.render(
                "cpp/enums.h.jinja",
                **place,
                purpose=f"Enums and union tags of {described}.",
                enums=enums,
            ),
        )
    views = ViewBuilder(schema, names, namespace).build()
    if views.classes:
        yield (
            "views.h",
            templates.render(
                "cpp/views.h.jinja",
                **place,
                purpose=f"Views of the structs and tables of {described}.",
                **view_fields(views),
            ),
        )


def view_fields(view: Any) -> dict[str, Any]:
    """Return the fields of a view object, as the variables of its template."""
    return {field.name: getattr(view, field.name) for field in fields(view)}


def _largest_struct_size(schema: Schema) -> int:
    return max((struct.size for struct in schema.structs), default=_SMALLEST_EMPTY_STRUCT)
