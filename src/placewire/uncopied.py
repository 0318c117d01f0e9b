"""Objects that stand for something in this process, of which there can be no copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from placewire_schema.errors import InvalidTypeError

from .wording import described

if TYPE_CHECKING:
    from typing import SupportsIndex

__all__ = ["Uncopied"]


class Uncopied:
    """Base of classes whose objects have memory, or a place in a registry, of this process.

    A copy would share it with the original, and in another process it would mean nothing. So `copy`
    and `pickle` refuse.
    """

    def _instead_of_copy(self) -> str:
        """What to do instead, as the end of a sentence."""
        raise NotImplementedError

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn:
        """Refuse.

        Raises:
            InvalidTypeError: Always; it says what to do.
        """
        raise InvalidTypeError(
            f"{described(self)} can be neither copied nor pickled: it refers to memory of this "
            f"process; {self._instead_of_copy()}"
        )
