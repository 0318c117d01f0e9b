"""The copy operators of graphs, in eager mode and on the wire."""

from __future__ import annotations

import pytest
import torch

from placewire.aot.copies import CopyKind
from placewire.device import Device

KINDS = list(CopyKind)
CPU, CUDA0, CUDA1 = map(Device.parse, ("cpu", "cuda:0", "cuda:1"))


def test_there_is_a_copy_for_every_direction() -> None:
    assert CopyKind.between(CPU, CUDA0) is CopyKind.HOST_TO_DEVICE
    assert CopyKind.between(CUDA0, CPU) is CopyKind.DEVICE_TO_HOST
    assert CopyKind.between(CUDA0, CUDA1) is CopyKind.DEVICE_TO_DEVICE


@pytest.mark.parametrize("kind", KINDS)
def test_a_functional_copy_has_memory_of_its_own(kind: CopyKind) -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    copy = kind.functional(tensor)
    assert torch.equal(copy, tensor)
    assert copy.data_ptr() != tensor.data_ptr()


@pytest.mark.parametrize("kind", KINDS)
def test_an_out_variant_writes_into_what_it_is_given_and_returns_it(kind: CopyKind) -> None:
    tensor, out = torch.arange(6.0), torch.zeros(6)
    assert kind.out(tensor, out=out) is out
    assert torch.equal(out, tensor)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32, torch.int64])
def test_copies_keep_the_dtype(kind: CopyKind, dtype: torch.dtype) -> None:
    tensor = torch.tensor([1, 2, 3], dtype=dtype)
    copy = kind.functional(tensor)
    assert copy.dtype is dtype
    assert torch.equal(copy, tensor)
    assert torch.equal(kind.out(tensor, out=torch.zeros(3, dtype=dtype)), tensor)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (0, 3)], ids=["scalar", "empty"])
def test_copies_take_tensors_without_dimensions_or_elements(
    kind: CopyKind, shape: tuple[int, ...]
) -> None:
    tensor = torch.ones(shape)
    assert torch.equal(kind.functional(tensor), tensor)
    assert torch.equal(kind.out(tensor, out=torch.zeros(shape)), tensor)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_can_be_traced_with_fake_tensors(kind: CopyKind) -> None:
    with torch._subclasses.FakeTensorMode():
        assert kind.functional(torch.empty(2, 3)).shape == (2, 3)


def test_programs_call_copies_between_host_and_device_as_executorch_does() -> None:
    assert CopyKind.HOST_TO_DEVICE.wire_name == ("et_copy::_h2d_copy", "out")
    assert CopyKind.DEVICE_TO_HOST.wire_name == ("et_copy::_d2h_copy", "out")


def test_programs_call_the_copy_between_devices_by_our_own_name() -> None:
    assert CopyKind.DEVICE_TO_DEVICE.wire_name == ("placewire::d2d_copy", "out")
