"""Tells of an exception in code that is not ours: what failed, and where in the user's code."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

import placewire

__all__ = ["caused_failure", "failure"]

_OTHERS = tuple(
    sorted(
        {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
        | {str(folder) for folder in placewire.__path__}
    )
)
"""Where code lies that the user has not written."""


def failure(what: str, error: Exception, *, whole: bool) -> str:
    """The text for an exception.

    Args:
        what: What failed.
        error: Why.
        whole: Give the whole traceback instead of the user's line.
    """
    if whole:
        return _in_full(what, error)
    return "\n".join([f"{what}: {_summary(error)}", *_place(error), _ADVICE])


def caused_failure(error: Exception, *, whole: bool) -> str:
    """The text for an exception of ours, which says what failed, with the place in the user's code
    if that is what it came from.

    Args:
        error: The exception.
        whole: Give the whole traceback of its cause, too.
    """
    cause = error.__cause__
    if cause is None:
        return str(error)
    if whole:
        return _in_full(str(error), cause)
    place = _place(cause)
    return "\n".join([str(error), *place, *([_ADVICE] if place else [])])


_ADVICE = "--traceback shows where in full"


def _in_full(what: str, error: BaseException) -> str:
    return f"{what}:\n{''.join(traceback.format_exception(error))}".rstrip()


def _place(error: BaseException) -> list[str]:
    """A line for the innermost place in the user's code; none if no code of the user's ran."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_users(frame)]
    if not frames:
        return []
    last = frames[-1]
    return [f"    {last.filename}:{last.lineno} in {last.name}: {last.line}"]


def _summary(error: Exception) -> str:
    """Kind and first paragraph of an exception; torch adds pages for its own developers."""
    paragraph = str(error).strip().partition("\n\n")[0]
    text = f"{type(error).__name__}: {paragraph}" if paragraph else type(error).__name__
    return "\n    ".join([text, *getattr(error, "__notes__", ())])


def _is_users(frame: traceback.FrameSummary) -> bool:
    path = str(Path(frame.filename).absolute())
    if frame.filename.startswith("<") or "site-packages" in Path(path).parts:
        return False
    return not path.startswith(_OTHERS)
