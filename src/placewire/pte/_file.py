"""PteFile: loading, changing and saving a .pte file."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from placewire_schema import (
    UNKNOWN_RULES,
    Finding,
    UnpackError,
    pack_device_table,
    pack_program,
    unpack_device_table,
    unpack_program,
)
from placewire_schema.errors import (
    InvalidProgramError,
    InvalidStateError,
    UnknownContentError,
)
from placewire_schema.program import DataLocation
from placewire_schema.reflection import UINT64, tables

from placewire import device_table as device_tables
from placewire.mapping import map_privately, settled
from placewire.unknown_content import without_unknown_content

from ._atomic import write_atomically
from ._data import InlineValues, NamedDataView, SegmentValues, segment_at
from ._header import ExtendedHeader, insert_header, round_up
from ._segments import SEGMENT_ALIGNMENT, SegmentData, byte_view

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from placewire_schema.device_info import DeviceTable
    from placewire_schema.program import BackendDelegate, Program
    from typing_extensions import Buffer

__all__ = ["DEVICE_TABLE_KEY", "PteFile", "check_bytes", "check_file"]

DEVICE_TABLE_KEY = "placewire.device_table"
"""Key of the device table in a program's named data."""


class PteFile:
    """A .pte file in memory: the program, and the segments that hold its data.

    A loaded file that nobody changes is saved byte for byte as it was, whoever wrote it. As soon as
    the program or a segment is changed, saving writes the program anew and copies all segments that
    were not touched; their offsets from the segment base stay the same.

    Views of data (`constants`, `named_data`, ...) are memoryviews of the mapped file. Writing
    through one changes what `save` writes, not the file that was loaded.

    Args:
        program: The program of a new file. Edit it freely, then or later; only `program.segments`
            is kept by this class.
        segments: Contents of the segments of a new file. They are kept, not copied.
        alignments: Bytes to which segments of a new file are aligned, by index: powers of two.
            Default: 128, which is also the least.

    Attributes:
        program: The program.
        force_align: Alignment in bytes for data inside the FlatBuffer, by field, such as
            `{"BackendDelegateInlineData.data": 64}`; what is not named has that of the schema.
        unknown: What the file holds that this version's schema does not know.

    Example:
        >>> pte = PteFile.load("mlp.pte")
        >>> pte.program.execution_plan[0].name = "mlp"
        >>> pte.save("renamed.pte")
    """

    def __init__(
        self,
        program: Program,
        segments: Sequence[Buffer] = (),
        *,
        alignments: Mapping[int, int] | None = None,
    ) -> None:
        self.program = program
        self.force_align: dict[str, int] = {}
        self.unknown: tuple[Finding, ...] = ()
        self._original: tuple[memoryview, memoryview] | None = None
        self._header: ExtendedHeader | None = None
        self._segments = SegmentData()
        if segments:
            for index, data in enumerate(segments):
                wanted = (alignments or {}).get(index, 1)
                self._segments.append(data, max(SEGMENT_ALIGNMENT, wanted))
            program.segments = self._segments.directory()
        elif not any(entry.size for entry in program.segments):
            self._segments = SegmentData.of_file(memoryview(b""), program.segments, 0)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PteFile:
        """Map a file copy-on-write and read its program.

        The program is read into memory; segments stay in the file until they are touched, so the
        file may be larger than the memory. It must not be shortened as long as the object, or a
        view of its data, lives; replacing it, as `save` does, is fine.

        Raises:
            OSError: The file cannot be read.
            InvalidProgramError: It is damaged; the message says what was found, what was expected,
                and where. It is also a `ValueError`.
            StaleBuildError: The compiled core is missing or belongs to another schema.
        """
        return cls._open(map_privately(Path(path)), f"{path}: ")

    @classmethod
    def from_bytes(cls, data: Buffer) -> PteFile:
        """Read a file that is in memory. `data` is kept, not copied.

        Of an `mmap.mmap`, which other processes may change, the program is copied first.

        Raises:
            InvalidProgramError, StaleBuildError: As `load`.
        """
        return cls._open(byte_view(data), "")

    @classmethod
    def _open(cls, data: memoryview, source: str) -> PteFile:
        # Only reading takes the compiled core: what has just been generated can be written without.
        from placewire.validate import settled_head, validate_layout

        head = settled_head(data)
        for finding in validate_layout(data, head=head):
            if finding.level == "error":
                raise InvalidProgramError(f"{source}{finding}")
        report: list[Finding] = []
        program = unpack_program(head, strict=False, report=report)
        header = ExtendedHeader.read(head)
        has_area = header is not None and header.segment_base >= header.program_size
        base = header.segment_base if header is not None and has_area else len(data)
        pte = cls(program)
        program_end = len(head) if header is None else header.program_size
        pte._original = head[:program_end], data[program_end:]
        pte._header = header
        pte._segments = SegmentData.of_file(data[base:], program.segments, base)
        report += pte._device_table_findings()
        pte.unknown = tuple(finding for finding in report if finding.rule in UNKNOWN_RULES)
        return pte

    @property
    def size(self) -> int:
        """Bytes of the file as it was loaded; of one that is new, as it would be written now.

        Raises:
            PackError, InvalidStateError: As `chunks`, of a new file.
        """
        return sum(map(len, self._original or self.chunks()))

    @property
    def constants(self) -> Sequence[memoryview]:
        """The constants, by `Tensor.data_buffer_idx`. Entry 0 is reserved.

        The file stores no sizes: the view of a constant includes the padding that follows it.
        """
        where = self.program.constant_segment
        if where is None or len(where.offsets) < 2:
            return InlineValues(self.program.constant_buffer)
        segment = segment_at(self._segments, where.segment_index, "constant_segment")
        return SegmentValues(segment, where.offsets, "constant_segment")

    @property
    def mutable_data(self) -> Sequence[Sequence[memoryview]]:
        """Initial values of planned tensors.

        First by `ExtraTensorInfo.mutable_data_segments_idx`, then by `Tensor.data_buffer_idx`;
        otherwise as `constants`.
        """
        values = []
        for index, where in enumerate(self.program.mutable_data_segments or []):
            path = f"mutable_data_segments[{index}]"
            segment = segment_at(self._segments, where.segment_index, path)
            values.append(SegmentValues(segment, where.offsets, path))
        return values

    @property
    def named_data(self) -> NamedDataView:
        """Data by name. Assigning to a key or deleting it changes the file's segments."""
        return NamedDataView(self.program, self._segments)

    @property
    def segments(self) -> Sequence[memoryview]:
        """The contents of all segments, by index."""
        return [self._segments[index] for index in range(len(self._segments))]

    def delegate_blob(self, delegate: BackendDelegate) -> memoryview:
        """What a backend made of its subgraph.

        Args:
            delegate: A delegate of this program, such as `program.execution_plan[0].delegates[0]`.

        Raises:
            InvalidProgramError: The delegate refers to something that the file does not have.
        """
        where = delegate.processed
        user = f"delegate {delegate.id!r}"
        if where.location is DataLocation.SEGMENT:
            return segment_at(self._segments, where.index, user)
        blobs = self.program.backend_delegate_data
        if where.index >= len(blobs):
            raise InvalidProgramError(
                f"{user}: refers to inline data {where.index}, but the file has {len(blobs)}"
            )
        return memoryview(blobs[where.index].data)

    @property
    def device_table(self) -> DeviceTable | None:
        """The device table that the file carries, `None` if it carries none.

        What the schema does not know in it is in `unknown`, with paths that begin with
        `device_table`.

        Raises:
            InvalidProgramError: It is damaged.
        """
        if DEVICE_TABLE_KEY not in self.named_data:
            return None
        try:
            return unpack_device_table(settled(self.named_data[DEVICE_TABLE_KEY]), strict=False)
        except UnpackError as error:
            raise InvalidProgramError(f"named data {DEVICE_TABLE_KEY!r}: {error}") from error

    def rebuild_device_table(self, previous: DeviceTable | None = None) -> DeviceTable | None:
        """Make the device table agree with the program, adding one if the file carries none.

        A program that is on the CPU alone carries no table.

        Args:
            previous: A table that says what no plan holds, `alignment` and `requirements`, for the
                devices that the program uses. Default: the one that the file carries.

        Returns:
            The table that the file carries now.

        Raises:
            InvalidProgramError: The table that the file carries is damaged.
        """
        carried = self.device_table
        table = device_tables.derive(self.program, previous or carried)
        if table is None:
            self.named_data.pop(DEVICE_TABLE_KEY, None)
        elif table != carried:
            self.named_data[DEVICE_TABLE_KEY] = pack_device_table(table)
        return table

    def is_modified(self) -> bool:
        """Whether saving writes the file anew: always if it is new, else if something was changed.

        That is the program, a segment, or `force_align` so that it makes a difference. Bytes that
        were written through a view of a segment are saved where they are, and are no change here.

        Raises:
            PackError: The program holds something that cannot be written; the message has its path.
        """
        if self._original is None or self._segments.is_changed:
            return True
        head, _ = self._original
        loaded = unpack_program(head, strict=False)
        if self.unknown:
            # What pack refuses has a text all the same.
            return bool(self.force_align) or repr(self.program) != repr(loaded)
        return pack_program(self.program, force_align=self.force_align) != pack_program(loaded)

    def chunks(self, *, drop_unknown: bool = False) -> list[memoryview | bytes]:
        """The file's bytes, in pieces that are views of what this object holds.

        If the file must be written anew, a device table that it carries is brought up to date in
        what is written. Nothing in this object changes.

        Args:
            drop_unknown: Leave out what the schema does not know, if the file must be written anew.

        Raises:
            UnknownContentError: The file must be written anew, and that would lose something that
                the schema does not know.
            PackError: The program holds something that cannot be written; the message has its path.
            InvalidStateError: `program.segments` was changed.
            InvalidProgramError: The device table that the file carries is damaged.
        """
        if self._original is not None and not self.is_modified():
            return list(self._original)
        self._check_directory()
        program, segments = self._brought_up_to_date(drop_unknown)
        flatbuffer = pack_program(program, force_align=self.force_align)
        if self._header is None and not segments.size:
            return [flatbuffer]
        return self._with_header(flatbuffer, segments)

    def to_bytes(self, *, drop_unknown: bool = False) -> bytes:
        """The whole file. Raises as `chunks`."""
        return b"".join(self.chunks(drop_unknown=drop_unknown))

    def save(self, path: str | os.PathLike[str], *, drop_unknown: bool = False) -> None:
        """Write the file, completely or not at all.

        It is written beside `path` and then renamed, so `path` may be the file that was loaded. The
        mode of an existing file is kept.

        Raises:
            OSError: The file cannot be written. What was there before is still there.
            UnknownContentError, PackError, InvalidStateError: As `chunks`; nothing is written.
        """
        write_atomically(Path(path), self.chunks(drop_unknown=drop_unknown))

    def _device_table_findings(self) -> list[Finding]:
        """What is unknown in the device table. A damaged one is no reason not to load the file."""
        report: list[Finding] = []
        with contextlib.suppress(KeyError, InvalidProgramError, UnpackError):
            table = settled(self.named_data[DEVICE_TABLE_KEY])
            unpack_device_table(table, strict=False, report=report)
        return [
            replace(finding, path=f"device_table.{finding.path}".rstrip(".")) for finding in report
        ]

    def _brought_up_to_date(self, drop_unknown: bool) -> tuple[Program, SegmentData]:
        """What to write: without what is unknown, and with a device table that is true.

        It shares with this object all that is the same.

        Raises:
            UnknownContentError, PackError, InvalidProgramError: As `chunks`.
        """
        program = self.program
        if self.unknown:
            if not drop_unknown:
                first, *others = self.unknown
                raise UnknownContentError(
                    "writing the file anew would lose what this version's schema does not know: "
                    f"{first}{f'; and {len(others)} more' if others else ''}"
                )
            program = without_unknown_content(program)
        draft = PteFile(
            replace(
                program,
                segments=[replace(entry) for entry in program.segments],
                named_data=program.named_data and [replace(entry) for entry in program.named_data],
            )
        )
        draft._segments = self._segments.copy()
        if DEVICE_TABLE_KEY in draft.named_data:
            draft.rebuild_device_table()
        return draft.program, draft._segments

    def _check_directory(self) -> None:
        expected = self._segments.directory()
        if self.program.segments != expected:
            raise InvalidStateError(
                "program.segments was changed, but PteFile keeps it: found "
                f"{self.program.segments}, expected {expected}; use named_data to change data"
            )

    def _with_header(self, flatbuffer: bytes, segments: SegmentData) -> list[memoryview | bytes]:
        extra = self._header.extra if self._header else b""
        header = ExtendedHeader(0, 0, segments.size, extra)
        alignment = max([_greatest_alignment(), *self.force_align.values()])
        region = round_up(header.length, alignment)
        program_size = len(flatbuffer) + region
        base = round_up(program_size, segments.alignment)
        header = ExtendedHeader(program_size, base, segments.size, extra)
        return [
            *insert_header(flatbuffer, header.to_bytes(), region),
            bytes(base - program_size),
            *segments.chunks(),
        ]


@cache
def _greatest_alignment() -> int:
    """Alignment in bytes that nothing in a FlatBuffer exceeds, unless `force_align` asks for it."""
    fields = [field for table in tables().values() for field in table.fields]
    return max([UINT64.size, *(field.force_align for field in fields)])


def check_file(path: str | os.PathLike[str]) -> list[Finding]:
    """Find what keeps parts of a file from being read; see `check_bytes`.

    Raises:
        OSError: The file cannot be read.
        StaleBuildError: The compiled core is missing or belongs to another schema.
    """
    return check_bytes(map_privately(Path(path)))


def check_bytes(data: Buffer) -> list[Finding]:
    """Find what keeps parts of a file in memory from being read: `load` refuses it for an error.

    Returns:
        The findings; see `placewire.validate.validate_layout`.

    Raises:
        StaleBuildError: The compiled core is missing or belongs to another schema.
    """
    from placewire.validate import validate_layout

    return validate_layout(byte_view(data))
