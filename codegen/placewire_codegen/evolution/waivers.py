"""Waivers: findings that a project has decided to live with, and those that nothing needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from ..config import ConfigError, Waiver
from ..model import Location
from .findings import Finding
from .rules import RULES

__all__ = ["waive"]


def waive(findings: Iterable[Finding], waivers: Sequence[Waiver], source: str) -> list[Finding]:
    """Return the findings that no waiver covers, and one for each waiver that covers none.

    Args:
        findings: All findings, of every level.
        waivers: What is waived.
        source: The file that the waivers stand in.

    Raises:
        ConfigError: A waiver names a rule that does not exist.
    """
    for waiver in waivers:
        if waiver.rule not in RULES:
            raise ConfigError(
                f"{source}, [tool.placewire.compat]: there is no rule `{waiver.rule}`; "
                "`placewire compat --rules` lists them"
            )
    used: set[int] = set()
    left = []
    for finding in findings:
        covering = {index for index, waiver in enumerate(waivers) if _covers(waiver, finding)}
        used |= covering
        if not covering:
            left.append(finding)
    unused = (waiver for index, waiver in enumerate(waivers) if index not in used)
    return [*left, *(_unused(waiver, source) for waiver in unused)]


def _covers(waiver: Waiver, finding: Finding) -> bool:
    return waiver.rule == finding.rule.name and fnmatchcase(finding.path, waiver.path)


def _unused(waiver: Waiver, source: str) -> Finding:
    broken = RULES["WAIVER_USED"]
    return Finding(
        broken,
        waiver.path,
        f"the waiver of {waiver.rule} waives nothing",
        None,
        Location(path=source, line=0, column=0),
        broken.affected,
        broken.consequence,
    )
