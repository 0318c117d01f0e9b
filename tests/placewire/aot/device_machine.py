"""A machine with devices in host memory, which runs programs and checks where everything is.

Each planned buffer is memory of its own. Kernels of the CPU must find all tensors on the CPU,
delegates theirs on their device, and a copy must go where it says.
"""

from __future__ import annotations

import io
import operator
from typing import Any

import torch
from placewire_schema.program import (
    DelegateCall,
    IntList,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    Null,
    OptionalTensorList,
    ScalarType,
    Tensor,
    TensorList,
)
from torch.utils import _pytree as pytree

from placewire.aot import Artifact
from placewire.device import Device
from placewire.placement import (
    CPU,
    buffer_devices,
    target_device,
    target_device_specs,
    tensor_device,
)

_FORMATS = (
    torch.contiguous_format,
    torch.preserve_format,
    torch.channels_last,
    torch.channels_last_3d,
)


class Machine:
    """A method of a program, loaded.

    Args:
        artifact: The program; its delegates must be of the backend `placewire.torch`.
        method: Name of the method.
        memory: Its planned buffers by number, if they are not to be its own.
    """

    def __init__(
        self,
        artifact: Artifact,
        method: str = "forward",
        memory: list[torch.Tensor] | None = None,
    ) -> None:
        self.file = artifact.file
        (self.plan,) = [plan for plan in artifact.program.execution_plan if plan.name == method]
        self.memory = memory or [
            torch.full((size,), 0xA5, dtype=torch.uint8)
            for size in self.plan.non_const_buffer_sizes
        ]
        self.devices = buffer_devices(self.plan)
        self.values: list[Any] = [self._value(entry.val) for entry in self.plan.values]
        self.delegates = [self._delegate(entry) for entry in self.plan.delegates]
        self.copied: list[str] = []

    def __call__(self, *inputs: Any) -> list[Any]:
        """Run the method; of its results, copies come back."""
        self.copied = []
        for index, given in zip(self.plan.inputs, inputs, strict=True):
            if not isinstance(given, torch.Tensor):
                self.values[index] = given
            elif self.values[index] is None:
                self.values[index] = given.clone()
            else:
                self.values[index] = self.values[index].resize_(given.shape).copy_(given)
        (chain,) = self.plan.chains
        at = 0
        while at < len(chain.instructions):
            at = self._run(chain.instructions[at].instr_args, at)
        results = [self.values[index] for index in self.plan.outputs]
        return [item.clone() if isinstance(item, torch.Tensor) else item for item in results]

    def device(self, index: int) -> Device:
        tensor = self.plan.values[index].val
        assert isinstance(tensor, Tensor)
        return tensor_device(tensor)

    def _run(self, call: Any, at: int) -> int:
        if isinstance(call, JumpFalseCall):
            condition = self.values[call.cond_value_index]
            return at + 1 if bool(condition) else call.destination_instruction
        if isinstance(call, MoveCall):
            self.values[call.move_to] = self.values[call.move_from]
        elif isinstance(call, DelegateCall):
            self._call_delegate(call)
        else:
            assert isinstance(call, KernelCall)
            operator = self.plan.operators[call.op_index]
            self._call_kernel(operator.name, operator.overload, list(call.args))
        return at + 1

    def _call_delegate(self, call: DelegateCall) -> None:
        program, device = self.delegates[call.delegate_index]
        tensors = [index for index in call.args if isinstance(self.plan.values[index].val, Tensor)]
        assert {self.device(index) for index in tensors} == {device}
        count = len(
            pytree.tree_leaves(
                program.call_spec.in_spec.unflatten([0] * program.call_spec.in_spec.num_leaves)
            )
        )
        given = [self.values[index] for index in call.args[:count]]
        given = [item.clone() if isinstance(item, torch.Tensor) else item for item in given]
        results = program.module()(*given)
        for index, result in zip(call.args[count:], results, strict=True):
            self._put(index, result)

    def _put(self, index: int, result: torch.Tensor) -> None:
        if self.values[index] is None:  # memory of the caller
            self.values[index] = torch.empty_like(result)
        self.values[index].resize_(result.shape).copy_(result)

    def _call_kernel(self, name: str, overload: str, args: list[int]) -> None:
        if name == "placewire::require":
            return
        if name.endswith(("h2d_copy", "d2h_copy", "d2d_copy")):
            self._copy(name, *args)
        elif name == "executorch_prim::et_view":
            source, sizes, result = args
            assert self.device(source) == self.device(result)
            self.values[result] = self.values[source].view(self._ints(sizes))
        elif name == "dim_order_ops::_clone_dim_order":  # torch has it only if ExecuTorch is there
            assert self.device(args[0]) == self.device(args[-1]) == CPU
            self._put(args[-1], self.values[args[0]])
        elif name.startswith("executorch_prim::"):
            self._number(name.partition("::")[2], args)
        elif name == "aten::sym_size":
            self.values[args[2]] = self.values[args[0]].shape[self.values[args[1]]]
        else:
            self._compute(name, overload, args)

    def _copy(self, name: str, source: int, target: int, again: int) -> None:
        host = {"et_copy::_h2d_copy": (True, False), "et_copy::_d2h_copy": (False, True)}
        expected = host.get(name, (False, False))
        assert target == again
        assert (self.device(source).is_cpu, self.device(target).is_cpu) == expected
        assert self.device(source) != self.device(target)
        self.copied.append(name)
        self._put(target, self.values[source])

    def _number(self, name: str, args: list[int]) -> None:
        given = [self.values[index] for index in args]
        if name == "et_copy_index":
            given[0][given[2]].copy_(given[1])
        else:
            one, other = given[:2]
            self.values[args[2]] = {"lt": operator.lt, "add": operator.add, "mul": operator.mul}[
                name
            ](one, other)

    def _compute(self, name: str, overload: str, args: list[int]) -> None:
        namespace, _, function = name.partition("::")
        packet = getattr(getattr(torch.ops, namespace), function)
        kernel = getattr(packet, overload or "default")
        positional, keywords = [], {}
        for argument, index in zip(kernel._schema.arguments, args, strict=False):
            value = self._argument(index, str(argument.type))
            if argument.kwarg_only:
                if argument.is_out and isinstance(value, torch.Tensor):
                    value.resize_(0)
                keywords[argument.name] = value
            else:
                positional.append(value)
        kernel(*positional, **keywords)

    def _argument(self, index: int, kind: str) -> Any:
        entry, value = self.plan.values[index].val, self.values[index]
        if isinstance(entry, Tensor):
            assert self.device(index) == CPU, f"value {index} is on {self.device(index)}"
            return value
        if isinstance(entry, TensorList | OptionalTensorList):
            return [None if item < 0 else self._argument(item, "Tensor") for item in entry.items]
        if isinstance(entry, IntList):
            return self._ints(index)
        if isinstance(entry, Null):
            return None
        if "ScalarType" in kind:
            return getattr(torch, ScalarType(value).torch)
        return _FORMATS[value] if "MemoryFormat" in kind else value

    def _ints(self, index: int) -> list[int]:
        entry = self.plan.values[index].val
        assert isinstance(entry, IntList)
        return [self.values[item] for item in entry.items]

    def _value(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return getattr(value, next(iter(value.__slots__), ""), None)
        dtype = getattr(torch, value.scalar_type.torch)
        nbytes = dtype.itemsize
        for size in value.sizes:
            nbytes *= size
        where = value.allocation_info
        if where is None:
            if not value.data_buffer_idx:
                return None if nbytes else torch.zeros(value.sizes, dtype=dtype)
            return self._shaped(_bytes(self.file.constants[value.data_buffer_idx])[:nbytes], value)
        assert self.devices[where.memory_id] == tensor_device(value)
        memory = self.memory[where.memory_id][where.memory_offset_low :][:nbytes]
        assert memory.numel() == nbytes
        if value.data_buffer_idx:
            memory.copy_(_bytes(self.file.mutable_data[0][value.data_buffer_idx])[:nbytes])
        return self._shaped(memory, value)

    def _shaped(self, memory: torch.Tensor, value: Tensor) -> torch.Tensor:
        strides, step = [0] * len(value.sizes), 1
        for dimension in reversed(value.dim_order):
            strides[dimension] = step
            step *= value.sizes[dimension]
        dtype = getattr(torch, value.scalar_type.torch)
        return memory.view(dtype).as_strided(value.sizes, strides)

    def _delegate(self, entry: Any) -> tuple[Any, Device]:
        assert entry.id == "placewire.torch"
        device = next(map(target_device, target_device_specs(entry)), None) or CPU
        return torch.export.load(io.BytesIO(bytes(self.file.delegate_blob(entry)))), device


def _bytes(data: memoryview) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)
