"""Device: how a place for tensors is written and read."""

from __future__ import annotations

import numpy as np
import pytest
from placewire_schema.errors import PlacewireError
from placewire_schema.program import DeviceType

from placewire.device import HIGHEST_INDEX, Device


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpu", Device(DeviceType.CPU, 0)),
        ("cuda", Device(DeviceType.CUDA, 0)),
        ("cuda:0", Device(DeviceType.CUDA, 0)),
        ("cuda:7", Device(DeviceType.CUDA, 7)),
        ("CUDA:1", Device(DeviceType.CUDA, 1)),
        ("Cuda:127", Device(DeviceType.CUDA, 127)),
        ("CPU:0", Device(DeviceType.CPU, 0)),
    ],
)
def test_a_device_is_read_as_people_write_it(text: str, expected: Device) -> None:
    assert Device.parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cuda:",
        "cuda:-1",
        "cuda:128",
        "cuda:300",
        "cuda:0:1",
        "cuda:01",
        "cuda:+1",
        "cuda:1.0",
        "cuda:a",
        "cuda 0",
        " cuda",
        "cuda:0\n",
        "tpu:0",
        "0",
        ":0",
        "cuda:\u0661",
        "cuda:99999999999999999999",
        None,
        b"cuda:0",
        1,
    ],
    ids=repr,
)
def test_everything_else_is_a_value_error_that_shows_the_value_and_what_is_valid(
    text: str,
) -> None:
    kinds = " or ".join(member.name.lower() for member in DeviceType)
    with pytest.raises(ValueError, match=f"valid is {kinds}, with an index 0 to 127") as caught:
        Device.parse(text)
    assert str(caught.value).startswith(f"{text!r} is not a device; ")
    assert isinstance(caught.value, PlacewireError)


@pytest.mark.parametrize("index", [0, 1, HIGHEST_INDEX])
def test_the_text_of_a_device_reads_back(index: int) -> None:
    for type_ in DeviceType:
        device = Device(type_, index)
        assert Device.parse(str(device)) == device


def test_the_text_of_a_device_has_an_index() -> None:
    assert [str(Device.parse(text)) for text in ("CPU", "Cuda", "cuda:3")] == [
        "cpu:0",
        "cuda:0",
        "cuda:3",
    ]


@pytest.mark.parametrize("index", [-1, 128, "1", None, 0.5, 1.0])
def test_an_index_out_of_range_is_refused(index: int) -> None:
    with pytest.raises(ValueError, match=f"{index!r} is not a device index; valid is 0 to 127"):
        Device(DeviceType.CUDA, index)


def test_a_type_that_the_schema_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"99 is not a device type; valid are 0 \(CPU\), 1 "):
        Device(99)  # type: ignore[arg-type]


def test_a_type_may_be_a_number() -> None:
    assert Device(1) == Device(DeviceType.CUDA)  # type: ignore[arg-type]
    assert str(Device(1, 2)) == "cuda:2"  # type: ignore[arg-type]


@pytest.mark.parametrize("index", [True, np.int64(1), np.uint8(1)], ids=repr)
def test_an_index_may_be_any_integer(index: int) -> None:
    device = Device(DeviceType.CUDA, index)
    assert str(device) == "cuda:1"
    assert type(device.index) is int


def test_a_cpu_with_an_index_is_read_and_is_another_device_than_the_first() -> None:
    device = Device.parse("cpu:1")
    assert device.is_cpu
    assert device != Device.parse("cpu:0")
    assert str(device) == "cpu:1"


def test_a_device_cannot_change() -> None:
    with pytest.raises(AttributeError):
        Device.parse("cuda").index = 1  # type: ignore[misc]


def test_devices_are_keys() -> None:
    assert {Device.parse("cuda"): 1}[Device(DeviceType.CUDA, 0)] == 1


def test_devices_sort_by_type_then_index() -> None:
    texts = ["cuda:1", "cpu:1", "cuda:0", "cpu:0"]
    assert list(map(str, sorted(map(Device.parse, texts)))) == [
        "cpu:0",
        "cpu:1",
        "cuda:0",
        "cuda:1",
    ]
