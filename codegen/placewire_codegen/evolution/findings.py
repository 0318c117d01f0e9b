"""One finding: which rule a change breaks, on what, and where it stands in both schemas."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Location
from .rules import Affected, Level, Rule

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """A change that breaks a rule.

    Attributes:
        rule: The rule.
        path: Full name of what has changed, as HEAD calls it if it is still there:
            `namespace.Table.field`.
        message: What is, and what was, without a full stop.
        base: Where that stands in BASE; None for what is new.
        head: Where it stands in HEAD. For what is gone, what it stood in; None if that is gone too.
        affected: Who breaks.
        consequence: How they break, in one sentence.
    """

    rule: Rule
    path: str
    message: str
    base: Location | None
    head: Location | None
    affected: tuple[Affected, ...]
    consequence: str

    @property
    def level(self) -> Level:
        return self.rule.level

    def __str__(self) -> str:
        return f"{self.level.value}: {self.path}: {self.message} [{self.rule.name}]"
