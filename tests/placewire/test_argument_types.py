"""Arguments of wrong types: every public function tells which, what it is, and what it expects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from placewire_schema.errors import InvalidArgumentError, InvalidTypeError
from placewire_schema.program import DeviceType

from placewire import Device, Module, ScopedKernel, kernel
from placewire._core import core
from placewire.custom_kernels import unregister_kernel
from placewire.device import as_device
from placewire.device_memory import (
    DeviceMemoryBuffer,
    has_allocator,
    unregister_allocator,
)
from placewire.module import register_backend, unregister_backend
from placewire.tensors import copy_tensor, to_numpy
from placewire.testing import SimulatedDevice
from tests.placewire.module.adding_backend import Adding, AddingBackend

WRONG: Any = 5
"""An object of a type that no parameter here has."""

TEXT: Any = "1"
"""A text, where a number is expected."""

FUNCTION: Any = print
CLASS: Any = AddingBackend


def _device() -> SimulatedDevice:
    return SimulatedDevice("cuda:0")


def _tensor() -> Any:
    return copy_tensor(np.ones(2, np.float32))


FUNCTIONS: dict[str, tuple[Callable[[], object], str]] = {
    "kernel": (lambda: kernel(WRONG), "name is an int; expected a text"),
    "kernel without a name": (lambda: kernel(FUNCTION), "name is a builtin_function_or_method"),
    "kernel of no function": (lambda: kernel("a::b")(WRONG), "function is an int; expected a func"),
    "ScopedKernel": (
        lambda: ScopedKernel("a::b", WRONG),
        "function is an int; expected a function",
    ),
    "ScopedKernel's name": (lambda: ScopedKernel(WRONG, print), "name is an int; expected a text"),
    "unregister_kernel": (lambda: unregister_kernel(WRONG), "name is an int; expected a text"),
    "unregister_backend": (lambda: unregister_backend(WRONG), "name is an int; expected a text"),
    "register_backend": (lambda: register_backend(CLASS), "backend is the class AddingB"),
    "KernelSource": (lambda: core.KernelSource(WRONG), "find is an int; expected a function"),
    "KernelSource.has": (
        lambda: core.KernelSource(lambda name: None).has(WRONG),
        "name is an int; expected a text",
    ),
    "copy_tensor": (lambda: copy_tensor(None), "NoneType is no tensor"),
    "copy_tensor's device": (
        lambda: copy_tensor(np.ones(2), WRONG),
        "device is an int; expected a",
    ),
    "to_numpy": (lambda: to_numpy(WRONG), "tensor is an int; expected a placewire.Tensor"),
    "Tensor.resize": (lambda: _tensor().resize(WRONG), "shape is an int; expected a list of int"),
    "Tensor.resize to text": (lambda: _tensor().resize("22"), "shape is a str; expected a list"),
    "Tensor.resize to texts": (
        lambda: _tensor().resize(["2"]),
        "a size in shape is a str; expected",
    ),
    "Tensor.write": (lambda: _tensor().write("text"), "data is a str; expected bytes, an array"),
    "Tensor.write of None": (lambda: _tensor().write(None), "data is None; expected bytes"),
    "Tensor.copy_to": (
        lambda: _tensor().copy_to("cuda", 0),
        "device_type is a str; expected an int",
    ),
    "SimulatedDevice": (lambda: SimulatedDevice(WRONG), "device is an int; expected a Device, or"),
    "SimulatedDevice's memory": (lambda: SimulatedDevice(memory=TEXT), "memory is a str; expected"),
    "SimulatedDevice.count": (
        lambda: _device().count(WRONG),
        "operation is an int; expected a text",
    ),
    "SimulatedDevice.fail": (
        lambda: _device().fail("allocate", TEXT),
        "nth is a str; expected an int",
    ),
    "SimulatedDevice.view": (lambda: _device().view(TEXT, 1), "address is a str; expected an int"),
    "DeviceMemoryBuffer": (
        lambda: DeviceMemoryBuffer(TEXT, "cpu"),
        "nbytes is a str; expected an int",
    ),
    "DeviceMemoryBuffer's device": (
        lambda: DeviceMemoryBuffer(4, WRONG),
        "device is an int; expected",
    ),
    "has_allocator": (
        lambda: has_allocator(WRONG),
        "device is an int; expected a Device, or its name",
    ),
    "unregister_allocator": (
        lambda: unregister_allocator(TEXT),
        "device_type is a str; expected a D",
    ),
}


@pytest.mark.parametrize(("call", "message"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_tells_what_is_wrong(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidTypeError) as caught:
        call()
    assert str(caught.value).startswith(message)


OPTIONS: dict[str, tuple[object, str]] = {
    "device_map": ("cuda:0=cuda:1", "device_map is a str; expected a dictionary such as {'cuda:0'"),
    "backends": (AddingBackend(), "backends is an AddingBackend; expected a list of backends"),
    "kernels": (WRONG, "kernels is an int; expected a list of kernel sources"),
    "share_memory_arenas": ("x", "share_memory_arenas is a str; expected True or False"),
    "prepare": (None, "prepare is None; expected True or False"),
    "copy_inputs": (1, "copy_inputs is an int; expected True or False"),
    "copy_outputs": ("no", "copy_outputs is a str; expected True or False"),
}


@pytest.mark.parametrize(("option", "value", "message"), [(k, *v) for k, v in OPTIONS.items()])
def test_a_module_tells_which_option_is_wrong(
    corpus: Path, option: str, value: Any, message: str
) -> None:
    with pytest.raises(InvalidTypeError) as caught:
        Module(corpus / "mlp.pte", **{option: value})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("device_map", [{5: "cuda:0"}, {"cuda:0": 5}])
def test_a_device_map_tells_which_side_is_no_device(corpus: Path, device_map: Any) -> None:
    with pytest.raises(
        InvalidTypeError, match=r"a (key|value) of device_map is an int; expected a D"
    ):
        Module(corpus / "mlp.pte", device_map=device_map)


METHODS: dict[str, Callable[[Any], object]] = {
    "method": lambda module: module.method(WRONG),
    "method of a list": lambda module: module.method([]),
    "item": lambda module: module[WRONG],
    "method_meta": lambda module: module.method_meta(WRONG),
    "named_data": lambda module: module.named_data(WRONG),
    "run": lambda module: module.method().run(WRONG),
    "run of a text": lambda module: module.method().run("x"),
}


@pytest.mark.parametrize("call", METHODS.values(), ids=METHODS)
def test_the_methods_of_a_module_tell_what_is_wrong(
    corpus: Path, call: Callable[[Any], object]
) -> None:
    with pytest.raises(
        InvalidTypeError, match=r"^(name|key|inputs) is an? (int|list|str); expected a"
    ):
        call(Module(corpus / "mlp.pte"))


def test_a_backend_is_told_what_it_asks_wrongly(corpus: Path) -> None:
    class Asking(AddingBackend):
        def load(self, description: core.DelegateDescription) -> Adding:
            description.named_data(WRONG)
            raise AssertionError("it was answered")

    module = Module(corpus / "dev_cpu_spec.pte", backends=[Asking()])
    with pytest.raises(InvalidTypeError, match="key is an int; expected a text"):
        module.method()


@pytest.mark.parametrize(
    "call",
    [
        lambda: SimulatedDevice(memory=-1),
        lambda: SimulatedDevice(memory=2**64),
        lambda: DeviceMemoryBuffer(-1, "cuda:0"),
        lambda: _device().fail("allocate", -1),
    ],
)
def test_a_number_out_of_range_is_told_with_the_range(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidArgumentError, match="expected 0 to 18446744073709551615"):
        call()


def test_a_size_beyond_64_bits_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"a size in shape is 2\d*, which does not fit"):
        _tensor().resize([2 * 10**30])


@pytest.mark.parametrize("function", ["method", "method_meta", "named_data"])
def test_a_name_that_utf8_cannot_hold_is_refused(corpus: Path, function: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"is '\\udcff', which UTF-8 cannot hold"):
        getattr(Module(corpus / "mlp.pte"), function)("\udcff")


def test_numpys_own_numbers_and_bools_are_taken(corpus: Path) -> None:
    flag: Any = np.bool_(1)
    assert Module(corpus / "mlp.pte", share_memory_arenas=flag).methods == ("forward",)
    size: Any = np.int64(8)
    with SimulatedDevice("cuda:0", memory=size), DeviceMemoryBuffer(size, "cuda:0") as buffer:
        assert buffer.nbytes == 8


def test_a_device_of_torch_is_taken_for_its_name() -> None:
    torch = pytest.importorskip("torch")
    assert as_device(torch.device("cuda:1")) == Device(DeviceType.CUDA, 1)
    with pytest.raises(InvalidArgumentError, match="'meta' is not a device"):
        as_device(torch.device("meta"))
