"""The C++ core (src/bindings); use it through `placewire._core`, which checks that it fits."""

from collections.abc import Callable

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
