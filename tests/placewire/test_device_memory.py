"""Memory on devices from Python: what it holds, when it goes, and what is refused."""

from __future__ import annotations

import pytest
from placewire_schema.errors import (
    InvalidArgumentError,
    InvalidStateError,
    NotFoundError,
    PlacewireError,
)

from placewire.device_memory import DeviceMemoryBuffer, has_allocator
from placewire.testing import SimulatedDevice


def test_what_is_written_to_a_device_can_be_read() -> None:
    with SimulatedDevice("cuda:0") as device, DeviceMemoryBuffer(8, "cuda:0") as buffer:
        buffer.write(b"abcdefgh")
        buffer.write(b"XY", offset=2)
        assert buffer.read() == b"abXYefgh"
        assert buffer.read(2, offset=6) == b"gh"
        assert buffer.read(offset=5) == b"fgh"
        assert (buffer.nbytes, str(buffer.device)) == (8, "cuda:0")
        assert buffer.address != 0
        assert device.bytes >= 8
    assert device.allocations == 0
    assert repr(buffer) == "DeviceMemoryBuffer(0, 'cuda:0')"


def test_memory_that_was_freed_can_be_neither_read_nor_written() -> None:
    with SimulatedDevice("cuda:0"):
        buffer = DeviceMemoryBuffer(4, "cuda:0")
        buffer.free()
        buffer.free()
        for use in (buffer.read, lambda: buffer.read(0), lambda: buffer.write(b"")):
            with pytest.raises(InvalidStateError, match="the memory on cuda:0 was freed; make an"):
                use()


def test_empty_memory_reads_as_no_bytes() -> None:
    with SimulatedDevice("cuda:0"), DeviceMemoryBuffer(0, "cuda:0") as buffer:
        assert buffer.read() == b""


def test_more_than_there_is_is_refused() -> None:
    with SimulatedDevice("cuda:0"), DeviceMemoryBuffer(4, "cuda:0") as buffer:
        with pytest.raises(PlacewireError):
            buffer.write(b"12345")
        with pytest.raises(PlacewireError):
            buffer.read(5)


def test_a_device_without_an_allocator_is_refused() -> None:
    assert not has_allocator("cuda:9")
    with pytest.raises(NotFoundError, match="cuda:9"):
        DeviceMemoryBuffer(4, "cuda:9")
    with SimulatedDevice("cuda:9"):
        assert has_allocator("cuda:9")


def test_what_is_no_device_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="'gpu' is not a device"):
        DeviceMemoryBuffer(4, "gpu")
