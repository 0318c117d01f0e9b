"""The C++ core (src/bindings); use it through `placewire._core`, which checks that it fits."""

from placewire_schema import Finding

MODEL_STAMP: str
"""Hash of the schema that the core was built from."""

def validate(buffer: object, maximum_findings: int) -> list[Finding]:
    """Check a whole .pte file; see `placewire.validate.validate`.

    Holds the interpreter lock, so that no Python thread can change the buffer meanwhile.

    Raises:
        TypeError: `buffer` does not support the buffer protocol.
        BufferError: Its bytes are not contiguous.
        MemoryError: Memory ran out.
    """

def rules() -> list[tuple[str, str, str]]:
    """Return the name, level and meaning of every rule."""
