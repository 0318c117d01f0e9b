"""What methods take and give: libraries, element types, orders, copies, and threads."""

from __future__ import annotations

import array
import gc
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from placewire_schema import program
from placewire_schema.errors import (
    BusyError,
    InvalidArgumentError,
    InvalidTypeError,
    PlacewireError,
)

from placewire import ExportConfig, Module, PteFile, Tensor, export
from placewire.pytest_plugin import Simulate
from placewire.tensors import copy_tensor, to_numpy
from tests.placewire.module.adding_backend import Adding, AddingBackend

pytest_plugins = ["placewire.pytest_plugin"]

torch = pytest.importorskip("torch")

from placewire.backends import CudaPartitioner, TorchBackend  # noqa: E402

X = np.arange(4, dtype=np.float32).reshape(2, 2)


@pytest.fixture
def add(corpus: Path) -> Module:
    """`add` adds two float32 tensors of 2 x 2."""
    return Module(corpus / "multimethod.pte")


GIVEN: dict[str, Callable[[], object]] = {
    "numpy": lambda: X,
    "read-only numpy": lambda: np.frombuffer(X.tobytes(), np.float32).reshape(2, 2),
    "buffer": lambda: memoryview(array.array("f", [0, 1, 2, 3])).cast("B").cast("f", (2, 2)),
    "core": lambda: copy_tensor(X),
}


@pytest.mark.parametrize("make", GIVEN.values(), ids=GIVEN)
def test_whatever_has_elements_on_the_host_is_taken(
    add: Module, make: Callable[[], object]
) -> None:
    result = add.add(make(), make())
    assert isinstance(result, np.ndarray)
    assert result.dtype == np.float32
    assert (result == X + X).all()


def test_torch_in_gives_torch_out(add: Module) -> None:
    result = add.add(X, torch.from_numpy(X).requires_grad_())
    assert isinstance(result, torch.Tensor)
    assert not result.requires_grad
    assert (result.numpy() == X + X).all()


def test_the_library_of_the_outputs_can_be_chosen(corpus: Path) -> None:
    with Module(corpus / "multimethod.pte", library="torch") as module:
        assert isinstance(module.add(X, X), torch.Tensor)
    with Module(corpus / "multimethod.pte", library="numpy") as module:
        assert isinstance(module.add(torch.from_numpy(X), X), np.ndarray)


def test_outputs_own_their_elements(add: Module) -> None:
    first = add.add(X, X)
    add.add(X, X * 5)
    assert (first == X + X).all()
    assert first.flags.owndata


def test_without_copies_the_outputs_change_with_the_next_call(corpus: Path) -> None:
    module = Module(corpus / "multimethod.pte", copy_outputs=False)
    first = module.add(X, X)
    module.add(X, X * 5)
    assert (first == X + X * 5).all()
    del module
    gc.collect()
    assert (first == X + X * 5).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (X.astype(np.float64), r"add: input 1 must be like float32\[2, 2\].*not float64\[2, 2\]"),
        (X.ravel(), r"add: input 1 must be like float32\[2, 2\].*not float32\[4\]"),
        (
            np.zeros((2, 3), np.float32),
            r"add: input 1 does not fit float32\[2, 2\] on cpu:0: size 3 at dimension 1, not 2$",
        ),
        (np.zeros((2, 3), np.float32).T, "add: input 1 does not fit.*size 3 at dimension 0"),
        (np.asfortranarray(X), r"add: input 1 must have the order of dimensions \[0, 1\]"),
        (np.zeros((2, 4), np.float32)[:, ::2], "add: input 1: .*make it contiguous"),
    ],
)
def test_a_tensor_that_does_not_fit_is_an_error_that_names_the_input(
    add: Module, given: np.ndarray[Any, Any], message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        add.add(X, given)


def test_the_size_of_a_transposed_input_comes_before_its_order_within_dynamic_bounds() -> None:
    rows = torch.export.Dim("rows", max=4)
    exported = torch.export.export(
        torch.nn.ReLU(), (torch.ones(3, 2),), dynamic_shapes=({0: rows},)
    )
    with Module(bytes(export(exported).pte)) as module:
        with pytest.raises(InvalidArgumentError, match="size 5 at dimension 0, not at most 4"):
            module(np.ones((2, 5), np.float32).T)
        with pytest.raises(InvalidArgumentError, match="order of dimensions"):
            module(np.ones((2, 4), np.float32).T)


LAZY = {
    "negative": (lambda: torch._neg_view(torch.from_numpy(X)), r"negative bit.*resolve_neg\(\)"),
    "conjugate": (lambda: torch.from_numpy(X * 1j).conj(), r"conjugate bit.*resolve_conj\(\)"),
}


@pytest.mark.parametrize(("make", "message"), LAZY.values(), ids=LAZY)
def test_a_torch_tensor_with_other_numbers_than_its_memory_is_refused(
    add: Module, make: Callable[[], object], message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=f"add: input 1: torch's {message}"):
        add.add(X, make())
    with pytest.raises(InvalidArgumentError, match=message):
        copy_tensor(make())


def test_with_copies_a_negative_view_is_resolved(corpus: Path) -> None:
    module = Module(corpus / "multimethod.pte", copy_inputs=True)
    negative = torch._neg_view(torch.from_numpy(X))
    assert (module.add(np.zeros_like(X), negative).numpy() == -X).all()


def test_an_array_in_the_other_byte_order_is_told_so(add: Module) -> None:
    other = X.astype(X.dtype.newbyteorder())
    message = rf"input 1: ndarray has elements \({other.dtype.str}\) in the other byte order"
    with pytest.raises(InvalidTypeError, match=message):
        add.add(X, other)


def test_with_copies_an_array_in_the_other_byte_order_is_converted(corpus: Path) -> None:
    module = Module(corpus / "multimethod.pte", copy_inputs=True)
    assert (module.add(X, X.astype(X.dtype.newbyteorder())) == X + X).all()


class _Refusing:
    def __dlpack__(self, **wishes: object) -> object:
        raise RuntimeError("on strike")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "objects": (lambda: X.astype(object), "ndarray cannot be taken as a tensor: BufferError: "),
    "sparse": (lambda: torch.ones(2, 2).to_sparse(), "Tensor cannot be taken as a tensor: "),
    "meta": (lambda: torch.ones(2, 2, device="meta"), "Tensor cannot be taken as a tensor: "),
    "another's": (_Refusing, "_Refusing cannot be taken as a tensor: RuntimeError: on strike"),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_an_array_that_cannot_be_lent_is_refused_with_its_own_reason(
    add: Module, make: Callable[[], object], message: str
) -> None:
    with pytest.raises(InvalidTypeError, match=f"add: input 1: .*{message}") as caught:
        add.add(X, make())
    assert str(caught.value.__cause__) in str(caught.value)


def test_an_element_type_that_no_program_has_is_named(add: Module) -> None:
    message = r"add: input 1: its elements complex128 \(DLPack type 5, 128 bits\) are of no type"
    with pytest.raises(InvalidTypeError, match=message):
        add.add(X, X.astype(np.complex128))


@pytest.mark.parametrize("given", [None, 3, "text", [[1.0, 2.0], [3.0, 4.0]]])
def test_what_is_no_tensor_is_an_error_that_names_the_input(add: Module, given: object) -> None:
    with pytest.raises(InvalidTypeError, match=r"add: input 1: .* is no tensor"):
        add.add(X, given)


@pytest.mark.parametrize(
    "given",
    [
        X.astype(np.float64),
        X.astype(np.int16),
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        X.tolist(),
        torch.from_numpy(X.astype(np.float64)),
        torch.from_numpy(X.T.copy()).T,
        torch.from_numpy(X).to(torch.bfloat16),
    ],
)
def test_with_copies_another_element_type_or_order_is_converted(
    corpus: Path, given: object
) -> None:
    module = Module(corpus / "multimethod.pte", copy_inputs=True, library="numpy")
    assert (module.add(X, given) == X + X).all()


def test_with_copies_a_tensor_of_the_core_is_converted(corpus: Path) -> None:
    module = Module(corpus / "multimethod.pte", copy_inputs=True)
    assert (module.add(X, copy_tensor(X.astype(np.float64))) == X + X).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (X.astype(np.complex64), "cannot convert complex64 to float32"),
        (torch.zeros(2, 2, dtype=torch.complex64), "cannot convert torch.complex64 to float32"),
        (X.ravel(), "input 1 must be like"),
        (np.array([["a"]]), "cannot convert <U1 to float32"),
    ],
)
def test_even_with_copies_what_would_change_its_meaning_is_refused(
    corpus: Path, given: object, message: str
) -> None:
    module = Module(corpus / "multimethod.pte", copy_inputs=True)
    with pytest.raises(InvalidArgumentError, match=message):
        module.add(X, given)


class _NoArray:
    """An object that fails to become an array."""

    def __array__(self, *args: object, **kwargs: object) -> Any:
        raise RuntimeError("on strike")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "None is no tensor; expected one, or numbers in lists"),
        ("text", "a str is no tensor; expected one, or numbers in lists"),
        (np.ndarray, "the class ndarray is no tensor; expected one, or numbers in lists"),
        ([["a"]], "a list is no tensor: numpy has no type of numbers for what is in it"),
        ([None], "a list is no tensor: numpy has no type of numbers for what is in it"),
        (2**70, "an int is no tensor: numpy has no type of numbers for what is in it"),
        ([[1.0], [2.0, 3.0]], "a list is no tensor: ValueError: "),
        (_NoArray(), "a _NoArray is no tensor: RuntimeError: on strike"),
    ],
)
def test_with_copies_what_is_no_tensor_is_told_with_what_is_expected(
    corpus: Path, given: object, message: str
) -> None:
    module = Module(corpus / "multimethod.pte", copy_inputs=True)
    with pytest.raises(InvalidTypeError, match=f"add: input 1: {message}"):
        module.add(X, given)


def test_a_method_that_calls_itself_is_told_that_it_is_executing(corpus: Path) -> None:
    class Calling(Adding):
        def execute(self, arguments: tuple[object, ...]) -> None:
            del arguments
            module.forward(X, X)

    class CallingBackend(AddingBackend):
        def load(self, description: object) -> Adding:
            del description
            return Calling({})

    module = Module(corpus / "dev_cpu_spec.pte", backends=[CallingBackend()])
    with module, pytest.raises(BusyError, match=": forward is executing already, or a method"):
        module.forward(X, X)


def test_a_number_must_be_what_the_program_was_exported_with(corpus: Path) -> None:
    module = Module(corpus / "scalars_in.pte")
    x = np.ones(3, np.float32)
    value = module.forward.inputs[1]
    assert isinstance(value, float)
    assert (module.forward(x, value) == module.forward(x, np.float64(value))).all()
    with pytest.raises(
        InvalidArgumentError, match=r"input 1 must be the float 2\.5, as the program"
    ):
        module.forward(x, value + 1)
    with pytest.raises(InvalidArgumentError, match=r"not the float 2\.500000000001$"):
        module.forward(x, value + 1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (10**400, "input 1: an integer is too large for a float"),
        ("\ud800", "input 1: UTF-8 cannot hold the string"),
    ],
)
def test_a_number_or_string_that_the_core_cannot_hold_is_refused(
    corpus: Path, given: object, message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        Module(corpus / "scalars_in.pte")(np.ones(3, np.float32), given)


@pytest.mark.parametrize("layout", ["sparse", "meta"])
def test_with_copies_a_torch_tensor_without_plain_memory_is_refused(
    corpus: Path, layout: str
) -> None:
    tensor = torch.ones(4, 64).to_sparse() if layout == "sparse" else torch.ones(4, 64).to("meta")
    with pytest.raises(InvalidArgumentError, match="torch cannot make it a dense float32 tensor: "):
        Module(corpus / "mlp.pte", copy_inputs=True)(tensor)


def test_a_dynamic_shape_takes_what_its_bounds_allow(corpus: Path) -> None:
    module = Module(corpus / "dyn.pte")
    for rows in (2, 32, 5):
        assert module.forward(np.ones((rows, 16), np.float32)).shape == (rows, 4)
    message = (
        r"forward: input 0 does not fit float32\[<=32, <=16\] on cpu:0: size 33 at dimension 0"
    )
    with pytest.raises(InvalidArgumentError, match=message + ", not at most 32$"):
        module.forward(np.ones((33, 16), np.float32))


@pytest.mark.parametrize(
    "given", [np.ones(16, np.float32), np.ones((2, 16)), np.ones((2, 2, 16), np.float32)]
)
def test_what_a_dynamic_shape_accepts_is_told_whatever_the_last_call_brought(
    corpus: Path, given: np.ndarray[Any, Any]
) -> None:
    module = Module(corpus / "dyn.pte")
    accepted = r"input 0 must be like float32\[<=32, <=16\] on cpu:0, not float"
    for rows in (32, 2):
        module.forward(np.ones((rows, 16), np.float32))
        with pytest.raises(InvalidArgumentError, match=accepted):
            module.forward(given)


ADVICE = "; copy_inputs=True would convert it (placewire run: --copy-inputs)"


@pytest.mark.parametrize(
    "given", [X.astype(np.float64), np.asfortranarray(X), X.tolist(), torch.ones(2, 2).double()]
)
def test_what_a_conversion_would_mend_is_told_so(add: Module, given: object) -> None:
    with pytest.raises(PlacewireError) as caught:
        add.add(X, given)
    assert str(caught.value).endswith(ADVICE)


class _Raising:
    def __array__(self, *wishes: object, **more: object) -> np.ndarray[Any, Any]:
        raise RuntimeError("no array today")


@pytest.mark.parametrize(
    "given",
    [X.ravel().astype(np.float64), X * 1j, None, "text", _Raising(), np.ones((2, 3), np.float32)],
)
def test_what_no_conversion_would_mend_is_not_told_so(add: Module, given: object) -> None:
    with pytest.raises(PlacewireError, match="add: input 1") as caught:
        add.add(X, given)
    assert "copy_inputs" not in str(caught.value)


def test_a_tensor_of_a_dynamic_shape_is_resized_within_its_bounds(corpus: Path) -> None:
    tensor = Module(corpus / "dyn.pte").forward.inputs[0]
    assert isinstance(tensor, Tensor)
    tensor.resize([3, 16])
    assert tensor.shape == (3, 16)
    with pytest.raises(InvalidArgumentError, match="size 33 at dimension 0 is beyond the bound 32"):
        tensor.resize([33, 16])


def test_an_output_that_is_an_input_keeps_it_when_the_next_call_brings_another(
    corpus: Path,
) -> None:
    file = PteFile.load(corpus / "mlp.pte")
    plan = file.program.execution_plan[0]
    tensor = plan.values[plan.inputs[0]].val
    assert isinstance(tensor, program.Tensor)
    tensor.allocation_info = None
    plan.outputs, plan.chains[0].instructions = list(plan.inputs), []
    module = Module(bytes(file.to_bytes()), copy_outputs=False)
    given = np.ones((4, 64), np.float32)
    kept = weakref.ref(given)
    output = module(given)
    del given
    module(np.zeros((4, 64), np.float32))
    gc.collect()
    assert kept() is not None
    assert (output == 1).all()
    del output
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize("device", [(1, 256), (257, 0), (1, -1)])
def test_a_copy_to_a_device_beyond_the_wires_numbers_is_refused(device: tuple[int, int]) -> None:
    with pytest.raises(InvalidArgumentError, match="there is no device of kind"):
        copy_tensor(X).copy_to(*device)


def test_flat_inputs_give_flat_outputs(add: Module) -> None:
    (result,) = add.method("add").run([X, X])
    assert (result == X + X).all()
    with pytest.raises(InvalidArgumentError, match="add has 2 inputs; 1 was given"):
        add.method("add").run([X])


def test_a_copy_on_a_device_comes_back_as_it_was(simulate: Simulate) -> None:
    device = simulate("cuda:0")
    there = copy_tensor(np.asfortranarray(X), "cuda:0")
    assert isinstance(there, Tensor)
    assert str(there.device) == "cuda:0"
    assert there.dim_order == (1, 0)
    assert device.allocations == 1
    assert (to_numpy(there) == X).all()
    assert (to_numpy(copy_tensor(there)) == X).all()


def test_a_call_during_another_threads_is_busy(corpus: Path) -> None:
    entered, may_leave = threading.Event(), threading.Event()

    class Waiting(Adding):
        def execute(self, arguments: tuple[object, ...]) -> None:
            entered.set()
            assert may_leave.wait(30)
            super().execute(arguments)

    class WaitingBackend(AddingBackend):
        def load(self, description: object) -> Adding:
            del description
            return Waiting({})

    module = Module(corpus / "dev_cpu_spec.pte", backends=[WaitingBackend()])
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(module.forward(X, X)))
    thread.start()
    try:
        assert entered.wait(30)
        with pytest.raises(
            BusyError, match=r"forward is executing already, or a method that shares"
        ):
            module.forward(X, X)
    finally:
        may_leave.set()
        thread.join()
    assert (np.asarray(results[0]) == X + X).all()


def test_with_skipped_copies_inputs_and_outputs_stay_on_the_device(simulate: Simulate) -> None:
    class Doubling(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return x + x

    device = simulate("cuda:0")
    config = ExportConfig(skip_h2d_for_method_inputs=True, skip_d2h_for_method_outputs=True)
    artifact = export(
        Doubling(), (torch.ones(2, 2),), partitioners=[CudaPartitioner()], config=config
    )
    with Module(artifact.pte, backends=[TorchBackend()]) as module:
        there = copy_tensor(X, "cuda:0")
        result = module.forward(there)
        assert isinstance(result, Tensor)
        assert str(result.device) == "cuda:0"
        copies = device.count("copy_device_to_host").calls
        assert (to_numpy(result) == X + X).all()
        assert device.count("copy_device_to_host").calls == copies + 1
        with pytest.raises(InvalidArgumentError, match=r"input 0 must be like .* on cuda:0"):
            module.forward(X)
        again = module.forward(result)
        assert (to_numpy(result) == X + X).all()
        assert (to_numpy(again) == 4 * X).all()
    with Module(artifact.pte, backends=[TorchBackend()], copy_inputs=True) as module:
        assert (to_numpy(module.forward(X)) == X + X).all()
        del module
