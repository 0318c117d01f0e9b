"""Devices for tests: what runs on a GPU can be tried on a machine that has none.

`docs/device-memory.md` shows it. The fixture for pytest is in `placewire.pytest_plugin`.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ._core import core
from .device import Device

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["Operation", "OperationCount", "SimulatedDevice"]

Operation = Literal[
    "allocate",
    "deallocate",
    "copy_host_to_device",
    "copy_device_to_host",
    "copy_device_to_device",
]
"""What a device can be asked to do with memory."""


@dataclass(frozen=True, slots=True)
class OperationCount:
    """What was asked of a simulated device so far.

    Attributes:
        calls: Calls, those that failed included. Calls for no bytes do not reach a device.
        failures: Calls that failed.
        bytes: Bytes of the calls that succeeded.
    """

    calls: int
    failures: int
    bytes: int


class SimulatedDevice:
    """A device that no hardware stands behind, in this process's registry while it is entered.

    Its memory is separate from the host's: an access by the host ends the process with SIGSEGV, so
    only code that copies as it would have to on real hardware passes. New memory holds bytes 0xFF,
    which is NaN or -1 in most types. Different devices can be simulated at the same time.

    Args:
        device: Which device it stands for, of any kind. Default `cuda:0`.
        memory: Its size in bytes; allocating more at a time fails. Default, and most: half of the
            host's memory.

    Raises:
        InvalidArgumentError: `device` is not one.

    Example:
        >>> with SimulatedDevice("cuda:0") as device:
        ...     device.fail("allocate", 3)
    """

    def __init__(self, device: Device | str = "cuda:0", *, memory: int | None = None) -> None:
        self._device = device if isinstance(device, Device) else Device.parse(device)
        limit = 2 * sys.maxsize + 1 if memory is None else memory
        self._simulation = core.SimulatedDevice(self._device.type, self._device.index, limit)

    def __enter__(self) -> Self:
        """Cover the device in the registry.

        Raises:
            InvalidStateError: This object is entered already.
        """
        self._simulation.install()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Uncover it; what is still allocated stays usable until it is freed."""
        self._simulation.remove()

    @property
    def device(self) -> Device:
        """The device that it stands for."""
        return self._device

    @property
    def allocations(self) -> int:
        """Number of blocks that are allocated now."""
        return self._simulation.live_allocations

    @property
    def bytes(self) -> int:
        """Bytes that are allocated now."""
        return self._simulation.live_bytes

    @property
    def peak_bytes(self) -> int:
        """Most bytes that were ever allocated at a time."""
        return self._simulation.peak_bytes

    def count(self, operation: Operation) -> OperationCount:
        """Return what was asked of the device so far.

        Raises:
            InvalidArgumentError: There is no such operation.
        """
        return OperationCount(*self._simulation.count(operation))

    def fail(self, operation: Operation, nth: int = 1) -> None:
        """Let the `nth` call of an operation from now on fail, once; 0 takes that back.

        Allocations fail with `AllocationError`, all else with `AccessError`. Nothing else happens:
        what could not be freed stays allocated.

        Raises:
            InvalidArgumentError: There is no such operation.
        """
        self._simulation.fail(operation, nth)

    def view(self, address: int, nbytes: int) -> memoryview:
        """Return the bytes behind an address on the device, for code that plays its part.

        They may be read and written, until the memory is freed. Nothing is counted.

        Raises:
            InvalidArgumentError: Not all of these bytes are in one block that is allocated.
        """
        backing = self._simulation.backing(address, nbytes)
        return memoryview((ctypes.c_ubyte * nbytes).from_address(backing)).cast("B")

    def __repr__(self) -> str:
        return (
            f"SimulatedDevice({str(self._device)!r}, {self.allocations} allocations, "
            f"{self.bytes} bytes)"
        )
