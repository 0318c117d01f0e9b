"""Programs of which something can be done once, when a method is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placewire_schema import program as p

from tests.runtime.method_building import ADD, CLOCK, VIEW, constant, floats, method, program
from tests.runtime.programs import tensor

if TYPE_CHECKING:
    from tests.runtime.programs import Sample


def prepared() -> Sample:
    """forward(x) = view(view(x) + (c + c)); c + c is constant, and both views share memory."""
    flat = [4]
    values = [
        tensor(memory_id=1),  # 0: x
        constant(1),
        p.Int(1),
        tensor(memory_id=1, offset=16),  # 3: c + c
        p.Tensor(p.ScalarType.FLOAT, 0, flat, b"\0", allocation_info=p.AllocationDetails(1, 32)),
        p.IntList([6]),
        p.Int(4),  # 6
        tensor(memory_id=1, offset=48),  # 7: a view as it was
        p.IntList([9, 9]),
        p.Int(2),  # 9
        tensor(memory_id=1, offset=64),  # 10: the sum
        tensor(memory_id=1, offset=80),  # 11: the result
    ]
    calls = [
        (ADD, [1, 1, 2, 3, 3]),
        (VIEW, [0, 5, 4, 4]),
        (VIEW, [4, 8, 7, 7]),
        (ADD, [7, 3, 2, 10, 10]),
        (VIEW, [10, 8, 11, 11]),
    ]
    plan = method(values, calls, inputs=[0], outputs=[11], sizes=[0, 96])
    return program(plan, constants=floats(1.0, 2.0, 3.0, 4.0))


def viewed() -> Sample:
    """forward(x) = y + y + k, where y and k are read through other values in the same places.

    y is a copy of x + x, which can share its memory; k = c + c is constant.
    """
    values = [
        tensor(memory_id=1),  # 0: x
        constant(1),
        p.Int(1),
        tensor(memory_id=1, offset=16),  # 3: x + x
        tensor(memory_id=1, offset=32),  # 4: y
        tensor(memory_id=1, offset=32),  # 5: y again
        p.IntList([7, 7]),
        p.Int(2),  # 7
        tensor(memory_id=1, offset=48),  # 8: k
        tensor(memory_id=1, offset=48),  # 9: k again
        tensor(memory_id=1, offset=64),  # 10: y + y
        tensor(memory_id=1, offset=80),  # 11: the result
    ]
    calls = [
        (ADD, [0, 0, 2, 3, 3]),
        (VIEW, [3, 6, 4, 4]),
        (ADD, [1, 1, 2, 8, 8]),
        (ADD, [5, 5, 2, 10, 10]),
        (ADD, [10, 9, 2, 11, 11]),
    ]
    plan = method(values, calls, inputs=[0], outputs=[11], sizes=[0, 96])
    return program(plan, constants=floats(100.0, 200.0, 300.0, 400.0))


def kept_view() -> Sample:
    """forward(x): returns a copy through another value in the same place, which must stay."""
    values = [
        tensor(memory_id=1),  # 0: x
        p.Int(1),
        tensor(memory_id=1, offset=16),  # 2: x + x
        tensor(memory_id=1, offset=32),  # 3: a copy of it
        tensor(memory_id=1, offset=32),  # 4: the copy again
        p.IntList([6, 6]),
        p.Int(2),  # 6
    ]
    calls = [(ADD, [0, 0, 1, 2, 2]), (VIEW, [2, 5, 3, 3])]
    return program(method(values, calls, inputs=[0], outputs=[4]))


def reused() -> Sample:
    """forward(x): the memory of a view's source is written again before the view is read."""
    values = [
        tensor(memory_id=1),  # 0: x
        p.Int(1),
        tensor(memory_id=1, offset=16),  # 2: x + x
        tensor(memory_id=1, offset=32),  # 3: a view of it
        p.IntList([5, 5]),
        p.Int(2),  # 5
        tensor(memory_id=1, offset=16),  # 6: x + x + x, where 2 was
        tensor(memory_id=1, offset=48),  # 7
        tensor(memory_id=1, offset=64),  # 8
    ]
    calls = [
        (ADD, [0, 0, 1, 2, 2]),
        (VIEW, [2, 4, 3, 3]),
        (ADD, [2, 0, 1, 7, 7]),
        (ADD, [7, 0, 1, 6, 6]),
        (ADD, [3, 6, 1, 8, 8]),
    ]
    return program(method(values, calls, inputs=[0], outputs=[8], sizes=[0, 80]))


def changing() -> Sample:
    """forward(): calls a kernel without arguments that change, but which is not pure."""
    values = [constant(1), tensor(memory_id=1), tensor(memory_id=1, offset=16), p.Int(1)]
    calls = [(CLOCK, [0, 1, 1]), (ADD, [1, 1, 3, 2, 2])]
    return program(method(values, calls, inputs=[], outputs=[2]), constants=floats(0, 0, 0, 0))
