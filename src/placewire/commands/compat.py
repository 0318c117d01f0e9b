"""`placewire compat`: tells what a change of a schema breaks."""

from __future__ import annotations

import gc
from collections import Counter
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import FAILURE, WRONG_USAGE, count, output, printable, say

if TYPE_CHECKING:
    from placewire_codegen.evolution import Finding
    from placewire_codegen.evolution.references import References, Side

__all__ = ["compat"]


class _Level(str, Enum):
    WIRE = "wire"
    SEMANTIC = "semantic"
    SOURCE = "source"


class _Format(str, Enum):
    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    JUNIT = "junit"


def compat(
    schemas: Annotated[
        list[str] | None,
        typer.Argument(
            help="The old schema and the new one; with --against only the new one. "
            "A new one that is not given is the project's own.",
            metavar="[BASE] [HEAD]",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            help="The old schema: git:REV, a folder, a .fbs, a .bfbs, or release:VERSION.",
            metavar="BASE",
        ),
    ] = None,
    level: Annotated[
        _Level, typer.Option("--level", help="Leave out what breaks less than that.")
    ] = _Level.SOURCE,
    format_: Annotated[
        _Format, typer.Option("--format", help="How to write the findings.")
    ] = _Format.TEXT,
    include: Annotated[
        list[Path] | None,
        typer.Option("--include", "-I", help="Folder to search for includes. Repeatable."),
    ] = None,
    project: Annotated[
        Path | None, typer.Option("--project", help="Folder of the pyproject.toml to read.")
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--files",
            help="Read real files, and tell which of them are touched. Repeatable.",
            metavar="'GLOB'",
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", help="How many processes read files.", min=1)
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules and end.")] = False,
) -> None:
    """Tell what breaks if the new schema follows the old one: files, their meaning, or code.

    Exits with 1 if there are findings, and with 2 if a schema cannot be read.
    """
    if rules:
        _list_rules(level, format_)
        return
    from placewire_codegen.config import ConfigError
    from placewire_codegen.evolution.references import BadReferenceError, References

    references = References(project or Path(), tuple(include or ()))
    if files:
        _read_files(references, files, schemas or [], against, level, format_, jobs)
        return
    if jobs is not None:
        raise _wrong_usage("--jobs goes with --files")
    base, head = _sides(schemas or [], against)
    gc.disable()  # two large trees that live until the end are all that there is to collect
    try:
        shown = _compare(references, base, head, level, format_, with_waivers=head is None)
    except (BadReferenceError, ConfigError) as error:
        raise _wrong_usage(str(error)) from None
    except OSError as error:
        raise _wrong_usage(f"{error.filename}: {error.strerror}") from None
    if shown:
        raise typer.Exit(FAILURE)


def _read_files(
    references: References,
    files: list[str],
    schemas: list[str],
    against: str | None,
    level: _Level,
    format_: _Format,
    jobs: int | None,
) -> None:
    """Read files, of which HEAD alone may be named: BASE is the last release then."""
    from placewire_codegen.config import ConfigError
    from placewire_codegen.evolution import Level
    from placewire_codegen.evolution.references import BadReferenceError

    from .compat_files import NoFileError, check_files

    base, head = None, schemas[0] if schemas else None
    if against is not None or len(schemas) > 1:
        base, head = _sides(schemas, against)
    try:
        is_good = check_files(
            references,
            files,
            base,
            head,
            level=Level(level.value),
            format_=format_.value,
            jobs=jobs,
        )
    except (BadReferenceError, ConfigError, NoFileError) as error:
        raise _wrong_usage(str(error)) from None
    if not is_good:
        raise typer.Exit(FAILURE)


def _wrong_usage(message: str) -> typer.Exit:
    say(f"error: {message}")
    return typer.Exit(WRONG_USAGE)


def _sides(schemas: list[str], against: str | None) -> tuple[str, str | None]:
    """Return the references of BASE and HEAD; no HEAD is the project."""
    given = schemas if against is None else [against, *schemas]
    if not given:
        raise _wrong_usage("name the old schema: placewire compat --against git:main")
    if len(given) > 2:
        raise _wrong_usage(f"too many schemas: {', '.join(given)}; BASE and HEAD are two at most")
    return given[0], given[1] if len(given) == 2 else None


def _compare(
    references: References,
    base_text: str,
    head_text: str | None,
    level: _Level,
    format_: _Format,
    *,
    with_waivers: bool,
) -> list[Finding]:
    """Compare, write the findings, and return those that are shown."""
    from placewire_codegen.evolution import Level, compare_schemas
    from placewire_codegen.evolution.report import FORMATS, Report
    from placewire_codegen.evolution.waivers import waive

    head = references.project_side() if head_text is None else references.side(head_text)
    base = references.side(base_text, head)
    _say_what_is_not_committed(base_text, head)
    found = compare_schemas(base.schema, head.schema)
    left = found
    if with_waivers:
        source = str(references.project_folder / "pyproject.toml")
        left = waive(found, references.project().compat.waivers, source)
    shown = [finding for finding in left if Level(level.value).shows(finding.level)]
    for line in FORMATS[format_.value](Report(shown, base, head)):
        typer.echo(printable(line))
    say(_summary(base, head, found, shown))
    return shown


def _say_what_is_not_committed(base_text: str, head: Side) -> None:
    """Say that HEAD is more than Git knows; it is compared as it is."""
    if not base_text.startswith("git:") or not head.entries:
        return
    from placewire_codegen.evolution.git_files import GitError, Repository

    try:
        changed = Repository(head.entries[0].parent).changed(map(Path, head.schema.files))
    except GitError:
        return  # HEAD is outside of any repository
    for path in changed:
        say(f"note: {path} has changes that are not committed; they are compared, too")


def _summary(base: Side, head: Side, found: list[Finding], shown: list[Finding]) -> str:
    from placewire_codegen.evolution import Level, is_identical_on_the_wire

    if shown:
        levels = Counter(finding.level.value for finding in shown)
        parts = ", ".join(f"{number} {name}" for name, number in levels.items())
        return f"{count(len(shown), 'finding')}: {parts}"
    waived = sum(finding.level is Level.WIRE for finding in found)
    if waived:
        return f"no findings; {count(waived, 'break')} on the wire waived"
    is_identical = is_identical_on_the_wire(base.schema, head.schema)
    return f"no findings; {'identical' if is_identical else 'compatible'} on the wire"


def _list_rules(level: _Level, format_: _Format) -> None:
    from placewire_codegen.evolution import RULES, Level

    listed = [rule for rule in RULES.values() if Level(level.value).shows(rule.level)]
    if format_ is _Format.JSON:
        from json import dumps

        for rule in listed:
            breaks = [who.value for who in rule.affected]
            typer.echo(
                dumps(
                    {
                        "rule": rule.name,
                        "level": rule.level.value,
                        "meaning": rule.meaning,
                        "breaks": breaks,
                        "consequence": rule.consequence,
                    }
                )
            )
        return
    if format_ is not _Format.TEXT:
        raise _wrong_usage(f"--rules has no format {format_.value}; choose text or json")
    console = output()
    width = max(len(rule.name) for rule in listed)
    for rule in listed:
        line = f"{rule.level.value:8}  {rule.name:{width}}  {rule.meaning}"
        console.print(line, markup=False, soft_wrap=True)
