"""Whether something stands where another thing stood: a rename, or something new in its number.

Number and type of the two are the same in both cases. What has been renamed stays in its place
among its neighbours; what is new is mostly written behind them, with the old number.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..model import Location

__all__ = ["stands_in_place"]


def stands_in_place(
    old: str, base: Mapping[str, Location], new: str, head: Mapping[str, Location]
) -> bool:
    """Whether `new` has the same neighbours before it in HEAD as `old` has in BASE.

    Only neighbours that both schemas have count. Places that nobody knows, as in a binary schema,
    say nothing against a rename.

    Args:
        old: A name of BASE.
        base: Places of `old` and its neighbours by name.
        new: A name of HEAD.
        head: The same for `new`.
    """
    if not (base[old].line and head[new].line):
        return True
    common = base.keys() & head.keys()
    before_old = {name for name in common if _place(base[name]) < _place(base[old])}
    before_new = {name for name in common if _place(head[name]) < _place(head[new])}
    return before_old == before_new


def _place(location: Location) -> tuple[int, int]:
    return location.line, location.column
