"""ExportConfig: what can be chosen when a model is exported."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from placewire.planner import Mode

from .target import Compat

__all__ = ["ExportConfig", "PerMethod"]

PerMethod = bool | dict[str, bool]
"""A setting for all methods, or for each by name; what a dictionary does not name is False."""


class ExportConfig(BaseModel):
    """How to export.

    Attributes:
        compat: The runtime that the program is for. `executorch-1.5` holds nothing that
            ExecuTorch's runtime does not know; `placewire` uses what ours can do besides.
        alignment: Bytes to which the planner aligns every tensor in its buffer: a power of two.
        constant_alignment: Bytes to which each constant is aligned: a power of two.
        planner: How hard the memory planner tries; see `placewire.planner`.
        skip_h2d_for_method_inputs: Inputs that only delegates on one device use are expected on
            that device, and no copy is made.
        skip_d2h_for_method_outputs: Outputs that a delegate computes stay on its device.
        enable_device_memory_planning: Plan a buffer for every device. Without, delegates keep the
            device of their inputs and outputs to themselves, and no copies are inserted.
        stacktraces: Write the source lines of every instruction into the program.
        names: Write the qualified name of every buffer that the program changes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    compat: Compat = "executorch-1.5"
    alignment: Annotated[int, Field(ge=1)] = 16
    constant_alignment: Annotated[int, Field(ge=1)] = 16
    planner: Mode = "fast"
    skip_h2d_for_method_inputs: PerMethod = False
    skip_d2h_for_method_outputs: PerMethod = False
    enable_device_memory_planning: bool = True
    stacktraces: bool = False
    names: bool = True

    @field_validator("alignment", "constant_alignment")
    @classmethod
    def _is_power_of_two(cls, value: int) -> int:
        if value & (value - 1):
            raise ValueError(f"an alignment is a power of two, such as 16; found {value}")
        return value

    def for_method(self, setting: str, method: str) -> bool:
        """The value of a per-method setting for one method."""
        value: Any = getattr(self, setting)
        return bool(value.get(method, False)) if isinstance(value, dict) else bool(value)
