"""Which kernel computes an operator follows from schemas alone."""

from __future__ import annotations

import pytest
import torch
from torch._ops import OpOverload

from placewire.aot.operators import (
    copying_variant,
    kernel_name,
    kernel_of,
    out_arguments,
    out_variant,
    scalar_variant,
    wire_name,
)
from placewire.aot.target import target_of

_aten = torch.ops.aten
_target = target_of("executorch-1.5")
_listed = sorted(kernel for kernel in _target.kernels if kernel.startswith("aten::"))

NOT_FROM_A_FUNCTIONAL_ONE = {
    "aten::copy_",
    "aten::index_put_",
    "aten::_native_batch_norm_legit.out",
}
"""Kernels that write to their arguments; no functional operator gives what they give."""


def _kernel(name: str) -> OpOverload:
    base, _, overload = name.removeprefix("aten::").partition(".")
    found: OpOverload = getattr(getattr(_aten, base), overload or "default")
    return found


def _functional_operators(kernel: OpOverload) -> list[OpOverload]:
    packet = kernel.overloadpacket
    overloads = [getattr(packet, name) for name in packet.overloads()]
    return [each for each in overloads if not out_arguments(each) and not each._schema.is_mutable]


def test_the_list_of_kernels_is_there() -> None:
    assert len(_listed) > 150


@pytest.mark.parametrize("name", _listed)
def test_every_kernel_is_found_from_a_functional_operator(name: str) -> None:
    kernel = _kernel(name)
    assert kernel_name(kernel) == name
    if name in NOT_FROM_A_FUNCTIONAL_ONE:
        assert kernel._schema.is_mutable
        assert _target.has(kernel_name(kernel))
        return
    found = [kernel_of(each, _target) for each in _functional_operators(kernel)]
    assert kernel in found


def test_options_of_a_new_tensor_are_not_among_the_arguments_of_its_kernel() -> None:
    assert out_variant(_aten.full.default) is _aten.full.out
    assert out_variant(_aten.arange.start_step) is _aten.arange.start_out


def test_a_dtype_that_a_kernel_takes_is_kept() -> None:
    assert out_variant(_aten.mean.dim) is _aten.mean.out
    assert out_variant(_aten.sum.dim_IntList) is _aten.sum.IntList_out


def test_a_view_becomes_a_copy() -> None:
    assert copying_variant(_aten.permute.default) is _aten.permute_copy.default
    assert copying_variant(_aten.slice.Tensor) is _aten.slice_copy.Tensor
    assert copying_variant(_aten.add.Tensor) is _aten.add.Tensor


def test_a_number_beside_a_tensor_means_the_overload_for_numbers() -> None:
    assert scalar_variant(_aten.mul.Tensor) is _aten.mul.Scalar
    assert scalar_variant(_aten.relu.default) is None


def test_an_operator_without_a_kernel_has_none() -> None:
    assert kernel_of(_aten.linalg_qr.default, _target) is None


def test_an_operator_of_ours_goes_by_the_name_that_the_runtime_knows() -> None:
    clone = torch.ops.placewire.clone_dim_order
    assert wire_name(clone.out) == ("dim_order_ops::_clone_dim_order", "out")
    assert kernel_of(clone.default, _target) is clone.out
