"""Loads what is to be exported: `module.py:factory`, `package.module:factory` or a `.pt2` file."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch._logging import set_logs  # type: ignore[attr-defined]
from torch.export import ExportedProgram

from placewire.importing import ImportTextError, import_text

from .export import are_exported
from .wording import described

__all__ = ["Source", "SourceError", "load_source", "silence_torch"]

Source: TypeAlias = tuple[Any, tuple[Any, ...] | None, dict[str, Any] | None]
"""A model with its example arguments and keyword arguments; None if it is exported already."""


class SourceError(ValueError):
    """What was named cannot be exported; the message says why and what can."""


def load_source(text: str) -> Source:
    """Load a model.

    Args:
        text: `FILE.py:NAME` or `MODULE:NAME`, the name of a function without arguments or of an
            object; or the path of a `.pt2` file that `torch.export.save` wrote.

    Returns:
        The model, and example arguments where it still has to be exported by torch.

    Raises:
        SourceError: There is no such thing, or it is nothing that can be exported.
    """
    if text.endswith(".pt2"):
        return _saved(Path(text)), None, None
    _, colon, name = text.rpartition(":")
    if not colon or not name:
        raise SourceError(f"{text!r} is not of the form module.py:factory, nor a .pt2 file")
    try:
        made = import_text(text)
    except ImportTextError as error:
        raise SourceError(str(error)) from error.__cause__
    if isinstance(made, Callable) and not isinstance(made, torch.nn.Module):  # type: ignore[arg-type]
        made = made()
    return _checked(text, made)


def silence_torch() -> None:
    """Keep tracebacks that torch logs of what it then raises away, unless logs are asked for."""
    if "TORCH_LOGS" not in os.environ:
        set_logs(all=logging.CRITICAL)


def _checked(text: str, made: object) -> Source:
    if isinstance(made, ExportedProgram):
        return made, None, None
    if are_exported(made) and made:
        return made, None, None
    if isinstance(made, tuple) and made and isinstance(made[0], torch.nn.Module):
        rest = made[1:]
        if len(rest) == 1 and isinstance(rest[0], tuple):
            return made[0], rest[0], None
        if len(rest) == 2 and isinstance(rest[0], tuple) and isinstance(rest[1], dict):
            return made[0], rest[0], rest[1]
    found = described(made)
    raise SourceError(
        f"{text} gives {found}; expected (module, (argument, ...)), "
        "(module, (argument, ...), {keyword: argument}), an ExportedProgram, "
        "or a dictionary of ExportedPrograms by method"
    )


def _saved(path: Path) -> ExportedProgram:
    if not path.is_file():
        raise SourceError(f"{path}: there is no such file")
    try:
        return torch.export.load(path)
    except Exception as error:
        raise SourceError(f"{path}: torch.export cannot load it: {error}") from error
