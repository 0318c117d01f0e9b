"""Module: opening files, methods by name, closing, and what goes wrong there."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from placewire_schema.errors import (
    AccessError,
    AllocationError,
    InvalidArgumentError,
    InvalidProgramError,
    InvalidStateError,
    InvalidTypeError,
    NotFoundError,
    OperatorMissingError,
)
from placewire_schema.program import ScalarType, Tensor

from placewire import Module
from placewire.device import Device
from placewire.pte import PteFile
from placewire.pytest_plugin import Simulate
from placewire.tensors import to_numpy
from placewire.testing import SimulatedDevice
from tests.placewire.module.adding_backend import Adding, AddingBackend

pytest_plugins = ["placewire.pytest_plugin"]

X = np.arange(4, dtype=np.float32).reshape(2, 2)


@pytest.fixture
def constants(corpus: Path) -> Module:
    return Module(corpus / "constmethods.pte")


def test_methods_are_listed_in_the_order_of_the_file(constants: Module) -> None:
    assert constants.methods == ("forward", "get_vocab", "get_eps", "get_name", "get_list")
    assert list(constants) == list(constants.methods)
    assert len(constants) == 5
    assert "get_eps" in constants
    assert "get_nothing" not in constants


def test_a_method_is_an_attribute_an_item_and_asked_for_by_name(constants: Module) -> None:
    assert constants.get_vocab is constants["get_vocab"] is constants.method("get_vocab")
    assert "get_vocab" in dir(constants)


def test_constant_methods_give_numbers_texts_and_lists(constants: Module) -> None:
    assert constants.get_vocab() == 32000
    assert constants.get_eps() == 1e-5
    assert constants.get_name() == "tiny"
    assert constants.get_list() == [1, 2, 3]


def test_an_unknown_method_is_refused_with_the_names_there_are(constants: Module) -> None:
    with pytest.raises(NotFoundError, match="no method 'decode'; the program has forward, get_"):
        constants.method("decode")
    with pytest.raises(AttributeError, match="no attribute 'decode'"):
        _ = constants.decode


def test_a_name_that_is_nearly_that_of_a_method_is_told_so(constants: Module) -> None:
    meant = "did you mean 'get_vocab'"
    with pytest.raises(NotFoundError, match=meant):
        constants.method("getvocab")
    with pytest.raises(NotFoundError, match=meant):
        constants.method_meta("getvocab")
    with pytest.raises(AttributeError, match=meant):
        _ = constants.getvocab


def test_a_file_may_be_given_as_bytes(corpus: Path) -> None:
    data = (corpus / "constmethods.pte").read_bytes()
    assert Module(data).get_vocab() == 32000
    assert Module(memoryview(data)).get_vocab() == 32000


def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidProgramError):
        Module(b"nothing that could be a program")
    with pytest.raises(FileNotFoundError):
        Module(tmp_path / "missing.pte")
    with pytest.raises(InvalidTypeError, match="an int is no program; expected a path, or"):
        Module(17)
    with pytest.raises(InvalidArgumentError, match="do not lie one after the other"):
        Module(memoryview(b"0123456789")[::2])


def test_an_empty_path_is_named_as_that() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"the path '' is empty; expected that of a \.pte"
    ):
        Module("")


def test_a_path_with_a_nul_byte_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"the path 'a\\x00b' has a NUL byte"):
        Module("a\0b")


def test_a_folder_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match=f"{tmp_path}.*is a folder; name a .pte file in it"):
        Module(tmp_path)


def test_what_is_no_regular_file_is_told_so() -> None:
    with pytest.raises(AccessError, match=r'"/dev/null": it is no regular file.*load its bytes'):
        Module("/dev/null")


@contextmanager
def without_rights() -> Iterator[None]:
    """Rights are those of a user who has none, also where root runs the tests."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_file_that_may_not_be_read_is_told_so() -> None:
    with TemporaryDirectory() as folder:  # the fixture's is in one that nobody else may enter
        path = Path(folder) / "secret.pte"
        path.write_bytes(b"")
        path.chmod(0)
        path.parent.chmod(0o755)
        denied = pytest.raises(AccessError, match=r"secret.pte\": Permission denied")
        with without_rights(), denied:
            Module(path)


def test_an_empty_file_is_named_and_told_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.pte"
    path.write_bytes(b"")
    with pytest.raises(InvalidProgramError, match=r"empty.pte.*it is empty or was cut short"):
        Module(path)


def test_a_file_that_is_no_program_is_named_with_what_it_begins_with(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("all some notes on programs")
    with pytest.raises(
        InvalidProgramError, match=r'notes.txt.* "some", expected "ET12": this is no'
    ):
        Module(path)


def test_the_name_of_a_file_need_not_be_text(corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.pte")
    shutil.copy(corpus / "constmethods.pte", path)
    assert Module(path).get_vocab() == 32000


@pytest.mark.parametrize(
    ("source", "found"), [(lambda name: None, "a function"), (1, "an int"), (None, "None")]
)
def test_what_is_no_source_of_kernels_is_refused(corpus: Path, source: Any, found: str) -> None:
    with pytest.raises(InvalidTypeError, match=f"kernels has {found}; expected kernel sources"):
        Module(corpus / "mlp.pte", kernels=[source])


def test_a_closed_module_is_refused_and_says_so(corpus: Path) -> None:
    with Module(corpus / "constmethods.pte") as module:
        get_vocab = module.get_vocab
    assert repr(module).endswith("constmethods.pte, closed>")
    with pytest.raises(InvalidStateError, match="is closed"):
        module.method("get_vocab")
    with pytest.raises(InvalidStateError, match=r"constmethods\.pte is closed; open the file"):
        module.__enter__()
    assert module.is_closed
    assert get_vocab() == 32000


def test_a_module_and_its_methods_show_what_they_are(corpus: Path) -> None:
    module = Module(corpus / "multimethod.pte")
    assert repr(module) == f"<Module {corpus / 'multimethod.pte'}: add, forward>"
    assert str(module.method_meta("add")) == "add(float32[2, 2], float32[2, 2]) -> float32[2, 2]"


def test_metadata_has_types_shapes_and_devices(corpus: Path) -> None:
    meta = Module(corpus / "dev_add.pte").method_meta()
    assert meta.backends == ("BackendWithCompilerDemo",)
    assert meta.operators == ("et_copy::_h2d_copy.out", "et_copy::_d2h_copy.out")
    assert [(str(buffer.device), buffer.nbytes) for buffer in meta.buffers] == [
        ("cpu:0", 32),
        ("cuda:0", 48),
    ]
    tensor = meta.inputs[0].tensor
    assert tensor is not None
    assert (tensor.scalar_type, tensor.shape, tensor.nbytes) == (ScalarType.FLOAT, (2, 2), 16)
    assert tensor.device == Device.parse("cpu")


def test_a_dynamic_shape_is_shown_by_its_bounds(corpus: Path) -> None:
    assert str(Module(corpus / "dyn.pte").method_meta()).startswith("forward(float32[<=32, <=16])")


def test_a_backend_that_is_missing_is_named(corpus: Path) -> None:
    module = Module(corpus / "xnnpack_mlp.pte")
    with pytest.raises(NotFoundError) as caught:
        module.method()
    assert str(caught.value) == (
        "forward: no backend XnnpackBackend (known: none): give one in `backends`, or to "
        "register_backend, or to placewire run with --backend"
    )


def test_the_backends_that_there_are_are_told_where_another_is_missing(corpus: Path) -> None:
    module = Module(corpus / "xnnpack_mlp.pte", backends=[AddingBackend()])
    with pytest.raises(NotFoundError, match=r"Xnnpack.*\(known: BackendWithCompilerDemo\): give"):
        module.method()


def test_a_device_that_is_missing_is_named(corpus: Path) -> None:
    module = Module(corpus / "dev_add.pte", backends=[AddingBackend()])
    with pytest.raises(NotFoundError) as caught:
        module.method()
    assert str(caught.value) == (
        "forward: no allocator for cuda:0: register_cuda_allocator makes GPUs available, "
        "SimulatedDevice stands for a device that is not there, device_map takes another one "
        "(placewire run: --cuda, --simulate, --device-map)"
    )


def test_without_kernels_the_operators_that_are_missing_are_named(corpus: Path) -> None:
    module = Module(corpus / "mlp.pte", kernels=())
    with pytest.raises(OperatorMissingError) as caught:
        module.method()
    for operator in ("aten::permute_copy.out", "aten::addmm.out", "aten::relu.out"):
        assert operator in str(caught.value)
    advice = "as for kernels, those that were given do not have them: leave out `kernels` to take"
    assert advice in str(caught.value)


def test_an_operator_that_nobody_has_is_told_with_the_way_to_register_one(corpus: Path) -> None:
    file = PteFile.load(corpus / "mlp.pte")
    file.program.execution_plan[0].operators[0].name = "mine::permute"
    message = (
        r"no kernel for mine::permute\.out; as for kernels, .*your own with placewire\.kernel$"
    )
    with pytest.raises(OperatorMissingError, match=message):
        Module(bytes(file.to_bytes())).method()


def test_a_device_map_moves_a_program(corpus: Path, simulate: Simulate) -> None:
    device = simulate("cuda:1")
    backend = AddingBackend({"cuda:1": device})
    with Module(
        corpus / "dev_add.pte", device_map={"cuda:0": "cuda:1"}, backends=[backend]
    ) as module:
        assert (module.forward(X, X) == X + X).all()
        planned = [(str(buffer.device), buffer.nbytes) for buffer in module.forward.planned_buffers]
        assert planned == [("cpu:0", 32), ("cuda:1", 48)]
        assert device.bytes >= 48


def test_a_device_map_with_two_new_devices_for_one_is_refused(corpus: Path) -> None:
    message = "device_map: cuda:0 cannot become both cuda:1 and cuda:2"
    with pytest.raises(InvalidArgumentError, match=message):
        Module(corpus / "dev_add.pte", device_map={"cuda": "cuda:1", "cuda:0": "cuda:2"})


@pytest.mark.parametrize("device_map", [{"cuda": "gpu:0"}, {"cuda:300": "cuda:0"}])
def test_a_device_map_of_what_is_no_device_is_refused(
    corpus: Path, device_map: dict[str | Device, str | Device]
) -> None:
    with pytest.raises(InvalidArgumentError, match="is not a device"):
        Module(corpus / "dev_add.pte", device_map=device_map)


def test_a_library_that_there_is_not_is_refused(corpus: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="expected 'numpy' or 'torch'"):
        Module(corpus / "mlp.pte", library="jax")  # type: ignore[arg-type]


def test_what_fails_to_load_leaves_nothing_on_the_device(corpus: Path) -> None:
    class Refusing(AddingBackend):
        def load(self, description: object) -> Adding:
            del description
            raise RuntimeError("not today")

    with SimulatedDevice("cuda:0") as device:
        module = Module(corpus / "dev_add.pte", backends=[Refusing()])
        with pytest.raises(Exception, match="not today") as caught:
            module.method()
        assert isinstance(caught.value.__cause__, RuntimeError)
        del caught, module
        gc.collect()
        assert device.allocations == 0


def test_a_library_that_is_not_installed_is_told_so(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match=r"'torch', but .*; install placewire\[torch\]"):
        Module(corpus / "mlp.pte", library="torch")


def test_outputs_whose_memory_could_not_be_had_get_it_at_the_next_try(corpus: Path) -> None:
    file = PteFile.load(corpus / "dev_add.pte")
    plan = file.program.execution_plan[0]
    for index in (3, 4):
        tensor = plan.values[index].val
        assert isinstance(tensor, Tensor)
        tensor.allocation_info = None
    plan.outputs = [5, 3, 4]
    with SimulatedDevice("cuda:0") as device:
        backend = AddingBackend({"cuda:0": device})
        with Module(bytes(file.to_bytes()), backends=[backend]) as module:
            device.fail("allocate", 3)
            with pytest.raises(AllocationError):
                module.method()
            total, second, sum_there = module.method().run([X, X + 1])
            assert (total == 2 * X + 1).all()
            assert (to_numpy(second) == X + 1).all()
            assert (to_numpy(sum_there) == total).all()
            del second, sum_there
