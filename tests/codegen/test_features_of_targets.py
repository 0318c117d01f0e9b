"""Every target generates code for the parts of the language that it lists, and refuses the others.

A refusal names the part and has a place.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from placewire_codegen.config import DEFAULT_TARGETS, OutputPaths, ProjectConfig, TargetName
from placewire_codegen.diagnostics import SchemaError
from placewire_codegen.features import Feature
from placewire_codegen.generate import generate

TARGETS: tuple[TargetName, ...] = (*DEFAULT_TARGETS, "bfbs")

MANY_FIELDS = " ".join(f"f{i}: ulong;" for i in range(5000))

# A schema for each part, and where the part is in it.
SAMPLES: dict[Feature, tuple[str, str]] = {
    Feature.ARRAYS: ("struct S { a: [int: 3]; }\ntable T { s: S; }", "1:15"),
    Feature.BIT_FLAGS: ("enum E : ubyte (bit_flags) { A, B }\ntable T { e: E; }", "1:6"),
    Feature.DEFAULT_CONTENTS: ('table T { a: string = "x"; b: [int] = []; }', "1:23"),
    Feature.FLEXBUFFERS: ("table T {\n  a: [ubyte] (flexbuffer);\n}", "2:15"),
    Feature.LARGE_LAYOUTS: (f"table T {{ {MANY_FIELDS} }}", "1:7"),
    Feature.HASHES: ('table T { a: uint (hash: "fnv1_32"); }', "1:26"),
    Feature.NESTED_FLATBUFFERS: ('table T { a: [ubyte] (nested_flatbuffer: "T"); }', "1:42"),
    Feature.OFFSETS_64: ("table T {\n  a: string (offset64);\n  b: [int] (vector64); }", "2:14"),
    Feature.SERVICES: ("table T {}\nrpc_service S { M(T): T; }", "2:13"),
    Feature.STRUCTS: ("struct S { a: int; }\ntable T { s: S; }", "1:8"),
    Feature.UNION_STRINGS: ("union U { T, text: string }\ntable T { u: U; }", "1:20"),
    Feature.UNION_STRUCTS: ("struct S { a: int; }\nunion U { S }\ntable T { u: U; }", "2:11"),
    Feature.UNION_TAG_TYPES: ("union U : int { T }\ntable T { u: U; }", "1:11"),
    Feature.VECTORS_OF_UNIONS: ("union U { T }\ntable T { u: [U]; }", "2:14"),
}


def project(folder: Path, text: str, target: TargetName) -> ProjectConfig:
    (folder / "schema.fbs").write_text(f"{text}\nroot_type T;\n", encoding="utf-8")
    return ProjectConfig(
        root=folder,
        schemas=(Path("schema.fbs"),),
        package="sample",
        cpp_namespace="sample",
        targets=(target,),
        output=OutputPaths(
            python=Path("python"),
            cpp=Path("cpp"),
            nanobind=Path("nanobind"),
            docs=Path("docs"),
            bfbs=Path("bfbs"),
        ),
    )


def test_there_is_a_sample_of_every_part() -> None:
    assert set(SAMPLES) == set(Feature)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("feature", Feature, ids=lambda feature: feature.name)
def test_a_target_handles_a_part_or_says_where_it_cannot(
    tmp_path: Path, target: TargetName, feature: Feature
) -> None:
    text, place = SAMPLES[feature]
    config = project(tmp_path, text, target)
    handled: frozenset[Feature] = import_module(f"placewire_codegen.targets.{target}").FEATURES
    if feature in handled:
        assert generate(config).files
        return
    with pytest.raises(SchemaError) as raised:
        generate(config)
    # The other parts that the sample has are refused elsewhere in it.
    messages = [str(diagnostic) for diagnostic in raised.value.diagnostics]
    expected = f"schema.fbs:{place}: error: {feature.value} are not supported yet\n"
    assert [message for message in messages if message.startswith(expected)]
