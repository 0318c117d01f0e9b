"""Programs by hand of which preparation must not change what every instruction in turn gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from placewire_schema import program as p
from placewire_schema.errors import InvalidProgramError

from placewire import Module, ScopedKernel
from tests.runtime.method_building import constant, flat_file, floats, planned

ADD, CLONE, NEG = ("aten::add", "out"), ("aten::clone", "out"), ("aten::neg", "out")
BATCH_NORM = ("aten::_native_batch_norm_legit", "out")
CONSTANTS = floats(1, 2, 3, 4)


def outputs(pte: bytes, *inputs: Any) -> list[list[Any]]:
    """What two calls give, prepared and not."""
    results = []
    for prepare in (True, False):
        with Module(pte, prepare=prepare) as module:
            results += [module.method().run(list(inputs))[0].tolist() for _ in range(2)]
    return results


def test_a_constant_result_of_which_a_part_is_overwritten_is_computed_each_time() -> None:
    values = [planned(0, (2,)), constant(1), planned(16), planned(16, (2,)), planned(32)]
    pte = flat_file(
        values, [(NEG, [1, 2, 2]), (NEG, [0, 3, 3]), (NEG, [2, 4, 4])], [0], [4], CONSTANTS
    )
    assert outputs(pte, np.array([8, 9], np.float32)) == [[[8, 9], [3, 4]]] * 4


def test_what_is_added_to_its_own_place_starts_anew_in_each_call() -> None:
    values = [planned(0), constant(1), planned(16), planned(16), planned(32), p.Int(1)]
    calls = [(NEG, [1, 2, 2]), (ADD, [3, 0, 5, 3, 3]), (NEG, [3, 4, 4])]
    pte = flat_file(values, calls, [0], [4], CONSTANTS)
    x = np.full((2, 2), 10, np.float32)
    assert outputs(pte, x) == [[[-9, -8], [-7, -6]]] * 4


def test_an_output_whose_place_is_taken_is_what_lies_there_in_the_end() -> None:
    values = [planned(0), planned(16), planned(32), planned(32), p.Null()]
    calls = [(NEG, [0, 1, 1]), (CLONE, [1, 4, 2, 2]), (NEG, [1, 3, 3])]
    pte = flat_file(values, calls, [0], [2])
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    assert outputs(pte, x) == [x.tolist()] * 4


def test_a_copy_of_what_an_operator_writes_besides_its_results_keeps_the_old_elements() -> None:
    x, row = (1, 2, 2), (2,)
    values: list[Any] = [
        planned(0, x),
        planned(16, row),
        planned(32, row),
        planned(48, row),
        p.Null(),
        planned(64, x),
        planned(80, row),
        planned(96, row),
        p.TensorList([5, 6, 7]),
        p.Bool(bool_val=True),
        p.Double(0.5),
        planned(112, row),
        planned(128, row),
    ]
    calls = [
        *((NEG, [1, 2, 2]), (NEG, [1, 11, 11])),
        (CLONE, [2, 4, 3, 3]),
        (BATCH_NORM, [0, 4, 4, 2, 11, 9, 10, 10, 5, 6, 7, 8]),
        (NEG, [3, 12, 12]),
    ]
    pte = flat_file(values, calls, [0, 1], [12], sizes=(0, 160))
    given = np.arange(4, dtype=np.float32).reshape(x), np.array([3, 4], np.float32)
    assert outputs(pte, *given) == [[3, 4]] * 4


@pytest.mark.parametrize("name", ["aten::clone.out", "aten::alias_copy.out"])
@pytest.mark.parametrize("prepare", [True, False])
def test_a_kernel_of_a_users_for_an_operator_that_copies_is_called(
    name: str, *, prepare: bool
) -> None:
    values = [planned(0), planned(16), planned(32), planned(48), p.Null()]
    operator = (name.removesuffix(".out"), "out")
    middle = [1, 4, 2, 2] if "clone" in name else [1, 2, 2]
    pte = flat_file(values, [(NEG, [0, 1, 1]), (operator, middle), (NEG, [2, 3, 3])], [0], [3])

    def tenfold(x: Any, *rest: Any) -> None:
        rest[-1][:] = x * 10

    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    with ScopedKernel(name, tenfold), Module(pte, prepare=prepare) as module:
        np.testing.assert_array_equal(module.method().run([x])[0], x * 10)


def test_an_operator_that_returns_something_else_than_it_writes_is_refused() -> None:
    values = [planned(0), planned(16), planned(32)]
    pte = flat_file(values, [(NEG, [0, 1, 2])], [0], [2])
    with Module(pte) as module, pytest.raises(InvalidProgramError, match="the out argument, or a"):
        module.method()
