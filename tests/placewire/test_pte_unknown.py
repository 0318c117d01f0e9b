"""What the schema does not know is read, reported, and never lost without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import flatbuffers
import pytest
from placewire_schema import PackError, UnknownMember
from placewire_schema.device_info import DeviceTable
from placewire_schema.errors import UnknownContentError
from placewire_schema.program import DeviceType, NamedData

from placewire.device_table import derive
from placewire.pte import DEVICE_TABLE_KEY, PteFile
from tests.placewire.files import file_bytes, two_gpu_program

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["unknown_device", "unknown_member", "unknown_field"])
def unknown(request: pytest.FixtureRequest) -> bytes:
    data: bytes = request.getfixturevalue(request.param)
    return data


def test_the_file_loads_and_says_what_is_unknown(unknown: bytes) -> None:
    assert len(PteFile.from_bytes(unknown).unknown) == 1


def test_the_unknown_device_is_named_by_its_path(unknown_device: bytes) -> None:
    (finding,) = PteFile.from_bytes(unknown_device).unknown
    assert finding.rule == "UNKNOWN_ENUM_VALUE"
    assert finding.path.startswith("execution_plan[0].values[")
    assert "99" in finding.message


def test_it_is_saved_untouched(unknown: bytes) -> None:
    pte = PteFile.from_bytes(unknown)
    assert not pte.is_modified()
    assert pte.to_bytes() == unknown
    assert pte.to_bytes(drop_unknown=True) == unknown


def test_rewriting_it_is_refused(unknown: bytes, tmp_path: Path) -> None:
    pte = PteFile.from_bytes(unknown)
    pte.program.version = 1
    with pytest.raises(UnknownContentError, match="writing the file anew would lose") as caught:
        pte.save(tmp_path / "out.pte")
    assert str(pte.unknown[0]) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_device_is_dropped_when_that_is_asked(unknown_device: bytes) -> None:
    pte = PteFile.from_bytes(unknown_device)
    devices = _device_types(pte)
    assert devices.count(99) == 1
    pte.program.execution_plan[0].name = "renamed"
    again = PteFile.from_bytes(pte.to_bytes(drop_unknown=True))
    assert again.unknown == ()
    assert _device_types(again) == [DeviceType.CPU if type_ == 99 else type_ for type_ in devices]


def test_dropping_changes_nothing_in_the_object(unknown_device: bytes) -> None:
    pte = PteFile.from_bytes(unknown_device)
    pte.program.execution_plan[0].name = "renamed"
    devices, unknown = _device_types(pte), pte.unknown
    pte.to_bytes(drop_unknown=True)
    assert _device_types(pte) == devices
    assert pte.unknown == unknown
    pte.program.version = -1
    with pytest.raises(PackError):
        pte.to_bytes(drop_unknown=True)
    assert _device_types(pte) == devices
    assert pte.unknown == unknown


def test_an_unknown_field_is_dropped_when_that_is_asked(unknown_field: bytes) -> None:
    pte = PteFile.from_bytes(unknown_field)
    pte.program.version = 1
    again = PteFile.from_bytes(pte.to_bytes(drop_unknown=True))
    assert again.unknown == ()
    assert again.program.version == 1


def test_an_unknown_value_cannot_be_dropped(unknown_member: bytes) -> None:
    pte = PteFile.from_bytes(unknown_member)
    (finding,) = pte.unknown
    pte.program.execution_plan[0].name = "renamed"
    with pytest.raises(UnknownContentError) as caught:
        pte.to_bytes(drop_unknown=True)
    assert str(caught.value).startswith(f"{finding.path}: ")
    kinds = [type(value.val).__name__ for value in pte.program.execution_plan[0].values]
    assert kinds.count(UnknownMember.__name__) == 1, "nothing was changed"


def test_a_field_that_is_absent_is_not_unknown() -> None:
    builder = flatbuffers.Builder()
    builder.StartObject(0)
    builder.Finish(builder.EndObject(), file_identifier=b"ET12")
    pte = PteFile.from_bytes(bytes(builder.Output()))
    assert pte.unknown == ()
    pte.program.version = 1
    assert PteFile.from_bytes(pte.to_bytes()).program.version == 1


def _device_types(pte: PteFile) -> list[int]:
    from placewire.placement import tensors

    extras = [tensor.extra_tensor_info for _, tensor in tensors(pte.program.execution_plan[0])]
    return [extra.device_type for extra in extras if extra is not None]


@pytest.fixture
def unknown_in_table() -> bytes:
    """A file whose device table was written by a newer version."""
    builder = flatbuffers.Builder()
    builder.StartObject(2)
    builder.PrependUint32Slot(1, 77, 0)
    builder.Finish(builder.EndObject(), file_identifier=b"PWDT")
    program = two_gpu_program()
    program.named_data = [NamedData(key=DEVICE_TABLE_KEY, segment_index=2)]
    return file_bytes(program, [b"", b"blob", bytes(builder.Output())])


def test_a_device_table_of_a_newer_version_is_reported(unknown_in_table: bytes) -> None:
    pte = PteFile.from_bytes(unknown_in_table)
    assert [(finding.rule, finding.path) for finding in pte.unknown] == [
        ("UNKNOWN_FIELD", "device_table.<slot 1>")
    ]
    assert pte.device_table == DeviceTable()


def test_a_device_table_of_a_newer_version_is_not_lost_without_a_word(
    unknown_in_table: bytes,
) -> None:
    pte = PteFile.from_bytes(unknown_in_table)
    assert pte.to_bytes() == unknown_in_table
    pte.program.execution_plan[0].name = "renamed"
    with pytest.raises(UnknownContentError, match=r"does not know: device_table\.<slot 1>"):
        pte.to_bytes()
    again = PteFile.from_bytes(pte.to_bytes(drop_unknown=True))
    assert again.unknown == ()
    assert again.device_table == derive(again.program)
