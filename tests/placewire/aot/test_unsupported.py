"""All that cannot be exported is listed at once, each with the user's own line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn
from torch._subclasses import FakeTensorMode
from torch.nn import functional

from placewire.aot import EverythingPartitioner, UnsupportedError, export
from placewire.aot.export import _Lowering
from placewire.aot.graph import source_of
from tests.placewire.aot.demo_backend import DemoBackend, EachAlone

HERE = Path(__file__).name


class Calls(nn.Module):
    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> Any:
        return self.body(x)


def _refused(body: Any, x: torch.Tensor | None = None, **settings: Any) -> UnsupportedError:
    x = torch.randn(4, 4) if x is None else x
    with pytest.raises(UnsupportedError) as caught:
        export(Calls(body), (x,), **settings)
    return caught.value


@pytest.fixture
def custom_operator() -> Iterator[Any]:
    library = torch.library.Library("placewire_tests", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")
    library.impl("twice", torch.empty_like, "Meta")
    yield torch.ops.placewire_tests.twice.default
    library._destroy()


class Several(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        q = torch.linalg.qr(x)[0]
        return q, torch.polygamma(2, x), torch.fft.fft(x).abs(), torch.lgamma(x)


def test_all_operators_are_listed_at_once_in_the_order_of_the_code() -> None:
    with pytest.raises(UnsupportedError) as caught:
        export(Several(), (torch.randn(4, 4),))
    found = [item.what for item in caught.value.unsupported]
    assert found == [
        "aten.linalg_qr.default",
        "aten.polygamma.default",
        "aten.fft_fft.default",
        "aten.lgamma.default",
    ]
    assert str(caught.value).startswith("4 parts of the model cannot be exported:\n")


def test_an_entry_names_the_method_the_operator_the_reason_and_the_line() -> None:
    with pytest.raises(UnsupportedError) as caught:
        export(Several(), (torch.randn(4, 4),))
    first = caught.value.unsupported[0]
    assert first.method == "forward"
    assert first.reason == "the target executorch-1.5 has no kernel for it"
    assert first.source is not None
    assert HERE in first.source
    assert first.source.endswith("in forward: q = torch.linalg.qr(x)[0]")


def test_a_line_inside_torch_is_not_the_user_s() -> None:
    class Pooled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.pool = nn.FractionalMaxPool2d(2, output_size=2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.pool(x)

    with pytest.raises(UnsupportedError) as caught:
        export(Pooled(), (torch.randn(1, 1, 6, 6),))
    sources = [item.source for item in caught.value.unsupported]
    assert sources
    assert all(source and source.endswith("in forward: return self.pool(x)") for source in sources)


@pytest.mark.parametrize(
    ("model", "module"),
    [
        (nn.Linear(4, 4), "of the module (Linear)"),
        (nn.Sequential(nn.Sequential(nn.Linear(4, 4))), "of the module 0.0 (Linear)"),
    ],
)
def test_a_line_inside_torch_is_said_to_be_torch_s_where_the_user_has_none(
    model: nn.Module, module: str
) -> None:
    shapes = ({0: torch.export.Dim("rows")},)
    with pytest.raises(UnsupportedError) as caught:
        export(model, (torch.zeros(4, 4),), dynamic_shapes=shapes)
    (item,) = caught.value.unsupported
    assert (item.source or "").startswith(f"in torch's code {module}: ")
    assert (item.source or "").endswith(
        "in forward: return F.linear(input, self.weight, self.bias)"
    )


def test_a_line_of_the_user_is_found_behind_the_first_that_uses_an_input() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    inside = f'  File "{torch.__file__}", line 1, in f\n    inner(x)\n'
    for trace in (inside, '  File "mine.py", line 7, in g\n    outer(x)\n'):
        graph.call_function(torch.relu, (x,)).meta["stack_trace"] = trace
    assert source_of(x) == "mine.py:7 in g: outer(x)"


def test_parts_of_branches_and_loops_are_listed_with_lines_of_the_user() -> None:
    class Branching(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            x = torch.cond(x.sum() > 0, torch.lgamma, lambda x: x.igamma(x), (x,))
            return torch.while_loop(lambda x: x.sum() > 0, lambda x: (torch.erfinv(x),), (x,))

    with pytest.raises(UnsupportedError) as caught:
        export(Branching(), (torch.randn(4, 4),))
    found = {item.what: item.source for item in caught.value.unsupported}
    assert list(found) == [
        "aten.lgamma.default",
        "aten.igamma.default",
        "aten.erfinv.default",
    ]
    assert [source and source.partition("in forward: ")[2][:18] for source in found.values()] == [
        "x = torch.cond(x.s",
        "x = torch.cond(x.s",
        "return torch.while",
    ]
    assert all(source and HERE in source for source in found.values())


def test_what_has_no_line_of_its_own_has_that_of_what_uses_it() -> None:
    class Casting(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            with torch.autocast("cpu", torch.bfloat16):
                product = x @ x
            return product, x * torch.tensor(1j).abs()

    with pytest.raises(UnsupportedError) as caught:
        export(Casting(), (torch.randn(4, 4),))
    found = {
        item.what: (item.source or "").partition("in forward: ")[2]
        for item in caught.value.unsupported
    }
    assert found == {
        "the constant lifted_tensor_0": "return product, x * torch.tensor(1j).abs()",
        "wrap_with_autocast": "product = x @ x",
    }


def test_the_parts_of_all_methods_are_listed() -> None:
    programs = {
        name: torch.export.export(Calls(body), (torch.randn(4, 4),))
        for name, body in {"a": torch.lgamma, "b": lambda x: torch.linalg.qr(x)[0]}.items()
    }
    with pytest.raises(UnsupportedError) as caught:
        export(programs)
    assert [item.method for item in caught.value.unsupported] == ["a", "b"]


def test_nothing_is_lowered_once_something_is_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[object] = []
    monkeypatch.setattr(_Lowering, "planned", lambda _, method: planned.append(method))
    _refused(torch.lgamma)
    assert planned == []


def test_a_custom_operator_without_a_kernel_is_refused_by_name(custom_operator: Any) -> None:
    (item,) = _refused(custom_operator).unsupported
    assert item.what == "placewire_tests.twice.default"
    assert item.reason.startswith(
        "the target executorch-1.5 has no kernel for it; programs call no custom operators, with "
    )
    assert "exported.run_decompositions({operator: function})" in item.reason


def test_a_custom_operator_with_an_out_variant_is_told_that_this_is_no_help(
    custom_operator: Any,
) -> None:
    library = torch.library.Library("placewire_tests", "FRAGMENT")
    try:
        library.define("twice.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
        (item,) = _refused(custom_operator).unsupported
    finally:
        library._destroy()
    assert item.what == "placewire_tests.twice.default"
    assert "programs call no custom operators, with an out variant or without" in item.reason


def test_a_custom_operator_is_exported_in_the_operators_that_its_user_gives(
    custom_operator: Any,
) -> None:
    exported = torch.export.export(Calls(custom_operator), (torch.ones(2),))
    artifact = export(exported.run_decompositions({custom_operator: lambda x: x * 2}))
    assert list(artifact.report.methods["forward"].operators) == ["aten::mul.Scalar_out"]


def test_a_custom_operator_goes_to_a_backend_whose_partitioner_preserves_it(
    custom_operator: Any,
) -> None:
    partitioner = EachAlone([custom_operator], (None,), preserved={custom_operator})
    artifact = export(Calls(custom_operator), (torch.ones(2),), partitioners=[partitioner])
    assert artifact.report.methods["forward"].delegates == 1


@pytest.fixture
def writing_operator() -> Iterator[Any]:
    library = torch.library.Library("placewire_tests", "DEF")
    library.define("add_to(Tensor(a!) x, Tensor y) -> Tensor")
    library.impl("add_to", lambda x, y: x.add_(y) + 0, "CPU")
    library.impl("add_to", lambda x, y: torch.empty_like(x), "Meta")
    yield torch.ops.placewire_tests.add_to.default
    library._destroy()


def test_a_custom_operator_that_writes_is_refused_by_its_own_name(writing_operator: Any) -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(2))

        def forward(self, x: torch.Tensor) -> Any:
            return writing_operator(self.total, x)

    with pytest.raises(UnsupportedError) as caught:
        export(Counting(), (torch.ones(2),))
    (item,) = caught.value.unsupported
    assert item.what == "placewire_tests.add_to.default"
    assert "has no kernel for it; programs call no custom operators, least of all" in item.reason
    assert "write that with Tensor.copy_" in item.reason
    assert (item.source or "").endswith("return writing_operator(self.total, x)")


def test_a_transformation_that_torch_cannot_take_apart_is_refused_once_with_its_line() -> None:
    def scaled(row: torch.Tensor) -> torch.Tensor:
        return row * row.sum()

    def body(x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, torch.vmap(scaled), torch.abs, (x,))

    (item,) = _refused(body).unsupported
    assert item.what == "torch.vmap"
    assert item.reason.endswith("write it in operators of torch")
    assert HERE in (item.source or "")


def test_a_gradient_is_refused_once_with_its_line() -> None:
    def squared(x: torch.Tensor) -> torch.Tensor:
        return (x * x).sum()

    *constants, item = _refused(torch.func.grad(squared)).unsupported
    assert [constant.what for constant in constants] == [
        "the constant lifted_tensor_0",
        "the constant lifted_tensor_1",
    ]
    assert item.what == "a transformation of torch.func"
    assert HERE in (item.source or "")


def test_complex_numbers_are_refused_where_they_first_appear() -> None:
    (item,) = _refused(lambda x: (torch.fft.fft(x) * 2).abs() + 1).unsupported
    assert item.what == "aten.fft_fft.default"
    assert item.reason == "programs hold no complex numbers; found torch.complex64"


def test_a_complex_input_is_refused_by_name() -> None:
    (item,) = _refused(torch.abs, torch.randn(2, dtype=torch.complex64)).unsupported
    assert item.what == "the user input x"


def test_a_sparse_input_is_refused_by_name() -> None:
    (item,) = _refused(lambda x: x @ torch.ones(4, 2), torch.eye(4).to_sparse_csr()).unsupported
    assert item.what == "the user input x"
    assert "torch.sparse_csr" in item.reason


def test_a_parameter_without_data_is_refused_by_name() -> None:
    module = nn.Linear(4, 4, device="meta")
    with pytest.raises(UnsupportedError, match=r"the parameter weight.*device meta"):
        export(module, (torch.randn(2, 4, device="meta"),))


def test_a_fake_parameter_is_refused_by_name() -> None:
    with FakeTensorMode():
        module = nn.Linear(4, 4)
        program = torch.export.export(module, (torch.randn(2, 4),))
    with pytest.raises(UnsupportedError, match=r"the parameter weight.*without any.*fake tensors"):
        export(program)


def test_what_is_kept_of_a_gradient_is_refused_by_name() -> None:
    error = _refused(torch.func.jacrev(torch.sin))
    assert [item.what for item in error.unsupported] == [
        "the constant lifted_tensor_0",
        "a transformation of torch.func",
        "torch.vmap",
    ]
    assert all(HERE in (item.source or "") for item in error.unsupported)


def test_a_function_on_sizes_without_a_kernel_is_refused() -> None:
    shapes = ({0: torch.export.Dim("rows", max=8)},)
    (item,) = _refused(lambda x: x * math.floor(x.shape[0] / 3), dynamic_shapes=shapes).unsupported
    assert item.what == "floor"
    assert item.reason == "executorch-1.5 has no kernel for it on sizes"


def test_higher_order_operators_that_are_no_control_flow_are_refused() -> None:
    def body(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return x @ x

    (item,) = _refused(body).unsupported
    assert "cond, map, scan and while_loop" in item.reason


def test_a_limit_of_a_kernel_is_the_reason() -> None:
    (item,) = _refused(lambda x: x.sum().item(), torch.ones(3).half()).unsupported
    assert "its kernel does not read torch.float16" in item.reason


def test_random_numbers_in_training_are_refused_with_the_reason() -> None:
    (item,) = _refused(lambda x: functional.rrelu(x, training=True)).unsupported
    assert "it draws random numbers in training mode" in item.reason


def test_a_size_without_bound_names_the_argument_the_dimension_and_the_remedy() -> None:
    shapes = ({0: torch.export.Dim("rows")},)
    (item,) = _refused(lambda x: torch.relu(x + 1), dynamic_shapes=shapes).unsupported
    assert item.what == "dimension 0 of the user input x"
    assert "torch.export.Dim(name, max=...)" in item.reason
    assert item.source is not None
    assert item.source.endswith("in forward: return self.body(x)")


def test_a_size_that_depends_on_data_and_has_no_bound_names_the_line() -> None:
    class Counted(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            count = x.sum().int().item()
            torch._check(count >= 0)
            return torch.zeros(count)  # type: ignore[arg-type]

    with pytest.raises(UnsupportedError) as caught:
        export(Counted(), (torch.randn(3),))
    (item,) = caught.value.unsupported
    assert item.source is not None
    assert "in forward: return torch.zeros(count)" in item.source
    assert "torch._check(size <= ...)" in item.reason


def test_all_sizes_without_bound_are_listed_beside_what_else_is_refused() -> None:
    class Two(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
            return torch.lgamma(torch.cat([x, y])), torch.linalg.qr(y)[0]

    rows, more = torch.export.Dim("rows"), torch.export.Dim("more")
    with pytest.raises(UnsupportedError) as caught:
        export(
            Two(),
            (torch.randn(3, 4), torch.randn(5, 4)),
            dynamic_shapes=({0: rows}, {0: more}),
        )
    assert [item.what for item in caught.value.unsupported] == [
        "aten.lgamma.default",
        "aten.linalg_qr.default",
        "dimension 0 of the user input x",
        "dimension 0 of the user input y",
    ]
    assert all(item.source and HERE in item.source for item in caught.value.unsupported)


def test_no_backend_is_asked_once_a_size_has_no_bound() -> None:
    asked: list[object] = []

    class Asked(DemoBackend):
        def preprocess(self, subgraph: Any, compile_specs: Any) -> bytes:
            asked.append(subgraph)
            return super().preprocess(subgraph, compile_specs)

    partitioner = EverythingPartitioner(Asked())
    export(Calls(torch.relu), (torch.randn(3, 4),), partitioners=[partitioner])
    assert len(asked) == 1
    shapes = ({0: torch.export.Dim("rows")},)
    _refused(torch.relu, dynamic_shapes=shapes, partitioners=[partitioner])
    assert len(asked) == 1


def test_a_tensor_of_too_many_dimensions_is_refused_where_it_first_appears() -> None:
    error = _refused(lambda x: x.reshape([1] * 16 + [16]) + 1)
    (item,) = error.unsupported
    assert item.what == "aten.reshape.default"
    assert item.reason == "programs hold tensors of at most 16 dimensions; found 17"
    assert HERE in (item.source or "")


def test_a_size_beyond_32_bits_is_refused_by_name() -> None:
    shapes = {"x": {0: torch.export.Dim("rows", max=2**31)}}
    with pytest.raises(UnsupportedError) as caught:
        export(nn.ReLU(), (torch.zeros(4, 4),), dynamic_shapes=tuple(shapes.values()))
    (item,) = caught.value.unsupported
    assert item.what == "dimension 0 of the user input input"
    assert item.reason.startswith("its maximum is 2147483648, and a size in a program is at most")


def test_a_tensor_beyond_what_can_be_addressed_is_refused_once() -> None:
    rows, columns = torch.export.Dim("rows", max=2**30), torch.export.Dim("columns", max=2**30)
    with pytest.raises(UnsupportedError) as caught:
        export(nn.ReLU(), (torch.zeros(4, 4),), dynamic_shapes=({0: rows, 1: columns},))
    (item,) = caught.value.unsupported
    assert item.what == "the user input input"
    assert item.reason.startswith(f"it has up to {2**62} bytes, and no process can address more")
