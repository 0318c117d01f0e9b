"""Looking into programs: the JSON that flatc prints, and a summary for people."""

from ._json import to_json
from ._summary import (
    BufferSummary,
    DelegateSummary,
    FileSummary,
    MethodSummary,
    SegmentSummary,
    ValueSummary,
    summarize,
)

__all__ = [
    "BufferSummary",
    "DelegateSummary",
    "FileSummary",
    "MethodSummary",
    "SegmentSummary",
    "ValueSummary",
    "summarize",
    "to_json",
]
