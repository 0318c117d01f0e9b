"""The segment data of a file: what each segment holds, and where it lies."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from placewire_schema.errors import InvalidTypeError
from placewire_schema.program import DataSegment

from ._header import round_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Buffer

__all__ = ["SEGMENT_ALIGNMENT", "SegmentData", "alignment_of", "byte_view"]

SEGMENT_ALIGNMENT = 128
"""Bytes to which segments are aligned if nothing else is asked; ExecuTorch's default too."""

_GREATEST_ALIGNMENT = 1 << 16
"""Alignment beyond which a position is taken to be round by chance: that of the largest pages."""

_PAGE = 4096


@dataclass(slots=True)
class _Segment:
    """One segment.

    Attributes:
        data: Its bytes.
        offset: Where it begins, from the segment base.
        alignment: What `offset` stays a multiple of when the segment moves.
        kept: Whether it lies in the part of the loaded file that is written as it was.
    """

    data: memoryview
    offset: int
    alignment: int
    kept: bool

    @property
    def end(self) -> int:
        return self.offset + len(self.data)


class SegmentData:
    """The segments of one file, in the order of their indices, which never change.

    What nobody touches stays where it is: all that lies before the first changed segment keeps its
    bytes and its offset from the segment base, padding included. What lies behind it moves to the
    next offset with at least the old alignment (as far as that is a power of two).

    Attributes:
        alignment: Bytes to which the segment base must be aligned, so that what is aligned in the
            area is aligned in the file.
    """

    def __init__(self) -> None:
        self.alignment = SEGMENT_ALIGNMENT
        self._kept = memoryview(b"")
        self._segments: list[_Segment] = []
        self._loaded = (0, 0)

    @classmethod
    def of_file(cls, area: memoryview, directory: Sequence[DataSegment], base: int) -> SegmentData:
        """Describe the segments of a loaded file.

        Args:
            area: The file from the segment base to its end.
            directory: `Program.segments`; every entry lies inside `area`, and none overlap.
            base: The segment base.
        """
        segments = cls()
        segments.alignment = _base_alignment(base, [entry.offset for entry in directory])
        segments._kept = area
        segments._loaded = (len(area), len(directory))
        for entry in directory:
            data = area[entry.offset : entry.offset + entry.size]
            alignment = alignment_of(entry.offset)
            segments._segments.append(_Segment(data, entry.offset, alignment, kept=True))
        return segments

    def copy(self) -> SegmentData:
        """Return segments that can be changed apart from these; the data itself is shared."""
        other = SegmentData()
        other.alignment = self.alignment
        other._kept = self._kept
        other._segments = [replace(segment) for segment in self._segments]
        other._loaded = self._loaded
        return other

    def __len__(self) -> int:
        return len(self._segments)

    def __getitem__(self, index: int) -> memoryview:
        return self._segments[index].data

    @property
    def size(self) -> int:
        """Bytes from the segment base to the end of the data."""
        return max([len(self._kept), *(segment.end for segment in self._segments if segment.data)])

    @property
    def is_changed(self) -> bool:
        """Whether anything differs from the loaded file."""
        everything_is_kept = all(segment.kept for segment in self._segments)
        return not everything_is_kept or self._loaded != (len(self._kept), len(self._segments))

    def directory(self) -> list[DataSegment]:
        """What `Program.segments` must say."""
        return [
            DataSegment(offset=segment.offset, size=len(segment.data)) for segment in self._segments
        ]

    def append(self, data: Buffer, alignment: int = SEGMENT_ALIGNMENT) -> int:
        """Add a segment behind all others; returns its index. `data` is kept, not copied."""
        self._segments.append(_Segment(byte_view(data), self.size, alignment, kept=False))
        self.alignment = max(self.alignment, alignment)
        self._place()
        return len(self._segments) - 1

    def replace(self, index: int, data: Buffer) -> None:
        """Give a segment another content. `data` is kept, not copied."""
        view = byte_view(data)
        self._release(index)
        self._segments[index].data = view
        self._place()

    def remove(self, index: int) -> None:
        """Take out the last segment; empty any other one, so that no index changes."""
        self._release(index)
        if index == len(self._segments) - 1:
            self._segments.pop()
        else:
            self._segments[index].data = memoryview(b"")
        self._place()

    def chunks(self) -> Iterator[memoryview | bytes]:
        """The bytes of the area in order: views of what is stored, and the padding between."""
        yield self._kept
        position = len(self._kept)
        for segment in self._movable():
            if not segment.data:
                continue
            yield bytes(segment.offset - position)
            yield segment.data
            position = segment.end

    def _movable(self) -> list[_Segment]:
        """The segments behind the kept part, in the order in which they are to lie there."""
        return [segment for segment in self._segments if not segment.kept]

    def _release(self, index: int) -> None:
        """Shorten the kept part so that it ends before a segment."""
        changed = self._segments[index]
        if not changed.kept:
            return
        for segment in self._segments:
            segment.kept = segment.kept and segment.end <= changed.offset
        changed.kept = False
        self._kept = self._kept[: max([s.end for s in self._segments if s.kept], default=0)]

    def _place(self) -> None:
        """Give every segment behind the kept part its offset."""
        position = len(self._kept)
        for segment in self._movable():
            segment.offset = round_up(position, segment.alignment)
            position = segment.end


def alignment_of(offset: int) -> int:
    """Alignment that an offset shows: the greatest power of two in it, within reason."""
    shown = offset & -offset or SEGMENT_ALIGNMENT
    return min(max(shown, SEGMENT_ALIGNMENT), _GREATEST_ALIGNMENT)


def _base_alignment(base: int, offsets: Sequence[int]) -> int:
    """Alignment that the writer of a file gave its segments, as far as their positions show it."""
    common = math.gcd(*offsets)
    if common:
        return alignment_of(math.gcd(base, common))
    # A single position is easily round by chance; only that of a page is likely to be meant.
    shown = alignment_of(base)
    return shown if shown >= _PAGE else SEGMENT_ALIGNMENT


def byte_view(data: Buffer) -> memoryview:
    """View any contiguous buffer as bytes.

    Raises:
        InvalidTypeError: `data` has no buffer, or not a contiguous one. It is also a `TypeError`.
    """
    try:
        view = memoryview(data)
        # A view without bytes cannot be cast.
        return view.cast("B") if view.nbytes else memoryview(b"")
    except TypeError as error:
        raise InvalidTypeError(
            f"expected bytes or another contiguous buffer, found {type(data).__name__}: {error}"
        ) from None
