"""The compiled core, once it has been checked that it belongs to this package."""

from __future__ import annotations

import placewire_schema
from placewire_schema import REBUILD_COMMAND
from placewire_schema.errors import StaleBuildError

try:
    from . import _runtime as core
except ImportError as error:
    raise StaleBuildError(
        f"placewire's C++ core cannot be imported ({error}); build it with: {REBUILD_COMMAND}"
    ) from error

__all__ = ["core"]

if core.MODEL_STAMP != placewire_schema.MODEL_STAMP:
    raise StaleBuildError(
        f"placewire's C++ core was built from another schema ({core.MODEL_STAMP}) than the Python "
        f"package ({placewire_schema.MODEL_STAMP}); rebuild it with: {REBUILD_COMMAND}"
    )
