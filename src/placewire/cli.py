"""The command line: `placewire COMMAND`.

Exit codes: 0 fine, 1 findings or failure, 2 wrong usage. Results and findings go to stdout,
messages to stderr. A command imports what it needs when it runs: so `placewire generate` starts
fast, and works also when the generated package is broken.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer
from placewire_codegen.cli import generate

from placewire import __version__

from .commands import FAILURE
from .commands.compat import compat
from .commands.demo import demo
from .commands.dump import dump
from .commands.export import export
from .commands.plan import plan
from .commands.release import release
from .commands.retarget import retarget
from .commands.run import run
from .commands.verify import verify

__all__ = ["app", "main"]

app = typer.Typer(
    name="placewire",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (generate, compat, release, export, run, dump, verify, retarget, plan, demo):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"placewire {__version__}")
        raise typer.Exit


@app.callback()
def _placewire(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Say which version."
        ),
    ] = False,
) -> None:
    """Read, check, rewrite and make programs that live on more than one device."""


def main() -> None:
    """Run the command line and exit."""
    try:
        app(prog_name="placewire")
    except SystemExit as exit_:
        sys.exit(_flushed(exit_.code))
    except BrokenPipeError:
        _abandon_output()
        sys.exit(FAILURE)
    except Exception as error:
        if not _is_expected(error):
            raise
        typer.echo(f"error: {_text(error)}", err=True)
        if isinstance(error, OSError) and error.filename is None:
            _abandon_output()  # writing it is what failed, and would fail again
        sys.exit(_flushed(FAILURE))


def _flushed(code: object) -> int:
    """Flush the output while an error can still be told; return the exit code."""
    if code is None or isinstance(code, int):
        number = code or 0
    else:
        # As Python itself does it: what is no number is a message.
        typer.echo(str(code), err=True)
        number = FAILURE
    if sys.stdout is None:  # closed by the caller
        return number
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_output()
        return number or FAILURE
    except OSError as error:
        _abandon_output()
        typer.echo(f"error: {_text(error)}", err=True)
        return FAILURE
    return number


def _abandon_output() -> None:
    """Send what is still buffered to nowhere, so that the interpreter does not trip over it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_expected(error: Exception) -> bool:
    """Whether an error is about what the user gave us, and not a fault of ours.

    An internal error with a cause is an exception of a kernel or delegate, which the message has.
    """
    if isinstance(error, OSError):
        return True
    if "placewire_schema" not in sys.modules:
        return False
    from placewire_schema import CodecError
    from placewire_schema.errors import InternalError, PlacewireError

    if isinstance(error, InternalError):
        return error.__cause__ is not None
    return isinstance(error, CodecError | PlacewireError)


def _text(error: Exception) -> str:
    """The error in one line. Of the system's errors it is the file and the reason."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'cannot write the output'}: {error.strerror}"
    return str(error)
