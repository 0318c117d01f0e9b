"""Which operators torch's kernels cover, and through which of its functions they are called."""

from __future__ import annotations

import pytest
import torch

from placewire.aot.target import target_of
from placewire.kernels.copies import DIM_ORDER_SCHEMAS
from placewire.kernels.direct import HOMES, call_through
from placewire.kernels.operators import TorchOperator, find_operator
from placewire.kernels.specialized import SPECIALIZED, flat_linear, layer_norm
from tests.placewire.kernels.reached import reaches, samples

KERNELS = sorted(target_of("executorch-1.5").kernels)
OF_THE_CORE = [name for name in KERNELS if name.startswith(("et_copy::", "executorch_prim::"))]
OF_TORCH = [name for name in KERNELS if name not in OF_THE_CORE]


def _listed() -> dict[str, str]:
    from importlib.resources import files

    lines = (files("placewire.kernels") / "direct.txt").read_text("utf-8").splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


def test_the_target_lists_240_kernels_of_which_213_are_torchs() -> None:
    assert (len(KERNELS), len(OF_TORCH)) == (240, 213)


@pytest.mark.parametrize("name", OF_TORCH)
def test_torch_has_an_operator_for_every_kernel_that_the_core_has_not(name: str) -> None:
    operator = find_operator(name)
    assert operator is not None
    count = len(operator.schema.arguments)
    for described in (operator.names, operator.kinds, operator.defaults, operator.converters):
        assert len(described) == count
    assert operator.writes or operator.returns == 1


@pytest.mark.parametrize("name", OF_THE_CORE)
def test_torch_has_no_operator_for_the_kernels_of_the_core(name: str) -> None:
    assert find_operator(name) is None


@pytest.mark.parametrize("name", ["", "add", "::", "aten::", "aten::no_such.out", "no::add.out"])
def test_there_is_no_operator_of_a_name_that_torch_does_not_know(name: str) -> None:
    assert find_operator(name) is None


def test_an_operator_that_returns_a_new_tensor_is_none_for_a_program() -> None:
    assert find_operator("aten::add.Tensor") is None


@pytest.mark.parametrize("name", [name for name in OF_TORCH if name not in DIM_ORDER_SCHEMAS])
def test_the_list_names_exactly_the_functions_that_reach_the_operator(name: str) -> None:
    operator = find_operator(name)
    assert operator is not None
    assert operator.overload is not None
    homes = [
        home
        for home in HOMES
        if (call := call_through(operator.overload, home)) is not None
        and all(reaches(call, operator.overload, given) for given in samples(operator.overload))
    ]
    assert _listed().get(name) == (homes[0] if homes else None)


def test_an_overload_that_would_swap_two_numbers_is_not_reached() -> None:
    operator = torch.ops.aten.add.Scalar_out
    swapped = call_through(operator, "torch")
    assert swapped is not None
    positional = type(swapped)(swapped.function, (0, 1, 2), (("out", 3),))
    tensor = torch.empty(2, 2)
    assert reaches(swapped, operator, [tensor, 2.5, 3, tensor])
    assert not reaches(positional, operator, [tensor, 2.5, 3, tensor])


@pytest.mark.parametrize("name", sorted(DIM_ORDER_SCHEMAS))
def test_the_schemas_of_dim_order_operators_parse_under_their_names(name: str) -> None:
    operator = find_operator(name)
    assert operator is not None
    assert f"{operator.schema.name}.{operator.schema.overload_name}" == name
    assert operator.outs == (operator.names.index("out"),)


def test_a_copy_of_a_view_is_one_copy_where_nothing_changes() -> None:
    operator = find_operator("aten::permute_copy.out")
    assert operator is not None
    x, out = torch.arange(6.0).view(2, 3), torch.empty(3, 2)
    assert operator.fixed_call.specialize is not None
    special = operator.fixed_call.specialize(x, [1, 0], out)
    assert special is not None
    function, (target, source), _ = special
    assert function is torch.Tensor.copy_
    assert target is out
    assert isinstance(source, torch.Tensor)
    assert (source.data_ptr(), source.stride()) == (x.data_ptr(), (1, 3))
    assert operator.changing_call.specialize is None


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 5, 3), (0, 3)])
@pytest.mark.parametrize("bias", [torch.tensor([0.5, -1]), None])
def test_a_linear_layer_is_one_product_of_matrices_where_nothing_changes(
    shape: tuple[int, ...], bias: torch.Tensor | None
) -> None:
    x, weight, out = torch.randn(shape), torch.randn(2, 3), torch.empty(*shape[:-1], 2)
    special = flat_linear(x, weight, bias, out)
    assert special is not None
    function, positional, keywords = special
    products: set[object] = {torch.mm, torch.addmm}
    assert function in products
    function(*positional, **keywords)
    torch.testing.assert_close(out, torch.nn.functional.linear(x, weight, bias))


@pytest.mark.parametrize(
    ("x", "weight", "bias", "out"),
    [
        ((2, 4), (2, 3), (2,), (2, 2)),
        ((2, 3), (2, 3), (1,), (2, 2)),
        ((2, 3), (2, 3), (2,), (2, 3)),
    ],
)
def test_a_linear_layer_whose_sizes_do_not_fit_is_left_to_torch(
    x: tuple[int, ...], weight: tuple[int, ...], bias: tuple[int, ...], out: tuple[int, ...]
) -> None:
    assert flat_linear(*map(torch.ones, (x, weight, bias, out))) is None


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_a_layer_norm_is_copies_of_what_torch_gives(shape: tuple[int, ...]) -> None:
    arguments = (torch.randn(4, 2, 3), shape, torch.randn(shape), None, 1e-5)
    expected = torch.native_layer_norm(*arguments)
    outs = [torch.empty_like(each) for each in expected]
    special = layer_norm(*arguments, *outs)
    assert special is not None
    function, positional, keywords = special
    function(*positional, **keywords)
    torch.testing.assert_close(outs, list(expected), rtol=0, atol=0)


@pytest.mark.parametrize("wrong", range(3))
def test_a_layer_norm_whose_results_have_other_sizes_is_left_to_torch(wrong: int) -> None:
    outs = [torch.empty(4, 3), torch.empty(4, 1), torch.empty(4, 1)]
    outs[wrong] = torch.empty(4)
    assert layer_norm(torch.ones(4, 3), [3], None, None, 1e-5, *outs) is None


def test_operators_that_are_specialized_are_those_that_a_program_calls() -> None:
    assert len(SPECIALIZED) > 1
    for name, specialize in SPECIALIZED.items():
        operator = find_operator(name)
        assert operator is not None
        assert operator.fixed_call.specialize is specialize
        assert operator.changing_call.specialize is None


def test_it_is_known_of_most_operators_that_sizes_do_not_depend_on_data() -> None:
    unknown = {name for name in OF_TORCH if not _operator(name).has_known_sizes}
    assert unknown >= {
        "aten::index.Tensor_out",
        "aten::masked_select.out",
        "aten::nonzero.out",
        "aten::repeat_interleave.Tensor_out",
    }
    assert len(unknown) < len(OF_TORCH) // 3


def test_sizes_of_an_operator_that_nobody_tried_are_not_known() -> None:
    assert not _operator("aten::_pack_padded_sequence.out").has_known_sizes


def test_what_writes_more_than_its_name_tells_says_so() -> None:
    assert _operator("aten::_native_batch_norm_legit.out").writes_inputs
    assert not _operator("aten::add.out").writes_inputs
    assert not _operator("aten::add_.Tensor").writes_inputs
    assert not _operator("aten::split_copy.Tensor_out").writes_inputs


@pytest.mark.parametrize(
    "name",
    [
        *("aten::set_data", "aten::requires_grad_", "aten::retain_grad", "aten::record_stream"),
        *("prims::resize", "prims::as_strided"),
    ],
)
def test_operators_that_change_something_else_than_elements_are_none(name: str) -> None:
    assert find_operator(name) is None


def _operator(name: str) -> TorchOperator:
    operator = find_operator(name)
    assert operator is not None
    return operator


@pytest.mark.parametrize(
    "name", ["aten::from_file.out", "symm_mem::one_shot_all_reduce_out", "c10d::barrier"]
)
def test_operators_that_reach_out_of_the_process_are_none(name: str) -> None:
    assert find_operator(name) is None


@pytest.mark.parametrize(
    "name",
    ["aten::add._schema", "aten::add.overloads", "load_library::__self__.aten", "_dir::append"],
)
def test_attributes_of_torch_that_are_no_operators_are_none(name: str) -> None:
    assert find_operator(name) is None


@pytest.mark.parametrize(
    "name",
    ["aten::set_.source_Tensor", "aten::as_strided_", "aten::resize_", "aten::t_", "aten::detach_"],
)
def test_operators_that_change_what_a_tensor_is_are_none(name: str) -> None:
    assert find_operator(name) is None
    assert find_operator("aten::add_.Tensor") is not None


def test_an_operator_that_reads_wherever_its_strides_lead_is_none() -> None:
    assert find_operator("aten::_reshape_alias_copy.out") is None
