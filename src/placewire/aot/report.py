"""Report: what an export did, how long its stages took, and what its programs need."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .memory import BufferPlan

__all__ = ["MethodReport", "Report"]


@dataclass(slots=True)
class MethodReport:
    """One method.

    Attributes:
        operators: Calls of each kernel.
        buffers: The planned buffers.
    """

    operators: dict[str, int] = field(default_factory=dict)
    buffers: list[BufferPlan] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """All of it.

    Attributes:
        seconds: Time of each stage, over all methods.
        methods: The methods by name.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    methods: dict[str, MethodReport] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time that the block takes to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
