"""What only compiled code can get wrong: references, memory, buffers, objects of unusual layout."""

from __future__ import annotations

import array
import gc
import mmap
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from placewire_schema import (
    MODEL_STAMP,
    PackError,
    UnpackError,
    _native,
    _pure,
    device_info,
    program,
)

ALL_BUFFERS: dict[str, Callable[[bytes], Any]] = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "array": lambda data: array.array("B", data),
    "read-only memoryview of a part": lambda data: memoryview(b"xx" + data)[2:],
}


def a_plan() -> program.ExecutionPlan:
    """A plan that has a value, a list and a blob of each kind."""
    tensor = program.Tensor(
        sizes=[2, 300], dim_order=b"\0\1", allocation_info=program.AllocationDetails(1, 2**31, 0)
    )
    spec = program.CompileSpec("key", b"value that is longer than eight bytes")
    return program.ExecutionPlan(
        name="forward",
        values=[program.EValue(tensor), program.EValue(program.Int(2**40))],
        delegates=[program.BackendDelegate(id="é", compile_specs=[spec])],
        non_const_buffer_sizes=[0, 2**62],
    )


def unpack(type_: type[Any], data: Any) -> Any:
    return _native.unpack(type_, data, True, None)  # noqa: FBT003


def refused(type_: type[Any], data: Any) -> None:
    with pytest.raises(UnpackError):
        unpack(type_, data)


def references_to_byte() -> int:
    return sys.getrefcount(program.ScalarType.BYTE)


@pytest.fixture
def collector_is_on() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.enable()
    yield
    if not was_enabled:
        gc.disable()


def test_packing_leaves_all_reference_counts_as_they_were() -> None:
    plan = a_plan()
    watched = [plan, plan.values, plan.values[0], plan.values[0].val, plan.name, plan.delegates[0]]
    before = [sys.getrefcount(obj) for obj in watched]
    for _ in range(10):
        _native.pack(plan, {})
    assert [sys.getrefcount(obj) for obj in watched] == before


def test_a_failed_packing_leaves_all_reference_counts_as_they_were() -> None:
    plan = a_plan()
    plan.values.append(program.EValue(program.IntList([1, "two"])))  # type: ignore[list-item]
    watched = [plan, plan.values, plan.values[2], plan.values[2].val, plan.name]
    before = [sys.getrefcount(obj) for obj in watched]
    for _ in range(10):
        with pytest.raises(PackError):
            _native.pack(plan, {})
    gc.collect()
    assert [sys.getrefcount(obj) for obj in watched] == before


def test_unpacked_objects_die_with_their_last_reference() -> None:
    data = _native.pack(a_plan(), {})
    before = references_to_byte()
    plan = unpack(program.ExecutionPlan, data)
    tensor = plan.values[0].val
    assert sys.getrefcount(tensor) - 1 == 2  # the EValue's and ours
    assert references_to_byte() == before + 1
    del plan, tensor
    assert references_to_byte() == before


@pytest.mark.parametrize("action", ["pack", "unpack", "verify", "refuse", "report"])
def test_memory_does_not_grow(action: str) -> None:
    data = _native.pack(a_plan(), {})
    unknown = bytearray(_native.pack(program.Tensor(scalar_type=program.ScalarType.UINT64), {}))
    unknown[unknown.index(program.ScalarType.UINT64)] = 99
    actions: dict[str, Callable[[], Any]] = {
        "pack": lambda: _native.pack(a_plan(), {}),
        "unpack": lambda: unpack(program.ExecutionPlan, data),
        "verify": lambda: _native.verify(program.ExecutionPlan, data),
        "refuse": lambda: refused(program.Tensor, unknown),
        "report": lambda: _native.verify(program.Tensor, unknown),
    }
    run = actions[action]
    for _ in range(50):
        run()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(300):
            run()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 10_000


def test_unpacked_objects_are_known_to_the_garbage_collector() -> None:
    plan = unpack(program.ExecutionPlan, _native.pack(a_plan(), {}))
    assert gc.is_tracked(plan)
    assert gc.is_tracked(plan.values[0].val)


@pytest.mark.usefixtures("collector_is_on")
@pytest.mark.parametrize("data", [_native.pack(a_plan(), {}), b"damaged"], ids=["sound", "damaged"])
def test_the_garbage_collector_runs_on_afterwards(data: bytes) -> None:
    try:
        unpack(program.ExecutionPlan, data)
    except UnpackError:
        assert data == b"damaged"
    assert gc.isenabled()


def test_a_garbage_collector_that_was_off_stays_off() -> None:
    data = _native.pack(a_plan(), {})
    gc.disable()
    try:
        unpack(program.ExecutionPlan, data)
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("make", ALL_BUFFERS.values(), ids=ALL_BUFFERS)
def test_every_kind_of_buffer_is_read(make: Callable[[bytes], Any]) -> None:
    plan = a_plan()
    buffer = make(_native.pack(plan, {}))
    assert unpack(program.ExecutionPlan, buffer) == plan
    assert _native.verify(program.ExecutionPlan, buffer) == []


class Overwriter:
    """Garbage that only the collector finds; it overwrites a buffer when that happens."""

    def __init__(self, buffer: bytearray) -> None:
        self.itself = self
        self.buffer = buffer

    def __del__(self) -> None:
        self.buffer[:] = b"\xff" * len(self.buffer)


def test_no_finalizer_runs_between_the_check_of_a_buffer_and_the_end_of_reading() -> None:
    plan = a_plan()
    buffer = bytearray(_native.pack(plan, {}))
    thresholds = gc.get_threshold()
    gc.disable()
    try:
        Overwriter(buffer)
        gc.set_threshold(1, 1, 1)
        gc.enable()
        read = unpack(program.ExecutionPlan, buffer)
    finally:
        gc.set_threshold(*thresholds)
        gc.enable()
    assert read == plan
    gc.collect()
    assert buffer[0] == 0xFF


@pytest.mark.parametrize("make", ALL_BUFFERS.values(), ids=ALL_BUFFERS)
@pytest.mark.parametrize("size", [0, 5, 100_000])
def test_every_kind_of_buffer_is_written(make: Callable[[bytes], Any], size: int) -> None:
    blob = bytes(range(256)) * (size // 256) + bytes(size % 256)
    packed = _native.pack(program.Buffer(make(blob)), {})
    assert packed == _pure.pack(program.Buffer(blob), {})


def test_a_mapped_file_is_read_and_can_be_closed(tmp_path: Path) -> None:
    plan = a_plan()
    path = tmp_path / "plan"
    path.write_bytes(_native.pack(plan, {}))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapping:
        assert unpack(program.ExecutionPlan, mapping) == plan


def test_buffers_are_released() -> None:
    buffer = bytearray(_native.pack(a_plan(), {}))
    unpack(program.ExecutionPlan, buffer)
    _native.verify(program.ExecutionPlan, buffer)
    blob = bytearray(100_000)
    _native.pack(program.Buffer(blob), {})  # type: ignore[arg-type]
    with pytest.raises(UnpackError):
        unpack(program.ExecutionPlan, blob)
    # A bytearray that somebody still looks at cannot change its size.
    buffer.append(0)
    blob.append(0)


def test_what_is_not_a_contiguous_buffer_is_refused() -> None:
    for wrong in ("text", 5, memoryview(b"abcd")[::2]):
        name = type(wrong).__name__
        with pytest.raises(TypeError, match=f"expected a contiguous buffer of bytes, found {name}"):
            unpack(program.ExecutionPlan, wrong)


def test_large_blobs_lie_between_small_ones_as_they_should() -> None:
    blobs = [b"a" * 40_000, b"b", b"c" * 32_768, b"", b"d" * 32_767, b"e" * 100_001]
    constants = [program.Buffer(blob) for blob in blobs]
    whole = program.Program(constant_buffer=constants, named_data=[program.NamedData("key", 1)])
    packed = _native.pack(whole, {})
    assert packed == _pure.pack(whole, {})
    assert unpack(program.Program, packed) == whole


def test_one_blob_object_may_be_packed_many_times() -> None:
    blob = bytes(50_000)
    whole = program.Program(constant_buffer=[program.Buffer(blob)] * 4)
    assert _native.pack(whole, {}) == _pure.pack(whole, {})


def test_a_blob_that_is_freed_while_others_are_packed_is_still_written() -> None:
    class Forgetful(program.Buffer):
        """Makes a new blob for whoever asks."""

        __slots__ = ()

        @property
        def storage(self) -> bytes:  # type: ignore[override]
            return bytes([7]) * 50_000

    whole = program.Program(constant_buffer=[Forgetful.__new__(Forgetful) for _ in range(3)])
    expected = program.Program(constant_buffer=[program.Buffer(bytes([7]) * 50_000)] * 3)
    assert _native.pack(whole, {}) == _native.pack(expected, {})


def test_a_deleted_attribute_has_a_path() -> None:
    plan = a_plan()
    del plan.values[0].val.sizes  # type: ignore[union-attr]
    with pytest.raises(PackError, match=r"^values\[0\]\.val\.sizes: the attribute is missing$"):
        _native.pack(plan, {})


def test_a_subclass_with_a_dictionary_is_packed() -> None:
    class Annotated(program.Tensor):
        """Has a `__dict__`, because it names no slots."""

    tensor = Annotated(sizes=[1], dim_order=b"\0")
    tensor.note = "kept out of the file"  # type: ignore[attr-defined]
    plain = program.Tensor(sizes=[1], dim_order=b"\0")
    assert _native.pack(tensor, {}) == _native.pack(plain, {})


def test_a_property_of_a_subclass_counts() -> None:
    class Doubled(program.Int):
        """Says twice what it was given."""

        @property
        def int_val(self) -> int:
            return 14

        @int_val.setter
        def int_val(self, value: int) -> None:
            pass

    assert _native.pack(program.EValue(Doubled()), {}) == _native.pack(
        program.EValue(program.Int(14)), {}
    )


def test_a_subclass_can_be_unpacked() -> None:
    class Named(program.Int):
        """Knows when it was made."""

        __slots__ = ("made",)

        def __init__(self, *values: Any) -> None:
            super().__init__(*values)
            self.made = True

    number = unpack(Named, _native.pack(program.Int(5), {}))
    assert type(number) is Named
    assert (number.int_val, number.made) == (5, True)


def test_an_error_in_an_attribute_is_not_hidden() -> None:
    class Interrupted(program.Int):
        """Cannot be read."""

        @property
        def int_val(self) -> int:
            raise KeyboardInterrupt

        @int_val.setter
        def int_val(self, value: int) -> None:
            pass

    with pytest.raises(KeyboardInterrupt):
        _native.pack(program.EValue(Interrupted()), {})


class Saboteur:
    """An integer that runs something when it is asked for its value."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action = action

    def __index__(self) -> int:
        self.action()
        return 1


def test_a_list_that_shrinks_while_it_is_packed_does_no_harm() -> None:
    chain = program.Chain()
    chain.inputs = list(range(1000))
    chain.inputs[0] = Saboteur(chain.inputs.clear)  # type: ignore[call-overload]
    with pytest.raises(RuntimeError, match="the object changed while it was being packed"):
        _native.pack(chain, {})


def test_an_object_that_changes_while_it_is_packed_does_no_harm() -> None:
    plan = a_plan()

    def drop_everything() -> None:
        plan.values.clear()
        gc.collect()

    plan.values.insert(0, program.EValue(program.IntList([Saboteur(drop_everything)])))  # type: ignore[list-item]
    with pytest.raises(RuntimeError, match="the object changed while it was being packed"):
        _native.pack(plan, {})


def test_packing_inside_of_packing_does_no_harm() -> None:
    inner: list[bytes] = []
    numbers = program.IntList([1, Saboteur(lambda: inner.append(_native.pack(a_plan(), {}))), 3])  # type: ignore[list-item]
    assert unpack(program.IntList, _native.pack(numbers, {})).items == [1, 1, 3]
    assert unpack(program.ExecutionPlan, inner[0]) == a_plan()


def test_threads_may_pack_and_unpack_at_the_same_time() -> None:
    plan = a_plan()
    expected = _native.pack(plan, {})
    wrong: list[object] = []

    def work() -> None:
        for _ in range(200):
            packed = _native.pack(plan, {})
            if packed != expected or unpack(program.ExecutionPlan, packed) != plan:
                wrong.append(packed)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_numbers_of_every_size_arrive() -> None:
    numbers = [0, 1, -1, 2**29, 2**30, -(2**30), 2**31, 2**60, 2**62, 2**63 - 1, -(2**63)]
    assert unpack(program.IntList, _native.pack(program.IntList(numbers), {})).items == numbers
    unsigned = [0, 2**30, 2**60, 2**63, 2**64 - 1]
    offsets = program.SubsegmentOffsets(offsets=unsigned)
    assert unpack(program.SubsegmentOffsets, _native.pack(offsets, {})) == offsets


def test_an_enum_that_wraps_a_large_number_is_refused() -> None:
    device = device_info.DeviceInfo(device_type=2**70)  # type: ignore[arg-type]
    with pytest.raises(PackError, match="device_type: 1180591620717411303424 is not a value"):
        _native.pack(device, {})


def test_memory_that_cannot_be_had_is_a_memory_error() -> None:
    # The bytes of a string are copied into the builder, which grows to 128 MiB for them.
    script = """
import resource
from placewire_schema import _native, program
operator = program.Operator(name="x" * (64 << 20))
with open("/proc/self/statm") as statm:
    used = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (96 << 20),) * 2)
try:
    _native.pack(operator, {})
except MemoryError:
    print("MemoryError")
"""
    assert run_script(script) == "MemoryError"


def test_a_class_without_slots_is_refused_when_the_codec_is_first_used() -> None:
    script = """
from placewire_schema import _native, program
class Frame:
    filename = lineno = name = context = None
program.Frame = Frame
try:
    _native.pack(program.Null(), {})
except TypeError as error:
    print(error)
"""
    assert run_script(script) == (
        "Frame.filename is not a slot, so the compiled codec cannot be used"
    )


def test_an_enum_with_other_members_is_refused_when_the_codec_is_first_used() -> None:
    script = """
import enum
from placewire_schema import _native, program
program.ScalarType = enum.IntEnum("ScalarType", {"BYTE": 0, "OTHER": 4000})
try:
    _native.pack(program.Null(), {})
except TypeError as error:
    print(error)
"""
    assert run_script(script) == (
        "ScalarType does not have the members that the compiled codec expects"
    )


def run_script(script: str) -> str:
    """Run Python in a process of its own; return what it printed."""
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_the_stamp_is_that_of_the_package() -> None:
    assert _native.MODEL_STAMP == MODEL_STAMP
