"""Files that hold something which the schema does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import flatbuffers
import pytest
from placewire_schema import Finding, UnpackError, unpack_program

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
