"""Devices for tests: what runs on a GPU can be tried on a machine that has none.

`docs/device-memory.md` shows it. The fixture for pytest is in `placewire.pytest_plugin`.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ._core import core
from .argument_types import HIGHEST_SIZE, checked_integer, checked_text
from .device import Device, as_device
from .uncopied import Uncopied

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


class SimulatedDevice(Uncopied):
    """A device that no hardware stands behind, in this process's registry while it is entered.

    Its memory is separate from the host's: an access by the host ends the process with SIGSEGV, so
    only code that copies as it would have to on real hardware passes. New memory holds bytes 0xFF,
    which is NaN or -1 in most types. Different devices can be simulated at the same time.

    Args:
        device: Which device it stands for, of any kind. Default `cuda:0`.
        memory: Its size in bytes; allocating more at a time fails. Default, and most: half of
            what the process may use, which is the host's memory or what a control group leaves.

    Raises:
        InvalidTypeError: `device` is neither a device nor a name, or `memory` is no integer.
        InvalidArgumentError: There is no such device, or `memory` is negative.

    Example:
        >>> with SimulatedDevice("cuda:0") as device:
        ...     device.fail("allocate", 3)
    """

    def __init__(self, device: Device | str = "cuda:0", *, memory: int | None = None) -> None:
        self._device = as_device(device)
        limit = HIGHEST_SIZE if memory is None else checked_integer("memory", memory)
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
        return OperationCount(*self._simulation.count(checked_text("operation", operation)))

    def fail(self, operation: Operation, nth: int = 1) -> None:
        """Let the `nth` call of an operation from now on fail, once; 0 takes that back.

        Allocations fail with `AllocationError`, all else with `AccessError`. Nothing else happens:
        what could not be freed stays allocated.

        Raises:
            InvalidArgumentError: There is no such operation.
        """
        self._simulation.fail(checked_text("operation", operation), checked_integer("nth", nth))

    def view(self, address: int, nbytes: int) -> memoryview:
        """Return the bytes behind an address on the device, for code that plays its part.

        They may be read and written, until the memory is freed. Nothing is counted.

        Raises:
            InvalidArgumentError: Not all of these bytes are in one block that is allocated.
        """
        backing = self._simulation.backing(
            checked_integer("address", address), checked_integer("nbytes", nbytes)
        )
        return memoryview((ctypes.c_ubyte * nbytes).from_address(backing)).cast("B")

    def _instead_of_copy(self) -> str:
        return f"simulate it again with SimulatedDevice({str(self._device)!r})"

    def __repr__(self) -> str:
        return (
            f"SimulatedDevice({str(self._device)!r}, {self.allocations} allocations, "
            f"{self.bytes} bytes)"
        )
