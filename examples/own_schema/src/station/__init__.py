"""Pipelines of weather stations, on top of what is generated from the schema."""

from ._base_units import PipelineError, convert_to_base_units

__all__ = ["PipelineError", "convert_to_base_units"]
