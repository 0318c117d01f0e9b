"""Small programs for the tests of methods: each shows one thing, on tensors of four floats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placewire_schema import pack_device_table
from placewire_schema import program as p
from placewire_schema.device_info import DeviceInfo, DeviceRequirements, DeviceTable

from tests.runtime.method_building import (
    ADD,
    COPY,
    CUDA,
    D2H,
    H2D,
    constant,
    floats,
    method,
    on_cuda,
    program,
    unplanned,
)
from tests.runtime.prepared_programs import changing, kept_view, prepared, reused, viewed
from tests.runtime.programs import Sample, tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


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
    return _with_table(DeviceInfo(CUDA, 0, 32, 1, constant_bytes=16, alignment=4096))


def demanding() -> Sample:
    """The copies of `device_copy`, with a device table that asks for a model and its memory."""
    wanted = DeviceRequirements("NVIDIA H200", "sm_90", 1 << 20)
    return _with_table(DeviceInfo(CUDA, 0, 32, 1, constant_bytes=16, requirements=wanted))


def _with_table(info: DeviceInfo) -> Sample:
    """The copies of `device_copy`, with a device table that says this about cuda:0."""
    sample = device_copy(initial=1)
    infos = [DeviceInfo(planned_bytes=64, buffer_count=1, alignment=512), info]
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
    "demanding": demanding,
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
