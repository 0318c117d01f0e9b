"""Memory on devices, and the allocator for CUDA; docs/device-memory.md shows both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placewire_schema.errors import InvalidStateError
from placewire_schema.program import DeviceType

from ._core import core
from .argument_types import checked_integer, wrong_type
from .device import Device, as_device
from .uncopied import Uncopied

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = [
    "DeviceMemoryBuffer",
    "cuda_device_count",
    "has_allocator",
    "register_cuda_allocator",
    "unregister_allocator",
]


class DeviceMemoryBuffer(Uncopied):
    """Memory on a device, which goes with the object, by `free`, or at the end of a `with`.

    Once it is freed, nothing can be written to it or read.

    Args:
        nbytes: Its size; 0 allocates nothing.
        device: Where.
        alignment: Of its address, in bytes, a power of two. Default 0: the device's own.

    Raises:
        InvalidTypeError: A number is none, or `device` is neither a device nor a name.
        InvalidArgumentError: There is no such device, or the alignment is no power of two.
        NotFoundError: The device has no allocator.
        AllocationError: The allocator has no memory left.

    Example:
        >>> with DeviceMemoryBuffer(4, "cuda:0") as buffer:
        ...     buffer.write(b"abcd")
    """

    def __init__(self, nbytes: int, device: Device | str, *, alignment: int = 0) -> None:
        self._device = as_device(device)
        self._is_freed = False
        self._buffer = core.DeviceMemoryBuffer(
            checked_integer("nbytes", nbytes),
            self._device.type,
            self._device.index,
            checked_integer("alignment", alignment),
        )

    @property
    def device(self) -> Device:
        """Where it is."""
        return self._device

    @property
    def address(self) -> int:
        """Its address on the device; 0 if it is empty. The host must not follow it."""
        return self._buffer.address

    @property
    def nbytes(self) -> int:
        """Its size; 0 once it is freed."""
        return self._buffer.size

    def write(self, data: object, offset: int = 0) -> None:
        """Copy a contiguous buffer of the host to the device, from byte `offset` on.

        Raises:
            InvalidArgumentError: It does not fit.
            InvalidStateError: The memory was freed.
            AccessError: The device cannot be written to.
        """
        self._held().write(data, checked_integer("offset", offset))

    def read(self, nbytes: int | None = None, offset: int = 0) -> bytes:
        """Copy from the device to the host. Default: everything from `offset` on.

        Raises:
            InvalidArgumentError: There are not so many bytes.
            InvalidStateError: The memory was freed.
            AccessError: The device cannot be read.
        """
        start = checked_integer("offset", offset)
        wanted = (
            max(0, self.nbytes - start) if nbytes is None else checked_integer("nbytes", nbytes)
        )
        return self._held().read(wanted, start)

    def free(self) -> None:
        """Free the memory now, unless that is done."""
        self._is_freed = True
        self._buffer.free()

    def _held(self) -> core.DeviceMemoryBuffer:
        if self._is_freed:
            raise InvalidStateError(
                f"the memory on {self._device} was freed; make another DeviceMemoryBuffer"
            )
        return self._buffer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.free()

    def _instead_of_copy(self) -> str:
        return "make another one, and write to it what this one reads"

    def __repr__(self) -> str:
        return f"DeviceMemoryBuffer({self.nbytes}, {str(self._device)!r})"


def register_cuda_allocator() -> None:
    """Let memory be allocated on GPUs; before that, nothing of CUDA is looked for.

    Raises:
        NotFoundError: There is no CUDA runtime library, no driver, or no device; the message says
            which, and what was tried.
        AlreadyRegisteredError: It was called before.
    """
    core.register_cuda_allocator()


def cuda_device_count() -> int:
    """Return the number of GPUs, at least 1.

    Raises:
        NotFoundError: As of `register_cuda_allocator`.
    """
    return core.cuda_device_count()


def has_allocator(device: Device | str) -> bool:
    """Tell whether memory can be allocated on a device."""
    place = as_device(device)
    return core.has_allocator(place.type, place.index)


def unregister_allocator(device_type: DeviceType) -> None:
    """Take the allocator of a kind out of the registry; buffers that it serves keep it.

    Raises:
        NotFoundError: None is registered.
    """
    try:
        kind = DeviceType(device_type)
    except ValueError:
        raise wrong_type(
            "device_type", device_type, "a DeviceType such as DeviceType.CUDA"
        ) from None
    core.unregister_allocator(kind)
