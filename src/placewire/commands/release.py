"""`placewire release`: keeps the current schema as a release, and checks those that are kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import FAILURE, count, printable, refuse, say

if TYPE_CHECKING:
    from placewire_codegen.config import ProjectConfig
    from placewire_codegen.evolution.references import References, Side

__all__ = ["release"]

_VERSION = re.compile(r"v?\d+(\.\d+)*([-+.]?[A-Za-z0-9]+)*")
_SHOWN = 5


class _RefusedError(Exception):
    """Nothing was released; the message says why, and what to do."""


def release(
    version: Annotated[
        str | None, typer.Argument(help="Name of the release, such as 1.2.0.", show_default=False)
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Check that all releases and today's code read each other."),
    ] = False,
    project: Annotated[
        Path | None, typer.Option("--project", help="Folder of the pyproject.toml to read.")
    ] = None,
) -> None:
    """Keep the current schema as a release: a copy, and golden buffers for every table.

    Exits with 1 if a schema breaks the last release or a check fails, with 2 if it refuses.
    """
    if check == (version is not None):
        raise refuse("say either which version to release, or --check")
    from placewire_codegen.config import ConfigError
    from placewire_codegen.evolution.references import BadReferenceError, References

    references = References(project or Path())
    try:
        is_good = _check(references) if version is None else _release(references, version)
    except (_RefusedError, BadReferenceError, ConfigError) as error:
        raise refuse(str(error)) from None
    if not is_good:
        raise typer.Exit(FAILURE)


def _release(references: References, version: str) -> bool:
    """Freeze the current schema; return whether it keeps what the last release promised."""
    from placewire_codegen.evolution.history import HistoryError, freeze

    config = references.project()
    _check_version(references, version)
    head = references.project_side()
    _check_committed(references.project_folder)
    _check_generated(config)
    if not _keeps_last_release(references, head):
        return False
    try:
        folder = freeze(config, head.schema, version)
    except HistoryError as error:
        raise _RefusedError(str(error)) from None
    except OSError as error:
        place, why = error.filename or config.history, error.strerror
        raise _RefusedError(f"the release cannot be written: {place}: {why}") from None
    golden = len(list(folder.glob("golden/*.bin")))
    say(f"{folder}: {count(len(head.schema.files), 'schema')}, {count(golden, 'golden buffer')}")
    say("Commit the folder, and never edit it.")
    return True


def _check_version(references: References, version: str) -> None:
    from placewire_codegen.evolution.references import version_key

    if not _VERSION.fullmatch(version):
        raise _RefusedError(f"`{version}` is no version; name one such as 1.2.0")
    releases = references.releases()
    if version in releases:
        raise _RefusedError(
            f"{releases[version]} exists; a release is never changed, choose a higher version"
        )
    if releases and version_key(version) <= version_key(list(releases)[-1]):
        last = list(releases)[-1]
        raise _RefusedError(f"{version} does not come after {last}, the last release")


def _check_committed(folder: Path) -> None:
    """Refuse a working tree that is not what its last commit says."""
    from placewire_codegen.evolution.git_files import GitError, Repository

    try:
        changed = Repository(folder).uncommitted()
    except GitError as error:
        say(f"note: {error}; whether everything is committed was not checked")
        return
    if changed:
        raise _RefusedError(
            f"{_listed(changed)}: not committed; commit or remove what is to be released, "
            "so that the release is what a commit says"
        )


def _check_generated(config: ProjectConfig) -> None:
    """Refuse generated code that is not that of the schema."""
    from placewire_codegen.generate import generate

    changes = generate(config, check=True).changes
    if changes:
        raise _RefusedError(
            f"{_listed(changes.paths)}: not what the schema generates; "
            "run `placewire generate` and commit the result"
        )


def _listed(paths: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return printable(", ".join(paths[:_SHOWN])) + more


def _keeps_last_release(references: References, head: Side) -> bool:
    """Write what breaks the last release on the wire, unwaived; return whether nothing does."""
    if not references.releases():
        return True
    from placewire_codegen.evolution import Level, compare_schemas
    from placewire_codegen.evolution.report import FORMATS, Report
    from placewire_codegen.evolution.waivers import waive

    base = references.side("release:latest", head)
    source = str(references.project_folder / "pyproject.toml")
    found = compare_schemas(base.schema, head.schema)
    left = waive(found, references.project().compat.waivers, source)
    broken = [finding for finding in left if finding.level is Level.WIRE]
    for line in FORMATS["text"](Report(broken, base, head)):
        typer.echo(printable(line))
    if broken:
        say(
            f"{count(len(broken), 'finding')}: nothing was released. Keep what {base.name} "
            "promised, or waive it in [tool.placewire.compat] with a reason."
        )
    return not broken


def _check(references: References) -> bool:
    """Check every release; return whether all is well."""
    from placewire_codegen.evolution import Level, compare_schemas
    from placewire_codegen.evolution.history import Version, history_problems

    head = references.project_side()
    releases = references.releases()
    if not releases:
        raise _RefusedError(f"{references.project().history} holds no release to check")
    today = Version.of("today's code", head.schema)
    is_good = True
    for name, folder in releases.items():
        then = references.side(f"release:{name}", head).schema
        broken = [
            finding
            for finding in compare_schemas(then, head.schema)
            if finding.level is not Level.SOURCE
        ]
        if broken:
            say(
                f"note: {name} and today's code are not read by each other: "
                f"{count(len(broken), 'break')} since, "
                f"see `placewire compat --against release:{name} --level semantic`"
            )
        now = None if broken else today
        problems = list(history_problems(folder, Version.of(f"the code of {name}", then), now))
        for problem in problems:
            typer.echo(printable(problem))
        is_good = is_good and not problems
        say(f"{name}: {count(len(problems), 'problem') if problems else 'good'}")
    return is_good
