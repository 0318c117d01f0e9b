"""The command `generate`, which `placewire` offers and `python -m placewire_codegen` runs alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import stamp

if TYPE_CHECKING:
    from .config import ProjectConfig
    from .generate import Result

FAILURE, WRONG_USAGE = 1, 2


def generate(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 if a file is not fresh.")
    ] = False,
    schema: Annotated[
        list[Path] | None,
        typer.Option("--schema", help="A schema of your own, .fbs. Repeatable.", metavar="FILE"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for what --schema generates.", metavar="DIR"),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", help="python, cpp, nanobind or docs. Repeatable."),
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
        Path, typer.Option("--project", help="Folder of the pyproject.toml to read.")
    ] = Path(),
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name every file that changes.")
    ] = False,
) -> None:
    """Generate Python, C++, bindings and docs from the schemas.

    Without --schema, the table tool.placewire of pyproject.toml says what and where.
    """
    if not schema and stamp.is_current(project):
        typer.echo(stamp.NOTHING_TO_DO, err=True)
        return
    config = _configuration(schema, out, target, include, package, cpp_namespace, project)
    result = _run(config, check=check)
    _report(result, check=check, verbose=verbose)
    if check and result.changes:
        raise typer.Exit(FAILURE)
    if not schema:
        from .generate import remember

        remember(config, result)


def _configuration(
    schema: list[Path] | None,
    out: Path | None,
    target: list[str] | None,
    include: list[Path] | None,
    package: str | None,
    cpp_namespace: str | None,
    project: Path,
) -> ProjectConfig:
    from .config import ConfigError, command_line_project, load_project

    try:
        if schema:
            if out is None:
                raise ConfigError("--schema needs --out DIR: say where the files go")
            return command_line_project(
                schema,
                out,
                targets=target or [],
                include=include or [],
                package=package,
                cpp_namespace=cpp_namespace,
            )
        if out or target or include or package or cpp_namespace:
            raise ConfigError(
                "--out, --target, --include, --package and --cpp-namespace need --schema"
            )
        return load_project(project)
    except ConfigError as error:
        raise _failure(str(error), WRONG_USAGE) from None


def _run(config: ProjectConfig, *, check: bool) -> Result:
    from .diagnostics import SchemaError
    from .generate import generate as run

    try:
        return run(config, check=check)
    except SchemaError as error:
        typer.echo(str(error))
        raise typer.Exit(FAILURE) from None
    except OSError as error:
        raise _failure(f"cannot write {error.filename}: {error.strerror}", FAILURE) from None


def _report(result: Result, *, check: bool, verbose: bool) -> None:
    changes = result.changes
    if not changes:
        typer.echo(f"{len(result.files)} files, all fresh.", err=True)
        return
    if check:
        for problem, paths in (
            ("missing", changes.missing),
            ("not fresh", changes.different),
            ("left over", changes.left_over),
        ):
            for path in paths:
                typer.echo(f"{path}: {problem}")
        typer.echo("Run `placewire generate` and commit the result.", err=True)
        return
    for path in changes.paths if verbose else ():
        typer.echo(path, err=True)
    written = len(changes.missing) + len(changes.different)
    removed = f", {len(changes.left_over)} removed" if changes.left_over else ""
    typer.echo(f"{len(result.files)} files, {written} written{removed}.", err=True)


def _failure(message: str, code: int) -> typer.Exit:
    typer.echo(f"error: {message}", err=True)
    return typer.Exit(code)


def main() -> None:
    """Run `generate` as a program of its own."""
    typer.run(generate)
