"""The demonstration behind `placewire demo`."""

from ._steps import Demonstration

__all__ = ["Demonstration"]
