"""ExportConfig: what can be chosen when a model is exported."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from placewire.planner import Mode

from .target import Compat

__all__ = ["ExportConfig", "PerMethod"]

PerMethod = bool | dict[str, bool]
"""A setting for all methods, or for each by name; what a dictionary does not name is False."""

_Alignment = Annotated[int, Field(ge=1, le=1 << 16, strict=True)]

_PER_METHOD = ("skip_h2d_for_method_inputs", "skip_d2h_for_method_outputs")


class ExportConfig(BaseModel):
    """How to export.

    Attributes:
        compat: The runtime that the program is for. `executorch-1.5` holds nothing that
            ExecuTorch's runtime does not know; `placewire` uses what ours can do besides.
        alignment: Bytes to which the planner aligns every tensor in its buffer: a power of two, at
            most 65536, which is the largest page.
        constant_alignment: Bytes to which each constant is aligned: likewise.
        planner: How hard the memory planner tries; see `placewire.planner`.
        skip_h2d_for_method_inputs: Inputs for delegates on a device are expected on the device of
            the first of them, in memory that the caller brings. What needs one elsewhere gets a
            copy.
        skip_d2h_for_method_outputs: Outputs that a delegate computes stay on its device, in memory
            that the caller brings; those that are views of other tensors, in planned memory.
        share_mutable_buffers: Buffers of the model that any method changes are one for all methods:
            each is at the same place in all of them, in planned buffers of their own, so that a
            runtime which shares memory between methods sees one cache. Without, every method plans
            its own.
        enable_device_memory_planning: Plan a buffer for every device. Without, what delegates take
            and give is labelled with their device and planned on the CPU, and no copies are made.
        stacktraces: Write the source lines of every instruction into the program.
        names: Write the qualified name of every buffer that the program changes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    compat: Compat = "executorch-1.5"
    alignment: _Alignment = 16
    constant_alignment: _Alignment = 16
    planner: Mode = "fast"
    skip_h2d_for_method_inputs: PerMethod = False
    skip_d2h_for_method_outputs: PerMethod = False
    share_mutable_buffers: bool = False
    enable_device_memory_planning: bool = True
    stacktraces: bool = False
    names: bool = True

    @field_validator("alignment", "constant_alignment")
    @classmethod
    def _is_power_of_two(cls, value: int) -> int:
        if value & (value - 1):
            raise ValueError(f"an alignment is a power of two, such as 16; found {value}")
        return value

    @model_validator(mode="after")
    def _skips_nothing_without_planning(self) -> ExportConfig:
        for setting in _PER_METHOD:
            value = getattr(self, setting)
            asked = any(value.values()) if isinstance(value, dict) else value
            if asked and not self.enable_device_memory_planning:
                raise ValueError(
                    f"{setting} leaves out copies, but without enable_device_memory_planning there "
                    "are none; leave that on, or do not skip"
                )
        return self

    def check_methods(self, methods: Collection[str]) -> None:
        """Refuse settings for methods that there are not.

        Raises:
            ValueError: A dictionary names another method.
        """
        for setting in _PER_METHOD:
            value = getattr(self, setting)
            unknown = sorted(set(value) - set(methods)) if isinstance(value, dict) else []
            if unknown:
                raise ValueError(
                    f"{setting} names {', '.join(unknown)}; the methods are "
                    f"{', '.join(sorted(methods))}"
                )

    def for_method(self, setting: str, method: str) -> bool:
        """The value of a per-method setting for one method."""
        value: Any = getattr(self, setting)
        return bool(value.get(method, False)) if isinstance(value, dict) else bool(value)
