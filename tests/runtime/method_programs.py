"""Small programs for the tests of methods: each shows one thing, on tensors of four floats."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from placewire_schema import pack_device_table
from placewire_schema import program as p
from placewire_schema.device_info import DeviceInfo, DeviceTable

from tests.runtime.programs import Sample, tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

CUDA = p.DeviceType.CUDA
ADD = ("aten::add", "out")
COPY = ("aten::copy_", "")
VIEW = ("aten::view_copy", "out")
H2D = ("et_copy::_h2d_copy", "out")
D2H = ("et_copy::_d2h_copy", "out")
CLOCK = ("test::clock", "out")
GROW = ("test::grow", "out")


def floats(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def unplanned(*, dynamic: bool = False) -> p.Tensor:
    """A tensor of four floats whose memory is the caller's; at most four if it is dynamic."""
    dynamism = p.TensorShapeDynamism.DYNAMIC_BOUND if dynamic else p.TensorShapeDynamism.STATIC
    return p.Tensor(p.ScalarType.FLOAT, 0, [2, 2], b"\0\1", shape_dynamism=dynamism)


def constant(index: int, *, device: p.DeviceType = p.DeviceType.CPU) -> p.Tensor:
    """A tensor of four floats in the constant segment; the first has index 1."""
    extra = None if device == p.DeviceType.CPU else p.ExtraTensorInfo(device_type=device)
    return p.Tensor(
        p.ScalarType.FLOAT, 0, [2, 2], b"\0\1", data_buffer_idx=index, extra_tensor_info=extra
    )


def on_cuda(*, offset: int = 0, memory_id: int = 2, initial: int = 0) -> p.Tensor:
    """A planned tensor of four floats on cuda:0."""
    extra = p.ExtraTensorInfo(device_type=CUDA)
    return tensor(memory_id=memory_id, offset=offset, initial=initial, extra=extra)


def method(
    values: Sequence[Any],
    calls: Sequence[Any],
    *,
    inputs: Sequence[int],
    outputs: Sequence[int],
    sizes: Sequence[int] = (0, 64),
    devices: Sequence[p.NonConstBufferDevice] | None = None,
    name: str = "forward",
    delegates: Sequence[p.BackendDelegate] = (),
) -> p.ExecutionPlan:
    """A method; a call is `(operator, arguments)`, or any other instruction."""
    operators: list[tuple[str, str]] = []
    instructions = []
    for call in calls:
        if not isinstance(call, tuple):
            instructions.append(p.Instruction(call))
            continue
        operator, arguments = call
        if operator not in operators:
            operators.append(operator)
        instructions.append(p.Instruction(p.KernelCall(operators.index(operator), list(arguments))))
    return p.ExecutionPlan(
        name=name,
        container_meta_type=p.ContainerMetadata("in", "out"),
        values=[p.EValue(value) for value in values],
        inputs=list(inputs),
        outputs=list(outputs),
        chains=[p.Chain(instructions=instructions)],
        operators=[p.Operator(*operator) for operator in operators],
        delegates=list(delegates),
        non_const_buffer_sizes=list(sizes),
        non_const_buffer_device=None if devices is None else list(devices),
    )


def program(
    *plans: p.ExecutionPlan, constants: bytes = b"", initial: Sequence[bytes] = ()
) -> Sample:
    """A program with constants of 16 bytes each, and lists of one initial value each."""
    segments = [p.DataSegment(0, len(constants))]
    area = constants.ljust(128, b"\0")
    lists = []
    for value in initial:
        lists.append(p.SubsegmentOffsets(len(segments), [0, 0]))
        segments.append(p.DataSegment(len(area), len(value)))
        area += value.ljust(128, b"\0")
    offsets = [0, *range(0, len(constants), 16)]
    end = segments[-1].offset + segments[-1].size
    return Sample(
        p.Program(
            execution_plan=list(plans),
            constant_buffer=[p.Buffer(b"")],
            segments=segments,
            constant_segment=p.SubsegmentOffsets(0, offsets),
            mutable_data_segments=lists or None,
        ),
        area[:end],
        header_length=32 if end else 0,
    )


def add_constant() -> Sample:
    """forward(x) = (x + c) + c."""
    values = [
        tensor(memory_id=1),
        constant(1),
        p.Int(1),
        tensor(memory_id=1, offset=16),
        tensor(memory_id=1, offset=32),
    ]
    calls = [(ADD, [0, 1, 2, 3, 3]), (ADD, [3, 1, 2, 4, 4])]
    return program(
        method(values, calls, inputs=[0], outputs=[4]), constants=floats(1.0, 2.0, 3.0, 4.0)
    )


def borrowed(*, dynamic: bool = False) -> Sample:
    """forward(x) = x + x, where neither x nor the result is planned."""
    values = [unplanned(dynamic=dynamic), p.Int(1), unplanned(dynamic=dynamic)]
    return program(method(values, [(ADD, [0, 0, 1, 2, 2])], inputs=[0], outputs=[2]))


def writes_input() -> Sample:
    """forward(x): x is an input of dynamic shape that is not planned, and is written."""
    values = [unplanned(dynamic=True), p.Int(1)]
    return program(method(values, [(ADD, [0, 0, 1, 0, 0])], inputs=[0], outputs=[0]))


def without_memory() -> Sample:
    """forward(x): what is computed on the way has no memory."""
    values = [tensor(memory_id=1), p.Int(1), unplanned(), tensor(memory_id=1, offset=16)]
    calls = [(ADD, [0, 0, 1, 2, 2]), (ADD, [2, 2, 1, 3, 3])]
    return program(method(values, calls, inputs=[0], outputs=[3]))


def counter(initial: Sequence[bytes] = (floats(9, 9, 9, 9), floats(1, 2, 3, 4))) -> Sample:
    """forward(x): state = state + x; returns state. The state begins as the second list says."""
    state = tensor(memory_id=1, initial=1, extra=p.ExtraTensorInfo(len(initial) - 1, "state"))
    values = [
        state,
        tensor(memory_id=1, offset=16),
        p.Int(1),
        tensor(memory_id=1, offset=32),
        p.Bool(False),  # noqa: FBT003 - the field's only meaning
    ]
    calls = [(ADD, [0, 1, 2, 3, 3]), (COPY, [0, 3, 4, 0])]
    return program(method(values, calls, inputs=[1], outputs=[3]), initial=initial)


def shared_counters() -> Sample:
    """Two methods that add to the same state."""
    first = counter()
    (plan,) = first.program.execution_plan
    other = counter().plan
    other.name = "second"
    first.program.execution_plan = [plan, other]
    return first


def zero_state() -> Sample:
    """forward(x) = state = state + x, where the file has no initial value for the state."""
    sample = counter()
    sample.tensor(0).data_buffer_idx = 0
    return sample


def device_copy(*, initial: int = 0) -> Sample:
    """forward(x): x to cuda:0, and back from there; with a state there if `initial`."""
    values = [
        tensor(memory_id=1),
        on_cuda(),
        tensor(memory_id=1, offset=16),
        constant(1, device=CUDA),
        tensor(memory_id=1, offset=32),
    ]
    if initial:
        values[3] = on_cuda(offset=16, initial=initial)
    calls = [(H2D, [0, 1, 1]), (D2H, [1, 2, 2]), (D2H, [3, 4, 4])]
    plan = method(
        values,
        calls,
        inputs=[0],
        outputs=[2, 4],
        sizes=[0, 64, 32],
        devices=[p.NonConstBufferDevice(2, CUDA, 0)],
    )
    kept = floats(5.0, 6.0, 7.0, 8.0)
    return program(plan, initial=[kept]) if initial else program(plan, constants=kept)


def constant_to_device() -> Sample:
    """forward(x): a constant to cuda:0, and back from there; x is not used."""
    values = [tensor(memory_id=1), constant(1), on_cuda(), tensor(memory_id=1, offset=16)]
    calls = [(H2D, [1, 2, 2]), (D2H, [2, 3, 3])]
    plan = method(
        values,
        calls,
        inputs=[0],
        outputs=[3],
        sizes=[0, 64, 32],
        devices=[p.NonConstBufferDevice(2, CUDA, 0)],
    )
    return program(plan, constants=floats(5.0, 6.0, 7.0, 8.0))


def aligned() -> Sample:
    """The copies of `device_copy`, with a device table that says how buffers are to be aligned."""
    sample = device_copy(initial=1)
    infos = [
        DeviceInfo(planned_bytes=64, buffer_count=1, alignment=512),
        DeviceInfo(CUDA, 0, 32, 1, constant_bytes=16, alignment=4096),
    ]
    table = pack_device_table(DeviceTable(infos))
    assert sample.program.segments is not None
    offset = -(-len(sample.area) // 128) * 128
    sample.area = sample.area.ljust(offset, b"\0") + table
    sample.program.named_data = [
        p.NamedData("placewire.device_table", len(sample.program.segments))
    ]
    sample.program.segments.append(p.DataSegment(offset, len(table)))
    return sample


def many_devices() -> Sample:
    """forward(x): through buffers on three devices."""
    values = [
        tensor(memory_id=1),
        *(
            tensor(
                memory_id=2 + index,
                extra=p.ExtraTensorInfo(device_type=CUDA, device_index=index),
            )
            for index in range(3)
        ),
        tensor(memory_id=1, offset=16),
    ]
    d2d = ("placewire::d2d_copy", "out")
    calls = [(H2D, [0, 1, 1]), (d2d, [1, 2, 2]), (d2d, [2, 3, 3]), (D2H, [3, 4, 4])]
    devices = [p.NonConstBufferDevice(2 + index, CUDA, index) for index in range(3)]
    return program(
        method(values, calls, inputs=[0], outputs=[4], sizes=[0, 32, 16, 16, 16], devices=devices)
    )


def endless() -> Sample:
    """forward(): jumps back for ever."""
    values = [p.Bool(False)]  # noqa: FBT003 - the field's only meaning
    calls = [p.JumpFalseCall(0, 1), p.JumpFalseCall(0, 0)]
    return program(method(values, calls, inputs=[], outputs=[0], sizes=[0]))


def loop() -> Sample:
    """forward(x): adds a constant three times, in a loop with a counter; then x is the sum."""
    values = [
        tensor(memory_id=1),
        constant(1),
        p.Int(1),
        tensor(memory_id=1, offset=16),
        p.Int(0),  # 4: the counter
        p.Int(3),
        p.Bool(False),  # noqa: FBT003 - the field's only meaning
        p.Int(1),
    ]
    calls = [
        (ADD, [0, 1, 2, 3, 3]),
        p.MoveCall(3, 0),
        (("executorch_prim::add", "Scalar"), [4, 7, 4]),
        (("executorch_prim::eq", "Scalar"), [4, 5, 6]),
        p.JumpFalseCall(6, 0),
    ]
    plan = method(values, calls, inputs=[0], outputs=[0])
    return program(plan, constants=floats(1.0, 10.0, 100.0, 1000.0))


def branch() -> Sample:
    """forward(x): moves a constant to a value that is then written."""
    values = [tensor(memory_id=1), constant(1), p.Int(1), tensor(memory_id=1, offset=16)]
    calls = [p.MoveCall(1, 3), (ADD, [0, 0, 2, 3, 3])]
    return program(method(values, calls, inputs=[0], outputs=[3]), constants=floats(1, 2, 3, 4))


def numbers() -> Sample:
    """forward(3, 0.5, True, "mode", None, x) = x + x."""
    values = [
        p.Int(3),
        p.Double(0.5),
        p.Bool(True),  # noqa: FBT003 - the field's only meaning
        p.String("mode"),
        p.Null(),
        tensor(memory_id=1),
        p.Int(1),
        tensor(memory_id=1, offset=16),
    ]
    calls = [(ADD, [5, 5, 6, 7, 7])]
    return program(method(values, calls, inputs=range(6), outputs=[7]))


def missing() -> Sample:
    """Calls two operators and a backend that nobody has, and needs two devices."""
    values = [
        tensor(memory_id=1),
        on_cuda(),
        tensor(memory_id=3, extra=p.ExtraTensorInfo(device_type=CUDA, device_index=1)),
    ]
    calls = [
        (("test::first", "out"), [0, 0]),
        (("test::second", ""), [0, 0]),
        (("test::first", "out"), [0, 0]),
        p.DelegateCall(0, [0, 0]),
    ]
    sample = program(
        method(
            values,
            calls,
            inputs=[0],
            outputs=[0],
            sizes=[0, 16, 16, 16],
            devices=[p.NonConstBufferDevice(2, CUDA, 0), p.NonConstBufferDevice(3, CUDA, 1)],
            delegates=[
                p.BackendDelegate(
                    "nobody", p.BackendDelegateDataReference(p.DataLocation.INLINE, 0), []
                )
            ],
        )
    )
    sample.program.backend_delegate_data = [p.BackendDelegateInlineData(b"blob")]
    return sample


def prepared() -> Sample:
    """forward(x) = view(view(x) + (c + c)); c + c is constant, and both views share memory."""
    flat = [4]
    values = [
        tensor(memory_id=1),  # 0: x
        constant(1),
        p.Int(1),
        tensor(memory_id=1, offset=16),  # 3: c + c
        p.Tensor(p.ScalarType.FLOAT, 0, flat, b"\0", allocation_info=p.AllocationDetails(1, 32)),
        p.IntList([6]),
        p.Int(4),  # 6
        tensor(memory_id=1, offset=48),  # 7: a view as it was
        p.IntList([9, 9]),
        p.Int(2),  # 9
        tensor(memory_id=1, offset=64),  # 10: the sum
        tensor(memory_id=1, offset=80),  # 11: the result
    ]
    calls = [
        (ADD, [1, 1, 2, 3, 3]),
        (VIEW, [0, 5, 4, 4]),
        (VIEW, [4, 8, 7, 7]),
        (ADD, [7, 3, 2, 10, 10]),
        (VIEW, [10, 8, 11, 11]),
    ]
    plan = method(values, calls, inputs=[0], outputs=[11], sizes=[0, 96])
    return program(plan, constants=floats(1.0, 2.0, 3.0, 4.0))


def viewed() -> Sample:
    """forward(x) = y + y + k, where y and k are read through other values in the same places.

    y is a copy of x + x, which can share its memory; k = c + c is constant.
    """
    values = [
        tensor(memory_id=1),  # 0: x
        constant(1),
        p.Int(1),
        tensor(memory_id=1, offset=16),  # 3: x + x
        tensor(memory_id=1, offset=32),  # 4: y
        tensor(memory_id=1, offset=32),  # 5: y again
        p.IntList([7, 7]),
        p.Int(2),  # 7
        tensor(memory_id=1, offset=48),  # 8: k
        tensor(memory_id=1, offset=48),  # 9: k again
        tensor(memory_id=1, offset=64),  # 10: y + y
        tensor(memory_id=1, offset=80),  # 11: the result
    ]
    calls = [
        (ADD, [0, 0, 2, 3, 3]),
        (VIEW, [3, 6, 4, 4]),
        (ADD, [1, 1, 2, 8, 8]),
        (ADD, [5, 5, 2, 10, 10]),
        (ADD, [10, 9, 2, 11, 11]),
    ]
    plan = method(values, calls, inputs=[0], outputs=[11], sizes=[0, 96])
    return program(plan, constants=floats(100.0, 200.0, 300.0, 400.0))


def kept_view() -> Sample:
    """forward(x): returns a copy through another value in the same place, which must stay."""
    values = [
        tensor(memory_id=1),  # 0: x
        p.Int(1),
        tensor(memory_id=1, offset=16),  # 2: x + x
        tensor(memory_id=1, offset=32),  # 3: a copy of it
        tensor(memory_id=1, offset=32),  # 4: the copy again
        p.IntList([6, 6]),
        p.Int(2),  # 6
    ]
    calls = [(ADD, [0, 0, 1, 2, 2]), (VIEW, [2, 5, 3, 3])]
    return program(method(values, calls, inputs=[0], outputs=[4]))


def reused() -> Sample:
    """forward(x): the memory of a view's source is written again before the view is read."""
    values = [
        tensor(memory_id=1),  # 0: x
        p.Int(1),
        tensor(memory_id=1, offset=16),  # 2: x + x
        tensor(memory_id=1, offset=32),  # 3: a view of it
        p.IntList([5, 5]),
        p.Int(2),  # 5
        tensor(memory_id=1, offset=16),  # 6: x + x + x, where 2 was
        tensor(memory_id=1, offset=48),  # 7
        tensor(memory_id=1, offset=64),  # 8
    ]
    calls = [
        (ADD, [0, 0, 1, 2, 2]),
        (VIEW, [2, 4, 3, 3]),
        (ADD, [2, 0, 1, 7, 7]),
        (ADD, [7, 0, 1, 6, 6]),
        (ADD, [3, 6, 1, 8, 8]),
    ]
    return program(method(values, calls, inputs=[0], outputs=[8], sizes=[0, 80]))


def changing() -> Sample:
    """forward(): calls a kernel without arguments that change, but which is not pure."""
    values = [constant(1), tensor(memory_id=1), tensor(memory_id=1, offset=16), p.Int(1)]
    calls = [(CLOCK, [0, 1, 1]), (ADD, [1, 1, 3, 2, 2])]
    return program(method(values, calls, inputs=[], outputs=[2]), constants=floats(0, 0, 0, 0))


def misaligned() -> Sample:
    """forward(x) = x + x, where x is planned at an odd byte."""
    values = [tensor(memory_id=1, offset=1), p.Int(1), tensor(memory_id=1, offset=32)]
    return program(method(values, [(ADD, [0, 0, 1, 2, 2])], inputs=[0], outputs=[2]))


def chains() -> Sample:
    """forward(x) in two chains, of which the first ends with a jump to its end."""
    sample = add_constant()
    plan = sample.plan
    first, second = plan.chains[0].instructions
    plan.values.append(p.EValue(p.Bool(False)))  # noqa: FBT003 - the field's only meaning
    jump = p.Instruction(p.JumpFalseCall(len(plan.values) - 1, 3))
    plan.chains = [
        p.Chain(instructions=[first, jump, second]),
        p.Chain(instructions=[second]),
    ]
    return sample


def elsewhere() -> Sample:
    """A method whose first buffer is on cuda:0, beside one whose first is on the CPU."""
    sample = add_constant()
    values = [on_cuda(memory_id=1), on_cuda(memory_id=1, offset=16)]
    d2d = ("placewire::d2d_copy", "out")
    sample.program.execution_plan.append(
        method(
            values,
            [(d2d, [0, 1, 1])],
            inputs=[0],
            outputs=[1],
            devices=[p.NonConstBufferDevice(1, CUDA, 0)],
            name="second",
        )
    )
    return sample


PROGRAMS: dict[str, Callable[[], Sample]] = {
    "add_constant": add_constant,
    "borrowed": borrowed,
    "borrowed_dynamic": lambda: borrowed(dynamic=True),
    "writes_input": writes_input,
    "without_memory": without_memory,
    "counter": counter,
    "shared_counters": shared_counters,
    "zero_state": zero_state,
    "device_copy": device_copy,
    "device_state": lambda: device_copy(initial=1),
    "constant_to_device": constant_to_device,
    "aligned": aligned,
    "many_devices": many_devices,
    "endless": endless,
    "loop": loop,
    "branch": branch,
    "numbers": numbers,
    "missing": missing,
    "prepared": prepared,
    "viewed": viewed,
    "kept_view": kept_view,
    "reused": reused,
    "changing": changing,
    "misaligned": misaligned,
    "chains": chains,
    "elsewhere": elsewhere,
}


def write_programs(folder: Path) -> None:
    """Write every program as `NAME.pte`."""
    for name, make in PROGRAMS.items():
        (folder / f"{name}.pte").write_bytes(make().file())
