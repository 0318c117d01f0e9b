"""`placewire run`: runs a method of a program file."""

from __future__ import annotations

import json
from contextlib import ExitStack
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import count, fail, output, printable, say
from .device_pairs import device_of, device_pairs
from .input_files import file_path
from .output_files import check_writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from placewire.module import Backend, Method
    from placewire.tensors import Tensor

__all__ = ["run"]


def run(
    file: Annotated[
        Path, typer.Argument(help="The .pte file to run.", metavar="FILE", parser=file_path)
    ],
    method: Annotated[str, typer.Option("--method", "-m", help="The method to run.")] = "forward",
    inputs: Annotated[
        Path | None,
        typer.Option(
            "--input",
            "-i",
            help="Inputs, .npz with input0, input1, ...",
            metavar="IN.npz",
            parser=file_path,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where to write output0, ...",
            metavar="OUT.npz",
            parser=file_path,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", help="Of the random inputs, without --input.", min=0)
    ] = 0,
    repeat: Annotated[int, typer.Option("--repeat", help="How often to run it.", min=1)] = 1,
    simulate: Annotated[
        list[str] | None,
        typer.Option(
            "--simulate", help="Simulate a device that is not there; repeatable.", metavar="DEVICE"
        ),
    ] = None,
    cuda: Annotated[
        bool, typer.Option("--cuda", help="Use GPUs, through the CUDA runtime library.")
    ] = False,
    device_map: Annotated[
        list[str] | None,
        typer.Option(
            "--device-map",
            help="Take another device, cuda:0=cuda:1; repeatable.",
            metavar="OLD=NEW",
        ),
    ] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option(
            "--backend",
            help="What runs delegates, module.py:factory or package.module:factory; repeatable. "
            "The module is imported, so it must be code that you trust.",
            metavar="BACKEND",
        ),
    ] = None,
    copy_inputs: Annotated[
        bool, typer.Option("--copy-inputs", help="Convert inputs of another element type.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="If a backend fails, show where in full.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write the result as JSON.")] = False,
) -> None:
    """Run a method: of the numbers in an .npz file, or of random ones.

    Shows what comes out, with mean and extremes of each tensor. Without --input the inputs are
    random: normal numbers, or 0 and 1 for integers and bools.
    """
    devices = [device_of(text, "--simulate") for text in simulate or ()]
    pairs = device_pairs(device_map or (), "--device-map")
    if out is not None:
        check_writable(out, "--output", "an .npz file")
    backends = [_backend(text, whole=traceback) for text in backend or ()]
    from placewire_schema.errors import PlacewireError

    from placewire.device_memory import register_cuda_allocator
    from placewire.module import Module
    from placewire.module.npz import saved_outputs
    from placewire.pte._atomic import write_atomically
    from placewire.testing import SimulatedDevice

    from .failures import caused_failure

    if cuda:
        register_cuda_allocator()
    with ExitStack() as stack:
        for device in devices:
            stack.enter_context(SimulatedDevice(device))
        module = stack.enter_context(
            Module(
                file,
                device_map={str(old): new for old, new in pairs.items()},
                backends=backends,
                copy_inputs=copy_inputs,
                library="numpy",
            )
        )
        try:
            result = _Run(module.method(method), inputs, seed, repeat)
        except PlacewireError as error:
            if error.__cause__ is None:
                raise
            raise fail(caused_failure(error, whole=traceback)) from None
        stack.callback(result.forget)
        if out is not None:
            write_atomically(out, [saved_outputs(result.arrays)])
        if as_json:
            typer.echo(json.dumps(_for_json(result.as_json()), indent=2, allow_nan=False))
        else:
            result.show(file)


class _Run:
    """What was run, and what came out."""

    def __init__(self, method: Method, path: Path | None, seed: int, repeat: int) -> None:
        from placewire.module.npz import host_arrays, load_inputs, random_inputs

        self._method: Method | None = method
        self._meta = method.meta
        given = random_inputs(method, seed) if path is None else load_inputs(path, method)
        self._is_random = path is None
        start = perf_counter()
        outputs = method.run(given)
        for _ in range(repeat - 1):
            outputs = method.run(given)
        self._seconds = (perf_counter() - start) / repeat
        self._repeat = repeat
        self._buffers = method.planned_buffers
        self._values = _described(outputs)
        self.arrays = host_arrays(outputs)

    def forget(self) -> None:
        """Let go of the method, before simulated devices go."""
        self._method = None

    def as_json(self) -> dict[str, object]:
        return {
            "method": self._meta.name,
            "inputs": [str(value) for value in self._meta.inputs],
            "outputs": [
                {**value, **_statistics(array)}
                for value, array in zip(self._values, self.arrays, strict=True)
            ],
            "buffers": [
                {"device": str(buffer.device), "nbytes": buffer.nbytes} for buffer in self._buffers
            ],
            "runs": self._repeat,
            "seconds": self._seconds,
        }

    def show(self, file: Path) -> None:
        console = output()
        for index, (value, array) in enumerate(zip(self._values, self.arrays, strict=True)):
            text = printable(f"output {index}: {value['type']}{_in_words(array)}")
            console.print(text, markup=False)
        source = " on random inputs" if self._is_random else " on inputs"
        say(
            f"{file}: ran {printable(self._meta.name)}{source if self._meta.inputs else ''}, "
            f"{count(self._repeat, 'time')}, {self._seconds * 1000:.3f} ms each"
        )


def _described(outputs: Sequence[Any]) -> list[dict[str, object]]:
    """Type, shape and place of each output."""
    described: list[dict[str, object]] = []
    for value in outputs:
        device = getattr(value, "device", "cpu:0")
        place = "" if str(device).startswith("cpu") else f" on {device}"
        shape = getattr(value, "shape", None)
        if shape is None:
            described.append({"type": type(value).__name__})
            continue
        name = _element_type(value)
        sizes = ", ".join(map(str, shape))
        described.append({"type": f"{name}[{sizes}]{place}", "shape": list(shape)})
    return described


def _element_type(value: np.ndarray[Any, Any] | Tensor) -> str:
    from placewire_schema.program import ScalarType

    from placewire.module.metadata import type_name
    from placewire.tensors import Tensor

    if isinstance(value, Tensor):
        return type_name(ScalarType(value.scalar_type))
    return str(value.dtype)


def _statistics(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Mean and extremes of numbers; the value itself of what is no array."""
    if array.ndim == 0 or array.dtype.kind not in "biuf":
        return {"value": _plain(array.tolist())}
    if array.size == 0:
        return {}
    return {
        "mean": float(array.mean()),
        "minimum": array.min().item(),
        "maximum": array.max().item(),
    }


def _plain(value: object) -> object:
    """A value for JSON, in which tensors are their types."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return _described([value])[0]["type"] if hasattr(value, "shape") else value


def _for_json(value: object) -> object:
    """The same with `null` for numbers that are not finite, and texts for complex ones; JSON has
    neither.
    """
    if isinstance(value, dict):
        return {name: _for_json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_for_json(item) for item in value]
    if isinstance(value, complex):
        return str(value)
    return None if isinstance(value, float) and not isfinite(value) else value


def _in_words(array: np.ndarray[Any, Any]) -> str:
    numbers = _statistics(array)
    if "value" in numbers:
        return f" {numbers['value']!r}"
    return "".join(f", {name} {number:.6g}" for name, number in numbers.items())


def _backend(text: str, *, whole: bool) -> Backend:
    """Import a backend: an object, or a class or function without arguments that gives one."""
    from placewire.importing import ImportTextError, import_text
    from placewire.wording import described

    from .failures import failure

    try:
        made = import_text(text)
        if (callable(made) and not hasattr(made, "load")) or isinstance(made, type):
            made = made()
        is_backend = hasattr(made, "load") and hasattr(made, "id")
    except ImportTextError as error:
        raise typer.BadParameter(str(error), param_hint="--backend") from None
    except Exception as error:
        raise fail(failure(f"--backend {text} cannot be loaded", error, whole=whole)) from None
    if not is_backend:
        raise fail(
            f"{text} gives {described(made)}, which is no backend: it has no id and load; "
            "name an object that has, or a class or function without arguments that makes one"
        )
    return made  # type: ignore[no-any-return]
