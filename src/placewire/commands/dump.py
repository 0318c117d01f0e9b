"""`placewire dump`: shows what is in a file."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import count, output, printable, say
from .input_files import file_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from placewire.inspect import FileSummary, MethodSummary, ValueSummary

__all__ = ["dump"]

_UNKNOWN_SHOWN = 10


def dump(
    file: Annotated[Path, typer.Argument(help="A .pte file.", metavar="FILE", parser=file_path)],
    json: Annotated[
        bool, typer.Option("--json", help="Write the program as JSON, as flatc does.")
    ] = False,
) -> None:
    """Show a file: methods, inputs and outputs, memory by device, data, delegates, operators."""
    from placewire.inspect import summarize, to_json
    from placewire.pte import PteFile

    pte = PteFile.load(file)
    if json:
        typer.echo(to_json(pte.program), nl=False)
        return
    summary = summarize(pte)
    console = output()
    for line in _lines(file, summary):
        console.print(line, markup=False, soft_wrap=True)
    for finding in summary.unknown[:_UNKNOWN_SHOWN]:
        say(f"{file}: {printable(finding)}")
    if len(summary.unknown) > _UNKNOWN_SHOWN:
        say(f"{file}: and {len(summary.unknown) - _UNKNOWN_SHOWN} more things that are not known")


def _lines(file: Path, summary: FileSummary) -> Iterator[str]:
    methods = count(len(summary.methods), "method")
    yield (
        f"{printable(str(file))}: {summary.size:,} bytes, {methods}, "
        f"schema version {summary.version}"
    )
    for method in summary.methods:
        yield ""
        yield f"method {printable(method.name)}"
        yield from _columns(_method_rows(method))
    yield ""
    total = sum(segment.size for segment in summary.segments)
    yield f"data, {total:,} bytes in {count(len(summary.segments), 'segment')}"
    yield from _columns(_segment_rows(summary))


_Row = tuple[str, ...]


def _method_rows(method: MethodSummary) -> Iterator[_Row]:
    yield from _titled("inputs", map(_value_row, method.inputs))
    yield from _titled("outputs", map(_value_row, method.outputs))
    yield from _titled(
        "planned memory",
        ((b.device, f"{b.size:,} bytes", count(b.buffers, "buffer")) for b in method.buffers),
    )
    yield from _titled(
        "delegates",
        (
            (d.id, f"{d.size:,} bytes", f"{d.where}{f', runs on {d.device}' if d.device else ''}")
            for d in method.delegates
        ),
    )
    yield from _titled(
        "operators", ((name, count(calls, "call")) for name, calls in method.operators)
    )
    size = (count(method.instructions, "instruction"), count(method.values, "value"))
    yield from _titled("size", [size])


def _segment_rows(summary: FileSummary) -> Iterator[_Row]:
    for segment in summary.segments:
        yield (
            f"segment {segment.index}",
            f"{segment.size:,} bytes",
            f"at {segment.offset:,}",
            segment.use,
        )


def _value_row(value: ValueSummary) -> _Row:
    if value.sizes is None:
        return value.kind, "", f"value {value.index}"
    at_most = ", at most" if value.is_bound else ""
    return f"{value.kind} {list(value.sizes)}{at_most}", value.device, f"value {value.index}"


def _titled(title: str, rows: Iterable[_Row]) -> Iterator[_Row]:
    """Put a title before the first row, or before a dash if there are none."""
    for row in rows:
        yield (title, *row)
        title = ""
    if title:
        yield (title, "-")


def _columns(rows: Iterable[_Row]) -> Iterator[str]:
    """Align the cells of rows, two blanks apart."""
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip_longest(*cells, fillvalue="")]
    for row in cells:
        yield "  " + "  ".join(map(str.ljust, row, widths)).rstrip()
