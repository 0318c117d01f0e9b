"""Names that runtimes look things up by: methods, backends, options."""

from __future__ import annotations

__all__ = ["checked_name"]


def checked_name(what: str, name: str) -> str:
    """A name that every runtime can hold: C++ ends a name at the first zero.

    Args:
        what: What has the name, for the message.
        name: The name.

    Raises:
        ValueError: It is empty, or has characters that cannot be shown or written.
    """
    if not name or not name.isprintable():
        raise ValueError(f"{what} is {name!r}; expected a text of printable characters")
    return name
