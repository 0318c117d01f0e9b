"""`placewire compat`: tells what a change of a schema breaks."""

from __future__ import annotations

import gc
import tempfile
from collections import Counter
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import FAILURE, OUR_FAULT, count, output, printable, refuse, say

if TYPE_CHECKING:
    from placewire_codegen.evolution import Finding
    from placewire_codegen.evolution.references import References, Side
    from placewire_codegen.evolution.report import Report
    from placewire_codegen.evolution.witness import Witness

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
    witness: Annotated[
        Path | None,
        typer.Option(
            "--witness",
            help="Write for each finding on the wire or of meaning a file that shows it. "
            "The folder must be new or empty.",
            metavar="DIR",
        ),
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
    root: Annotated[
        str | None,
        typer.Option(
            "--root",
            help="The table that the files begin with, if it is no root of the schema.",
            metavar="TABLE",
        ),
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules and end.")] = False,
) -> None:
    """Tell what breaks if the new schema follows the old one: files, their meaning, or code.

    Exits with 1 if there are findings, with 2 if a schema cannot be read or witnesses cannot be
    written, and with 3 if no file shows a finding, which is then a fault of placewire.
    """
    if rules:
        _list_rules(level, format_)
        return
    from placewire_codegen.config import ConfigError
    from placewire_codegen.evolution.references import BadReferenceError, References

    _check_include(include or [], [*(schemas or []), against or ""])
    references = References(project or Path(), tuple(include or ()))
    if files:
        if witness is not None:
            raise refuse("--witness does not go with --files")
        _read_files(references, files, schemas or [], against, level, format_, jobs, root)
        return
    for option, value in (("--jobs", jobs), ("--root", root)):
        if value is not None:
            raise refuse(f"{option} goes with --files")
    if witness is not None:
        _check_folder(witness)
    base, head = _sides(schemas or [], against)
    gc.disable()  # two large trees that live until the end are all that there is to collect
    try:
        report = _compare(references, base, head, level, format_, with_waivers=head is None)
        is_shown = witness is None or _write_witnesses(report, witness)
    except (BadReferenceError, ConfigError) as error:
        raise refuse(str(error)) from None
    if not is_shown:
        raise typer.Exit(OUR_FAULT)
    if report.findings:
        raise typer.Exit(FAILURE)


def _read_files(
    references: References,
    files: list[str],
    schemas: list[str],
    against: str | None,
    level: _Level,
    format_: _Format,
    jobs: int | None,
    root: str | None,
) -> None:
    """Read files, of which HEAD alone may be named: BASE is the last release then."""
    from placewire_codegen.config import ConfigError
    from placewire_codegen.evolution import Level
    from placewire_codegen.evolution.references import BadReferenceError

    from .compat_files import NoFileError, WorkerEndedError, check_files

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
            root=root,
        )
    except (BadReferenceError, ConfigError, NoFileError, WorkerEndedError) as error:
        raise refuse(str(error)) from None
    if not is_good:
        raise typer.Exit(FAILURE)


def _check_include(folders: list[Path], references: list[str]) -> None:
    """Refuse a folder that is not there; one that was there at a revision is looked up there."""
    if any(reference.startswith("git:") for reference in references):
        return
    for folder in folders:
        if not folder.is_dir():
            raise refuse(f"-I {folder}: there is no such folder")


def _sides(schemas: list[str], against: str | None) -> tuple[str, str | None]:
    """Return the references of BASE and HEAD; no HEAD is the project."""
    given = schemas if against is None else [against, *schemas]
    if not given:
        raise refuse("name the old schema: placewire compat --against git:main")
    if len(given) > 2:
        raise refuse(f"too many schemas: {', '.join(given)}; BASE and HEAD are two at most")
    return given[0], given[1] if len(given) == 2 else None


def _compare(
    references: References,
    base_text: str,
    head_text: str | None,
    level: _Level,
    format_: _Format,
    *,
    with_waivers: bool,
) -> Report:
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
    report = Report(shown, base, head)
    for line in FORMATS[format_.value](report):
        typer.echo(printable(line))
    say(_summary(base, head, found, shown))
    return report


def _check_folder(folder: Path) -> None:
    """Refuse a folder for witnesses that holds something, before anything is compared."""
    if folder.is_dir() and any(folder.iterdir()):
        raise refuse(f"{folder} is not empty; name a new folder for the witnesses")
    if folder.exists() and not folder.is_dir():
        raise refuse(f"{folder} is not a folder; name a new one for the witnesses")


def _write_witnesses(report: Report, folder: Path) -> bool:
    """Make the witnesses and write them; return whether each finding has been shown."""
    from placewire_codegen.evolution.witness import Verdict, make_witnesses, write_witnesses

    with tempfile.TemporaryDirectory(prefix="placewire-witness-") as temporary:
        packages = Path(temporary)
        made = make_witnesses(report.findings, report.base.schema, report.head.schema, packages)
        if not made:
            say("no witnesses: no finding is on the wire or of meaning")
            return True
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_witnesses(made, packages, folder, (report.base.name, report.head.name))
        except OSError as error:
            place, why = error.filename or folder, error.strerror
            raise refuse(f"the witnesses cannot be written: {place}: {why}") from None
    for each in made:
        if each.verdict in (Verdict.HIDDEN, Verdict.NOT_IN_A_FILE):
            say(f"note: {each.finding.rule.name} {each.finding.path}: {_not_shown(each)}")
    shown = sum(each.verdict is Verdict.SHOWN for each in made)
    say(f"{shown} of {count(len(made), 'finding')} shown by files in {folder}")
    wrong = [each for each in made if each.verdict is Verdict.EQUAL]
    for each in wrong:
        say(
            f"error: no file shows {each.finding.rule.name} of {each.finding.path}; both sides "
            "read all that was tried as it was written. Either the rule is wrong or the search "
            "for a file is, and both are faults of placewire: please report this with the schemas"
        )
    return not wrong


def _not_shown(witness: Witness) -> str:
    """Say why a witness does not show its finding."""
    from placewire_codegen.evolution.witness import Verdict

    if witness.verdict is Verdict.HIDDEN:
        return f"another break is seen first: {witness.differences[0]}"
    return f"no file can show it: {witness.reason}"


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
        raise refuse(f"--rules has no format {format_.value}; choose text or json")
    console = output()
    width = max(len(rule.name) for rule in listed)
    for rule in listed:
        line = f"{rule.level.value:8}  {rule.name:{width}}  {rule.meaning}"
        console.print(line, markup=False, soft_wrap=True)
