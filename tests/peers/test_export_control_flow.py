"""Branches and loops, nested in each other, run on ExecuTorch's runtime as they do in eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

from tests.peers.beside_eager import Of, check_calls

pytest.importorskip(
    "executorch.runtime", reason="executorch is not installed; pip install '.[peer]'"
)

operators: Any = torch._higher_order_ops
cond, map_, scan, while_loop = torch.cond, operators.map, operators.scan, operators.while_loop


def constants_and_parameters(self: Any, x: torch.Tensor) -> Any:
    outside = torch.tensor([1.0, 2.0, 3.0])
    return cond(
        x.sum() > 0,
        lambda x: (self.linear(x) + self.b0, x.sum()),
        lambda x: (x * torch.tensor([3.0, 2.0, 1.0]), outside.sum()),
        (x,),
    )


def two_branches(self: Any, x: torch.Tensor) -> Any:
    """ExecuTorch issue 21490: the first result was overwritten before it was used."""
    first = cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))
    second = cond(x[0].sum() > 0, lambda x: x * 2, lambda x: x * 3, (x,))
    third = cond(x[1].sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))
    return first + second * third, first, second * second


def nested_branches(self: Any, x: torch.Tensor) -> Any:
    def true(x: torch.Tensor) -> Any:
        return cond(x[0].sum() > 0, lambda x: x + 1, lambda x: x.sin(), (x,))

    def false(x: torch.Tensor) -> Any:
        y = cond(x[1].sum() > 0, lambda x: x * 2, lambda x: x.cos(), (x,))
        z = cond(x[2].sum() > 0, lambda x, y: x * y, lambda x, y: x - y, (x, y))
        return z + y

    return cond(x.sum() > 0, true, false, (x,))


def exchanging_branches(self: Any, x: torch.Tensor) -> Any:
    y = x * 2
    return cond(
        x.sum() > 0,
        lambda x, y: (x.clone(), y.clone(), x.reshape(-1).clone()),
        lambda x, y: (y.clone(), x.clone(), y.reshape(-1) + 0),
        (x, y),
    )


def in_place_inside(self: Any, x: torch.Tensor) -> Any:
    def true(x: torch.Tensor) -> Any:
        y = x.clone()
        y[0] = 7
        y.add_(1)
        return y

    return cond(x.sum() > 0, true, lambda x: x.clone(), (x,))


def turned_operands(self: Any, x: torch.Tensor) -> Any:
    turned = x.transpose(0, 1)
    return cond(
        x.sum() > 0,
        lambda y: (y.reshape(-1) + 1, y.t() * 2),
        lambda y: (y.reshape(-1) - 1, y.t() * 3),
        (turned,),
    )


def mapped(self: Any, x: torch.Tensor) -> Any:
    return map_(lambda row, all_: (row + all_[0], row.sum()), x, x * 2)


def mapped_pairs(self: Any, x: torch.Tensor) -> Any:
    return map_(lambda rows, last: rows[0] * last + rows[1].exp(), (x, x * 2), x[-1] * 1)


def mapped_twice(self: Any, x: torch.Tensor) -> Any:
    def row(row: torch.Tensor) -> Any:
        return map_(lambda item, total: item * 2 + total, row * 1, row.sum())

    return map_(row, x)


def branch_in_map(self: Any, x: torch.Tensor) -> Any:
    return map_(lambda row: cond(row.sum() > 0, lambda a: a + 1, lambda a: a * 0, (row,)), x)


def scanned(self: Any, x: torch.Tensor) -> Any:
    return scan(lambda total, row: (total + row, total * row), torch.zeros(3), x, dim=0)


def scanned_with_exchange(self: Any, x: torch.Tensor) -> Any:
    def step(carried: Any, row: torch.Tensor) -> Any:
        one, other = carried
        return (other.clone(), one + row), (one * other, row + 1)

    return scan(step, (torch.zeros(3), x[0].clone()), x, dim=0)


def scanned_backwards(self: Any, x: torch.Tensor) -> Any:
    return scan(lambda c, row: (c * 0.5 + row, c + row), torch.ones(3), x, dim=0, reverse=True)


def recurrent(self: Any, x: torch.Tensor) -> Any:
    def step(state: torch.Tensor, row: torch.Tensor) -> Any:
        return torch.tanh(self.linear(state[None])[0] + row), state.clone()

    return scan(step, self.b0 + 0, x, dim=0)


def loop(self: Any, x: torch.Tensor) -> Any:
    return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (torch.tensor(0), x))


def loop_that_never_runs(self: Any, x: torch.Tensor) -> Any:
    return while_loop(lambda i, x: i < 0, lambda i, x: (i + 1, x * 2), (torch.tensor(0), x))


def counting_loop(self: Any, x: torch.Tensor) -> Any:
    return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (0, x))


def exchanging_loop(self: Any, x: torch.Tensor) -> Any:
    count = x.abs().sum().to(torch.int64)
    return while_loop(
        lambda i, a, b: i < count,
        lambda i, a, b: (i + 1, b.clone(), a + b),
        (torch.tensor(0), x, x + 1),
    )


def nested_loops(self: Any, x: torch.Tensor) -> Any:
    def body(i: torch.Tensor, x: torch.Tensor) -> Any:
        y = cond(x.sum() > 3, lambda x: x - 1, lambda x: x * 2 + 1, (x,))
        _, z = while_loop(lambda j, y: j < i, lambda j, y: (j + 1, y + 0.5), (torch.tensor(0), y))
        return i + 1, z

    return while_loop(lambda i, x: i < 4, body, (torch.tensor(0), x))


def loop_that_reads_from_outside(self: Any, x: torch.Tensor) -> Any:
    y = x @ self.linear.weight

    def body(i: torch.Tensor, x: torch.Tensor) -> Any:
        return i + 1, torch.tanh(self.linear(x)) + self.b0 + y

    return while_loop(lambda i, x: i < 3, body, (torch.tensor(0), x))[1] + y


def map_in_loop_in_branch(self: Any, x: torch.Tensor) -> Any:
    def true(x: torch.Tensor) -> Any:
        def body(i: torch.Tensor, x: torch.Tensor) -> Any:
            return i + 1, map_(lambda row, total: row * 0.5 + total, x, x.mean(0))

        return while_loop(lambda i, x: i < 3, body, (torch.tensor(0), x))[1]

    return cond(x.sum() > 0, true, lambda x: x - 1, (x,)) * 2


def views_inside(self: Any, x: torch.Tensor) -> Any:
    def body(i: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> Any:
        return i + 1, b.view(4, 3).clone(), (a.view(-1).unsqueeze(0) * 2).view(12)

    return while_loop(lambda i, a, b: i < 3, body, (torch.tensor(0), x, x.reshape(12) + 1))


FUNCTIONS = [
    constants_and_parameters,
    two_branches,
    nested_branches,
    exchanging_branches,
    in_place_inside,
    turned_operands,
    mapped,
    mapped_pairs,
    mapped_twice,
    branch_in_map,
    scanned,
    scanned_backwards,
    recurrent,
    loop,
    loop_that_never_runs,
    counting_loop,
    exchanging_loop,
    nested_loops,
    loop_that_reads_from_outside,
    map_in_loop_in_branch,
    views_inside,
]


def model_of(function: Callable[..., Any]) -> nn.Module:
    torch.manual_seed(0)
    model = Of(function, torch.ones(3))
    model.linear = nn.Linear(3, 3)
    return model.eval()


def random(number: int, rows: int = 4) -> torch.Tensor:
    return torch.randn(rows, 3, generator=torch.Generator().manual_seed(number))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_call_gives_what_eager_gives(function: Callable[..., Any]) -> None:
    check_calls(model_of(function), *[(random(number),) for number in range(8)])


def test_a_scan_may_carry_several_tensors() -> None:
    calls = [(random(number),) for number in range(3)]
    check_calls(model_of(scanned_with_exchange), *calls, compiled=True)


ROWS = {0: Dim("rows", min=2, max=8)}


@pytest.mark.parametrize(
    "function",
    [two_branches, mapped, scanned, recurrent, loop, branch_in_map],
    ids=lambda function: function.__name__,
)
def test_the_number_of_rows_may_change_from_call_to_call(function: Callable[..., Any]) -> None:
    calls = [(random(rows, rows),) for rows in (4, 8, 2, 5, 3, 8)]
    check_calls(model_of(function), *calls, dynamic_shapes={"args": (ROWS,)})
