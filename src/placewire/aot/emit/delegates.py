"""Delegates in a program: their entries, and their blobs, each kept once however many share it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from placewire_schema.program import (
    BackendDelegate,
    BackendDelegateDataReference,
    BackendDelegateInlineData,
    CompileSpec,
    DataLocation,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from placewire_schema.program import ExecutionPlan, Program

    from placewire.aot.delegates import Delegate

__all__ = ["BlobPool"]


class BlobPool:
    """The blobs of a program's delegates.

    Entries refer to them by their number here; `place` makes that the number of a segment.
    """

    def __init__(self) -> None:
        self._blobs: list[bytes] = []
        self._by_content: dict[bytes, int] = {}

    def entry(self, delegate: Delegate) -> BackendDelegate:
        """The entry of a delegate in its method."""
        blob = delegate.blob
        index = self._by_content.setdefault(hashlib.sha256(blob).digest(), len(self._blobs))
        if index == len(self._blobs):
            self._blobs.append(blob)
        return BackendDelegate(
            id=delegate.backend.id,
            processed=BackendDelegateDataReference(DataLocation.SEGMENT, index),
            compile_specs=[CompileSpec(spec.key, spec.value) for spec in delegate.compile_specs],
        )

    def place(self, program: Program, first_segment: int) -> list[bytes]:
        """Let the entries of a program refer to segments, counted from `first_segment`.

        Segments come in the order of the methods and their delegates. An empty blob needs none: it
        stands in the program, as ExecuTorch writes it.

        Returns:
            The contents of the segments.
        """
        segments: list[bytes] = []
        numbers: dict[int, BackendDelegateDataReference] = {}
        for delegate in _delegates(program.execution_plan):
            index = delegate.processed.index
            if index not in numbers:
                blob = self._blobs[index]
                if blob:
                    number = first_segment + len(segments)
                    numbers[index] = BackendDelegateDataReference(DataLocation.SEGMENT, number)
                    segments.append(blob)
                else:
                    number = len(program.backend_delegate_data)
                    numbers[index] = BackendDelegateDataReference(DataLocation.INLINE, number)
                    program.backend_delegate_data.append(BackendDelegateInlineData(blob))
            where = numbers[index]
            delegate.processed = BackendDelegateDataReference(where.location, where.index)
        return segments


def _delegates(plans: Iterable[ExecutionPlan]) -> Iterable[BackendDelegate]:
    for plan in plans:
        yield from plan.delegates
