"""Stack traces: which lines of Python a node comes from, read off the trace of torch.export."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from placewire_schema.program import Frame

if TYPE_CHECKING:
    from torch import fx

__all__ = ["frames_of"]

_PLACE = re.compile(r'\s*File "(?P<file>.*)", line (?P<line>\d+), in (?P<function>.+)')
_UNDERLINE = re.compile(r"[\s~^]*")
"""What Python 3.11 and later draw beneath a line, to point at a part of it."""


_GENERATED = "<eval_with_key>"
"""What torch calls the code that it makes of a graph. The user has never seen it, and the number
behind it counts how much torch has made in the process so far."""


def frames_of(node: fx.Node) -> list[Frame]:
    """The calls that led to a node, the outermost first; none if torch.export kept no trace.

    Those in code that torch has generated are left out.
    """
    trace = node.meta.get("stack_trace")
    frames: list[Frame] = []
    for line in trace.splitlines() if isinstance(trace, str) else []:
        place = _PLACE.fullmatch(line)
        if place is not None:
            frames.append(Frame(place["file"], int(place["line"]), place["function"].strip()))
        elif frames and not frames[-1].context and not _UNDERLINE.fullmatch(line):
            frames[-1].context = line.strip()
    return [frame for frame in frames if not (frame.filename or "").startswith(_GENERATED)]
