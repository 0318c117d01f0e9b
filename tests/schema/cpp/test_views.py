"""Views show what other implementations wrote, and what is absent, unknown or unusual."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import flatbuffers
import pytest

from ..structure_cases import sound_tensor
from .building import Driver

CORPUS = (
    "mlp",
    "mlp_stacktrace",
    "cond",
    "dev_add",
    "dyn",
    "kv_names",
    "scalars_in",
    "xnnpack_mlp",
)


def without_defaults(seen: Any, expected: Any) -> Any:
    """Leave out of `seen` the defaults that are not in `expected`, as flatc leaves them out."""
    if isinstance(seen, dict) and isinstance(expected, dict):
        return {
            key: without_defaults(value, expected.get(key))
            for key, value in seen.items()
            if key in expected or value not in DEFAULTS
        }
    if isinstance(seen, list) and isinstance(expected, list) and len(seen) == len(expected):
        return [without_defaults(*pair) for pair in zip(seen, expected, strict=True)]
    if isinstance(seen, float) and isinstance(expected, float) and math.isfinite(seen):
        return float(f"{seen:.12g}")
    return seen


# The members with number 0 of all enums that a program's fields default to.
DEFAULTS = (0, False, "BYTE", "STATIC", "SEGMENT", "INLINE", "CPU", "NONE")


@pytest.mark.parametrize("name", CORPUS)
def test_views_see_what_flatc_prints(program_driver: Driver, corpus: Path, name: str) -> None:
    seen = program_driver.read("Program", (corpus / f"{name}.pte").read_bytes())
    expected = json.loads((corpus / f"{name}.json").read_text())
    expected = _rounded(expected)
    assert without_defaults(seen, expected) == expected


def _rounded(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _rounded(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_rounded(item) for item in node]
    if isinstance(node, float) and math.isfinite(node):
        return float(f"{node:.12g}")
    return node


def test_an_unknown_enum_value_keeps_its_number(program_driver: Driver) -> None:
    data = sound_tensor()
    data.put(data.field(data.root(), 0), 1, 99)
    assert program_driver.read("Tensor", data)["scalar_type"] == 99


def test_an_unknown_union_member_keeps_its_tag(program_driver: Driver) -> None:
    builder = flatbuffers.Builder()
    builder.StartObject(0)
    member = builder.EndObject()
    builder.StartObject(2)
    builder.PrependUint8Slot(0, 200, 0)
    builder.PrependUOffsetTRelativeSlot(1, member, 0)
    builder.Finish(builder.EndObject())
    assert program_driver.read("EValue", bytes(builder.Output())) == {
        "val_type": 200,
        "val": {"unknown_tag": 200},
    }


def test_an_empty_vector_is_not_an_absent_one(program_driver: Driver) -> None:
    builder = flatbuffers.Builder()
    builder.StartVector(4, 0, 4)
    empty = builder.EndVector()
    builder.StartObject(10)
    builder.PrependUOffsetTRelativeSlot(2, empty, 0)
    builder.Finish(builder.EndObject())
    seen = program_driver.read("Tensor", bytes(builder.Output()))
    assert seen["sizes"] == []
    assert "dim_order" not in seen


# Fields of `Scene` in shapes.fbs.
TITLE, SHAPE_TYPE, SHAPE, NODES, ORIGIN, SPHERES, COLORS, NAMES = range(8)
DEPTH = 9


def scene(**changed: Any) -> bytes:
    """Return a scene with all kinds of fields, written by the FlatBuffers library."""
    builder = flatbuffers.Builder()
    title = builder.CreateString(changed.get("title", "köln"))
    names = [builder.CreateString(name) for name in ("a", "", "c")]
    builder.StartVector(4, len(names), 4)
    for name in reversed(names):
        builder.PrependUOffsetTRelative(name)
    name_vector = builder.EndVector()
    builder.StartVector(24, 2, 8)
    for x in (2.0, 1.0):
        _sphere(builder, x)
    spheres = builder.EndVector()
    builder.StartVector(1, 2, 1)
    builder.PrependUint8(8)
    builder.PrependUint8(1)
    colors = builder.EndVector()
    builder.StartVector(4, 0, 4)
    nodes = builder.EndVector()
    text = builder.CreateString("label")
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(0, text, 0)
    label = builder.EndObject()
    builder.StartObject(18)
    builder.PrependUOffsetTRelativeSlot(TITLE, title, 0)
    builder.PrependUint8Slot(SHAPE_TYPE, 3, 0)
    builder.PrependUOffsetTRelativeSlot(SHAPE, label, 0)
    builder.PrependUOffsetTRelativeSlot(NODES, nodes, 0)
    builder.Prep(4, 8)
    builder.PrependFloat32(-2.5)
    builder.PrependFloat32(0.5)
    builder.PrependStructSlot(ORIGIN, builder.Offset(), 0)
    builder.PrependUOffsetTRelativeSlot(SPHERES, spheres, 0)
    builder.PrependUOffsetTRelativeSlot(COLORS, colors, 0)
    builder.PrependUOffsetTRelativeSlot(NAMES, name_vector, 0)
    builder.PrependInt32(0)
    builder.Slot(DEPTH)
    builder.Finish(builder.EndObject(), b"SHAP")
    return bytes(builder.Output())


def _sphere(builder: flatbuffers.Builder, x: float) -> None:
    builder.Prep(8, 24)
    builder.Pad(7)
    builder.PrependUint8(7)
    builder.PrependFloat64(10 * x)
    builder.PrependFloat32(-x)
    builder.PrependFloat32(x)


def test_views_see_structs_strings_and_defaults(shapes_driver: Driver) -> None:
    seen = shapes_driver.read("Scene", scene())
    assert math.isnan(seen.pop("unknown"))
    assert seen == {
        "title": "köln",
        "shape_type": "Caption",
        "shape": {"text": "label", "color": "GREEN"},
        "nodes": [],
        "origin": {"x": 0.5, "y": -2.5},
        "spheres": [
            {"center": {"x": 1, "y": -1}, "radius": 10, "level": 7},
            {"center": {"x": 2, "y": -2}, "radius": 20, "level": 7},
        ],
        "colors": ["RED", "BLUE"],
        "names": ["a", "", "c"],
        "depth": 0,
        "scale": 1.5,
        "big": 18446744073709551615,
        "low": -9223372036854775808,
        "limit": -math.inf,
        "access": 3,
        "visible": True,
    }
