"""Random graphs of views and operators that write in place, on an input and on two buffers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from hypothesis import strategies as st

from tests.peers.beside_eager import Of


def spread_out(x: torch.Tensor, n: int) -> torch.Tensor:
    return x.expand(2, *x.shape)


VIEWS: list[Callable[[torch.Tensor, int], torch.Tensor | tuple[torch.Tensor, ...]]] = [
    lambda x, n: x.view(-1),
    lambda x, n: x.reshape(x.shape[0], -1) if x.dim() else x.reshape(1),
    lambda x, n: x.flatten(),
    lambda x, n: x.select(n % x.dim(), n % x.shape[n % x.dim()]),
    lambda x, n: x[n % x.shape[0] :],
    lambda x, n: x.narrow(-1, 0, 1 + n % x.shape[-1]),
    lambda x, n: x[..., ::2],
    lambda x, n: x.transpose(0, -1),
    lambda x, n: x.permute(list(reversed(range(x.dim())))),
    lambda x, n: x.t(),
    lambda x, n: x.unsqueeze(n % (x.dim() + 1)),
    lambda x, n: x.squeeze(),
    lambda x, n: x.detach(),
    lambda x, n: x.contiguous(),
    lambda x, n: x.to(torch.float32),
    lambda x, n: x.diagonal(n % 2),
    lambda x, n: x.movedim(0, -1),
    spread_out,
    lambda x, n: torch.split(x, 1 + n % 2),
    lambda x, n: x.unbind(-1),
    lambda x, n: x.chunk(2, -1),
    lambda x, n: torch.einsum("ij->ji", x),
    lambda x, n: torch.nn.functional.dropout(x, 0.5, training=False),
]

WRITES: list[Callable[[torch.Tensor, torch.Tensor, int], object]] = [
    lambda x, y, n: x.add_(y),
    lambda x, y, n: x.mul_(0.5),
    lambda x, y, n: x.copy_(y),
    lambda x, y, n: x.fill_(n),
    lambda x, y, n: x.zero_(),
    lambda x, y, n: x.relu_(),
    lambda x, y, n: x.clamp_(-1, 1),
    lambda x, y, n: x.masked_fill_(x > 0, -1.0),
    lambda x, y, n: x.sub_(y, alpha=2),
    lambda x, y, n: x.neg_(),
    lambda x, y, n: x.__setitem__(n % x.shape[0], 2.0),
    lambda x, y, n: x.__setitem__(torch.tensor([n % x.shape[0]]), y),
    lambda x, y, n: x.index_fill_(0, torch.tensor([0]), 3.0),
]

NEW: list[Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = [
    lambda x, y: x + y,
    lambda x, y: x * 2,
    lambda x, y: x.clone(),
    lambda x, y: torch.cat([x, x]),
    lambda x, y: x.sum(0) if x.dim() else x.exp(),  # the runtime ends if a sum has no dimension
]

BRANCHES: list[Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = [
    lambda x, y: torch.cond(x.sum() > 0, lambda a, b: a + b, lambda a, b: a - b, (x, y)),
    lambda x, y: torch.cond(y.mean() > 0, lambda a: a * 2, lambda a: a.t().clone().t() - 1, (x,)),
    lambda x, y: torch.cond(x.amax() > 1, lambda a: a.clone(), torch.relu, (y,)),
]
"""What depends on the elements of a tensor; the branches share no memory with anything."""

Step = tuple[str, int, int, int]
"""What a step does, the tensors that it takes, and a number that says the rest."""


def advance(values: list[torch.Tensor], step: Step, spread: set[int]) -> None:
    """Do one step with the tensors that there are.

    Args:
        values: The tensors; new ones are appended.
        step: What to do.
        spread: Which of them have elements that share a place. Nothing is written to those, since
            that is refused.
    """
    kind, one, other, number = step
    source, second = values[one % len(values)], values[other % len(values)]
    if kind == "view":
        view = VIEWS[number % len(VIEWS)]
        made = view(source, number // len(VIEWS))
        new = [made] if isinstance(made, torch.Tensor) else list(made[:2])
        if one % len(values) in spread or view is spread_out:
            spread.update(range(len(values), len(values) + len(new)))
        values += new
    elif kind == "write":
        if one % len(values) in spread:
            raise RuntimeError("its elements share places")
        if second.untyped_storage()._cdata == source.untyped_storage()._cdata:
            second = second.clone()  # what eager gives depends on the order of the elements
        WRITES[number % len(WRITES)](source, second, number // len(WRITES))
    elif kind == "branch":
        choose = BRANCHES[number % len(BRANCHES)]
        values.append(choose(source.clone(), second.clone()))
    else:
        values.append(NEW[number % len(NEW)](source, second))


def run(steps: list[Step], module: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    values, spread = [module.b0, module.b1, x], set[int]()
    for step in steps:
        advance(values, step, spread)
    return tuple(values[-6:])


def possible(steps: list[Step]) -> list[Step]:
    """Those of the steps that eager can do one after the other."""
    values = [torch.rand(3, 4), torch.rand(4, 4), torch.rand(3, 4)]
    kept, spread = [], set[int]()
    for step in steps:
        try:
            advance(values, step, spread)
        except (RuntimeError, IndexError, ZeroDivisionError):
            continue
        kept.append(step)
    return kept


def steps(*kinds: str) -> st.SearchStrategy[list[Step]]:
    """Lists of steps of these kinds."""
    pick = st.integers(0, 11)
    step = st.tuples(st.sampled_from(kinds), pick, pick, st.integers(0, 99))
    return st.lists(step, min_size=3, max_size=10)


WRITING = steps("view", "view", "write", "write", "new")
BRANCHING = steps("view", "write", "new", "branch")


def random_module(drawn: list[Step]) -> tuple[Of, list[torch.Tensor]]:
    """A module that does what can be done of the steps, and three inputs for it."""
    with torch.compiler.set_stance("force_eager"):
        chosen = possible(drawn)
    generator = torch.Generator().manual_seed(len(chosen))
    buffers = [torch.randn(rows, 4, generator=generator) for rows in (3, 4)]
    inputs = [torch.randn(3, 4, generator=generator) for _ in range(3)]
    return Of(partial(run, chosen), *buffers), inputs
