"""Loads what is to be exported: `module.py:factory`, `package.module:factory` or a `.pt2` file."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import torch
from torch._logging import set_logs  # type: ignore[attr-defined]
from torch.export import ExportedProgram

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
    place, colon, name = text.rpartition(":")
    if not colon or not name:
        raise SourceError(f"{text!r} is not of the form module.py:factory, nor a .pt2 file")
    module = _module(place)
    if not hasattr(module, name):
        public = ", ".join(sorted(key for key in vars(module) if not key.startswith("_"))[:20])
        raise SourceError(f"{place} has no {name!r}; it has {public or 'nothing'}")
    made = getattr(module, name)
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
    if isinstance(made, Mapping) and made and _all_exported(made):
        return made, None, None
    if isinstance(made, tuple) and made and isinstance(made[0], torch.nn.Module):
        rest = made[1:]
        if len(rest) == 1 and isinstance(rest[0], tuple):
            return made[0], rest[0], None
        if len(rest) == 2 and isinstance(rest[0], tuple) and isinstance(rest[1], dict):
            return made[0], rest[0], rest[1]
    found = type(made).__name__
    raise SourceError(
        f"{text} gives {found}; expected (module, (argument, ...)), "
        "(module, (argument, ...), {keyword: argument}), an ExportedProgram, "
        "or a dictionary of ExportedPrograms by method"
    )


def _all_exported(methods: Mapping[Any, Any]) -> bool:
    return all(
        isinstance(key, str) and isinstance(value, ExportedProgram)
        for key, value in methods.items()
    )


def _saved(path: Path) -> ExportedProgram:
    if not path.is_file():
        raise SourceError(f"{path}: there is no such file")
    try:
        return torch.export.load(path)
    except Exception as error:
        raise SourceError(f"{path}: torch.export cannot load it: {error}") from error


def _module(place: str) -> ModuleType:
    """Import a module by its name or from a file, whose folder can be imported from, too."""
    if not place.endswith(".py"):
        try:
            return importlib.import_module(place)
        except ImportError as error:
            raise SourceError(f"cannot import {place}: {error}") from error
    path = Path(place)
    if not path.is_file():
        raise SourceError(f"{place}: there is no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SourceError(f"{place}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    if path.stem not in sys.modules:  # a model in json.py must not take the place of the module
        sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
