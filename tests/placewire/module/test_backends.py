"""Backends written in Python: where their tensors lie, what is copied, and what goes wrong."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from placewire_schema.errors import (
    AlreadyRegisteredError,
    DelegateVersionError,
    InternalError,
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
    PlacewireError,
)
from placewire_schema.program import KernelCall

from placewire import Module
from placewire.module import register_backend, unregister_backend
from placewire.pte import PteFile
from placewire.pytest_plugin import Simulate
from placewire.tensors import copy_tensor
from placewire.testing import Operation
from tests.placewire.module.adding_backend import Adding, AddingBackend

pytest_plugins = ["placewire.pytest_plugin"]

X = np.arange(4, dtype=np.float32).reshape(2, 2)
Y = X + 10
RESULTS = {
    "dev_add.pte": X + Y,
    "dev_add_cuda1.pte": X + Y,
    "dev_cpu_spec.pte": X + Y,
    "dev_addmul.pte": (X + Y) * 2 + X,
}


def calls(path: Path) -> Counter[str]:
    """How often the program's only method calls each operator."""
    plan = PteFile.load(path).program.execution_plan[0]
    return Counter(
        plan.operators[instruction.instr_args.op_index].name
        for instruction in plan.chains[0].instructions
        if isinstance(instruction.instr_args, KernelCall)
    )


@pytest.mark.parametrize("name", RESULTS)
def test_a_delegate_runs_on_its_device_with_the_copies_of_the_program(
    corpus: Path, simulate: Simulate, name: str
) -> None:
    devices = {str(device.device): device for device in map(simulate, ("cuda:0", "cuda:1"))}
    copies = calls(corpus / name)
    with Module(corpus / name, backends=[AddingBackend(devices)]) as module:
        module.method()
        before = [device.count("copy_host_to_device").calls for device in devices.values()]
        assert before == [0, 0]
        for _ in range(3):
            assert (module.forward(X, Y) == RESULTS[name]).all()
        target = module.method_meta().buffers[-1].device
        on_host = target.is_cpu
        directions: dict[Operation, str] = {
            "copy_host_to_device": "et_copy::_h2d_copy",
            "copy_device_to_host": "et_copy::_d2h_copy",
        }
        for direction, operator in directions.items():
            counted = {name: device.count(direction).calls for name, device in devices.items()}
            expected = dict.fromkeys(devices, 0)
            assert copies[operator] > 0
            if not on_host:
                expected[str(target)] = 3 * copies[operator]
            assert counted == expected
        assert all(device.count("copy_device_to_device").calls == 0 for device in devices.values())


def test_a_program_without_planned_device_memory_copies_nothing(
    corpus: Path, simulate: Simulate
) -> None:
    path = corpus / "dev_add_noplan.pte"
    device = simulate("cuda:0")
    assert calls(path) == Counter()
    with Module(path, backends=[AddingBackend({"cuda:0": device})]) as module:
        for x in (X, Y):
            assert (module.forward(x, Y) == x + Y).all()
        assert [str(buffer.device) for buffer in module.method_meta().buffers] == ["cpu:0"]
        copies: tuple[Operation, ...] = (
            "allocate",
            "copy_host_to_device",
            "copy_device_to_host",
            "copy_device_to_device",
        )
        assert [device.count(operation).calls for operation in copies] == [0, 0, 0, 0]


def test_a_backend_gets_blob_options_device_and_arguments(corpus: Path, simulate: Simulate) -> None:
    backend = AddingBackend({"cuda:0": simulate("cuda:0")})
    with Module(corpus / "dev_add.pte", backends=[backend]) as module:
        module.method()
        assert backend.loaded == [
            {
                "blob": b"1version:0#op:demo::aten.add.Tensor, numel:4, dtype:torch.float32"
                b"<debug_handle>1#",
                "is_blob_readonly": True,
                "options": (("max_value", b"\x04"), ("target_device", b"cuda:0")),
                "device": "cuda:0",
                "method": "forward",
                "arguments": ["cuda:0"] * 3,
                "named_data": None,
            }
        ]


class _Failing(Adding):
    def execute(self, arguments: tuple[object, ...]) -> None:
        super().execute(arguments)
        raise ZeroDivisionError("a delegate that fails")


class _FailingBackend(AddingBackend):
    def load(self, description: object) -> Adding:
        del description
        return _Failing({})


def test_an_exception_of_a_delegate_is_the_cause_of_the_callers(corpus: Path) -> None:
    module = Module(corpus / "dev_cpu_spec.pte", backends=[_FailingBackend()])
    for _ in range(2):
        with pytest.raises(PlacewireError, match=r"forward, instruction 2.*a delegate") as caught:
            module.forward(X, Y)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)


class _Loading(AddingBackend):
    """A backend whose `load` does what it is told."""

    def __init__(self, action: Callable[[], object]) -> None:
        super().__init__()
        self.action = action

    def load(self, description: object) -> Adding:
        del description
        return self.action()  # type: ignore[return-value]


PLACE = r"^forward, instruction 2, delegate 0 \(BackendWithCompilerDemo\): "


@pytest.mark.parametrize("kind", [ValueError, KeyError])
def test_an_exception_of_load_is_the_cause_of_what_the_caller_gets(
    corpus: Path, kind: type[Exception]
) -> None:
    def fail() -> None:
        raise kind("a blob of odd size")

    module = Module(corpus / "dev_cpu_spec.pte", backends=[_Loading(fail)])
    with pytest.raises(InternalError, match=f"{PLACE}{kind.__name__}: .*odd size") as caught:
        module.method()
    assert type(caught.value.__cause__) is kind


def test_only_a_backend_that_says_so_refuses_a_version(corpus: Path) -> None:
    def refuse() -> None:
        raise DelegateVersionError("the blob is of version 3, this backend reads 1 and 2")

    module = Module(corpus / "dev_cpu_spec.pte", backends=[_Loading(refuse)])
    with pytest.raises(DelegateVersionError, match=PLACE + "the blob is of version 3") as caught:
        module.method()
    assert isinstance(caught.value.__cause__, DelegateVersionError)


def test_an_interrupt_while_a_backend_loads_stays_one(corpus: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    module = Module(corpus / "dev_cpu_spec.pte", backends=[_Loading(interrupt)])
    with pytest.raises(KeyboardInterrupt):
        module.method()


@pytest.mark.parametrize(
    ("given", "words"), [(None, "None"), (3, "an int"), (object(), "an object")]
)
def test_what_load_gives_must_be_a_delegate(corpus: Path, given: object, words: str) -> None:
    module = Module(corpus / "dev_cpu_spec.pte", backends=[_Loading(lambda: given)])
    with pytest.raises(InvalidTypeError, match=f"{PLACE}load gave {words}; expected a delegate"):
        module.method()


@pytest.fixture
def registered() -> Iterator[AddingBackend]:
    backend = AddingBackend()
    register_backend(backend)
    yield backend
    assert unregister_backend(backend.id) is backend


def test_a_registered_backend_runs_the_delegates_of_every_module(
    corpus: Path, registered: AddingBackend
) -> None:
    assert (Module(corpus / "dev_cpu_spec.pte").forward(X, Y) == X + Y).all()
    assert len(registered.loaded) == 1
    with pytest.raises(AlreadyRegisteredError, match="'BackendWithCompilerDemo' is registered"):
        register_backend(AddingBackend())


def test_the_backend_of_a_module_comes_before_a_registered_one(
    corpus: Path, registered: AddingBackend
) -> None:
    own = AddingBackend()
    Module(corpus / "dev_cpu_spec.pte", backends=[own]).method()
    assert (len(own.loaded), len(registered.loaded)) == (1, 0)


def test_a_backend_that_is_not_registered_cannot_be_taken_out() -> None:
    with pytest.raises(NotFoundError, match="no backend 'mine' is registered; registered are"):
        unregister_backend("mine")


@pytest.mark.parametrize(
    "wrong",
    [object(), AddingBackend(id=""), AddingBackend(id="\ud800"), type("Idle", (), {"id": "x"})()],
)
def test_what_is_no_backend_is_refused(corpus: Path, wrong: object) -> None:
    with pytest.raises(InvalidArgumentError, match="is no backend"):
        Module(corpus / "dev_add.pte", backends=[wrong])  # type: ignore[list-item]
    with pytest.raises(InvalidArgumentError, match="is no backend"):
        register_backend(wrong)  # type: ignore[arg-type]


def test_none_is_named_as_no_backend(corpus: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^None is no backend: its id is None"):
        Module(corpus / "dev_add.pte", backends=[None])  # type: ignore[list-item]


def test_the_class_of_a_backend_is_no_backend(corpus: Path) -> None:
    with pytest.raises(InvalidTypeError, match="the class AddingBackend; expected an object of it"):
        Module(corpus / "dev_add.pte", backends=[AddingBackend])  # type: ignore[list-item]


def test_two_backends_of_one_id_are_refused(corpus: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="backends has 2 with the id"):
        Module(corpus / "dev_add.pte", backends=[AddingBackend(), AddingBackend()])


def test_a_module_its_backend_and_its_memory_go_together(corpus: Path, simulate: Simulate) -> None:
    device = simulate("cuda:0")
    backend = AddingBackend({"cuda:0": device})
    module = Module(corpus / "dev_add.pte", backends=[backend])
    module.forward(X, Y)
    assert device.allocations == 1
    gone = weakref.ref(backend)
    del module, backend
    gc.collect()
    assert gone() is None
    assert device.allocations == 0


def test_an_input_that_is_on_the_device_already_is_refused_where_the_host_is_expected(
    corpus: Path, simulate: Simulate
) -> None:
    device = simulate("cuda:0")
    module = Module(corpus / "dev_add.pte", backends=[AddingBackend({"cuda:0": device})])
    there = copy_tensor(X, "cuda:0")
    with pytest.raises(InvalidArgumentError, match=r"input 0 must be like .* on cpu:0, not .*cuda"):
        module.forward(there, Y)
    copying = Module(
        corpus / "dev_add.pte", backends=[AddingBackend({"cuda:0": device})], copy_inputs=True
    )
    assert (copying.forward(there, Y) == X + Y).all()


def test_a_delegate_that_keeps_its_arguments_goes_with_its_module(corpus: Path) -> None:
    class Keeping(Adding):
        kept: tuple[object, ...] = ()

        def execute(self, arguments: tuple[object, ...]) -> None:
            self.kept = arguments
            super().execute(arguments)

    class KeepingBackend(AddingBackend):
        def load(self, description: object) -> Adding:
            del description
            delegate = Keeping({})
            made.append(weakref.ref(delegate))
            return delegate

    made: list[weakref.ref[Adding]] = []
    with Module(corpus / "dev_cpu_spec.pte", backends=[KeepingBackend()]) as module:
        assert (module.forward(X, Y) == X + Y).all()
        (kept,) = made
        assert kept() is not None
    gc.collect()
    assert kept() is None


def test_what_a_backend_keeps_leaves_no_memory_on_the_device(
    corpus: Path, simulate: Simulate
) -> None:
    device = simulate("cuda:0")
    kept: list[object] = []

    class Keeping(Adding):
        def execute(self, arguments: tuple[object, ...]) -> None:
            self.arguments = arguments
            super().execute(arguments)

    class KeepingBackend(AddingBackend):
        def load(self, description: object) -> Adding:
            self.description = description
            self.blob = description.blob  # type: ignore[attr-defined]
            self.arguments = description.arguments  # type: ignore[attr-defined]
            self.delegate = Keeping(self.devices)
            kept.append(weakref.ref(self.delegate))
            return self.delegate

    module = Module(corpus / "dev_add.pte", backends=[KeepingBackend({"cuda:0": device})])
    assert (module.forward(X, Y) == X + Y).all()
    assert device.allocations == 1
    del module
    gc.collect()
    assert device.allocations == 0
    assert [reference() for reference in kept] == [None]  # type: ignore[operator]


def test_a_backend_that_asks_for_a_method_while_it_loads_one_is_refused(
    corpus: Path, simulate: Simulate
) -> None:
    class Asking(AddingBackend):
        def load(self, description: object) -> Adding:
            del description
            module.method()
            raise AssertionError("a method was had")

    device = simulate("cuda:0")
    module = Module(corpus / "dev_add.pte", backends=[Asking({"cuda:0": device})])
    with pytest.raises(PlacewireError, match="while another one is loaded by this thread"):
        module.method()


def test_a_module_that_is_still_open_at_exit_leaks_nothing(corpus: Path) -> None:
    script = f"""
from placewire import Module

class Idle:
    id = "BackendWithCompilerDemo"

    def load(self, description):
        return self

    def execute(self, arguments):
        pass

path = {str(corpus / "dev_add.pte")!r}
module = Module(path, backends=[Idle()], device_map={{"cuda:0": "cpu:0"}})
module.method()
print("loaded")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    assert (done.stdout, done.stderr) == ("loaded\n", "")
