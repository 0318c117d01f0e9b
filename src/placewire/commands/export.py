"""`placewire export`: lowers a model to a program file."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import PlannerMode, count, fail, output, say
from .output_files import check_writable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from placewire.aot import Artifact, BufferPlan, MethodReport, Partitioner

__all__ = ["export"]


class _Compat(str, Enum):
    """The runtimes that a program can be for."""

    EXECUTORCH_1_5 = "executorch-1.5"
    PLACEWIRE = "placewire"


def export(
    source: Annotated[
        str,
        typer.Argument(
            help="module.py:factory, where the factory gives a model and example arguments; "
            "or a .pt2 file of torch.export.",
            metavar="SOURCE",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The .pte file to write.", metavar="OUT")
    ],
    device: Annotated[
        str | None,
        typer.Option("--device", "-d", help="Run the whole model there, as in cuda:0."),
    ] = None,
    compat: Annotated[
        _Compat, typer.Option("--compat", help="The runtime that the program is for.")
    ] = _Compat.EXECUTORCH_1_5,
    planner: Annotated[
        PlannerMode, typer.Option("--planner", help="How hard the memory planner tries.")
    ] = PlannerMode.FAST,
    skip_h2d: Annotated[
        bool,
        typer.Option("--skip-h2d", help="Expect inputs of the device on the device."),
    ] = False,
    skip_d2h: Annotated[
        bool, typer.Option("--skip-d2h", help="Leave outputs of the device on the device.")
    ] = False,
    share_mutable_buffers: Annotated[
        bool,
        typer.Option(
            "--share-mutable-buffers", help="Make buffers of one name in all methods one buffer."
        ),
    ] = False,
    stacktraces: Annotated[
        bool, typer.Option("--stacktraces", help="Write source lines into the program.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="If it fails, show where in full.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the report as JSON to stdout.")
    ] = False,
) -> None:
    """Export a model: decompose, place on devices, plan memory, write the program.

    The factory is a function without arguments. It gives the module and a tuple of example
    arguments (and, if wanted, a dictionary of keyword arguments), an ExportedProgram, or a
    dictionary of methods by name.
    """
    from placewire.aot import (
        ExportConfig,
        InvalidOutputError,
        SharedBufferError,
        UnboundedSizeError,
        UnsupportedError,
    )
    from placewire.aot import export as export_model
    from placewire.aot.source import SourceError, load_source, silence_torch

    from .failures import failure

    config = ExportConfig(
        compat=compat.value,
        planner=planner.value,
        skip_h2d_for_method_inputs=skip_h2d,
        skip_d2h_for_method_outputs=skip_d2h,
        share_mutable_buffers=share_mutable_buffers,
        stacktraces=stacktraces,
    )
    partitioners = _partitioners(device)
    check_writable(out, "--out", "a program")
    if not traceback:
        silence_torch()
    try:
        model, args, kwargs = load_source(source)
    except SourceError as error:
        raise typer.BadParameter(str(error)) from None
    except Exception as error:
        raise fail(failure(f"{source} cannot be loaded", error, whole=traceback)) from None
    try:
        say("exporting ...")
        artifact = export_model(model, args, kwargs, partitioners=partitioners, config=config)
    except (
        UnsupportedError,
        UnboundedSizeError,
        SharedBufferError,
        InvalidOutputError,
    ) as error:
        raise fail(str(error)) from None
    except Exception as error:
        raise fail(failure(f"{source} cannot be exported", error, whole=traceback)) from None
    artifact.save(out)
    if as_json:
        typer.echo(json.dumps(_as_json(artifact), indent=2))
    else:
        _show(out, artifact)


def _partitioners(device: str | None) -> list[Partitioner]:
    """What puts a whole model on a device; nothing if it stays on the CPU."""
    from placewire_schema.program import CompileSpec

    from placewire.aot import EverythingPartitioner
    from placewire.backends import TorchBackend
    from placewire.device import Device
    from placewire.placement import TARGET_DEVICE

    if device is None:
        return []
    try:
        target = Device.parse(device)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--device") from None
    if target.is_cpu:
        if target.index:
            raise typer.BadParameter(
                f"{device} is not there: the host is cpu:0", param_hint="--device"
            )
        return []
    return [
        EverythingPartitioner(TorchBackend(), [CompileSpec(TARGET_DEVICE, str(target).encode())])
    ]


def _as_json(artifact: Artifact) -> dict[str, object]:
    report = artifact.report
    methods = {
        name: {**asdict(method), "buffers": _buffers_as_json(method.buffers)}
        for name, method in report.methods.items()
    }
    return {
        "seconds": report.seconds,
        "methods": methods,
        "shared_buffers": _buffers_as_json(report.shared_buffers),
        "bytes": len(artifact.pte),
    }


def _buffers_as_json(buffers: Iterable[BufferPlan]) -> list[dict[str, object]]:
    return [
        {
            "device": str(buffer.device),
            "pool": buffer.pool,
            "size": buffer.size,
            "lower_bound": buffer.lower_bound,
            "tensors": buffer.tensors,
        }
        for buffer in buffers
    ]


def _show(out: Path, artifact: Artifact) -> None:
    console = output()
    console.print(f"{out}: {len(artifact.pte):,} bytes", markup=False)
    for name, method in artifact.report.methods.items():
        console.print(f"\nmethod {name}", markup=False)
        for label, text in _lines(method):
            console.print(f"  {label:<15} {text}", markup=False)
    if shared := artifact.report.shared_buffers:
        console.print("\nshared by all methods")
        for label, text in map(_memory, shared):
            console.print(f"  {label:<15} {text}", markup=False)
    seconds = artifact.report.seconds
    parts = ", ".join(f"{stage} {time:.2f} s" for stage, time in seconds.items() if time >= 0.005)
    say(f"\n{sum(seconds.values()):.2f} s: {parts}")


def _lines(method: MethodReport) -> list[tuple[str, str]]:
    lines = [("instructions", f"{method.instructions:,}")]
    if method.delegates:
        lines.append(("delegates", f"{method.delegates:,}"))
    for direction, copies in method.copies.items():
        lines.append((direction, f"{count(copies.count, 'copy')}, {copies.nbytes:,} bytes a call"))
    lines += map(_memory, method.buffers)
    shown = list(method.operators.items())[:10]
    for position, (operator, calls) in enumerate(shown):
        label = "operators" if position == 0 else ""
        lines.append((label, f"{operator:<40} {count(calls, 'call')}"))
    if rest := len(method.operators) - len(shown):
        lines.append(("", f"and {count(rest, 'other')}"))
    return lines


def _memory(buffer: BufferPlan) -> tuple[str, str]:
    over = buffer.size / buffer.lower_bound if buffer.lower_bound else 1.0
    size = f"{buffer.size:,} bytes for {count(buffer.tensors, 'tensor')}"
    return f"memory {buffer.device}", f"{size}, {over:.2f}x the lower bound"
