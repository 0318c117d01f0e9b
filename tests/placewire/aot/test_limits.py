"""What a kernel refuses is known ahead of time, and said with what was found."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._ops import OpOverload

from placewire.aot.fakes import FakeValues
from placewire.aot.limits import _LIMITS, limit_of

_aten = torch.ops.aten
_number, _vector, _matrix = torch.zeros(()), torch.zeros(3), torch.zeros(3, 3)

BEYOND: list[tuple[OpOverload, dict[str, Any], str]] = [
    (_aten._local_scalar_dense.default, {"self": _number.half()}, "torch.float16"),
    (_aten.add.Scalar, {"self": _vector.int(), "other": 1.5}, "torch.int32"),
    (_aten.constant_pad_nd.default, {"self": _matrix, "pad": [-1, 2]}, "[-1, 2]"),
    (_aten.convolution.default, {"input": torch.zeros(1, 1, 2, 2, 2)}, "found 5"),
    (_aten.cumsum.default, {"self": _number}, "found 0"),
    (_aten.linear.default, {"input": _vector}, "found 1"),
    (_aten.masked_select.default, {"self": _vector, "mask": _matrix > 0}, "(3, 3)"),
    (_aten.remainder.Tensor, {"self": _vector.long(), "other": _vector.long()}, "torch.int64"),
    (_aten.topk.default, {"self": _number}, "found 0"),
]

WITHIN: list[tuple[OpOverload, dict[str, Any]]] = [
    (_aten._local_scalar_dense.default, {"self": _number}),
    (_aten.add.Scalar, {"self": _vector, "other": 2}),
    (_aten.add.Tensor, {"self": _vector.int(), "other": _vector}),
    (_aten.constant_pad_nd.default, {"self": _matrix, "pad": [0, 2]}),
    (_aten.convolution.default, {"input": torch.zeros(1, 1, 2, 2)}),
    (_aten.cumsum.default, {"self": _vector}),
    (_aten.linear.default, {"input": _matrix}),
    (_aten.masked_select.default, {"self": _matrix, "mask": _vector > 0}),
    (_aten.remainder.Tensor, {"self": _vector, "other": _vector}),
    (_aten.split.Tensor, {"self": _matrix}),
    (_aten.split_with_sizes.default, {"self": _matrix}),
    (_aten.topk.default, {"self": _vector}),
    (_aten.unbind.int, {"self": _matrix}),
]

RESIZED = [_aten.split.Tensor, _aten.split_with_sizes.default, _aten.unbind.int]


def test_every_limit_has_a_case_on_either_side() -> None:
    assert len(_LIMITS) > 5

    def names(operators: list[OpOverload]) -> set[str]:
        copies = {"aten::split", "aten::split_with_sizes", "aten::unbind"}
        found = {operator._schema.name for operator in operators}
        return {f"{name}_copy" if name in copies else name for name in found}

    assert names([operator for operator, _ in WITHIN]) == _LIMITS.keys()
    assert names([operator for operator, _, _ in BEYOND] + RESIZED) == _LIMITS.keys()


@pytest.mark.parametrize(("operator", "given", "found"), BEYOND, ids=lambda case: str(case)[:40])
def test_a_call_beyond_a_limit_is_told_what_was_found(
    operator: OpOverload, given: dict[str, Any], found: str
) -> None:
    reason = limit_of(operator, given)
    assert reason is not None
    assert found in reason


@pytest.mark.parametrize(("operator", "given"), WITHIN, ids=lambda case: str(case)[:40])
def test_a_call_within_the_limits_has_no_reason(
    operator: OpOverload, given: dict[str, Any]
) -> None:
    assert limit_of(operator, given) is None


@pytest.mark.parametrize("operator", RESIZED, ids=str)
def test_kernels_with_several_results_take_no_symbolic_sizes(operator: OpOverload) -> None:
    class Doubled(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    shapes = ({0: torch.export.Dim("rows", max=8)},)
    program = torch.export.export(Doubled(), (torch.randn(3, 4),), dynamic_shapes=shapes)
    (node,) = program.graph.find_nodes(op="placeholder")
    value = FakeValues([node.meta["val"]]).canonical(node.meta["val"])
    assert "static sizes" in str(limit_of(operator, {"self": value}))
