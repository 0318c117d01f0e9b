"""The run-time half of the backend `placewire.torch`: runs a part of a graph in its memory."""

from __future__ import annotations

import ctypes
import io
from typing import TYPE_CHECKING, Any

import torch
from placewire_schema.errors import DelegateVersionError
from placewire_schema.program import DeviceType, ScalarType
from torch.export.passes import move_to_device_pass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placewire._core import core

__all__ = ["TorchDelegate"]


class TorchDelegate:
    """One delegate, loaded.

    Its inputs and outputs are the tensors of the method themselves: on the CPU, on a simulated
    device, and on a GPU that torch reaches. Memory of any other device is copied to the host and
    back by the device's allocator.

    Args:
        description: What the runtime knows of it.

    Raises:
        DelegateVersionError: The blob is not what `torch.export.save` of this torch writes.
    """

    def __init__(self, description: core.DelegateDescription) -> None:
        try:
            program = torch.export.load(io.BytesIO(bytes(description.blob)))
        except Exception as error:
            raise DelegateVersionError(
                f"torch {torch.__version__} cannot read the blob: {error}"
            ) from error
        tensors = [value for value in description.arguments if hasattr(value, "__dlpack__")]
        on_gpu = [tensor for tensor in tensors if _is_on_gpu(tensor)]
        if on_gpu:
            device = f"cuda:{on_gpu[0].device_index}"
            program = move_to_device_pass(program, device)
        self._input_count = len(program.graph_signature.user_inputs)
        self._module = program.module(check_guards=False)

    def execute(self, arguments: Sequence[Any]) -> None:
        """Compute the outputs: `arguments` are the inputs, then the outputs."""
        inputs = [
            _shown(value) if hasattr(value, "__dlpack__") else value
            for value in arguments[: self._input_count]
        ]
        with torch.no_grad():
            results = self._module(*inputs)
            lent = {
                value.untyped_storage().data_ptr()
                for value in inputs
                if isinstance(value, torch.Tensor)
            }
            outputs = arguments[self._input_count :]
            for output, result in zip(outputs, _apart(results, lent), strict=True):
                _store(output, result)


def _apart(results: Sequence[torch.Tensor], lent: set[int]) -> list[torch.Tensor]:
    """The results, those that are views of inputs copied: an output may overwrite the input."""
    return [
        result.clone() if result.untyped_storage().data_ptr() in lent else result
        for result in results
    ]


def _store(output: core.Tensor, result: torch.Tensor) -> None:
    if tuple(result.shape) != output.shape:
        output.resize(list(result.shape))
    shown = _shown(output, for_writing=True)
    shown.copy_(result)
    if not _is_reached(output):
        output.write(_bytes_of(shown))


def _is_on_gpu(tensor: core.Tensor) -> bool:
    return (
        tensor.device_type == DeviceType.CUDA
        and tensor.host_address is None
        and torch.cuda.is_available()
        and tensor.device_index < torch.cuda.device_count()
    )


def _is_reached(tensor: core.Tensor) -> bool:
    """Whether torch can work in the tensor's own memory."""
    return tensor.host_address is not None or _is_on_gpu(tensor)


def _shown(tensor: core.Tensor, *, for_writing: bool = False) -> torch.Tensor:
    """The tensor in its own memory if torch reaches it, else a copy on the host."""
    if tensor.nbytes == 0 or tensor.device_type == DeviceType.CPU or _is_on_gpu(tensor):
        shown: torch.Tensor = torch.utils.dlpack.from_dlpack(tensor)
        return shown
    if tensor.host_address is not None:
        memory: Any = (ctypes.c_ubyte * tensor.nbytes).from_address(tensor.host_address)
    else:
        memory = bytearray(tensor.nbytes) if for_writing else bytearray(tensor.read())
    dtype = getattr(torch, ScalarType(tensor.scalar_type).torch)
    return torch.frombuffer(memory, dtype=dtype).as_strided(tensor.shape, tensor.strides)


def _bytes_of(tensor: torch.Tensor) -> memoryview:
    """The bytes of a tensor that lies in host memory of its own, in the order in which they lie."""
    storage = tensor.untyped_storage()
    return memoryview((ctypes.c_ubyte * storage.nbytes()).from_address(storage.data_ptr()))
