"""Files that hold something which the schema does not know, and folders for `placewire compat`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import flatbuffers
import pytest
from placewire_schema import Finding, UnpackError, unpack_program

from tests.placewire.compat_place import BASE, HEAD, PROJECT, Place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _with_unknown(data: bytes, wanted: Callable[[list[Finding]], bool]) -> bytes:
    """The first change of one byte of a file that a reader reports as `wanted`."""
    for position in range(40, len(data)):
        changed = data[:position] + b"\x63" + data[position + 1 :]
        report: list[Finding] = []
        try:
            unpack_program(changed, strict=False, report=report)
        except UnpackError:
            continue
        if wanted(report):
            return changed
    raise AssertionError("no byte of the file makes such a difference")


@pytest.fixture(scope="module")
def unknown_device(corpus: Path) -> bytes:
    """dev_add.pte with a tensor on a device of type 99."""
    return _with_unknown(
        (corpus / "dev_add.pte").read_bytes(),
        lambda report: (
            [finding.rule for finding in report] == ["UNKNOWN_ENUM_VALUE"]
            and report[0].path.endswith(".extra_tensor_info.device_type")
        ),
    )


@pytest.fixture(scope="module")
def unknown_member(corpus: Path) -> bytes:
    """dev_add.pte with a value of type 99."""
    return _with_unknown(
        (corpus / "dev_add.pte").read_bytes(),
        lambda report: (
            [finding.rule for finding in report] == ["UNKNOWN_UNION_MEMBER"]
            and report[0].path.endswith(".val")
        ),
    )


@pytest.fixture(scope="module")
def unknown_field() -> bytes:
    """A program with a ninth field, written by FlatBuffers' own library."""
    builder = flatbuffers.Builder()
    builder.StartObject(9)
    builder.PrependUint32Slot(8, 77, 0)
    builder.Finish(builder.EndObject(), file_identifier=b"ET12")
    return bytes(builder.Output())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.write("base.fbs", BASE)
    place.write("head.fbs", HEAD)
    return place


@pytest.fixture
def repository(tmp_path: Path) -> Place:
    """A project in Git, whose first commit has the tag `v1`."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    place = Place(tmp_path)
    place.write("pyproject.toml", PROJECT)
    place.write("schema/colors.fbs", "namespace shop; enum Color : byte { RED, GREEN }\n")
    included = 'include "colors.fbs";\n' + BASE.replace("enum Color : byte { RED, GREEN }\n", "")
    place.write("schema/shop.fbs", included)
    place.git("init", "-q", "-b", "main")
    place.git("add", ".")
    place.git("commit", "-q", "-m", "one")
    place.git("tag", "v1")
    return place
