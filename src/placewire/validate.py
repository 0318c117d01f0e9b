"""The validator: everything that is wrong with a .pte file, found before anything is loaded.

`docs/validator.md` explains every rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from placewire_schema.errors import InvalidArgumentError

from ._core import core

if TYPE_CHECKING:
    from placewire_schema import Finding

__all__ = ["Rule", "rules", "validate"]


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

    Checks the container first, then the structure of the program's FlatBuffer, then its meaning. A
    fault that hides where the program is, or that of the structure, is the only finding, for what
    lies behind it cannot be read. Takes time and memory in proportion to the program, whatever the
    file claims; segments are not read.

    Args:
        buffer: The whole file: anything contiguous with the buffer protocol. Other Python threads
            wait until the check is over, so that none of them can change it meanwhile.
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
    if maximum_findings < 0:
        raise InvalidArgumentError(f"maximum_findings is {maximum_findings}, expected 0 or more")
    return core.validate(buffer, maximum_findings)


def rules() -> tuple[Rule, ...]:
    """Return all rules: those of container and meaning, those of the structure, the codec's."""
    return tuple(Rule(*rule) for rule in core.rules())
