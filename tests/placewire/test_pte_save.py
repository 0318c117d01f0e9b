"""Saving keeps untouched files and all data as they were, and leaves nothing half-written."""

from __future__ import annotations

import copy
import os
import stat
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from placewire_schema import PackError, pack_program
from placewire_schema.errors import AccessError, InvalidStateError
from placewire_schema.program import (
    BackendDelegateInlineData,
    Buffer,
    DataSegment,
    DeviceType,
    Double,
    EValue,
    ExecutionPlan,
    NonConstBufferDevice,
    Program,
    SubsegmentOffsets,
)

from placewire.device_table import derive
from placewire.pte import PteFile, check_bytes
from tests.placewire.files import file_bytes, header_of, two_gpu_program, with_area

if TYPE_CHECKING:
    from pathlib import Path


def _two_segments(**layout: object) -> bytes:
    program = Program(
        execution_plan=[ExecutionPlan(name="forward")],
        constant_segment=SubsegmentOffsets(segment_index=0, offsets=[0, 0]),
    )
    return file_bytes(program, [b"A" * 20, b"B" * 7], **layout)  # type: ignore[arg-type]


def _edited(data: bytes) -> PteFile:
    pte = PteFile.from_bytes(data)
    pte.program.execution_plan[0].name += ", edited so that the program needs more room than before"
    return pte


def test_every_corpus_file_is_saved_as_it_was(corpus: Path, tmp_path: Path) -> None:
    files = sorted(corpus.glob("*.pte"))
    assert files
    for file in files:
        PteFile.load(file).save(tmp_path / "copy.pte")
        assert (tmp_path / "copy.pte").read_bytes() == file.read_bytes(), file.name


@pytest.mark.parametrize(
    "layout",
    [
        {"header_length": 24},
        {"header_length": 40, "extra": b"unknown!"},
        {"gap": b"x"},
        {"trailing": b"nobody knows what this is"},
        {"segment_alignment": 1},
        {"segment_alignment": 4096},
    ],
    ids=str,
)
def test_a_file_of_any_layout_is_saved_as_it_was(layout: dict[str, object]) -> None:
    data = _two_segments(**layout)
    pte = PteFile.from_bytes(data)
    assert not pte.is_modified()
    assert pte.to_bytes() == data


def test_a_flatbuffer_that_is_not_canonical_is_saved_as_it_was() -> None:
    data = pack_program(Program())
    # Bytes that nothing refers to: no writer leaves them, but they are allowed.
    padded = data + b"\0" * 8
    pte = PteFile.from_bytes(padded)
    assert pte.to_bytes() == padded
    pte.program.version = 1
    assert pte.to_bytes() != padded


def test_nan_does_not_count_as_an_edit() -> None:
    value = EValue(val=Double(double_val=float("nan")))
    data = file_bytes(Program(execution_plan=[ExecutionPlan(values=[value])]), [b"A"], gap=b"x")
    assert not PteFile.from_bytes(data).is_modified()


def test_an_edit_that_is_undone_gives_the_same_bytes(corpus: Path) -> None:
    data = (corpus / "mlp.pte").read_bytes()
    pte = PteFile.from_bytes(data)
    pte.program.execution_plan[0].name = "other"
    assert pte.is_modified()
    pte.program.execution_plan[0].name = "forward"
    assert pte.to_bytes() == data


def test_editing_leaves_every_segment_of_the_corpus_as_it_was(corpus: Path) -> None:
    files = sorted(corpus.glob("*.pte"))
    assert files
    for file in files:
        before = PteFile.load(file)
        edited = PteFile.load(file)
        edited.program.execution_plan[0].name *= 50
        data = edited.to_bytes()
        after = PteFile.from_bytes(data)
        assert check_bytes(data) == []
        assert after.program == edited.program
        assert after.program.segments == before.program.segments
        assert list(after.segments) == list(before.segments), file.name


def test_a_program_edited_back_is_rewritten_as_executorch_wrote_it(corpus: Path) -> None:
    files = sorted(corpus.glob("*.pte"))
    assert files
    for file in files:
        first = PteFile.load(file)
        name = first.program.execution_plan[0].name
        first.program.execution_plan[0].name *= 50
        second = PteFile.from_bytes(first.to_bytes())
        second.program.execution_plan[0].name = name
        assert second.to_bytes() == file.read_bytes(), file.name


def test_bytes_between_and_behind_segments_survive_an_edit() -> None:
    data = _two_segments(gap=b"x", trailing=b"tail")
    edited = _edited(data).to_bytes()
    assert edited.endswith(b"A" * 20 + b"x" * 108 + b"B" * 7 + b"tail")


def test_a_short_header_becomes_one_that_says_its_size() -> None:
    data = _edited(_two_segments(header_length=24)).to_bytes()
    assert check_bytes(data) == []
    length, _, _, size = header_of(data)
    assert (length, size) == (32, 135)


def test_what_a_longer_header_says_is_kept() -> None:
    data = _edited(_two_segments(header_length=40, extra=b"unknown!")).to_bytes()
    assert check_bytes(data) == []
    assert header_of(data)[0] == 40
    assert data[40:48] == b"unknown!"


def test_the_program_stays_aligned_behind_a_longer_header() -> None:
    data = _edited(_two_segments(header_length=40, extra=b"unknown!")).to_bytes()
    assert int.from_bytes(data[:4], "little") % 4 == 0
    assert PteFile.from_bytes(data).program.segments == [
        DataSegment(offset=0, size=20),
        DataSegment(offset=128, size=7),
    ]


def test_the_segment_base_keeps_the_alignment_of_the_file() -> None:
    data = _edited(_two_segments(segment_alignment=4096)).to_bytes()
    assert header_of(data)[2] % 4096 == 0


def test_a_file_without_data_gets_no_header() -> None:
    pte = PteFile.from_bytes(file_bytes(Program(), [b""], header_length=0))
    pte.program.version = 1
    data = pte.to_bytes()
    assert data[8:12] != b"eh00"
    assert PteFile.from_bytes(data).program == Program(version=1, segments=[DataSegment()])


def test_a_list_of_devices_that_names_the_cpu_survives() -> None:
    devices = [
        NonConstBufferDevice(0, DeviceType.CPU, 0),
        NonConstBufferDevice(1, DeviceType.CUDA, 3),
    ]
    assert _rewritten(_with_devices(devices)).non_const_buffer_device == devices


def test_a_method_without_a_list_of_devices_gets_none() -> None:
    assert _rewritten(_with_devices(None)).non_const_buffer_device is None
    assert _rewritten(_with_devices([])).non_const_buffer_device == []


def _with_devices(devices: list[NonConstBufferDevice] | None) -> ExecutionPlan:
    return ExecutionPlan(
        name="forward", non_const_buffer_sizes=[0, 48], non_const_buffer_device=devices
    )


def _rewritten(plan: ExecutionPlan) -> ExecutionPlan:
    """A plan as it is read from the file that holds it, edited and saved."""
    pte = PteFile.from_bytes(file_bytes(Program(execution_plan=[plan]), header_length=0))
    pte.program.version = 1
    (again,) = PteFile.from_bytes(pte.to_bytes()).program.execution_plan
    return again


def test_inline_data_is_written_inline() -> None:
    program = Program(
        constant_buffer=[Buffer(), Buffer(storage=b"12345678")],
        backend_delegate_data=[BackendDelegateInlineData(data=b"blob")],
    )
    pte = PteFile.from_bytes(file_bytes(program, header_length=0))
    pte.program.version = 1
    again = PteFile.from_bytes(pte.to_bytes())
    assert [bytes(value) for value in again.constants] == [b"", b"12345678"]
    assert again.program.backend_delegate_data == program.backend_delegate_data


@pytest.mark.parametrize("alignment", [16, 64, 256])
def test_inline_data_gets_the_alignment_that_is_asked(alignment: int) -> None:
    program = Program(backend_delegate_data=[BackendDelegateInlineData(data=b"the blob")])
    pte = PteFile(program, [b"segment"])
    pte.force_align = {"BackendDelegateInlineData.data": alignment}
    data = pte.to_bytes()
    assert data.index(b"the blob") % alignment == 0
    assert check_bytes(data) == []


def test_an_alignment_that_is_asked_of_a_loaded_file_counts_as_an_edit() -> None:
    program = Program(backend_delegate_data=[BackendDelegateInlineData(data=b"the blob")])
    pte = PteFile.from_bytes(file_bytes(program, [b"segment"]))
    pte.force_align = {"BackendDelegateInlineData.data": 256}
    assert pte.is_modified()
    assert pte.to_bytes().index(b"the blob") % 256 == 0


def test_an_alignment_that_makes_no_difference_is_no_edit() -> None:
    data = _two_segments(gap=b"x")
    pte = PteFile.from_bytes(data)
    pte.force_align = {"BackendDelegateInlineData.data": 16}
    assert not pte.is_modified()
    assert pte.to_bytes() == data


def test_writing_changes_nothing_in_the_object() -> None:
    pte = PteFile(two_gpu_program(), [b"", b"blob"])
    pte.rebuild_device_table()
    pte.program.execution_plan[0].non_const_buffer_sizes[2] += 64
    table, program = pte.device_table, copy.deepcopy(pte.program)
    contents = [bytes(segment) for segment in pte.segments]
    size = pte.size
    data = pte.to_bytes()
    assert size == len(data)
    assert pte.device_table == table
    assert pte.program == program
    assert [bytes(segment) for segment in pte.segments] == contents
    written = PteFile.from_bytes(data).device_table
    assert written == derive(program)
    assert written != table


def test_the_alignment_of_a_program_is_the_greatest_of_the_schema() -> None:
    program = Program(constant_buffer=[Buffer(storage=b"the bytes")])
    for length in range(32, 80, 8):
        data = file_bytes(program, [b"A"], header_length=length, extra=bytes(length - 32))
        pte = PteFile.from_bytes(data)
        pte.program.version += 1
        assert pte.to_bytes().index(b"the bytes") % 16 == 0


def test_a_new_file_is_laid_out_from_its_segments() -> None:
    pte = PteFile(Program(), [b"first", b"second"])
    data = pte.to_bytes()
    assert check_bytes(data) == []
    assert [bytes(segment) for segment in PteFile.from_bytes(data).segments] == [
        b"first",
        b"second",
    ]
    assert data == file_bytes(Program(), [b"first", b"second"])


def test_a_changed_directory_of_segments_is_refused() -> None:
    pte = PteFile.from_bytes(_two_segments())
    pte.program.segments[1].size = 6
    with pytest.raises(
        InvalidStateError, match=r"program\.segments was changed, but PteFile keeps"
    ):
        pte.to_bytes()


def test_a_program_that_cannot_be_packed_is_refused_with_its_path(tmp_path: Path) -> None:
    pte = PteFile.from_bytes(_two_segments())
    pte.program.version = -1
    with pytest.raises(PackError, match=r"^version: -1 is out of range for uint32"):
        pte.save(tmp_path / "bad.pte")
    assert list(tmp_path.iterdir()) == []


def test_writing_holds_no_second_copy_of_the_data() -> None:
    size = 64 << 20
    data = with_area(Program(segments=[DataSegment(size=size)]), bytes(size))
    pte = PteFile.from_bytes(data)
    pte.program.version = 1
    tracemalloc.start()
    try:
        chunks = pte.chunks()
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        assert sum(map(len, chunks)) > size
        assert len(pte.to_bytes()) > size
        assert tracemalloc.get_traced_memory()[1] < size + (1 << 20)
    finally:
        tracemalloc.stop()


def test_saving_over_the_loaded_file_works(tmp_path: Path) -> None:
    path = tmp_path / "file.pte"
    path.write_bytes(_two_segments())
    pte = PteFile.load(path)
    pte.program.execution_plan[0].name = "other"
    pte.save(path)
    assert PteFile.load(path).program.execution_plan[0].name == "other"
    assert bytes(pte.segments[0]) == b"A" * 20


def test_the_mode_of_an_existing_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "file.pte"
    path.write_bytes(b"old")
    path.chmod(0o640)
    PteFile.from_bytes(_two_segments()).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_gets_the_usual_mode(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        PteFile.from_bytes(_two_segments()).save(tmp_path / "file.pte")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "file.pte").stat().st_mode) == 0o640


def test_a_symbolic_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target.pte"
    target.write_bytes(b"old")
    link = tmp_path / "link.pte"
    link.symlink_to(target)
    PteFile.from_bytes(_two_segments()).save(link)
    assert link.is_symlink()
    assert target.read_bytes() == _two_segments()


def _fail_after(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the disk full after a number of writes."""
    write = os.write
    written = iter(range(count))

    def full(descriptor: int, data: bytes) -> int:
        if next(written, None) is None:
            raise OSError(28, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", full)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_full_disk_leaves_the_old_file(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.pte"
    path.write_bytes(b"old")
    pte = _edited(_two_segments())
    _fail_after(count, monkeypatch)
    with pytest.raises(OSError, match=r"No space left on device: '.*file\.pte'"):
        pte.save(path)
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("file.pte", b"old")]


@pytest.mark.parametrize("call", ["fsync", "truncate"])
def test_a_failing_disk_leaves_no_file(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="Input/output error"):
        PteFile.from_bytes(_two_segments()).save(tmp_path / "file.pte")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.pte"
    path.write_bytes(b"old")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        PteFile.from_bytes(_two_segments()).save(path)
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("file.pte", b"old")]


def test_the_data_is_on_the_disk_before_the_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.pte"
    sync = os.fsync
    there_at_sync: list[bool] = []

    def record(descriptor: int) -> None:
        there_at_sync.append(path.exists())
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    PteFile.from_bytes(_two_segments()).save(path)
    assert there_at_sync == [False, True], "the file first, then the folder"


def test_a_missing_folder_is_an_os_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none/file\.pte"):
        PteFile.from_bytes(_two_segments()).save(tmp_path / "none" / "file.pte")


def test_nothing_is_written_over_a_folder(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match=r"is a folder; nothing is written over it"):
        PteFile.from_bytes(_two_segments()).save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over_a_device() -> None:
    with pytest.raises(AccessError, match=r"/dev/null is not a regular file"):
        PteFile.from_bytes(_two_segments()).save("/dev/null")
