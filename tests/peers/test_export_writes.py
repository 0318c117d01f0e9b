"""What a model writes to, in place and through views, ExecuTorch's runtime writes to as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from tests.peers.beside_eager import Of, check_artifact, check_calls

pytest.importorskip(
    "executorch.runtime", reason="executorch is not installed; pip install '.[peer]'"
)


def random(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(sum(sizes)))


def accumulated(self: Any, x: torch.Tensor) -> Any:
    self.b0.add_(x)
    return self.b0 * 1


def returned(self: Any, x: torch.Tensor) -> Any:
    self.b0 += x
    return self.b0


def old_and_new(self: Any, x: torch.Tensor) -> Any:
    old = self.b0.clone()
    self.b0.copy_(x)
    return old, self.b0 + 1, self.b0.view(-1)


def through_views(self: Any, x: torch.Tensor) -> Any:
    flat, turned = self.b0.view(-1), self.b0.t()
    flat[3:5].mul_(3)
    turned[0].add_(x[:, 0])
    return flat + 0, turned + 0, self.b0.sum()


def without_gradients(self: Any, x: torch.Tensor) -> Any:
    with torch.no_grad():
        self.b0.add_(1)
        self.b0[1:].mul_(2)
    return x + self.b0


def in_parts(self: Any, x: torch.Tensor) -> Any:
    first, second, _ = self.b0.split(2)
    first.add_(1)
    row, other = second.unbind(0)
    row.relu_()
    other.zero_()
    self.b0.clamp_(-1, 1)
    return first + x[:2], self.b0 + 0


def exchanged(self: Any, x: torch.Tensor) -> Any:
    first = self.b0.clone()
    self.b0.copy_(self.b1)
    self.b1.copy_(first)
    return self.b0 + x, self.b1 - x


def one_from_the_other(self: Any, x: torch.Tensor) -> Any:
    self.b0.copy_(self.b1)
    self.b1.add_(1)
    return self.b0 + x


def of_another_dtype(self: Any, x: torch.Tensor) -> Any:
    self.b0 += torch.tensor(2.0, dtype=torch.float64)
    return self.b0 + x


def spread(self: Any, x: torch.Tensor) -> Any:
    self.b0.copy_(x[0])
    self.b0[1].copy_(torch.arange(self.b0.shape[1]))
    return self.b0 + 1


def counted(self: Any, x: torch.Tensor) -> Any:
    self.b0 += 1
    return x * self.b0, self.b0


def an_argument(self: Any, x: torch.Tensor) -> Any:
    x.add_(1)
    return x * 2


def composed_views(self: Any, x: torch.Tensor) -> Any:
    y = x + 1
    for part in y.chunk(2, 1):
        part.mul_(2)
    y.narrow(0, 1, 1).add_(5)
    y.movedim(0, 1)[0].sub_(1)
    y.reshape(-1)[0] = 9
    y.contiguous().add_(1)
    y.flatten().mul_(2)
    y.unsqueeze(0).squeeze(0).add_(1)
    torch.nn.functional.dropout(y, 0.5, training=False).add_(1)
    torch.einsum("ij->ji", y).mul_(0.5)
    return y


def read_later(self: Any, x: torch.Tensor) -> Any:
    y = x + 0
    spread = y.expand(3, *y.shape)
    y.add_(1)
    return spread + 0, y


def by_mask_and_diagonal(self: Any, x: torch.Tensor) -> Any:
    y = x.clone()
    y[y > 0] = 0.0
    y.masked_fill_(y < -1, 5.0)
    y[0].fill_(3)
    y.diagonal().add_(1)
    y.diagonal(1)[0] = 7
    return y


def by_index(self: Any, x: torch.Tensor, rows: torch.Tensor) -> Any:
    self.b0.index_put_((rows,), x, accumulate=True)
    self.b0.index_add_(0, rows, x)
    self.b0.index_copy_(0, rows, x * 2)
    return self.b0 * 1


def into_out(self: Any, x: torch.Tensor) -> Any:
    y = torch.empty_like(x)
    torch.add(x, x, out=y)
    return y


def seen_by_branches(self: Any, x: torch.Tensor) -> Any:
    self.b0.add_(x[0])
    y = torch.cond(self.b0.sum() > 1, lambda x: x + self.b0, lambda x: x - self.b0, (x,))
    self.b0.mul_(2)
    return y, self.b0 + 1


ONES = torch.ones(3)
MODELS: dict[Callable[..., Any], tuple[tuple[torch.Tensor, ...], tuple[torch.Tensor, ...]]] = {
    accumulated: ((ONES,), (random(3),)),
    returned: ((ONES,), (random(3),)),
    old_and_new: ((ONES,), (random(3),)),
    through_views: ((random(3, 4),), (random(3, 4),)),
    without_gradients: ((ONES,), (random(3),)),
    in_parts: ((random(6, 3),), (random(6, 3),)),
    exchanged: ((random(3), ONES), (random(3),)),
    one_from_the_other: ((random(3), ONES), (random(3),)),
    of_another_dtype: ((ONES,), (random(3),)),
    spread: ((random(2, 3),), (random(2, 3),)),
    counted: ((torch.tensor(0),), (random(3),)),
    an_argument: ((), (random(3),)),
    composed_views: ((), (random(4, 6),)),
    read_later: ((), (random(2, 3),)),
    by_mask_and_diagonal: ((), (random(4, 4),)),
    by_index: ((random(5, 3),), (random(2, 3), torch.tensor([1, 3]))),
    into_out: ((), (random(3),)),
    seen_by_branches: ((ONES,), (random(4, 3),)),
}


@pytest.mark.parametrize("function", MODELS, ids=lambda function: function.__name__)
def test_three_calls_in_a_row_give_what_eager_gives(function: Callable[..., Any]) -> None:
    buffers, arguments = MODELS[function]
    check_calls(Of(function, *buffers), *[arguments] * 3)


@pytest.mark.parametrize(
    "norm",
    [
        nn.BatchNorm2d(3),
        nn.BatchNorm2d(3, momentum=0.3),
        nn.InstanceNorm2d(3, track_running_stats=True),
    ],
    ids=["batch norm", "batch norm with momentum", "instance norm"],
)
def test_running_statistics_are_kept_from_call_to_call(norm: nn.Module) -> None:
    def statistics(self: Any, x: torch.Tensor) -> Any:
        return self.norm(x), self.norm.running_mean + 0, self.norm.running_var + 0

    model = Of(statistics)
    model.norm = norm.train()
    check_calls(model, *[(random(2, 3, 4, 4) * scale,) for scale in (1, 2, 3)])


def test_a_buffer_of_ones_is_there_in_the_first_call() -> None:
    """ExecuTorch issues 5068 and 7515: the initial value was dropped, and the write eliminated."""

    def forward(self: Any, x: torch.Tensor) -> Any:
        given = self.b0 + x
        self.b0.copy_(given)
        return given

    artifact = check_calls(Of(forward, ONES), *[(torch.zeros(3),)] * 2, (ONES,), (ONES,))
    (plan,) = artifact.program.execution_plan
    assert "aten::copy_" in [operator.name for operator in plan.operators]
    assert artifact.program.mutable_data_segments is not None


def cache_row(self: Any, x: torch.Tensor, position: torch.Tensor) -> Any:
    self.b0[:, position] = x
    return self.b0.sum(1), self.b0 * 2


def cache_fixed(self: Any, x: torch.Tensor, position: torch.Tensor) -> Any:
    self.b0[:, 2:4] = x
    return self.b0.sum(1)


def cache_from_start(self: Any, x: torch.Tensor, position: torch.Tensor) -> Any:
    start = position[0].item()
    check: Any = torch._check
    check(start >= 0)
    check(start + 2 <= 6)
    self.b0.narrow(1, start, 2).copy_(x)
    return self.b0.sum(1)


@pytest.mark.parametrize("function", [cache_row, cache_fixed, cache_from_start])
def test_a_cache_is_written_in_place(function: Callable[..., Any]) -> None:
    model = Of(function, torch.zeros(2, 6, 3))
    calls = [(random(2, 2, 3), torch.tensor(rows)) for rows in ([0, 1], [4, 5], [2, 3])]
    artifact = check_calls(model, *calls)
    assert "aten::index_put_" in artifact.report.methods["forward"].operators
    assert "aten::copy_" not in artifact.report.methods["forward"].operators


def test_rows_of_a_cache_may_be_counted_from_the_end() -> None:
    model = Of(cache_row, torch.zeros(2, 6, 3))
    calls = [(random(2, 2, 3), torch.tensor(rows)) for rows in ([0, 1], [-1, 2], [-6, -2])]
    artifact = check_calls(model, *calls)
    assert "aten::index_put_" in artifact.report.methods["forward"].operators


def test_rows_of_a_cache_may_all_get_the_same_values() -> None:
    def forward(self: Any, x: torch.Tensor, position: torch.Tensor) -> Any:
        self.b0[:, position] = x
        return self.b0 * 2

    model = Of(forward, torch.zeros(2, 6, 3))
    calls = [(random(*sizes), torch.tensor([1, 4])) for sizes in ((3,), (3,))]
    artifact = check_calls(model, *calls)
    assert "aten::index_put_" in artifact.report.methods["forward"].operators


def test_a_cache_whose_old_value_is_needed_is_copied() -> None:
    def forward(self: Any, x: torch.Tensor, position: torch.Tensor) -> Any:
        old = self.b0.clone()
        self.b0[:, position] = x
        return self.b0 - old, old

    model = Of(forward, torch.zeros(2, 6, 3))
    calls = [(random(2, 2, 3), torch.tensor(rows)) for rows in ([0, 1], [4, 5])]
    check_calls(model, *calls)


def test_a_buffer_with_two_names_is_one_buffer() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        self.b0.add_(x)
        return self.b1 * 2

    model = Of(forward, ONES)
    model.register_buffer("b1", model.get_buffer("b0"))
    check_calls(model, *[(random(3),)] * 3)


def test_a_buffer_that_is_not_persistent_is_kept_between_calls() -> None:
    model = Of(accumulated)
    model.register_buffer("b0", torch.ones(3), persistent=False)
    check_calls(model, *[(random(3),)] * 3)


def test_a_functional_program_is_exported_with_its_mutations() -> None:
    model = Of(old_and_new, ONES)
    exported = torch.export.export(model, (random(3),), strict=False).run_decompositions({})
    from placewire.aot import export

    check_artifact(export(exported), model, *[(random(3),)] * 3)
