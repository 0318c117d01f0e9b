"""Checks of the file around the FlatBuffer: its head, its extended header, its segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from placewire_schema import Finding

from ._header import HEADER_START, MAGIC, MINIMUM_LENGTH, ExtendedHeader, length_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from placewire_schema.program import DataSegment

__all__ = ["IDENTIFIER", "Head", "check_segments", "read_head"]

IDENTIFIER = b"ET12"

_SMALLEST = 16
"""Bytes of a FlatBuffer with an identifier and an empty table: root offset, table, vtable."""

_SEARCHED = 1 << 16
"""Bytes in which a misplaced identifier is looked for, to explain what is wrong."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the first bytes of a file say.

    Attributes:
        header: The extended header; `None` if the file has none.
        findings: What is wrong. If there is anything, nothing behind the head can be trusted.
    """

    header: ExtendedHeader | None
    findings: tuple[Finding, ...] = ()


def read_head(data: memoryview) -> Head:
    """Read and check the identifier and the extended header of a file."""
    identifier = tuple(_check_identifier(data))
    length = length_at(data)
    if identifier or length is None:
        return Head(None, identifier)
    if length < MINIMUM_LENGTH:
        return Head(
            None,
            _one(
                "EXTENDED_HEADER_INVALID",
                HEADER_START + 4,
                f"the extended header is {length} bytes long, expected at least {MINIMUM_LENGTH}",
            ),
        )
    if len(data) < HEADER_START + length:
        return Head(
            None,
            _one(
                "EXTENDED_HEADER_INVALID",
                len(data),
                f"the file ends at byte {len(data)}, inside its extended header, which ends at "
                f"byte {HEADER_START + length}",
            ),
        )
    header = ExtendedHeader.read(data, length)
    return Head(header, tuple(_check_header(header, HEADER_START + length, len(data))))


def check_segments(
    segments: Sequence[DataSegment], header: ExtendedHeader | None, data: memoryview
) -> Iterator[Finding]:
    """Check that every segment lies inside the segment data, and that nothing follows it."""
    end = max((segment.offset + segment.size for segment in segments if segment.size), default=0)
    if header is None:
        if end:
            found = bytes(data[HEADER_START : HEADER_START + len(MAGIC)])
            yield _error(
                "SEGMENT_WITHOUT_HEADER",
                HEADER_START,
                f"the program has {end} bytes of segment data, so an extended header must stand at "
                f"byte {HEADER_START}: found {found!r}, expected its magic {MAGIC!r}",
                "segments",
            )
        return
    if end and header.segment_base < header.program_size:
        yield _base_inside_program(header)
        return
    available = header.segment_data_size
    if available is None:
        available = max(len(data) - header.segment_base, 0)
        yield from _check_old_end(segments, header, len(data))
    for index, segment in enumerate(segments):
        if segment.size and segment.offset + segment.size > available:
            yield _error(
                "SEGMENT_OUT_OF_FILE",
                header.segment_base,
                f"the segment ends at byte {segment.offset + segment.size} of the segment data, "
                f"which has {available} bytes",
                f"segments[{index}]",
            )


def _check_old_end(
    segments: Sequence[DataSegment], header: ExtendedHeader, file_size: int
) -> Iterator[Finding]:
    """Check that a file ends with its last segment if its header does not say where it ends."""
    # An empty segment may be listed behind padding.
    end = max((segment.offset + segment.size for segment in segments), default=0)
    expected = max(header.segment_base + end, header.program_size)
    if file_size > expected:
        yield _wrong_end(file_size, expected, "where the last segment ends")


def _check_identifier(data: memoryview) -> Iterator[Finding]:
    if len(data) < HEADER_START:
        size = f"has {len(data)} bytes" if data else "is empty"
        yield _error(
            "FILE_TOO_SMALL",
            len(data),
            f"the file {size}; a .pte file begins with a root offset and the identifier "
            f"{IDENTIFIER.decode()!r}, {HEADER_START} bytes",
        )
        return
    found = bytes(data[4:HEADER_START])
    if found == IDENTIFIER:
        if len(data) < _SMALLEST:
            yield _error(
                "FILE_TOO_SMALL",
                len(data),
                f"the file has {len(data)} bytes; the smallest program has {_SMALLEST}",
            )
        return
    position = bytes(data[:_SEARCHED]).find(IDENTIFIER)
    if position < 0:
        reason = f"not a .pte file: bytes 4..8 are {found!r}, expected {IDENTIFIER!r}"
        yield _error("NOT_A_PROGRAM", 4, reason)
        return
    shift = (
        f"{position - 4} bytes precede the program"
        if position > 4
        else f"{4 - position} bytes are missing before it"
    )
    yield _error(
        "BASE_SHIFTED",
        position,
        f"the identifier {IDENTIFIER.decode()!r} stands at byte {position}, expected at byte 4: "
        f"{shift}",
    )


def _check_header(header: ExtendedHeader, header_end: int, file_size: int) -> Iterator[Finding]:
    if header.program_size < header_end:
        yield _error(
            "EXTENDED_HEADER_INVALID",
            16,
            f"the header says that the program ends at byte {header.program_size}, inside the "
            f"header, which ends at byte {header_end}",
        )
        return
    if header.program_size > file_size:
        yield _wrong_end(file_size, header.program_size, "where the program ends, or behind it")
        return
    data_size = header.segment_data_size
    if data_size and header.segment_base < header.program_size:
        yield _base_inside_program(header)
        return
    if data_size is None:
        return
    end = max(header.segment_base + data_size, header.program_size)
    if end != file_size:
        reason = (
            f"where the {data_size} bytes of segment data that begin at byte "
            f"{header.segment_base} end"
            if data_size
            else "where the program ends"
        )
        yield _wrong_end(file_size, end, reason)


def _base_inside_program(header: ExtendedHeader) -> Finding:
    return _error(
        "EXTENDED_HEADER_INVALID",
        24,
        f"the header says that segments begin at byte {header.segment_base}, inside the program, "
        f"which ends at byte {header.program_size}",
    )


def _wrong_end(found: int, expected: int, reason: str) -> Finding:
    """The file is shorter or longer than its parts; the offset is where one of them ends."""
    rule = "FILE_TRUNCATED" if found < expected else "FILE_GROWN"
    difference = "missing" if found < expected else "too many"
    message = (
        f"the file ends at byte {found}, expected at byte {expected}, {reason} "
        f"({abs(expected - found)} {difference})"
    )
    return _error(rule, min(found, expected), message)


def _one(rule: str, offset: int, message: str) -> tuple[Finding, ...]:
    return (_error(rule, offset, message),)


def _error(rule: str, offset: int, message: str, path: str = "") -> Finding:
    return Finding(rule=rule, level="error", path=path, offset=offset, message=message)
