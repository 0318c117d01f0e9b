"""Programs that call every kernel that comes with the core, as seeds for damaged files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placewire_schema import program as p

from tests.runtime.method_building import CUDA, D2H, H2D, method, on_cuda, program, unplanned

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.runtime.programs import Sample

UNARY = ("neg", "ceil", "round", "trunc", "sym_int", "sym_float", "sym_not")
BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "sym_max", "sym_min"),
    *("eq", "gt", "ge", "lt", "le"),
)
DYNAMIC = p.TensorShapeDynamism.DYNAMIC_BOUND


def prim(name: str, overload: str = "Scalar") -> tuple[str, str]:
    """An operator of ExecuTorch's own."""
    return f"executorch_prim::{name}", overload


def planned(sizes: list[int], offset: int, *, dynamic: bool = False) -> p.Tensor:
    """A planned tensor of floats."""
    return p.Tensor(
        p.ScalarType.FLOAT,
        0,
        sizes,
        bytes(range(len(sizes))),
        allocation_info=p.AllocationDetails(1, offset),
        shape_dynamism=DYNAMIC if dynamic else p.TensorShapeDynamism.STATIC,
    )


def dynamic_on_cuda(offset: int) -> p.Tensor:
    """A planned tensor of at most four floats on cuda:0."""
    made = on_cuda(offset=offset)
    made.shape_dynamism = DYNAMIC
    return made


def numbers() -> Sample:
    """forward(): everything that can be computed of 7, 2 and 2.5."""
    values = [p.Int(7), p.Int(2), p.Double(2.5), p.Int(0)]
    calls = [
        *((prim(name), [first, 3]) for name in UNARY for first in (0, 2)),
        *((prim(name), [0, other, 3]) for name in BINARY for other in (1, 2)),
        *((prim(name, "int"), [0, 1, 3]) for name in ("floordiv", "mod")),
        (prim("sym_ite"), [0, 1, 2, 3]),
    ]
    return program(method(values, calls, inputs=[0], outputs=[3], sizes=[0]))


def shapes() -> Sample:
    """forward(x): reads sizes and an element, and views x, which is not planned and dynamic."""
    values = [
        unplanned(dynamic=True),
        p.Int(0),
        p.Int(0),  # 2: a size of x
        p.Int(0),
        p.IntList([5, 2]),  # 4
        p.Int(-1),
        p.Tensor(p.ScalarType.FLOAT, 0, [2, 2], b"\0\1", shape_dynamism=DYNAMIC),  # 6: the view
        planned([], 0),
        p.Int(0),  # 8: the element
        planned([2, 2], 16, dynamic=True),
    ]
    calls = [
        (("placewire::require", ""), []),
        (("aten::sym_size", "int"), [0, 1, 2]),
        (("aten::sym_stride", "int"), [0, 1, 3]),
        (("aten::sym_numel", ""), [0, 3]),
        (prim("et_view", "default"), [0, 4, 6]),
        (("aten::_local_scalar_dense", ""), [7, 8]),
        (("aten::relu", "out"), [6, 9, 9]),
    ]
    return program(method(values, calls, inputs=[0], outputs=[6, 8, 9]))


def collected() -> Sample:
    """forward(x): a loop that collects three copies of x."""
    values = [
        planned([4], 0),
        planned([3, 4], 16, dynamic=True),
        p.Int(0),  # 2: the counter
        p.Int(1),
        p.Int(3),
        p.Bool(False),  # noqa: FBT003 - the field's only meaning
    ]
    calls = [
        (prim("et_copy_index", "tensor"), [1, 0, 2]),
        (prim("add"), [2, 3, 2]),
        (prim("eq"), [2, 4, 5]),
        p.JumpFalseCall(5, 0),
        (prim("sub"), [2, 4, 2]),
        p.FreeCall(0),
    ]
    return program(method(values, calls, inputs=[0], outputs=[1]))


def moved() -> Sample:
    """forward(x): one of two tensors, as a condition says, is copied to a device and back."""
    values = [
        planned([2, 2], 0, dynamic=True),
        planned([2, 2], 16, dynamic=True),
        planned([2, 2], 32, dynamic=True),
        p.Bool(True),  # noqa: FBT003 - the field's only meaning
        dynamic_on_cuda(0),
        dynamic_on_cuda(16),
        p.Tensor(
            p.ScalarType.FLOAT,
            0,
            [2, 2],
            b"\0\1",
            shape_dynamism=DYNAMIC,
            extra_tensor_info=p.ExtraTensorInfo(device_type=CUDA),
        ),
    ]
    calls = [
        p.JumpFalseCall(3, 2),
        p.MoveCall(0, 2),
        (H2D, [2, 4, 4]),
        (("placewire::d2d_copy", "out"), [4, 5, 5]),
        (("placewire::d2d_copy", "out"), [6, 4, 4]),
        (D2H, [5, 1, 1]),
    ]
    plan = method(
        values,
        calls,
        inputs=[0, 6],
        outputs=[1, 4],
        sizes=[0, 64, 32],
        devices=[p.NonConstBufferDevice(2, CUDA, 0)],
    )
    return program(plan)


PRIMITIVE_PROGRAMS: dict[str, Callable[[], Sample]] = {
    "primitive_numbers": numbers,
    "primitive_shapes": shapes,
    "primitive_collected": collected,
    "primitive_moved": moved,
}
