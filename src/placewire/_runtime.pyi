"""The C++ core (src/bindings); use it through `placewire._core`, which checks that it fits."""

from collections.abc import Callable, Sequence
from typing import Any

from placewire_schema import Finding

MODEL_STAMP: str
"""Hash of the schema that the core was built from."""

def validate(
    buffer: object, maximum_findings: int, layout_only: bool, head_copy: object | None
) -> list[Finding]:
    """Check a .pte file; see `placewire.validate.validate`.

    Holds the interpreter lock, so that no Python thread can change the buffer meanwhile.

    Args:
        buffer: The whole file.
        maximum_findings: How many findings to list.
        layout_only: Leave out the meaning.
        head_copy: A copy of the first `head_size` bytes that is read in their stead, for a file
            that other processes may change; `None` if nobody can.

    Raises:
        TypeError: `buffer` does not support the buffer protocol.
        BufferError: Its bytes are not contiguous.
        MemoryError: Memory ran out.
    """

def head_size(buffer: object) -> int:
    """How many of a file's first bytes hold its head and its program; nothing is checked."""

def rules() -> list[tuple[str, str, str]]:
    """Return the name, level and meaning of every rule."""

def plan(
    sizes: object,
    lowers: object,
    uppers: object,
    mode: int,
    alignment: int,
    seed: int,
    evaluations: int,
    nodes: int,
    capacity: int | None,
    progress: Callable[[str, int, int, int], object] | None,
) -> tuple[bytes, int, int, str, bool]:
    """Plan memory; see `placewire.planner.plan`.

    Releases the interpreter lock while it plans.

    Args:
        sizes: A contiguous buffer of int64, as are `lowers` and `uppers`. They are copied.
        lowers: Starts of lifetimes.
        uppers: Ends of lifetimes.
        mode: 0 fast, 1 search, 2 exact.
        alignment: As there, as are all that follow.
        seed: 0 to 2**64 - 1.
        evaluations: 0 to 2**64 - 1.
        nodes: 0 to 2**64 - 1.
        capacity: `None` is the lower bound.
        progress: Called with the fields of `PlanProgress`; `None` is nobody.

    Returns:
        The offsets as int64, total, lower bound, algorithm, and whether it is known to be optimal.

    Raises:
        PlacewireError: Of the class that its code has; and what `progress` raises.
    """

def verify_plan(
    sizes: object, lowers: object, uppers: object, offsets: object, alignment: int
) -> int:
    """Check a plan; see `placewire.planner.verify`. Returns the total."""

def has_allocator(device_type: int, index: int) -> bool:
    """Tell whether the registry has an allocator for a device."""

def register_cuda_allocator() -> None:
    """Register the allocator for CUDA.

    Raises:
        NotFoundError: There is no CUDA runtime library, no driver, or no device; the message says
            which, and what was tried.
        AlreadyRegisteredError: CUDA has an allocator.
    """

def unregister_allocator(device_type: int) -> None:
    """Take the allocator of a kind out of the registry; its buffers keep it alive.

    Raises:
        NotFoundError: None is registered.
    """

def cuda_device_count() -> int:
    """Return the number of GPUs, at least 1.

    Raises:
        NotFoundError: As of `register_cuda_allocator`.
    """

class DeviceMemoryBuffer:
    """Memory on a device, freed by `free` or with the object.

    Args:
        nbytes: Size in bytes; 0 allocates nothing.
        device_type: Number of the kind of device.
        index: Which device of that kind.
        alignment: Of the address, in bytes; 0 is the device's own.

    Raises:
        PlacewireError: As `placewire::DeviceMemoryBuffer::create` says.
    """

    def __init__(self, nbytes: int, device_type: int, index: int, alignment: int = 0) -> None: ...
    @property
    def address(self) -> int:
        """Address on the device; 0 if the buffer is empty. The host must not follow it."""
    @property
    def size(self) -> int:
        """Size in bytes."""
    def write(self, data: object, offset: int = 0) -> None:
        """Copy a contiguous buffer of the host to the device."""
    def read(self, nbytes: int, offset: int = 0) -> bytes:
        """Copy from the device to the host."""
    def free(self) -> None:
        """Free the memory now, and raise what the allocator says; the buffer is empty then."""

DEVICE_OPERATIONS: tuple[str, ...]
"""What a simulated device counts and lets fail."""

class SimulatedDevice:
    """The device behind `placewire.testing.SimulatedDevice`."""

    def __init__(self, device_type: int, index: int, memory: int) -> None: ...
    def install(self) -> None:
        """Cover the device in the registry."""
    def remove(self) -> None:
        """Uncover it; does nothing if it is not installed."""
    @property
    def live_allocations(self) -> int: ...
    @property
    def live_bytes(self) -> int: ...
    @property
    def peak_bytes(self) -> int: ...
    def count(self, operation: str) -> tuple[int, int, int]:
        """Return how many calls there were, how many failed, and the bytes of the others."""
    def fail(self, operation: str, nth: int) -> None:
        """Let the nth call from now on fail; 0 takes it back."""
    def backing(self, address: int, nbytes: int) -> int:
        """Return the host address of the bytes behind an address on the device."""

class SchemaWalk:
    """The C++ class of that name; the rows are those of `evolution.walk_tables`.

    Raises:
        ValueError: A row refers to one that is not there.
    """

    def __init__(
        self,
        tables: Sequence[tuple[Any, ...]],
        structs: Sequence[tuple[Any, ...]],
        enums: Sequence[tuple[Any, ...]],
        unions: Sequence[tuple[Any, ...]],
        triggers: int,
    ) -> None: ...
    def find(
        self, buffer: object, table: int, identifier: str, magic: str
    ) -> list[str | None] | None:
        """Return the path of each trigger's first part; None if a rule may be broken."""
