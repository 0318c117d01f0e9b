"""What has memory or a place in a registry of this process can be neither copied nor pickled."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from placewire_schema.errors import InvalidTypeError

from placewire import Module, ScopedKernel
from placewire._core import core
from placewire.device_memory import DeviceMemoryBuffer
from placewire.tensors import copy_tensor
from placewire.testing import SimulatedDevice
from tests.placewire.module.adding_backend import Adding, AddingBackend


def _description(corpus: Path) -> object:
    """What a backend gets; its module goes."""
    seen: list[object] = []

    class Keeping(AddingBackend):
        def load(self, description: core.DelegateDescription) -> Adding:
            seen.append(description)
            return Adding({})

    Module(corpus / "dev_cpu_spec.pte", backends=[Keeping()]).method()
    return seen[0]


OBJECTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "Module": (lambda corpus: Module(corpus / "mlp.pte"), "open the file again, in every process"),
    "Method": (
        lambda corpus: Module(corpus / "mlp.pte").method(),
        "open the file in another Module",
    ),
    "Tensor": (
        lambda _: copy_tensor(np.ones(2)),
        "placewire.tensors.copy_tensor copies it, to_numpy",
    ),
    "DelegateDescription": (_description, "a backend gets another one when a method is loaded"),
    "KernelSource": (lambda _: core.KernelSource(print), "make another one of the same function"),
    "ScopedKernel": (
        lambda _: ScopedKernel("a::b", print),
        "make another ScopedKernel('a::b', ...)",
    ),
    "SimulatedDevice": (
        lambda _: SimulatedDevice("cuda:1"),
        "simulate it again with SimulatedDevice('cuda:1')",
    ),
    "DeviceMemoryBuffer": (
        lambda _: DeviceMemoryBuffer(0, "cuda:0"),
        "make another one, and write",
    ),
}
COPIES: dict[str, Callable[[object], object]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
}


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("name", OBJECTS)
def test_a_copy_is_refused_with_what_to_do(
    corpus: Path, name: str, duplicate: Callable[[object], object]
) -> None:
    make, advice = OBJECTS[name]
    with SimulatedDevice("cuda:0"), pytest.raises(InvalidTypeError) as caught:
        duplicate(make(corpus))
    assert f"a {name} can be neither copied nor pickled: it refers to memory" in str(caught.value)
    assert advice in str(caught.value)


def test_what_a_file_says_of_a_method_can_be_copied_and_pickled(corpus: Path) -> None:
    meta = Module(corpus / "mlp.pte").method_meta()
    assert copy.deepcopy(meta) == meta
    assert pickle.loads(pickle.dumps(meta)) == meta
