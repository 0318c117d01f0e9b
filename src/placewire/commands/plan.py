"""`placewire plan`: places the tensors of a file in memory."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from . import FAILURE, PlannerMode, count, fail, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from placewire.planner import Plan, PlanProgress

__all__ = ["plan"]


def plan(
    file: Annotated[
        Path,
        typer.Argument(help="CSV with the columns id,lower,upper,size.", metavar="FILE"),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where to write it with a column offset.", metavar="OUT"),
    ] = None,
    mode: Annotated[
        PlannerMode, typer.Option("--mode", help="How much work to do.")
    ] = PlannerMode.FAST,
    alignment: Annotated[
        int, typer.Option("--alignment", help="Offsets are multiples of this.", min=1)
    ] = 1,
    capacity: Annotated[
        int | None,
        typer.Option("--capacity", help="Fail if more bytes are needed; stop once it fits.", min=0),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Where the search starts.", min=0)] = 0,
    json: Annotated[bool, typer.Option("--json", help="Write the result as JSON.")] = False,
) -> None:
    """Place tensors in memory so that those alive together do not overlap, in few bytes.

    A tensor is alive from lower up to, but without, upper. Without --out the file with its offsets
    goes to the standard output.
    """
    from placewire.lifetimes_csv import LifetimeTable
    from placewire.planner import plan as plan_memory

    table = LifetimeTable.load(file)
    start = perf_counter()
    with _progress() as progress:
        try:
            result = plan_memory(
                table.tensors,
                mode=mode.value,
                alignment=alignment,
                seed=seed,
                capacity=capacity,
                progress=progress,
            )
        except ValueError as error:
            raise fail(f"{file}: {error}") from None
    seconds = perf_counter() - start
    fits = capacity is None or result.total <= capacity
    if fits and (out is not None or not json):
        _write(table.with_offsets(result.offsets.tolist()), out)
    if json:
        _write_json(result, seconds)
    else:
        say(_summary(file, result, seconds))
    if not fits:
        say(f"error: {file}: {result.total:,} bytes are needed, the capacity is {capacity:,}")
        raise typer.Exit(FAILURE)


def _write(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
        return
    from placewire.pte._atomic import write_atomically

    write_atomically(out, [text.encode()])


def _write_json(result: Plan, seconds: float) -> None:
    from json import dumps

    document = {
        "total": result.total,
        "lower_bound": result.lower_bound,
        "ratio": result.ratio,
        "is_optimal": result.is_optimal,
        "algorithm": result.algorithm,
        "seconds": seconds,
        "offsets": result.offsets.tolist(),
    }
    typer.echo(dumps(document))


def _summary(file: Path, result: Plan, seconds: float) -> str:
    proof = ", which is optimal" if result.is_optimal else ""
    return (
        f"{file}: {count(len(result.offsets), 'tensor')} in {result.total:,} bytes, "
        f"{result.ratio:.4f} times the lower bound of {result.lower_bound:,}{proof}\n"
        f"found by {result.algorithm}, in {seconds:.3f} s"
    )


@contextmanager
def _progress() -> Iterator[Callable[[PlanProgress], None] | None]:
    """Show how far a search has come, if the standard error is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[total_bytes]:,} bytes"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        tasks = {}

        def show(state: PlanProgress) -> None:
            if state.stage not in tasks:
                tasks[state.stage] = bar.add_task(state.stage, total_bytes=state.total)
            bar.update(
                tasks[state.stage],
                total=state.limit,
                completed=state.done,
                total_bytes=state.total,
            )

        yield show
