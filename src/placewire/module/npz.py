"""Inputs and outputs of methods as .npz files, and inputs of random numbers."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from placewire_schema.errors import AllocationError, InvalidArgumentError, NotSupportedError

from placewire._core import core

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .method import Method

__all__ = ["host_arrays", "load_inputs", "random_inputs", "saved_outputs"]


def load_inputs(path: Path, method: Method) -> list[object]:
    """Read `input0`, `input1`, ...; numbers, strings and None may be left out.

    Raises:
        OSError: The file cannot be read.
        InvalidArgumentError: It is no .npz file, or lacks a tensor, or has what is no input, such
            as an array of objects.
        AllocationError: There is no memory for an array.
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
        found = ""
        if missing:
            found = (
                f"; it has {', '.join(arrays) or 'no arrays'}; write it with "
                f"np.savez(path, {missing[0]}=...)"
            )
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
    except _UNREADABLE as error:
        # Of what begins as no file of its own numpy says that it may be a pickle.
        reason = "" if _speaks_of_pickles(error) else f": {error}"
        raise InvalidArgumentError(f"{path} is no .npz file{reason}; {_ADVICE}") from None
    if isinstance(content, np.ndarray):
        raise InvalidArgumentError(f"{path} is no .npz file, but one array; {_ADVICE}")
    with content as archive:
        return {name: _array(path, archive, name) for name in archive.files}


_ADVICE = "write it with np.savez(path, input0=...)"

_UNREADABLE = (
    ValueError,
    EOFError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What numpy and zipfile raise about a file that is damaged, encrypted, or another one."""


def _array(path: Path, archive: Mapping[str, object], name: str) -> np.ndarray[Any, Any]:
    try:
        array = archive[name]
    except MemoryError:
        raise AllocationError(f"{path}: there is no memory for {name}") from None
    except _UNREADABLE as error:
        if _speaks_of_pickles(error):
            raise InvalidArgumentError(
                f"{path}: {name} is an array of objects; these are not loaded, because reading "
                "them can run code; write an array of numbers"
            ) from None
        raise InvalidArgumentError(f"{path}: {name} cannot be read: {error}") from None
    if not isinstance(array, np.ndarray):  # numpy gives the bytes of what is no .npy file
        raise InvalidArgumentError(f"{path}: {name} is no array; {_ADVICE}")
    return array


def _speaks_of_pickles(error: Exception) -> bool:
    return "pickle" in str(error)


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
            raise NotSupportedError(
                f"{method.name} takes {meta.tensor}, which numpy has no type for; call it from "
                "Python, with torch tensors"
            )
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


def host_arrays(outputs: list[object]) -> list[np.ndarray[Any, Any]]:
    """The outputs as arrays; what is on a device is copied from there.

    What no array can hold, such as `None` or tensors of different shapes, is an array of objects.
    """
    return [_host_array(output) for output in outputs]


def _host_array(output: object) -> np.ndarray[Any, Any]:
    from placewire.tensors import to_numpy

    if isinstance(output, core.Tensor):
        return to_numpy(output)
    try:
        return np.asarray(output)
    except ValueError:  # the shapes in a list differ
        boxed = np.empty((), object)
        boxed[()] = output
        return boxed


def saved_outputs(arrays: list[np.ndarray[Any, Any]]) -> bytes:
    """An .npz file with `output0`, `output1`, ...

    Raises:
        InvalidArgumentError: An output is `None`, or a list with such in it.
    """
    for index, array in enumerate(arrays):
        if array.dtype == object:
            raise InvalidArgumentError(
                f"output {index} is {_spelled(array.tolist())}, which an .npz file cannot hold; "
                "run it without --output to see the others"
            )
    stream = io.BytesIO()
    named: dict[str, Any] = {f"output{index}": array for index, array in enumerate(arrays)}
    np.savez(stream, **named)
    return stream.getvalue()


def _spelled(value: object) -> str:
    has_tensors = isinstance(value, list) and any(hasattr(item, "shape") for item in value)
    return "a list of tensors" if has_tensors else repr(value)
