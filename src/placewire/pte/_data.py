"""Views of a file's data by name: constants, initial values of planned tensors, named data."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, MutableMapping, Sequence
from typing import TYPE_CHECKING, overload

from placewire_schema.errors import InvalidProgramError
from placewire_schema.program import DataLocation, NamedData

if TYPE_CHECKING:
    from placewire_schema.program import Buffer as InlineBuffer
    from placewire_schema.program import Program
    from typing_extensions import Buffer

    from ._segments import SegmentData

__all__ = ["InlineValues", "NamedDataView", "SegmentValues", "segment_at"]


class _Values(Sequence[memoryview]):
    """A read-only sequence of values; subclasses say how many there are and where each one is."""

    def _value(self, index: int) -> memoryview:
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> memoryview: ...
    @overload
    def __getitem__(self, index: slice) -> list[memoryview]: ...
    def __getitem__(self, index: int | slice) -> memoryview | list[memoryview]:
        if isinstance(index, slice):
            return [self._value(i) for i in range(len(self))[index]]
        try:
            return self._value(range(len(self))[index])
        except IndexError:
            raise IndexError(f"there is no value {index}; the file has {len(self)}") from None


class SegmentValues(_Values):
    """Values that share one segment. The file stores where they begin, not where they end.

    A value therefore reaches to the next one, so it may end with padding; entry 0 is reserved and
    empty.
    """

    def __init__(self, segment: memoryview, offsets: Sequence[int], path: str) -> None:
        self._segment = segment
        self._offsets = offsets
        self._path = path
        self._bounds = [*sorted(set(offsets)), len(segment)]

    def __len__(self) -> int:
        return len(self._offsets)

    def _value(self, index: int) -> memoryview:
        start = self._offsets[index]
        if start > len(self._segment):
            raise InvalidProgramError(
                f"{self._path}.offsets[{index}]: the value begins at byte {start} of its segment, "
                f"which has {len(self._segment)} bytes"
            )
        if index == 0:
            return self._segment[:0]
        return self._segment[
            start : self._bounds[bisect_right(self._bounds, start, hi=len(self._bounds) - 1)]
        ]


class InlineValues(_Values):
    """Constants that stand in the FlatBuffer itself, as in files before 2025."""

    def __init__(self, buffers: Sequence[InlineBuffer]) -> None:
        self._buffers = buffers

    def __len__(self) -> int:
        return len(self._buffers)

    def _value(self, index: int) -> memoryview:
        return memoryview(self._buffers[index].storage)


class NamedDataView(MutableMapping[str, memoryview]):
    """Data that the file looks up by name: key to bytes, in the order of the file.

    Setting a key adds a segment or replaces the content of the key's own; what other keys or
    delegates share stays as it is for them. Deleting a key also removes a segment that nothing else
    refers to. If a damaged file has a key twice, the first one counts, as in ExecuTorch.
    """

    def __init__(self, program: Program, segments: SegmentData) -> None:
        self._program = program
        self._segments = segments

    def __getitem__(self, key: str) -> memoryview:
        entry = self._entry(key)
        return segment_at(self._segments, entry.segment_index, f"named data {key!r}")

    def __setitem__(self, key: str, data: Buffer) -> None:
        if not isinstance(key, str):
            raise TypeError(f"the key of named data is a string, found {type(key).__name__}")
        entry = self._find(key)
        if entry is None:
            entries = self._program.named_data or []
            index = self._segments.append(data)
            self._program.named_data = [*entries, NamedData(key=key, segment_index=index)]
        elif _references(self._program, entry.segment_index) > 1:
            entry.segment_index = self._segments.append(data)
        else:
            segment_at(self._segments, entry.segment_index, f"named data {key!r}")
            self._segments.replace(entry.segment_index, data)
        self._program.segments = self._segments.directory()

    def __delitem__(self, key: str) -> None:
        entry = self._entry(key)
        index = entry.segment_index
        if _references(self._program, index) == 1 and index < len(self._segments):
            self._segments.remove(index)
            self._program.segments = self._segments.directory()
        rest = [other for other in self._program.named_data or [] if other is not entry]
        self._program.named_data = rest or None

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(entry.key for entry in self._program.named_data or []))

    def __len__(self) -> int:
        return len({entry.key for entry in self._program.named_data or []})

    def __repr__(self) -> str:
        sizes = ", ".join(f"{key!r}: {len(self[key])} bytes" for key in self)
        return f"{{{sizes}}}"

    def _find(self, key: str) -> NamedData | None:
        entries = self._program.named_data or []
        return next((entry for entry in entries if entry.key == key), None)

    def _entry(self, key: str) -> NamedData:
        entry = self._find(key)
        if entry is None:
            raise KeyError(key)
        return entry


def segment_at(segments: SegmentData, index: int, user: str) -> memoryview:
    """The bytes of a segment that something in the program refers to.

    Raises:
        InvalidProgramError: There is no such segment; the message begins with `user`.
    """
    if index >= len(segments):
        raise InvalidProgramError(
            f"{user}: refers to segment {index}, but the file has {len(segments)} segments"
        )
    return segments[index]


def _references(program: Program, segment: int) -> int:
    """How many places of the program refer to a segment."""
    subsegments = [*(program.mutable_data_segments or [])]
    if program.constant_segment is not None:
        subsegments.append(program.constant_segment)
    delegates = [delegate for plan in program.execution_plan for delegate in plan.delegates]
    return (
        sum(entry.segment_index == segment for entry in subsegments)
        + sum(entry.segment_index == segment for entry in program.named_data or [])
        + sum(
            delegate.processed.location is DataLocation.SEGMENT
            and delegate.processed.index == segment
            for delegate in delegates
        )
    )
