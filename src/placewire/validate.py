"""The validator: everything that is wrong with a .pte file, found before anything is loaded.

`docs/validator.md` explains every rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from mmap import mmap
from typing import TYPE_CHECKING

from placewire_schema.errors import InvalidArgumentError

from ._core import core
from .mapping import settled

if TYPE_CHECKING:
    from placewire_schema import Finding

__all__ = ["Rule", "rules", "settled_head", "validate", "validate_layout"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that files are checked against.

    Attributes:
        name: Its name in findings, such as `TENSOR_DEVICE_MISMATCH`.
        level: `error` if a file that breaks it should not be loaded, else `warning`.
        meaning: What breaking it means, in a few words. Some have places for numbers in braces.
    """

    name: str
    level: str
    meaning: str


def validate(buffer: object, *, maximum_findings: int = 1000) -> list[Finding]:
    """Find everything that is wrong with a .pte file.

    Checks the container, the structure of the program's FlatBuffer, the extent of the segments, and
    the program's meaning. A fault that hides where the program is, or that of the structure, is the
    only finding, for what lies behind it cannot be read. Takes time and memory in proportion to the
    program, whatever the file claims; of the segments only the device table is read.

    Args:
        buffer: The whole file: anything contiguous with the buffer protocol. Other Python threads
            wait until the check is over, so that none of them can change it meanwhile. Of an
            `mmap.mmap`, which other processes may change, all that is read is copied first.
        maximum_findings: How many findings to list. If there are more, one last finding, of the
            rule MORE_FINDINGS, says how many.

    Returns:
        The findings, by stage and then in the order of the program's fields. Their level is `error`
        or `warning`; a file with warnings alone can be loaded. Offsets count from the file's start.

    Raises:
        InvalidArgumentError: `maximum_findings` is negative. It is also a `ValueError`.
        TypeError: `buffer` does not support the buffer protocol.
        BufferError: The bytes of `buffer` are not contiguous.
        MemoryError: Memory ran out.

    Example:
        >>> [finding.rule for finding in validate(b"not a program")]
        ['NOT_A_PROGRAM']
    """
    return _validate(buffer, maximum_findings, layout_only=False)


def validate_layout(
    buffer: object, *, head: memoryview | None = None, maximum_findings: int = 1000
) -> list[Finding]:
    """Find what keeps parts of a .pte file from being read: all but the program's meaning.

    Checks the container, the structure of the program's FlatBuffer, and the extent of the segments.

    Args:
        buffer: As for `validate`.
        head: What `settled_head` gave for `buffer`, to be checked in the place of the file's first
            bytes. Default: it is read anew.
        maximum_findings: As for `validate`.

    Returns:
        The findings, as of `validate`.

    Raises:
        InvalidArgumentError, TypeError, BufferError, MemoryError: As `validate`.
    """
    return _validate(buffer, maximum_findings, layout_only=True, head=head)


def settled_head(file: memoryview) -> memoryview:
    """Return the first bytes of a file, its head and its program, so that nobody can change them.

    They are copied if `file` is a view of an `mmap.mmap`; otherwise this is a view of it. Nothing
    is checked.
    """
    return settled(file[: core.head_size(file)])


def _validate(
    buffer: object, maximum_findings: int, *, layout_only: bool, head: memoryview | None = None
) -> list[Finding]:
    if maximum_findings < 0:
        raise InvalidArgumentError(f"maximum_findings is {maximum_findings}, expected 0 or more")
    with memoryview(buffer) as file:  # type: ignore[arg-type]  # what is no buffer is refused here
        if head is None and isinstance(file.obj, mmap):
            head = settled_head(file)
        return core.validate(file, maximum_findings, layout_only, head)


def rules() -> tuple[Rule, ...]:
    """Return all rules: those of container and meaning, those of the structure, the codec's."""
    return tuple(Rule(*rule) for rule in core.rules())
