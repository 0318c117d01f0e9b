"""Simulated devices as a pytest fixture: `pytest_plugins = ["placewire.pytest_plugin"]`."""

from __future__ import annotations

import gc
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

import pytest

from .testing import SimulatedDevice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .device import Device

__all__ = ["Simulate", "simulate"]


class Simulate(Protocol):
    """Simulates a device until the test ends; arguments as of `SimulatedDevice`."""

    def __call__(
        self, device: Device | str = "cuda:0", *, memory: int | None = None
    ) -> SimulatedDevice: ...


@pytest.fixture
def simulate() -> Iterator[Simulate]:
    """Return a function that simulates a device until the test ends.

    The test fails if something is left allocated on one of them then.
    """
    devices: list[SimulatedDevice] = []
    with ExitStack() as stack:

        def start(device: Device | str = "cuda:0", *, memory: int | None = None) -> SimulatedDevice:
            devices.append(stack.enter_context(SimulatedDevice(device, memory=memory)))
            return devices[-1]

        yield start
        gc.collect()
        left = [device for device in devices if device.allocations]
        if left:
            pytest.fail(f"memory was not freed: {', '.join(map(repr, left))}")
