"""Schemas may use any word of Python and C++; what is generated imports, compiles and packs."""

from __future__ import annotations

import builtins
import keyword
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from placewire_codegen.config import DEFAULT_TARGETS, command_line_project
from placewire_codegen.generate import generate
from placewire_codegen.names import CPP_KEYWORDS
from placewire_codegen.scope import BUILTIN_SCALARS

from tests.schema.cpp.building import compilers

# What generated code, its base classes and the libraries around it call something, and macros of
# systems that we do not compile on.
OF_GENERATED_CODE = """Any Box Bytes ClassVar Enum Final Finding IntEnum IntFlag MODEL_STAMP Object
Path Rule TableView TypeAlias UnknownMember Vector Visitor alignment annotations audit begin buffer
builder cls codec_name copy data dataclass dataclasses describe each_field end enum field is_valid
items kFileIdentifier kIdentifier kSize kSlots keys mro name names object objects offset optional
out pack path placewire position position_ property replace report run self size slots std strict
table table_ tag type typing unpack value values variant vector verifier verify view visit
visit_fields visitor wire DELETE IN OPTIONAL OUT OUTPUT STRICT interface small""".split()
WORDS = sorted(
    {
        *keyword.kwlist,
        *keyword.softkwlist,
        *(name for name in dir(builtins) if name.isidentifier() and not name.startswith("_")),
        *CPP_KEYWORDS,
        *OF_GENERATED_CODE,
    }
)
# Exceptions, macros and the like are many of a sort, and types cost the compiler most.
TYPES = [
    word
    for word in WORDS
    if word not in {*BUILTIN_SCALARS, "string"}
    and (word.islower() or word in {*OF_GENERATED_CODE, "None", "True", "NULL", "EINVAL"})
]
MEMBERS = [word for word in WORDS if word != "null"]


def braced(entries: Iterable[str]) -> str:
    return "{ " + " ".join(entries) + " }"


TOP_OF_FIELDS = (
    "table Top { a: Scalars; b: Strings; c: Lists; d: Tables; e: Optionals; f: Unions; "
    "g: Enums; h: Members = self; }"
)
FIELDS = "\n".join(
    [
        "namespace words;",
        f"enum Members : int {braced(f'{word},' for word in MEMBERS)}",
        "enum Kind : byte { A, B } table Sub { a: int; } union Either { Sub, Top }",
        *(
            f"table {table} {braced(f'{word}: {type_};' for word in WORDS)}"
            for table, type_ in (
                ("Scalars", "int = 3"),
                ("Strings", "string"),
                ("Lists", "[int]"),
                ("Tables", "Sub"),
                ("Optionals", "float = null"),
                ("Unions", "Either"),
            )
        ),
        f"table Enums {braced(f'{word}: Kind;' for word in MEMBERS)}",
        TOP_OF_FIELDS,
        "root_type Top;",
    ]
)


def holders() -> list[str]:
    """Return tables with fields of all `TYPES`, of some each: one large table compiles slowly."""
    parts = [TYPES[start : start + 20] for start in range(0, len(TYPES), 20)]
    tables = [
        f"table Part{number} "
        + braced(f"f{i}: words.{t}; v{i}: [words.{t}];" for i, t in enumerate(part))
        for number, part in enumerate(parts)
    ]
    return [*tables, f"table Parts {braced(f'p{n}: Part{n};' for n in range(len(parts)))}"]


TABLES = "\n".join(
    [
        "namespace words;",
        *(f"table {word} {{ a: int; }}" for word in TYPES),
        *holders(),
        f"union Every {braced(f'm{i}: {word},' for i, word in enumerate(TYPES[:100]))}",
        "table Top { parts: Parts; every: Every; } root_type Top;",
    ]
)
ENUMS = "\n".join(
    [
        "namespace words;",
        *(f"enum {word} : byte {{ a, b }}" for word in TYPES),
        *holders(),
        "table Top { parts: Parts; } root_type Top;",
    ]
)
NAMESPACES = """
namespace a.b; enum Colour : byte { RED } table T { x: int; c: Colour; }
namespace c.b; enum Colour : byte { BLUE } table T { t: a.b.T; c: Colour; o: [a.b.T]; }
namespace d.garden; table Garden { t: c.b.T; } table garden_ { x: int; }
namespace class; table E { g: d.garden.Garden; }
namespace reflection; table R { e: class.E; }
namespace pack; table P { r: reflection.R; list: [R_]; } table R_ { p: P; }
namespace; table Top { p: pack.P; t: a.b.T; }
root_type Top;
"""
SCHEMAS = {"fields": FIELDS, "tables": TABLES, "enums": ENUMS, "namespaces": NAMESPACES}

# Fills every field that holds tables or numbers, six tables deep, and packs.
ROUND_TRIP = """
import dataclasses, importlib, types, typing, words

def filled(cls, depth):
    hints = typing.get_type_hints(cls, vars(importlib.import_module(cls.__module__)))
    return cls(**{f.name: value(hints[f.name], depth) for f in dataclasses.fields(cls)})

def value(hint, depth):
    if isinstance(hint, types.UnionType):
        hint = typing.get_args(hint)[0]
    if typing.get_origin(hint) is list:
        return [each for each in [value(typing.get_args(hint)[0], depth)] if each is not None]
    if dataclasses.is_dataclass(hint):
        return filled(hint, depth - 1) if depth else None
    return list(hint)[-1] if hasattr(hint, "__members__") else hint(1)

top = next(m.Top for m in map(words.__dict__.get, words.__all__) if hasattr(m, "Top"))
object_ = filled(top, 6)
data = words.pack_top(object_)
assert len(data) > 100
assert words.verify_top(data) == []
assert words.unpack_top(data) == object_
"""


@pytest.fixture(scope="module", params=SCHEMAS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all targets generate from one of the schemas."""
    root = tmp_path_factory.mktemp(request.param)
    (root / "words.fbs").write_text(SCHEMAS[request.param])
    config = command_line_project(
        [root / "words.fbs"],
        root,
        targets=list(DEFAULT_TARGETS),
        include=[],
        package=None,
        cpp_namespace=None,
    )
    generate(config)
    return root


def test_there_are_enough_words() -> None:
    assert len(TYPES) > 200
    assert len(WORDS) > 400


def test_objects_of_difficult_names_survive_a_round_trip(folder: Path) -> None:
    subprocess.run([sys.executable, "-c", ROUND_TRIP], cwd=folder, env={}, check=True)


def test_mypy_takes_difficult_names(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", "words"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.stdout.startswith("Success: no issues found in "), result.stdout[:4000]


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_headers_of_difficult_names_compile_without_a_warning(folder: Path, compiler: str) -> None:
    if compiler not in compilers():
        pytest.skip(f"{compiler} is not there")
    headers = sorted((folder / "include").rglob("*.h"))
    assert len(headers) > 10
    source = folder / "all.cpp"
    source.write_text("".join(f'#include "{header}"\n' for header in headers))
    flags = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Iinclude")
    subprocess.run([compiler, *flags, source], cwd=folder, check=True)
