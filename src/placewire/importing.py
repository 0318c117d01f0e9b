"""Imports an object that is named in a text: `module.py:name` or `package.module:name`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["ImportTextError", "import_text"]


class ImportTextError(ValueError):
    """A text names nothing that can be imported; the message says why."""


def import_text(text: str) -> Any:  # noqa: ANN401 - whatever it is
    """Import what a text names. The module's code runs, as by any import.

    Args:
        text: `FILE.py:NAME` or `MODULE:NAME`.

    Raises:
        ImportTextError: It is not of that form, or there is no such thing.
        Exception: Whatever the module's own code raises.
    """
    place, colon, name = text.rpartition(":")
    if not colon or not name or not place:
        raise ImportTextError(f"{text!r} is not of the form module.py:name or package.module:name")
    module = _module(place)
    if not hasattr(module, name):
        public = ", ".join(sorted(key for key in vars(module) if not key.startswith("_"))[:20])
        raise ImportTextError(f"{place} has no {name!r}; it has {public or 'nothing'}")
    return getattr(module, name)


def _module(place: str) -> ModuleType:
    """Import a module by its name or from a file, whose folder can be imported from, too."""
    if not place.endswith(".py"):
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if not f"{place}.".startswith(f"{error.name}."):
                raise  # the module is there, but needs another one that is not
            raise ImportTextError(f"cannot import {place}: {error}") from error
    path = Path(place)
    if not path.is_file():
        raise ImportTextError(f"{place}: there is no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportTextError(f"{place}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    if path.stem not in sys.modules:  # a file json.py must not take the place of the module
        sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
