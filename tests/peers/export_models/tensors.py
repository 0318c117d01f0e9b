"""Functions on tensors: reductions, indexing, joining, views, dtypes, numbers, nesting."""

from __future__ import annotations

from typing import Any

import torch
from torch import randn

from .model import function

__all__ = ["TENSORS"]


def _integers(*shape: int) -> torch.Tensor:
    return torch.randint(-9, 9, shape)


def _nested(arguments: dict[str, Any]) -> dict[str, Any]:
    x, (y, z) = arguments["x"], arguments["pair"]
    return {"sum": x + y, "list": [z * 2, (x, None, 7)], "same": x}


def _integer_arithmetic(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    b = torch.where(b == 0, 1, b)
    return a + b, a * b, a // b, a % b, a & b, a | b, a ^ b, ~a, a / b, -a, a.abs(), a << 2


TENSORS = [
    function(
        "reductions",
        lambda x: (x.sum(), x.mean(1), x.amax(0), x.std(1), x.var(0), x.prod(1), x.logsumexp(1)),
        lambda: (randn(4, 5),),
    ),
    function(
        "reductions_of_booleans_and_integers",
        lambda x: ((x > 0).any(), (x > 0).all(1), (x > 0).sum(0), x.int().sum(1), x.norm()),
        lambda: (randn(4, 5),),
    ),
    function(
        "argmax_and_topk",
        lambda x: (x.argmax(1), x.argmin(), x.topk(2, dim=1), x.max(1), x.min(0), x.aminmax()),
        lambda: (randn(4, 6),),
    ),
    function(
        "sorting",
        lambda x: (x.sort(1), x.argsort(0, descending=True), x.median(), x.kthvalue(2, 1)),
        lambda: (randn(4, 6),),
    ),
    function(
        "stable_sorting",
        lambda x: (torch.sort(x, stable=True), torch.sort(x, dim=0, descending=True, stable=True)),
        lambda: (_integers(5, 7),),
    ),
    function(
        "searching",
        lambda x, v: (torch.searchsorted(x.sort(1)[0], v), torch.bucketize(v, x[0].sort()[0])),
        lambda: (randn(4, 6), randn(4, 3)),
    ),
    function(
        "indexing",
        lambda x, i: (x[i], x[:, 1:3], x[0], x[..., -1], x[i, 1], x[None, :, i], x[:, ::2]),
        lambda: (randn(4, 5), torch.randint(0, 4, (3,))),
    ),
    function(
        "gather_and_scatter",
        lambda x, i: (
            x.gather(1, i),
            x.scatter(1, i, 0.0),
            x.scatter_add(1, i, x[:, :2]),
            x.index_select(0, i[:, 0]),
            x.index_put((i[:, 0],), x * 2),
            x.index_add(0, i[:, 0], x),
        ),
        lambda: (randn(4, 5), torch.stack([torch.randperm(4), torch.randperm(4)], 1)),
    ),
    function(
        "masks",
        lambda x: (
            x.masked_fill(x > 0, 0.0),
            torch.where(x > 0, x, -1.0),
            x.clamp(-1, 1),
            x.relu(),
        ),
        lambda: (randn(4, 5),),
    ),
    function(
        "joining_and_splitting",
        lambda a, b: (
            torch.cat([a, b]),
            torch.stack([a, b], 1),
            torch.split(a, [1, 5], 1),
            a.chunk(4, 1),
            a.unbind(0),
            torch.hstack([a, b]),
        ),
        lambda: (randn(4, 6), randn(4, 6)),
    ),
    function(
        "views",
        lambda x: (
            x.view(-1),
            x.t(),
            x.reshape(2, 3, 4),
            x.unsqueeze(1),
            x.permute(1, 0).contiguous(),
            x.expand(2, 4, 6),
            x.unsqueeze(0).squeeze(),
            x.diagonal(),
            x.unfold(1, 3, 2),
        ),
        lambda: (randn(4, 6),),
    ),
    function(
        "rearranging",
        lambda x: (
            x.flip(0),
            x.roll(1, 0),
            x.tril(),
            x.triu(1),
            x.repeat(2, 1),
            x.repeat_interleave(2, 0),
            x.cumsum(1),
        ),
        lambda: (randn(4, 6),),
    ),
    function(
        "dtype_changes",
        lambda x: (
            x.to(torch.float16).float(),
            x.to(torch.bfloat16) + 1,
            x.int(),
            x.bool(),
            x.double() * 2,
            x.to(torch.int8),
        ),
        lambda: (randn(4, 6),),
    ),
    function(
        "mixed_dtypes",
        lambda a, b: (a + b, a * b, b / 2, b > a, b + 1.5),
        lambda: (randn(4), _integers(4)),
    ),
    function("integer_arithmetic", _integer_arithmetic, lambda: (_integers(4, 3), _integers(4, 3))),
    function(
        "arithmetic_with_numbers",
        lambda x: (
            x + 1,
            2 - x,
            x * 3.5,
            x / 2,
            x // 1,
            x**2,
            2**x,
            x % 2,
            x > 0,
            (x > 0) & (x < 1),
        ),
        lambda: (randn(4, 6),),
    ),
    function(
        "numbers_among_arguments", lambda x, i, f: (x * i, x + f, i, f), lambda: (randn(3), 3, 2.5)
    ),
    function(
        "none_among_arguments", lambda x, y: x if y is None else x + y, lambda: (randn(3), None)
    ),
    function(
        "constants_among_results",
        lambda x: (x + 1, torch.ones(2), 3, None, 2.5, True),
        lambda: (randn(3),),
    ),
    function("an_argument_is_a_result", lambda x: (x, x + 1, x), lambda: (randn(3),)),
    function(
        "nested_arguments_and_results",
        _nested,
        lambda: ({"x": randn(3), "pair": (randn(3), randn(2))},),
    ),
    function("no_dimensions", lambda x: (x * 2, x.view(1), x.sum()), lambda: (randn(()),)),
    function("no_elements", lambda x: (x[:0], torch.cat([x[:0], x])), lambda: (randn(3, 2),)),
    function(
        "new_tensors",
        lambda x: (
            torch.zeros(2, 3) + x.sum(),
            torch.ones_like(x),
            torch.arange(5) * 2,
            torch.full((2,), 3.0),
            torch.eye(3) + x.mean(),
            torch.linspace(0, 1, 4) + x.mean(),
            x.new_zeros(2),
        ),
        lambda: (randn(4, 6),),
    ),
    function(
        "products",
        lambda a, v: (
            a @ a,
            a @ v,
            v @ v,
            torch.outer(v, v),
            torch.addmm(a, a, a),
            torch.einsum("ij,j->ij", a, v),
        ),
        lambda: (randn(4, 4), randn(4)),
    ),
    function(
        "functions",
        lambda x: (
            x.exp(),
            x.sin(),
            x.tanh(),
            x.sigmoid(),
            x.erf(),
            x.abs().log(),
            x.abs().sqrt(),
            x.rsqrt(),
            x.round(),
            x.sign(),
            x.atan2(x + 1),
        ),
        lambda: (randn(4, 6).abs() + 0.1,),
    ),
    function(
        "channels_last_values",
        lambda x, y: (
            x + y,
            x.contiguous(),
            y.to(memory_format=torch.channels_last) * 2,
            x.mean((2, 3)),
            torch.cat([x, y], 1),
            x.flatten(1),
            x * x[:, :, :1, :1],
            x.double(),
        ),
        lambda: (randn(1, 3, 4, 4).to(memory_format=torch.channels_last), randn(1, 3, 4, 4)),
    ),
]
