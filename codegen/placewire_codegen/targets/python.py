"""The Python target: dataclasses, enums, descriptors, and the codec that works from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..config import ProjectConfig
from ..features import Feature
from ..model import ScalarKind, Schema
from ..names import PYTHON_KEYWORDS, Name, NameScope
from ..render import GeneratedFile, Templates
from .python_descriptors import descriptor_module
from .python_names import PythonNames, python_tuple, sort_key
from .python_types import type_module
from .rules import MEANING_RULES, MOST_FINDINGS, STRUCTURE_RULES

_SCHEMA_INDEPENDENT = (
    "_descriptors/__init__.py",
    "_keys.py",
    "_pure/__init__.py",
    "_pure/_facade.py",
    "_pure/check.py",
    "_pure/pack.py",
    "_pure/structs.py",
    "_pure/unpack.py",
    "_pure/values.py",
    "_pure/vectors.py",
    "_pure/verify.py",
    "_pure/writer.py",
    "_select.py",
)

_PUBLIC_NAMES = (
    "MODEL_STAMP",
    "REBUILD_COMMAND",
    "UNKNOWN_RULES",
    "CodecError",
    "Finding",
    "PackError",
    "UnknownMember",
    "UnpackError",
    "codec_name",
    "lookup",
    "pack",
    "sort_by_key",
    "unpack",
    "verify",
    "view",
)

_VERBS = ("pack", "unpack", "verify")
"""What each root type has a function of its own for."""

_PARAMETERS = frozenset({"force_align", "pack"})
"""What the function that packs a root has besides the root, and what it calls."""

_STRUCT_CODES = {
    ScalarKind.BOOL: "?",
    ScalarKind.INT8: "b",
    ScalarKind.UINT8: "B",
    ScalarKind.INT16: "h",
    ScalarKind.UINT16: "H",
    ScalarKind.INT32: "i",
    ScalarKind.UINT32: "I",
    ScalarKind.INT64: "q",
    ScalarKind.UINT64: "Q",
    ScalarKind.FLOAT32: "f",
    ScalarKind.FLOAT64: "d",
}


@dataclass(frozen=True)
class _RootFunctions:
    """The `pack_x`, `unpack_x` and `verify_x` of one root type."""

    snake: str
    argument: str
    type: str
    container_note: str


@dataclass(frozen=True)
class _ScalarConstant:
    """One `ScalarInfo` of the module `reflection`."""

    constant: str
    name: str
    code: str
    size: int
    minimum: int | None
    maximum: int | None


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
    """Render the Python package."""
    names = PythonNames(schema, config)

    def generated(path: str, template: str, **fields: object) -> GeneratedFile:
        text = templates.render(f"python/{template}.jinja", **fields)
        return GeneratedFile((config.output.python / path).as_posix(), text)

    yield GeneratedFile((config.output.python / "py.typed").as_posix(), "")
    yield generated(
        "_wire.py",
        "_wire.py",
        stamp=schema.stamp,
        rules=STRUCTURE_RULES + MEANING_RULES,
        most_findings=MOST_FINDINGS,
    )
    described = (*schema.structs, *schema.tables)
    table_modules = sorted({names.module_of(definition.full_name) for definition in described})
    yield generated(
        "reflection.py",
        "reflection.py",
        modules=python_tuple(table_modules),
        scalars=_SCALARS,
    )
    for path in _SCHEMA_INDEPENDENT:
        yield generated(path, path)
    for module in names.modules:
        yield generated(f"{module}.py", "module.py", module=type_module(schema, names, module))
    for module in table_modules:
        yield generated(
            f"_descriptors/{module}.py",
            "_descriptors/module.py",
            module=descriptor_module(schema, names, module),
        )
    roots = _root_functions(schema, names)
    yield generated(
        "__init__.py",
        "__init__.py",
        package=config.package,
        modules=names.modules,
        roots=roots,
        exports=_exports(names, roots),
    )


def _root_functions(schema: Schema, names: PythonNames) -> list[_RootFunctions]:
    """Describe the functions of each root; those of equal names begin with that of the module."""
    plain = [Name(schema.table(root.table).name).snake for root in schema.roots]
    functions = []
    taken = {*_PUBLIC_NAMES, *names.modules}
    for root, snake in zip(schema.roots, plain, strict=True):
        module = names.module_of(root.table)
        suffix = snake if plain.count(snake) == 1 else f"{module}_{snake}"
        while taken & {f"{verb}_{suffix}" for verb in _VERBS}:
            suffix += "_"
        taken |= {f"{verb}_{suffix}" for verb in _VERBS}
        has_header = "extended_header" in schema.table(root.table).attributes
        functions.append(
            _RootFunctions(
                snake=suffix,
                argument=NameScope(_PARAMETERS | PYTHON_KEYWORDS | set(names.modules)).claim(snake),
                type=f"{module}.{names.type_name(root.table)}",
                container_note=", a FlatBuffer or a whole file" if has_header else "",
            )
        )
    return functions


def _exports(names: PythonNames, roots: list[_RootFunctions]) -> list[str]:
    functions = [f"{verb}_{root.snake}" for root in roots for verb in _VERBS]
    return sorted((*_PUBLIC_NAMES, *names.modules, *functions), key=sort_key)


def _scalar_constant(kind: ScalarKind) -> _ScalarConstant:
    limits = (None, None) if kind.is_float else (kind.minimum, kind.maximum)
    return _ScalarConstant(
        kind.name, kind.value, _STRUCT_CODES[kind], kind.size, limits[0], limits[1]
    )


_SCALARS = [_scalar_constant(kind) for kind in ScalarKind]
