"""Simulated devices from Python, and the fixture that brings them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from placewire_schema.errors import (
    AccessError,
    AllocationError,
    InvalidArgumentError,
    InvalidStateError,
    NotFoundError,
)
from placewire_schema.program import DeviceType

from placewire import Device
from placewire._core import core
from placewire.testing import Operation, OperationCount, SimulatedDevice

if TYPE_CHECKING:
    from placewire.pytest_plugin import Simulate

pytest_plugins = ["placewire.pytest_plugin"]


def allocate(nbytes: int, device: Device | None = None) -> core.DeviceMemoryBuffer:
    place = device or Device(DeviceType.CUDA, 0)
    return core.DeviceMemoryBuffer(nbytes, place.type, place.index)


def test_a_device_is_there_while_it_is_entered() -> None:
    with SimulatedDevice("cuda:1") as device:
        assert core.has_allocator(DeviceType.CUDA, 1)
        assert not core.has_allocator(DeviceType.CUDA, 0)
        assert device.device == Device.parse("cuda:1")
    assert not core.has_allocator(DeviceType.CUDA, 1)


def test_a_device_has_at_most_half_of_the_memory_of_the_host() -> None:
    host = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with SimulatedDevice("cuda:0"), pytest.raises(AllocationError, match="0 of its"):
        allocate(host // 2 + 1)


def test_a_device_is_gone_after_an_error() -> None:
    with pytest.raises(RuntimeError), SimulatedDevice("cuda:0"):
        raise RuntimeError
    assert not core.has_allocator(DeviceType.CUDA, 0)


def test_a_missing_device_is_named() -> None:
    with pytest.raises(NotFoundError, match="no allocator is registered for cuda:5"):
        allocate(8, Device.parse("cuda:5"))


def test_it_stands_for_every_kind_of_device() -> None:
    for kind in DeviceType:
        with SimulatedDevice(Device(kind, 127)) as device:
            buffer = allocate(8, device.device)
            assert device.allocations == 1
            buffer.free()


def test_it_counts_allocations_and_bytes(simulate: Simulate) -> None:
    device = simulate("cuda:0")
    first, second = allocate(100), allocate(50)
    assert (device.allocations, device.bytes, device.peak_bytes) == (2, 150, 150)
    first.free()
    assert (device.allocations, device.bytes, device.peak_bytes) == (1, 50, 150)
    del second
    assert (device.allocations, device.bytes) == (0, 0)
    assert device.count("allocate") == OperationCount(calls=2, failures=0, bytes=150)
    assert device.count("deallocate") == OperationCount(calls=2, failures=0, bytes=150)


def test_bytes_go_there_and_back(simulate: Simulate) -> None:
    device = simulate("cuda:0")
    buffer = allocate(16)
    assert buffer.read(16) == b"\xff" * 16
    buffer.write(b"abcd", 4)
    assert buffer.read(6, 3) == b"\xffabcd\xff"
    assert device.count("copy_host_to_device") == OperationCount(1, 0, 4)
    assert device.count("copy_device_to_host") == OperationCount(2, 0, 22)


@pytest.mark.parametrize("access", ["pointer[0]", "pointer.__setitem__(0, 1)"])
def test_the_host_dies_when_it_touches_device_memory(access: str) -> None:
    program = (
        "import ctypes\n"
        "from placewire._core import core\n"
        "from placewire.testing import SimulatedDevice\n"
        "with SimulatedDevice():\n"
        "    buffer = core.DeviceMemoryBuffer(8, 1, 0)\n"
        "    pointer = (ctypes.c_ubyte * 8).from_address(buffer.address)\n"
        "    print('allocated', flush=True)\n"
        f"    {access}\n"
        "    print('touched', flush=True)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (-signal.SIGSEGV, "allocated\n")


def test_the_part_of_the_device_can_be_played(simulate: Simulate) -> None:
    device = simulate("cuda:0")
    buffer = allocate(8)
    buffer.write(bytes(range(8)))
    view = device.view(buffer.address + 2, 4)
    assert bytes(view) == b"\x02\x03\x04\x05"
    view[0] = 9
    assert buffer.read(1, 2) == b"\x09"
    with pytest.raises(InvalidArgumentError, match="7 bytes at offset 2 end behind"):
        device.view(buffer.address + 2, 7)


def test_the_nth_allocation_fails_on_demand(simulate: Simulate) -> None:
    device = simulate("cuda:0")
    device.fail("allocate", 3)
    kept = [allocate(8), allocate(8)]
    with pytest.raises(AllocationError, match="cuda:0: allocate failed"):
        allocate(8)
    assert device.allocations == len(kept)


def test_a_copy_fails_on_demand(simulate: Simulate) -> None:
    device = simulate("cuda:0")
    buffer = allocate(8)
    device.fail("copy_host_to_device")
    with pytest.raises(AccessError, match="copy_host_to_device failed"):
        buffer.write(b"12345678")
    buffer.write(b"12345678")
    device.fail("copy_device_to_host", 2)
    assert buffer.read(8) == b"12345678"
    with pytest.raises(AccessError, match="copy_device_to_host failed"):
        buffer.read(8)


def test_memory_runs_out_where_the_test_says(simulate: Simulate) -> None:
    simulate("cuda:0", memory=100)
    kept = allocate(60)
    with pytest.raises(AllocationError, match="60 of its 100 bytes are allocated"):
        allocate(41)
    assert kept.size == 60


def test_memory_outlives_the_scope_of_its_device() -> None:
    with SimulatedDevice() as device:
        buffer = allocate(8)
    buffer.write(b"12345678")
    assert buffer.read(8) == b"12345678"
    buffer.free()
    assert device.allocations == 0


def test_a_buffer_of_no_bytes_is_empty(simulate: Simulate) -> None:
    device = simulate("cuda:0")
    buffer = allocate(0)
    assert (buffer.address, buffer.size, buffer.read(0)) == (0, 0, b"")
    buffer.write(b"")
    assert device.count("allocate").calls == 0


def test_a_range_outside_a_buffer_is_an_error(simulate: Simulate) -> None:
    simulate("cuda:0")
    buffer = allocate(8)
    with pytest.raises(InvalidArgumentError, match="5 bytes at offset 4 end behind"):
        buffer.write(b"12345", 4)
    with pytest.raises(InvalidArgumentError, match="0 bytes at offset 9"):
        buffer.read(0, 9)


def test_an_alignment_is_forwarded(simulate: Simulate) -> None:
    simulate("cuda:0")
    assert core.DeviceMemoryBuffer(8, DeviceType.CUDA, 0, 1 << 16).address % (1 << 16) == 0
    with pytest.raises(InvalidArgumentError, match="alignment 3 is not a power of two"):
        core.DeviceMemoryBuffer(8, DeviceType.CUDA, 0, 3)


def test_entering_twice_is_an_error() -> None:
    already = pytest.raises(InvalidStateError, match="cuda:0 is installed already")
    with SimulatedDevice() as device, already, device:
        pass
    assert not core.has_allocator(DeviceType.CUDA, 0)


def test_the_operations_are_those_of_the_core() -> None:
    assert get_args(Operation) == core.DEVICE_OPERATIONS
    with pytest.raises(InvalidArgumentError, match=r'"copy" is no operation.*; valid is all'):
        SimulatedDevice().count("copy")  # type: ignore[arg-type]


def test_it_says_what_it_is(simulate: Simulate) -> None:
    device = simulate("cuda:1")
    buffer = allocate(8, device.device)
    assert repr(device) == "SimulatedDevice('cuda:1', 1 allocations, 8 bytes)"
    buffer.free()


def test_the_fixture_fails_a_test_that_leaves_memory(tmp_path: Path) -> None:
    (tmp_path / "test_memory.py").write_text(
        'pytest_plugins = ["placewire.pytest_plugin"]\n'
        "from placewire._core import core\n"
        "kept = []\n"
        "def test_leaks(simulate):\n"
        "    simulate('cuda:0')\n"
        "    kept.append(core.DeviceMemoryBuffer(8, 1, 0))\n"
        "def test_frees(simulate):\n"
        "    simulate('cuda:0')\n"
        "    core.DeviceMemoryBuffer(8, 1, 0)\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    left = "SimulatedDevice('cuda:0', 1 allocations, 8 bytes)"
    assert f"memory was not freed: {left}" in result.stdout
    assert "2 passed, 1 error" in result.stdout


def test_an_unknown_allocator_cannot_be_unregistered() -> None:
    with pytest.raises(NotFoundError, match="no allocator for cuda is registered"):
        core.unregister_allocator(DeviceType.CUDA)
