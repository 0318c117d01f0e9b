"""Random small models: a few layers and operators, one after the other, on what is there so far."""

from __future__ import annotations

from collections.abc import Callable

import torch
from hypothesis import strategies as st

Tensors = list[torch.Tensor]

_FEATURES = 6
"""Columns of every tensor that a step takes; rows vary."""


def _fit(x: torch.Tensor) -> torch.Tensor:
    """Bring a result back to `_FEATURES` columns, so that every step takes every result."""
    columns = x.reshape(-1, x.shape[-1])
    repeats = -(-_FEATURES // columns.shape[1])
    return torch.cat([columns] * repeats, dim=1)[:, :_FEATURES]


_OPERATORS: list[Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = [
    lambda x, y: x + y.mean(0),
    lambda x, y: x - 2 * y.amax(0),
    lambda x, y: x * torch.sigmoid(y.sum(0, keepdim=True)),
    lambda x, y: x / (1 + y.abs().mean()),
    lambda x, y: torch.relu(x),
    lambda x, y: torch.nn.functional.gelu(x),
    lambda x, y: torch.tanh(x),
    lambda x, y: torch.exp(-x.abs()),
    lambda x, y: x.clamp(-1, 1),
    lambda x, y: torch.softmax(x, -1),
    lambda x, y: torch.log_softmax(x, 0),
    lambda x, y: torch.nn.functional.layer_norm(x, (_FEATURES,)),
    lambda x, y: torch.cumsum(x, 1),
    lambda x, y: torch.where(x > 0, x, 0.1 * x),
    lambda x, y: x.masked_fill(x < y.mean(), 0.5),
    lambda x, y: torch.topk(x, 3, dim=1).values,
    lambda x, y: torch.argmax(x, 1, keepdim=True).to(torch.float32),
    lambda x, y: torch.flip(x, [0]),
    lambda x, y: x.transpose(0, 1),
    lambda x, y: x[:, ::2],
    lambda x, y: x.index_select(1, torch.tensor([3, 0, 3])),
    lambda x, y: torch.cat([x, y]),
    lambda x, y: torch.stack([x, x * 2], dim=1),
    lambda x, y: torch.split(x, 4, dim=1)[0],
    lambda x, y: x @ y.transpose(0, 1),
    lambda x, y: torch.bmm(x.unsqueeze(0), y.t().unsqueeze(0))[0],
    lambda x, y: torch.var_mean(x, dim=1, keepdim=True)[0],
    lambda x, y: torch.nn.functional.avg_pool1d(x.unsqueeze(0), 2)[0],
    lambda x, y: torch.nn.functional.pad(x, (1, 1)),
    lambda x, y: x.to(torch.float64).sqrt().nan_to_num(0.25).to(torch.float32),
    lambda x, y: x.to(torch.int32).to(torch.float32),
    lambda x, y: torch.full_like(x, 0.5) - x,
    lambda x, y: x.repeat(1, 2),
    lambda x, y: torch.remainder(x, 0.7),
    lambda x, y: torch.pow(x, 2),
    lambda x, y: x.norm(dim=1, keepdim=True),
]

_LAYERS: list[Callable[[], torch.nn.Module]] = [
    lambda: torch.nn.Linear(_FEATURES, 5),
    lambda: torch.nn.Linear(_FEATURES, 8, bias=False),
    lambda: torch.nn.LayerNorm(_FEATURES),
    torch.nn.PReLU,
    lambda: torch.nn.Sequential(torch.nn.Linear(_FEATURES, 4), torch.nn.SiLU()),
    lambda: torch.nn.Sequential(torch.nn.Unflatten(1, (2, 3)), torch.nn.Conv1d(2, 4, 2)),
]

Step = tuple[int, int, int]
"""Which operator or layer, and the two earlier results that it takes."""


class RandomModel(torch.nn.Module):
    """Does the drawn steps, each on results of earlier ones.

    Args:
        steps: What to do.
        seed: Of the parameters.

    Inputs: two tensors of `_FEATURES` columns. Outputs: the last three results.
    """

    def __init__(self, steps: list[Step], seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.steps = steps
        self.layers = torch.nn.ModuleList(
            _LAYERS[which % len(_LAYERS)]() for which, _, _ in steps if which >= len(_OPERATORS)
        )

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values = [first, second]
        layers = iter(self.layers)
        for which, one, other in self.steps:
            x, y = _fit(values[one % len(values)]), _fit(values[other % len(values)])
            if which < len(_OPERATORS):
                values.append(_OPERATORS[which](x, y))
            else:
                values.append(next(layers)(x))
        return tuple(values[2:][-3:])


_STEP = st.tuples(
    st.integers(0, len(_OPERATORS) + len(_LAYERS) - 1), st.integers(0, 9), st.integers(0, 9)
)

random_models = st.builds(
    RandomModel, st.lists(_STEP, min_size=1, max_size=7), st.integers(0, 1000)
)
"""A model each."""


def arguments(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return inputs that every such model takes: 4 and 3 rows."""
    generator = torch.Generator().manual_seed(seed)
    return (
        torch.randn(4, _FEATURES, generator=generator),
        torch.randn(3, _FEATURES, generator=generator),
    )
