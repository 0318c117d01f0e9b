"""What functions that are kernels may return and may write to, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from placewire_schema import program as p
from placewire_schema.errors import (
    InternalError,
    InvalidArgumentError,
    InvalidProgramError,
    InvalidTypeError,
)

from placewire import Module, ScopedKernel, export
from tests.runtime.method_building import ADD, constant, flat_file, floats, method, planned, program
from tests.runtime.programs import tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MINE = ("my::op", "out")
X = np.arange(4, dtype=np.float32).reshape(2, 2)


def calling(
    values: Sequence[Any],
    arguments: Sequence[int],
    *,
    operator: tuple[str, str] = MINE,
    constants: bytes = b"",
) -> bytes:
    """A program that calls one operator; its input is value 0, its output the last argument."""
    plan = method(values, [(operator, arguments)], inputs=[0], outputs=[arguments[-1]])
    plan.container_meta_type = p.ContainerMetadata("", "")
    return program(plan, constants=constants).file()


def writing() -> bytes:
    """my::op.out(x, *, out)."""
    return calling([tensor(memory_id=1), tensor(memory_id=1, offset=16)], [0, 1, 1])


def returning() -> bytes:
    """my::op.out(x) -> number."""
    return calling([tensor(memory_id=1), p.Int(0)], [0, 1])


def with_constant() -> bytes:
    """my::op.out(x, constant, *, out)."""
    values = [tensor(memory_id=1), constant(1), tensor(memory_id=1, offset=16)]
    return calling(values, [0, 1, 2, 2], constants=floats(1, 2, 3, 4))


def run(pte: bytes, function: Callable[..., object]) -> Any:
    with ScopedKernel("my::op.out", function), Module(pte) as module:
        (result,) = module.method().run([X])
        return result


@pytest.mark.parametrize(
    "returned",
    [lambda _: None, lambda out: out, lambda out: out.shape],
    ids=["None", "out", "sizes"],
)
def test_nothing_the_out_argument_or_its_sizes_may_be_returned(
    returned: Callable[[Any], object],
) -> None:
    def double(x: Any, out: Any) -> object:
        np.multiply(x, 2, out=out)
        return returned(out)

    np.testing.assert_array_equal(run(writing(), double), X * 2)


@pytest.mark.parametrize("returned", [3, "x", [2, 2], X, 2.5, True])
def test_anything_else_is_refused_with_its_type(returned: object) -> None:
    name = type(returned).__name__
    with pytest.raises(InvalidTypeError, match=rf"my::op\.out: the function returned a .*{name};"):
        run(writing(), lambda _x, _out: returned)


def test_an_input_is_not_taken_for_the_result() -> None:
    with pytest.raises(InvalidTypeError, match=r"the function returned a numpy\.ndarray"):
        run(writing(), lambda x, _out: x)


def test_sizes_that_the_result_cannot_have_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="size 3 at dimension 1 is another"):
        run(writing(), lambda _x, _out: (2, 3))
    with pytest.raises(InvalidTypeError, match="'float' object cannot be interpreted"):
        run(writing(), lambda _x, _out: (2.0, 2))


@pytest.mark.parametrize("number", [3, -2.5, True, np.float64(0.5)])
def test_an_operator_that_writes_nothing_returns_a_number(number: float) -> None:
    result = run(returning(), lambda _: number)
    assert result == number
    assert type(result) in (bool, int, float)


@pytest.mark.parametrize("returned", [None, "3", (2, 2), np.int64(3), X])
def test_what_is_no_number_of_pythons_is_refused(returned: object) -> None:
    name = type(returned).__name__
    with pytest.raises(InvalidTypeError, match=rf"it returned a .*{name}, not a bool, int or flo"):
        run(returning(), lambda _: returned)


def test_a_number_of_more_than_64_bits_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="too big"):
        run(returning(), lambda _: 2**70)


def test_a_constant_as_the_out_argument_is_refused_before_the_kernel_is_asked() -> None:
    pte = calling([tensor(memory_id=1), constant(1)], [0, 1, 1], constants=floats(1, 2, 3, 4))
    with pytest.raises(InvalidProgramError, match="the kernel writes value 1, which is a constant"):
        run(pte, lambda _x, _out: pytest.fail("it was called"))


def test_torch_does_not_write_to_a_constant_either() -> None:
    values = [tensor(memory_id=1), constant(1), p.Int(1)]
    pte = calling(values, [0, 0, 2, 1, 1], operator=ADD, constants=floats(1, 2, 3, 4))
    with pytest.raises(InvalidProgramError, match="the kernel writes value 1, which is a constant"):
        Module(pte)


def test_a_numpy_view_of_a_constant_cannot_be_written() -> None:
    def overwrite(_x: Any, kept: Any, _out: Any) -> None:
        kept[...] = 9

    with pytest.raises(InternalError, match=r"ValueError: .*read-only") as caught:
        run(with_constant(), overwrite)
    assert isinstance(caught.value.__cause__, ValueError)


VIEW = ("executorch_prim::et_view", "default")
FULL = ("aten::full", "out")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ((VIEW, [0, 4, 5]), InvalidArgumentError, "size 0 is float"),
        ((FULL, [4, 1, 5, 5]), InternalError, "TypeError"),
    ],
    ids=["core", "torch"],
)
def test_an_item_of_an_int_list_that_became_a_float_is_an_error_of_who_reads_it(
    call: Any, error: type[Exception], message: str
) -> None:
    values = [
        tensor(memory_id=1),  # 0
        p.Int(4),
        p.Int(2),
        p.Int(0),  # 3: 4 / 2, a float
        p.IntList([3, 2]),
        tensor(memory_id=1, offset=16),
    ]
    divide = (("executorch_prim::truediv", "Scalar"), [1, 2, 3])
    plan = method(values, [divide, call], inputs=[0], outputs=[5])
    plan.container_meta_type = p.ContainerMetadata("", "")
    with Module(program(plan).file()) as module:
        for _ in range(2):
            with pytest.raises(error, match=message):
                module.method().run([X])


def resized(x: Any, out: Any) -> None:
    torch.clamp(x, min=0, out=out)


def returned(x: Any, out: Any) -> Any:
    resized(x, out)
    return out


@pytest.mark.parametrize("relu", [resized, returned])
def test_a_kernel_may_let_torch_find_out_the_sizes(relu: Callable[..., Any]) -> None:
    rows = torch.export.Dim("rows", max=8)
    exported = torch.export.export(torch.nn.ReLU(), (torch.ones(3),), dynamic_shapes=({0: rows},))
    pte = bytes(export(exported).pte)
    with ScopedKernel("aten::relu.out", relu, views="torch"), Module(pte) as module:
        for x in ([-1, 2], [1, 2, -3, 4, 5], [7]):
            found = module(torch.tensor(x, dtype=torch.float32))
            assert found.tolist() == [max(each, 0) for each in x]


def test_a_result_that_torch_made_too_small_is_refused_and_spoils_nothing() -> None:
    def shrink(x: Any, out: Any) -> None:
        torch.add(x[:1], 1, out=out)

    with (
        ScopedKernel("my::op.out", shrink, views="torch"),
        Module(writing()) as module,
    ):
        for _ in range(2):
            with pytest.raises(InvalidProgramError, match=r"the result has sizes \[1, 2\]"):
                module.method().run([X])


def test_what_a_kernel_does_to_a_tensor_before_it_fails_is_undone_for_the_next() -> None:
    fails = [False, True, False]

    def perhaps(x: Any, out: Any) -> None:
        if fails.pop(0):
            x.resize_(1)
            raise ValueError("on purpose")
        out.copy_(x)

    values = [planned(0), planned(16), planned(32)]
    pte = flat_file(values, [(MINE, [0, 1, 1]), (("my::other", "out"), [0, 2, 2])], [0], [2])
    with (
        ScopedKernel("my::op.out", perhaps, views="torch"),
        ScopedKernel("my::other.out", lambda x, out: out.copy_(x), views="torch"),
        Module(pte) as module,
    ):
        run = module.method().run
        np.testing.assert_array_equal(run([X])[0], X)
        with pytest.raises(InternalError, match="on purpose"):
            run([X])
        np.testing.assert_array_equal(run([X + 1])[0], X + 1)
