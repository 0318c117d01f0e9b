"""Inputs and outputs of methods as .npz files, and inputs of random numbers."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
from placewire_schema.errors import AllocationError, InvalidArgumentError, NotSupportedError

from placewire._core import core

if TYPE_CHECKING:
    from pathlib import Path

    from .method import Method

__all__ = ["load_inputs", "output_arrays", "random_inputs"]


def load_inputs(path: Path, method: Method) -> list[object]:
    """Read `input0`, `input1`, ...; numbers, strings and None may be left out.

    Raises:
        OSError: The file cannot be read.
        InvalidArgumentError: It is no .npz file, or lacks a tensor, or has what is no input.
    """
    arrays = _arrays(path)
    names = [f"input{index}" for index in range(len(method.inputs))]
    unknown = [name for name in arrays if name.startswith("input") and name not in names]
    missing = [
        name
        for name, value in zip(names, method.inputs, strict=True)
        if name not in arrays and isinstance(value, core.Tensor)
    ]
    if unknown or missing:
        problem = f"lacks {', '.join(missing)}" if missing else f"has {', '.join(unknown)}"
        found = f"; it has {', '.join(arrays) or 'no arrays'}" if missing else ""
        raise InvalidArgumentError(
            f"{path} {problem}; {method.name} takes {', '.join(names) or 'no inputs'}{found}"
        )
    return [
        _input(arrays[name], value) if name in arrays else value
        for name, value in zip(names, method.inputs, strict=True)
    ]


def _arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of an .npz file by their names."""
    try:
        content = np.load(path, allow_pickle=False)
        if isinstance(content, np.ndarray):
            raise InvalidArgumentError(
                f"{path} is no .npz file, but one array; write it with np.savez(path, input0=...)"
            )
        with content as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise InvalidArgumentError(f"{path} is no .npz file of numbers: {error}") from None


def _input(array: np.ndarray[Any, Any], expected: object) -> object:
    if isinstance(expected, core.Tensor) or array.ndim:
        return array
    return array.item()


def random_inputs(method: Method, seed: int) -> list[object]:
    """Make inputs: normal numbers, 0 or 1 for integers and bools; shapes as large as they may be.

    Integers are often indices, and these are in every table. What is no tensor is as the program
    was exported with it.

    Args:
        method: The method.
        seed: The same seed gives the same numbers.

    Raises:
        NotSupportedError: numpy has no such element type.
        AllocationError: There is no memory for one of them.
    """
    generator = np.random.default_rng(seed)
    inputs: list[object] = []
    for meta, value in zip(method.meta.inputs, method.inputs, strict=True):
        if meta.tensor is None:
            inputs.append(value)
            continue
        scalar_type = meta.tensor.scalar_type
        if scalar_type.numpy is None:
            raise NotSupportedError(f"numpy has no {scalar_type.torch} for an input")
        kind = np.dtype(scalar_type.numpy)
        shape = meta.tensor.shape
        try:
            inputs.append(_random(generator, shape, kind))
        except (MemoryError, ValueError):  # numpy says ValueError beyond the address space
            raise AllocationError(f"there is no memory for an input {meta.tensor}") from None
    return inputs


def _random(
    generator: np.random.Generator, shape: tuple[int, ...], kind: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    if kind.kind == "f":
        return generator.standard_normal(shape).astype(kind)
    return generator.integers(0, 2, shape).astype(kind)


def output_arrays(outputs: list[object]) -> dict[str, np.ndarray[Any, Any]]:
    """The outputs as arrays for an .npz file: `output0`, `output1`, ...

    What is on a device is copied from there.

    Raises:
        InvalidArgumentError: An output is `None`, or a list with such in it.
    """
    from placewire.tensors import to_numpy

    arrays = {}
    for index, output in enumerate(outputs):
        array = to_numpy(output) if isinstance(output, core.Tensor) else np.asarray(output)
        if array.dtype == object:
            raise InvalidArgumentError(f"output {index} is {output!r}; an .npz file cannot hold it")
        arrays[f"output{index}"] = array
    return arrays
