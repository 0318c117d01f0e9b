"""Each decomposition of ours computes what the operator itself computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import randn
from torch._ops import OpOverload

from placewire.aot.decompositions import OWN_DECOMPOSITIONS, CannotDecomposeError

_aten = torch.ops.aten
_nan = float("nan")


def _integers(*shape: int) -> torch.Tensor:
    return torch.randint(-7, 8, shape)


def _convolution(
    weight: tuple[int, ...], padding: list[int], groups: int = 1, *, transposed: bool = False
) -> Callable[[], tuple[Any, ...]]:
    channels = weight[1] if transposed else weight[0]
    extra = [1, 0, 1] if transposed else [0, 0, 0]
    dilation = [2, 1, 1]
    return lambda: (
        randn(2, 4, 6, 5, 7),
        randn(*weight),
        randn(channels * (groups if transposed else 1)),
        [2, 2, 2],
        padding,
        dilation,
        transposed,
        extra,
        groups,
    )


def _bags(mode: int, **settings: Any) -> Callable[[], tuple[Any, ...]]:
    offsets = torch.tensor([0, 2, 2, 6 if settings.get("last") else 5])
    arguments = {"scale": False, "sparse": False, "weights": None, "last": False, "pad": -1}
    arguments.update(settings)
    return lambda: (
        randn(10, 3),
        torch.tensor([1, 4, 9, 4, 0, 2]),
        offsets,
        arguments["scale"],
        mode,
        arguments["sparse"],
        arguments["weights"],
        arguments["last"],
        arguments["pad"],
    )


CASES: list[tuple[OpOverload, Callable[[], tuple[Any, ...]]]] = [
    (_aten.__lshift__.Scalar, lambda: (_integers(4), 2)),
    (_aten.__lshift__.Tensor, lambda: (_integers(4), torch.tensor([0, 1, 2, 3]))),
    (_aten.__rshift__.Scalar, lambda: (_integers(4), 1)),
    (_aten.__rshift__.Tensor, lambda: (_integers(4), torch.tensor([0, 1, 2, 3]))),
    (_aten._adaptive_avg_pool3d.default, lambda: (randn(2, 3, 5, 6, 7), [2, 4, 7])),
    (_aten._embedding_bag.default, _bags(0)),
    (_aten._embedding_bag_forward_only.default, _bags(0, weights=randn(6))),
    (_aten._embedding_bag_forward_only.default, _bags(1, pad=4)),
    (_aten._embedding_bag_forward_only.default, _bags(1, last=True)),
    (_aten._embedding_bag_forward_only.default, _bags(2)),
    (_aten._trilinear.default, lambda: (randn(2, 3), randn(2, 4), randn(3, 4), [2], [1], [0], [1])),
    (_aten.adaptive_avg_pool2d.default, lambda: (randn(2, 3, 5, 6), [1, 1])),
    (_aten.adaptive_avg_pool2d.default, lambda: (randn(2, 3, 5, 6), [2, 4])),
    (_aten.adaptive_max_pool2d.default, lambda: (randn(2, 3, 5, 6), [2, 4])),
    (_aten.adaptive_max_pool3d.default, lambda: (randn(3, 5, 6, 4), [2, 4, 3])),
    (_aten.add.Scalar, lambda: (_integers(3), 1.5, 2)),
    (_aten.add.Scalar, lambda: (torch.tensor([True, False]), 2)),
    (_aten.addbmm.default, lambda: (randn(3, 5), randn(2, 3, 4), randn(2, 4, 5))),
    (_aten.avg_pool3d.default, lambda: (randn(2, 3, 6, 7, 8), [2, 3, 2], [], [1, 0, 1])),
    (_aten.avg_pool3d.default, lambda: (randn(3, 6, 7, 8), [3], [2], [0], False, True, 5)),
    (_aten.bucketize.Tensor, lambda: (randn(3, 4), randn(5).sort()[0])),
    (_aten.constant_pad_nd.default, lambda: (randn(3, 5), [-1, 2, 1, -2], 4.0)),
    (_aten.constant_pad_nd.default, lambda: (randn(3, 5), [-1, -1])),
    (_aten.convolution.default, _convolution((6, 2, 2, 3, 3), [1, 0, 1], 2)),
    (_aten.convolution.default, _convolution((4, 3, 3, 2, 2), [1, 1, 0], transposed=True)),
    (_aten.convolution.default, _convolution((4, 2, 1, 2, 2), [0, 0, 0], 2, transposed=True)),
    (_aten.cumsum.default, lambda: (randn(()), 0)),
    (_aten.diagonal_scatter.default, lambda: (randn(4, 5), randn(4), 1)),
    (_aten.diagonal_scatter.default, lambda: (randn(4, 5), randn(2), -2)),
    (_aten.diagonal_scatter.default, lambda: (randn(4, 3, 5), randn(3, 4), 0, 0, 2)),
    (_aten.exp2.default, lambda: (randn(5),)),
    (_aten.fmax.default, lambda: (torch.tensor([1.0, _nan, _nan]), torch.tensor([_nan, 2, _nan]))),
    (_aten.fmin.default, lambda: (torch.tensor([1.0, _nan, 3]), torch.tensor([_nan, 2, 1]))),
    (_aten.fmin.default, lambda: (_integers(3), _integers(3))),
    (_aten.kthvalue.default, lambda: (randn(4, 6), 3, 0, True)),
    (_aten.kthvalue.default, lambda: (randn(4, 6), 2)),
    (_aten.median.default, lambda: (randn(4, 6),)),
    (_aten.median.dim, lambda: (randn(4, 7), 1)),
    (_aten.remainder.Scalar, lambda: (_integers(20), -3)),
    (_aten.remainder.Scalar, lambda: (_integers(20), 2.5)),
    (_aten.remainder.Tensor, lambda: (_integers(20), _integers(20) * 2 + 1)),
    (_aten.round.decimals, lambda: (randn(9) * 100,)),
    (_aten.rrelu_with_noise_functional.default, lambda: (randn(5), randn(5))),
    (_aten.searchsorted.Tensor, lambda: (randn(3, 5).sort()[0], randn(3, 4))),
    (_aten.searchsorted.Tensor, lambda: (randn(5).sort()[0], randn(3, 4))),
    (_aten.sort.default, lambda: (randn(4, 6), 0, True)),
    (_aten.sort.default, lambda: (randn(()),)),
    (_aten.sort.default, lambda: (torch.tensor([True, False]),)),
    (_aten.sort.stable, lambda: (_integers(30),)),
    (_aten.split.Tensor, lambda: (randn(4, 7), 3, 1)),
    (_aten.split_copy.Tensor, lambda: (randn(4, 7), 2)),
    (_aten.split_with_sizes.default, lambda: (randn(4, 7), [2, 5], 1)),
    (_aten.split_with_sizes_copy.default, lambda: (randn(4, 7), [2, 5], 1)),
    (_aten.topk.default, lambda: (randn(()), 1)),
    (_aten.unbind.int, lambda: (randn(4, 3), 1)),
    (_aten.unbind_copy.int, lambda: (randn(4, 3),)),
]

KEYWORDS: dict[OpOverload, list[dict[str, Any]]] = {
    _aten.round.decimals: [{"decimals": 2}, {"decimals": -1}, {"decimals": 0}],
    _aten.sort.stable: [{"stable": True}, {"stable": True, "descending": True}, {"stable": None}],
    _aten.searchsorted.Tensor: [{}, {"right": True}, {"side": "right", "out_int32": True}],
    _aten.addbmm.default: [{}, {"beta": 0.5, "alpha": 2}],
    _aten.cumsum.default: [{}, {"dtype": torch.float64}],
}

ONLY_FIRST_RESULT = {
    _aten._embedding_bag.default,
    _aten._embedding_bag_forward_only.default,
}
"""The others serve its gradient, and differ from one version of torch to the next."""


def test_every_decomposition_of_an_operator_has_a_case() -> None:
    covered = {operator for operator, _ in CASES}
    assert len(CASES) > 40
    assert {op for op in OWN_DECOMPOSITIONS if op.namespace == "aten"} == covered


@pytest.mark.parametrize(
    ("operator", "make"), CASES, ids=[f"{i}-{op}" for i, (op, _) in enumerate(CASES)]
)
def test_a_decomposition_equals_its_operator(
    operator: OpOverload, make: Callable[[], tuple[Any, ...]]
) -> None:
    for keywords in KEYWORDS.get(operator, [{}]):
        torch.manual_seed(3)
        arguments = make()
        ours = OWN_DECOMPOSITIONS[operator](*arguments, **keywords)
        theirs = operator(*arguments, **keywords)
        if operator in ONLY_FIRST_RESULT:
            ours, theirs = ours[0], theirs[0]
        if operator is _aten.sort.stable and not keywords["stable"]:
            ours, theirs = ours[0], theirs[0]
        theirs = list(theirs) if isinstance(theirs, list | tuple) else [theirs]
        ours = list(ours) if isinstance(ours, list | tuple) else [ours]
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize(
    ("operator", "arguments", "keywords", "text"),
    [
        (_aten.sort.stable, (randn(2000),), {"stable": True}, "sort with stable=False"),
        (
            _aten.rrelu_with_noise_functional.default,
            (randn(2), randn(2), 0.1, 0.3, True),
            {},
            "random",
        ),
        (_aten.avg_pool3d.default, (randn(1, 2, 4, 4, 4), [2], [2], [0], True), {}, "ceil_mode"),
        (_aten.round.decimals, (_integers(3),), {"decimals": 1}, "floating point"),
        (_aten.cumsum.default, (randn(3), 0), {}, "without dimensions"),
        (
            _aten.convolution.default,
            (randn(1, 2, 4), randn(2, 2, 1), None, [1], [0], [1], False, [0], 1),
            {},
            "3",
        ),
    ],
)
def test_what_a_decomposition_does_not_cover_is_said(
    operator: OpOverload, arguments: tuple[Any, ...], keywords: dict[str, Any], text: str
) -> None:
    with pytest.raises(CannotDecomposeError, match=text):
        OWN_DECOMPOSITIONS[operator](*arguments, **keywords)
