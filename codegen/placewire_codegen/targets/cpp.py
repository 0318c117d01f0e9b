"""Target `cpp`: header-only C++17 that views, verifies and writes buffers of the schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ..config import ProjectConfig
from ..features import Feature
from ..model import Schema
from ..render import GeneratedFile, Templates
from .cpp_audit import audit_rules, audit_view
from .cpp_enums import enum_views
from .cpp_names import CppNames
from .cpp_order import has_classes
from .cpp_text import string_literal
from .cpp_verifier import VerifierBuilder
from .cpp_views import ViewBuilder
from .cpp_writer import render_writer
from .rules import STRUCTURE_RULES

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_SMALLEST_EMPTY_STRUCT = 16


@dataclass(frozen=True)
class RuleView:
    """A rule of the verifier; `text` is a string literal."""

    name: str
    text: str


FEATURES: frozenset[Feature] = frozenset(
    {
        Feature.ARRAYS,
        Feature.BIT_FLAGS,
        Feature.DEFAULT_CONTENTS,
        Feature.NESTED_FLATBUFFERS,
        Feature.SERVICES,
        Feature.STRUCTS,
        Feature.UNION_STRINGS,
        Feature.UNION_STRUCTS,
        Feature.UNION_TAG_TYPES,
        Feature.VECTORS_OF_UNIONS,
    }
)
"""The optional parts of the language that this target handles."""


def render(schema: Schema, config: ProjectConfig, templates: Templates) -> Iterator[GeneratedFile]:
    """Yield all headers: those that read, then those that write."""
    yield from render_readers(schema, config, templates)
    yield from render_writer(schema, config, templates)


def render_readers(
    schema: Schema, config: ProjectConfig, templates: Templates
) -> Iterator[GeneratedFile]:
    """Yield what reads and checks buffers: support headers, then those of every module."""
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
    yield GeneratedFile(
        f"{directory}/audit.h",
        templates.render(
            "cpp/audit.h.jinja",
            namespace=names.namespace,
            include_prefix=names.include_prefix,
            rules=audit_rules(),
        ),
    )
    yield GeneratedFile(
        f"{directory}/verify_result.h",
        templates.render(
            "cpp/verify_result.h.jinja",
            namespace=names.namespace,
            rules=[RuleView(rule.name, string_literal(rule.text)) for rule in STRUCTURE_RULES],
        ),
    )
    yield GeneratedFile(
        f"{directory}/verify.h",
        templates.render(
            "cpp/verify.h.jinja",
            namespace=names.namespace,
            include_prefix=names.include_prefix,
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
    if has_classes(schema, namespace):
        views = ViewBuilder(schema, names, namespace).build()
        yield (
            "views.h",
            templates.render(
                "cpp/views.h.jinja",
                **place,
                purpose=f"Views of the structs and tables of {described}.",
                **view_fields(views),
            ),
        )
        verifier = VerifierBuilder(schema, names, namespace).build()
        yield (
            "verifier.h",
            templates.render(
                "cpp/verifier.h.jinja",
                **place,
                purpose=f"Verifies buffers whose root is a table of {described}.",
                **view_fields(verifier),
            ),
        )
    audit = audit_view(schema, names, namespace)
    if audit.tables or audit.structs or audit.unions:
        yield (
            "audit.h",
            templates.render(
                "cpp/module_audit.h.jinja",
                **place,
                purpose=f"Audits the structs and tables of {described}.",
                include_prefix=names.include_prefix,
                **view_fields(audit),
            ),
        )


def view_fields(view: DataclassInstance) -> dict[str, Any]:
    """Return the fields of a view object, as the variables of its template."""
    return {field.name: getattr(view, field.name) for field in fields(view)}


def _largest_struct_size(schema: Schema) -> int:
    return max((struct.size for struct in schema.structs), default=_SMALLEST_EMPTY_STRUCT)
