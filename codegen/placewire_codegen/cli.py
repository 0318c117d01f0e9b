"""The command `generate`, which `placewire` offers and `python -m placewire_codegen` runs alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from . import stamp

if TYPE_CHECKING:
    from .config import ProjectConfig
    from .generate import Result
    from .outputs import Clash

FAILURE, WRONG_USAGE = 1, 2


def generate(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 if a file is not fresh.")
    ] = False,
    schema: Annotated[
        list[Path] | None,
        typer.Option(
            "--schema", help="A schema of your own, .fbs or .bfbs. Repeatable.", metavar="FILE"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for what --schema generates.", metavar="DIR"),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", help="python, cpp, nanobind, docs or bfbs. Repeatable."),
    ] = None,
    include: Annotated[
        list[Path] | None,
        typer.Option("--include", "-I", help="Folder to search for includes. Repeatable."),
    ] = None,
    package: Annotated[
        str | None, typer.Option("--package", help="Name of the generated Python package.")
    ] = None,
    cpp_namespace: Annotated[
        str | None, typer.Option("--cpp-namespace", help="Namespace around the generated C++.")
    ] = None,
    project: Annotated[
        Path | None, typer.Option("--project", help="Folder of the pyproject.toml to read.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that are not of this package, too.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name every file that changes.")
    ] = False,
) -> None:
    """Generate Python, C++, bindings and docs from the schemas.

    Without --schema, the table tool.placewire of pyproject.toml says what and where.
    """
    if schema:
        if out is None:
            raise _failure("--schema needs --out DIR: say where the files go", WRONG_USAGE)
        if project is not None:
            raise _failure("--schema and --project exclude each other", WRONG_USAGE)
        for folder in include or []:
            if not folder.is_dir():
                raise _failure(f"-I {folder}: there is no such folder", WRONG_USAGE)
        config = _configured(
            lambda config: config.command_line_project(
                schema,
                out,
                targets=target or [],
                include=include or [],
                package=package,
                cpp_namespace=cpp_namespace,
            )
        )
        _run(config, stamp.Inputs(), check=check, force=force, verbose=verbose)
        return
    if any(option is not None for option in (out, target, include, package, cpp_namespace)):
        message = "--out, --target, --include, --package and --cpp-namespace need --schema"
        raise _failure(message, WRONG_USAGE)
    _generate_project(project or Path(), check=check, force=force, verbose=verbose)


def _generate_project(root: Path, *, check: bool, force: bool, verbose: bool) -> None:
    """Generate what the pyproject.toml of `root` says, unless nothing has changed since."""
    if stamp.is_current(root):
        typer.echo(stamp.NOTHING_TO_DO, err=True)
        return
    inputs = stamp.Inputs()
    config = _configured(lambda config: config.load_project(root, read=inputs.read))
    result = _run(config, inputs, check=check, force=force, verbose=verbose)
    from .generate import remember

    remember(config, result, inputs)


def _configured(make: Callable[[ModuleType], ProjectConfig]) -> ProjectConfig:
    from . import config

    try:
        return make(config)
    except config.NoProjectError as error:
        advice = "run in a project, or pass --schema and --out"
        raise _failure(f"{error}; {advice}", WRONG_USAGE) from None
    except config.ConfigError as error:
        raise _failure(str(error), WRONG_USAGE) from None


def _run(
    config: ProjectConfig, inputs: stamp.Inputs, *, check: bool, force: bool, verbose: bool
) -> Result:
    """Generate and say what has changed; with `check`, fail if anything would."""
    from .diagnostics import SchemaError
    from .generate import generate as run
    from .outputs import ClashError, WriteError

    try:
        result = run(config, check=check, force=force, inputs=inputs, messages_from=Path())
    except SchemaError as error:
        typer.echo(str(error))
        raise typer.Exit(FAILURE) from None
    except ClashError as error:
        raise _clashes(error.clashes, config.root) from None
    except OSError as error:
        action = "write" if isinstance(error, WriteError) else "read"
        raise _failure(f"cannot {action} {error.filename}: {error.strerror}", FAILURE) from None
    _report(result, config.root, check=check, verbose=verbose)
    if check and result.changes:
        raise typer.Exit(FAILURE)
    return result


def _clashes(clashes: tuple[Clash, ...], root: Path) -> typer.Exit:
    for clash in clashes:
        typer.echo(f"{_shown(root, clash.path)}: {clash.reason}", err=True)
    advice = "choose another name or folder"
    if all(clash.can_be_forced for clash in clashes):
        advice += ", or pass --force to replace what is there"
    return _failure(f"nothing was written; {advice}", FAILURE)


def _shown(root: Path, path: str) -> str:
    """Spell a path so that it can be opened from here."""
    return Path(os.path.relpath(root / path)).as_posix()


def _report(result: Result, root: Path, *, check: bool, verbose: bool) -> None:
    changes = result.changes
    if not changes:
        typer.echo(f"{len(result.files)} files, all fresh.", err=True)
        return
    if check:
        clashing = {clash.path for clash in changes.clashes}
        for problem, paths in (
            ("missing", changes.missing),
            ("not fresh", changes.different),
            ("left over", changes.left_over),
        ):
            for path in paths:
                if path not in clashing:
                    typer.echo(f"{_shown(root, path)}: {problem}")
        for clash in changes.clashes:
            typer.echo(f"{_shown(root, clash.path)}: {clash.reason}")
        typer.echo("Run `placewire generate` and commit the result.", err=True)
        return
    for path in changes.paths if verbose else changes.left_over:
        removed = ": removed" if path in changes.left_over else ""
        typer.echo(f"{_shown(root, path)}{removed}", err=True)
    written = len(changes.missing) + len(changes.different)
    removed = f", {len(changes.left_over)} removed" if changes.left_over else ""
    typer.echo(f"{len(result.files)} files, {written} written{removed}.", err=True)


def _failure(message: str, code: int) -> typer.Exit:
    typer.echo(f"error: {message}", err=True)
    return typer.Exit(code)


def main() -> None:
    """Run `generate` as a program of its own."""
    typer.run(generate)
