"""The C++ core (src/bindings); use it through `placewire._core`, which checks that it fits."""

from collections.abc import Callable, Sequence
from typing import Any, final

from placewire_schema import Finding
from typing_extensions import CapsuleType

from .device import Device

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

@final
class KernelSource:
    """Kernels that a function of Python's describes, by name and only once each.

    Args:
        find: Gives what `placewire.kernels.find_operator` gives, or None.

    Raises:
        InvalidTypeError: `find` cannot be called.
    """

    def __init__(self, find: Callable[[str], object | None]) -> None: ...
    def has(self, name: str) -> bool:
        """Tell whether there is a kernel for an operator."""

@final
class KernelScope:
    """The scope behind `placewire.ScopedKernel`."""

    def __init__(self, name: str, function: Callable[..., object], torch: bool) -> None: ...
    def install(self) -> None:
        """Put it before the registered kernel."""
    def remove(self) -> None:
        """Take it away; does nothing if it is not installed."""

def register_kernel(name: str, function: Callable[..., object], torch: bool) -> None:
    """Register a function; see `placewire.kernel`."""

def unregister_kernel(name: str) -> None:
    """Take a kernel out of the registry; see `placewire.custom_kernels.unregister_kernel`."""

@final
class Tensor:
    """A tensor of the core where it lies: of a method, which it keeps alive, or with own memory.

    numpy, torch and others take it by DLPack without a copy if they can reach its device. What a
    method writes into its tensors is seen here.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes now."""
    @property
    def strides(self) -> tuple[int, ...]:
        """Steps between elements, counted in elements."""
    @property
    def dim_order(self) -> tuple[int, ...]:
        """The dimensions from outermost to innermost in memory."""
    @property
    def scalar_type(self) -> int:
        """Number of the element type, as in `ScalarType`."""
    @property
    def device_type(self) -> int:
        """Number of the kind of device, as in `DeviceType`."""
    @property
    def device_index(self) -> int:
        """Which device of that kind."""
    @property
    def device(self) -> Device:
        """Where it is."""
    @property
    def address(self) -> int:
        """Address of the first element, on its device; 0 if it has no memory."""
    @property
    def nbytes(self) -> int:
        """Bytes of all elements now."""
    @property
    def is_static(self) -> bool:
        """Whether its sizes never change."""
    @property
    def host_address(self) -> int | None:
        """Where the host finds the elements: on the CPU and on simulated devices; else None."""
    def read(self) -> bytes:
        """Copy the elements to the host, in the order of memory.

        Raises:
            PlacewireError: The allocator of its device fails, or there is none.
        """
    def write(self, data: object) -> None:
        """Copy a contiguous buffer of the host into the elements, in the order of memory.

        Raises:
            InvalidTypeError: It has no buffer.
            InvalidArgumentError: It is of another size, or the tensor is read-only.
            PlacewireError: As of `read`.
        """
    def resize(self, shape: Sequence[int]) -> None:
        """Change the sizes of a tensor whose shape is dynamic.

        Raises:
            InvalidTypeError: It is no sequence of integers.
            InvalidArgumentError: Its bounds do not allow it.
        """
    def copy_to(self, device_type: int, device_index: int) -> Tensor:
        """Copy it to a device, where the copy has memory of its own.

        Raises:
            InvalidTypeError: A number is none.
            PlacewireError: An allocator fails, or there is none.
        """
    def __dlpack__(self, stream: None = None, **wishes: object) -> CapsuleType:
        """Hand it over as a DLPack capsule."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """Tell the kind of device, as DLPack numbers it, and the index."""

def copy_tensor(value: object, device_type: int, device_index: int) -> Tensor:
    """Copy anything with DLPack or a buffer to a device; see `placewire.tensors.copy_tensor`."""

@final
class TensorMeta:
    """What a file says of a tensor; see `placewire.module.TensorMeta`."""

    @property
    def scalar_type(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dim_order(self) -> tuple[int, ...]: ...
    @property
    def dynamism(self) -> int: ...
    @property
    def device_type(self) -> int: ...
    @property
    def device_index(self) -> int: ...
    @property
    def is_memory_planned(self) -> bool: ...
    @property
    def name(self) -> str: ...

@final
class ValueMeta:
    """What a file says of an input or output; see `placewire.module.ValueMeta`."""

    @property
    def kind(self) -> int:
        """Number of the member of the union KernelTypes."""
    @property
    def tensor(self) -> TensorMeta | None: ...

@final
class MethodMeta:
    """What a file says of a method; see `placewire.module.MethodMeta`. Independent of the file."""

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> tuple[ValueMeta, ...]: ...
    @property
    def outputs(self) -> tuple[ValueMeta, ...]: ...
    @property
    def input_tree(self) -> str: ...
    @property
    def output_tree(self) -> str: ...
    @property
    def buffers(self) -> tuple[tuple[int, int, int], ...]:
        """Bytes, kind of device and index of each planned buffer."""
    @property
    def instruction_count(self) -> int: ...
    @property
    def backends(self) -> tuple[str, ...]: ...
    @property
    def operators(self) -> tuple[str, ...]: ...

@final
class Program:
    """A validated file; see `placewire::Program`."""

    @staticmethod
    def open(path: bytes) -> Program:
        """Map a file, whose path is as the system has it: it need not be text.

        Raises:
            AccessError: It cannot be read.
            InvalidProgramError: The validator refuses it.
        """
    @staticmethod
    def load(buffer: object) -> Program:
        """Take a file that is in memory, which must not change.

        Raises:
            InvalidProgramError: The validator refuses it.
        """
    @property
    def method_names(self) -> tuple[str, ...]: ...
    @property
    def warnings(self) -> list[Finding]: ...
    @property
    def named_data_keys(self) -> tuple[str, ...]: ...
    def named_data(self, key: str) -> bytes | None:
        """Copy the data that the file has under a name; `None` if it has none.

        Raises:
            InvalidTypeError: The name is no text.
        """
    def meta(self, name: str) -> MethodMeta:
        """Return what the file says of a method.

        Raises:
            NotFoundError: There is no such method.
        """

@final
class Method:
    """A method that is loaded; see `placewire::Method`. Keeps its module alive."""

    def set_input(self, index: int, value: object) -> None:
        """Set an input: for a tensor anything with DLPack or a buffer, where it lies.

        Raises:
            InvalidArgumentError: It does not fit.
            InvalidTypeError: It is no tensor.
        """
    def execute(self) -> None:
        """Run it, without the interpreter lock.

        Raises:
            PlacewireError: As `placewire::Method::execute` says.
        """
    def input(self, index: int) -> Tensor | int | float | bool | str | list[Any] | None:
        """Return an input as it is now."""
    def output(self, index: int) -> Tensor | int | float | bool | str | list[Any] | None:
        """Return an output as it is now."""
    @property
    def planned_buffers(self) -> tuple[tuple[int, int, int], ...]:
        """Bytes, kind of device and index of each planned buffer, after the device map."""

@final
class Module:
    """The methods of a program; see `placewire::Module`.

    Args:
        program: The program.
        device_map: Kind and index of a device of the file, kind and index of what to take instead.
        backends: Objects with `id` and `load`; see `placewire.module.Backend`.
        kernel_sources: Asked in order for operators that the registry lacks.
        share_memory_arenas: Whether all methods use the same planned memory.
        prepare: Whether to do once what need not be done in each execution.
    """

    def __init__(
        self,
        program: Program,
        device_map: Sequence[tuple[int, int, int, int]],
        backends: Sequence[object],
        kernel_sources: Sequence[KernelSource],
        share_memory_arenas: bool,
        prepare: bool,
    ) -> None: ...
    def method(self, name: str) -> Method:
        """Return a method, loaded if it is not yet.

        Raises:
            PlacewireError: As `placewire::Method::load` says.
        """

@final
class DelegateDescription:
    """A delegate, as a backend gets to know it when a method is loaded."""

    @property
    def blob(self) -> memoryview:
        """What the backend made of the subgraph when it was exported; in the file, read-only."""
    @property
    def options(self) -> tuple[tuple[str, bytes], ...]:
        """What it was compiled with, as pairs in the order of the file."""
    @property
    def device_type(self) -> int:
        """Number of the kind of device on which it is to run."""
    @property
    def device_index(self) -> int:
        """Which device of that kind."""
    @property
    def device(self) -> Device:
        """Where it is to run: what the option `target_device` says, after the device map."""
    def named_data(self, key: str) -> memoryview | None:
        """Look data of the file up; `None` if it has none of that name."""
    @property
    def arguments(self) -> tuple[Any, ...]:
        """The values of its first call: the inputs, then the outputs. Tensors have their memory."""
    @property
    def method(self) -> str:
        """Name of the method."""

@final
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
