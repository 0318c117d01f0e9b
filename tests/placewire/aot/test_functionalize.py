"""In-place operators become functional; what they change is written back at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from placewire_schema.program import Tensor
from torch import nn

from placewire.aot import UnsupportedError, export
from placewire.aot.capture import capture
from placewire.aot.graph import MethodGraph
from placewire.backends import CudaPartitioner

_aten = torch.ops.aten


class _Of(nn.Module):
    def __init__(self, function: Callable[..., Any], **buffers: torch.Tensor) -> None:
        super().__init__()
        self.function = function
        for name, buffer in buffers.items():
            self.register_buffer(name, buffer)

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


def _captured(model: nn.Module, x: torch.Tensor) -> MethodGraph:
    method, unsupported = capture("forward", torch.export.export(model, (x,), strict=False))
    assert unsupported == []
    return method


def _targets(method: MethodGraph) -> list[object]:
    return [node.target for node in method.graph.nodes if node.op == "call_function"]


def test_a_graph_that_writes_nothing_is_taken_as_it_is() -> None:
    exported = torch.export.export(_Of(lambda self, x: x + 1), (torch.ones(3),), strict=False)
    method, _ = capture("forward", exported)
    assert method.graph is exported.graph


def test_a_write_to_a_fresh_tensor_leaves_nothing_to_write_back() -> None:
    method = _captured(_Of(lambda self, x: (x + 1).relu_()), torch.ones(3))
    assert _targets(method) == [_aten.add.Tensor, _aten.relu.default]
    assert not any(given.mutated for given in method.inputs)


def test_a_written_buffer_is_written_back_at_the_very_end() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        self.state.add_(x)
        return self.state * 2

    method = _captured(_Of(forward, state=torch.zeros(3)), torch.ones(3))
    assert _targets(method) == [_aten.add.Tensor, _aten.mul.Tensor, _aten.copy_.default]
    assert [given.mutated for given in method.inputs] == [True, False]


def test_a_write_through_a_view_reaches_its_base() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        y = x.clone()
        y[1].add_(1)
        return y

    method = _captured(_Of(forward), torch.ones(3, 2))
    assert _targets(method) == [
        _aten.clone.default,
        _aten.select.int,
        _aten.add.Tensor,
        _aten.select_scatter.default,
    ]


def test_known_views_need_no_functionalisation_by_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        y = x + 1
        for part in (*torch.split(y, 1), *y.unbind(1), *y.chunk(2), y.t(), y.view(-1), y.flatten()):
            part.add_(1)
        y.reshape(-1)[1:3].zero_()
        y.permute(1, 0).unsqueeze(0).squeeze(0).transpose(0, 1).diagonal().fill_(1)
        y.narrow(1, 0, 1).contiguous().add_(1)
        return y

    exported = torch.export.export(_Of(forward), (torch.ones(2, 3),), strict=False)

    def refuse(*_: Any) -> None:
        raise AssertionError("run_decompositions was called")

    monkeypatch.setattr(type(exported), "run_decompositions", refuse)
    _, unsupported = capture("forward", exported)
    assert unsupported == []


def test_a_view_of_an_unknown_kind_is_left_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        y = x + 1
        windows = y.unfold(0, 2, 1)
        y.add_(1)
        return windows + 0

    exported = torch.export.export(_Of(forward), (torch.ones(4),), strict=False)
    called = []
    original = type(exported).run_decompositions

    def noted(program: Any, *given: Any) -> Any:
        called.append(given)
        return original(program, *given)

    monkeypatch.setattr(type(exported), "run_decompositions", noted)
    method, unsupported = capture("forward", exported)
    assert called == [({},)]
    assert unsupported == []
    assert not any(node.target is _aten.add_.Tensor for node in method.graph.nodes)


def test_a_write_to_what_lies_outside_a_branch_is_refused() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

    exported = torch.export.export(_Of(forward), (torch.ones(3),), strict=False)
    branch = exported.graph_module.true_graph_0
    node = next(node for node in branch.graph.nodes if node.target is _aten.add.Tensor)
    node.target = _aten.add_.Tensor
    with pytest.raises(UnsupportedError, match=r"add_\.Tensor: it writes to x"):
        export(exported)


def test_buffers_that_overlap_are_refused_when_one_is_written_to() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        self.whole.add_(1)
        return self.part + x

    whole = torch.zeros(4)
    with pytest.raises(UnsupportedError) as caught:
        export(_Of(forward, whole=whole, part=whole[1:]), (torch.ones(3),))
    (item,) = caught.value.unsupported
    assert item.what == "whole and part"
    assert item.reason.startswith("they share memory, and the model writes to it")
    assert (item.source or "").endswith("in forward: self.whole.add_(1)")


def test_buffers_that_overlap_are_exported_when_nothing_writes_to_them() -> None:
    whole = torch.zeros(4)
    model = _Of(lambda self, x: self.part + x, whole=whole, part=whole[1:])
    assert export(model, (torch.ones(3),)).program.mutable_data_segments is None


def test_a_changed_buffer_has_its_name_and_initial_value_in_the_program() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        self.state.add_(x)
        return self.state * 2

    artifact = export(_Of(forward, state=torch.full((3,), 7.0)), (torch.ones(3),))
    (plan,) = artifact.program.execution_plan
    (tensor,) = [
        value.val
        for value in plan.values
        if isinstance(value.val, Tensor) and value.val.extra_tensor_info is not None
    ]
    assert tensor.extra_tensor_info is not None
    assert tensor.extra_tensor_info.fully_qualified_name == "state"
    assert tensor.allocation_info is not None
    (segment,) = artifact.program.mutable_data_segments or []
    start = segment.offsets[tensor.data_buffer_idx]
    data = bytes(artifact.file.segments[segment.segment_index])[start : start + 12]
    assert torch.frombuffer(bytearray(data), dtype=torch.float32).tolist() == [7.0, 7.0, 7.0]


def test_the_exported_program_is_left_as_it_is() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        self.state[0] = 1
        return torch.cond(x.sum() > 0, lambda x: x + self.state, lambda x: x * 2, (x,))

    exported = torch.export.export(
        _Of(forward, state=torch.zeros(3)), (torch.ones(3),), strict=False
    )
    before = exported.graph_module.print_readable(print_output=False)
    first = export(exported).pte
    assert exported.graph_module.print_readable(print_output=False) == before
    assert export(exported).pte == first


def test_a_write_to_elements_that_share_a_place_is_refused() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        y = x + 1
        y.expand(2, 3).zero_()
        return y

    with pytest.raises(UnsupportedError, match=r"it writes through aten\.expand\.default"):
        export(_Of(forward), (torch.ones(3),))


def test_torch_is_not_asked_where_a_schema_hides_a_view() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        y = x + 1
        turned = torch.einsum("ij->ji", y)
        torch.as_strided(y, (2, 2), (1, 1)).unfold(0, 2, 1).add_(1)
        return turned + 0

    with pytest.raises(UnsupportedError, match=r"einsum\.default: .* what it reaches is not known"):
        export(_Of(forward), (torch.ones(3, 3),))


def test_an_operator_may_write_to_what_it_makes_itself() -> None:
    """Pooling to one element restrides its result when the channels come last."""

    def forward(self: Any, x: torch.Tensor) -> Any:
        pooled = nn.functional.adaptive_avg_pool2d((x + 1).relu_(), 1)
        return pooled.mul_(2)

    x = torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last)
    method = _captured(_Of(forward), x)
    assert _aten.adaptive_avg_pool2d.default in _targets(method)
    assert _aten.mul.Tensor in _targets(method)


def test_an_operator_that_hides_a_write_to_its_argument_is_refused_by_name() -> None:
    library = torch.library.Library("placewire_test_hidden", "DEF")
    library.define("bump(Tensor x) -> Tensor")
    library.impl("bump", lambda x: x.add_(1) * 2, "CompositeImplicitAutograd")

    def forward(self: Any, x: torch.Tensor) -> Any:
        y = (x + 1).mul_(2)
        return torch.ops.placewire_test_hidden.bump(y) + y

    with pytest.raises(UnsupportedError, match=r"bump\.default: aten\.add_\.Tensor writes to an"):
        export(_Of(forward), (torch.ones(3),))


def _listed(forward: Callable[..., Any], x: torch.Tensor, **settings: Any) -> list[str]:
    """What is said to stand in the way of a model."""
    with pytest.raises(UnsupportedError) as caught:
        export(_Of(forward), (x,), **settings)
    assert all(item.source and " in forward: " in item.source for item in caught.value.unsupported)
    return [item.what for item in caught.value.unsupported]


@pytest.mark.parametrize("partitioners", [[], [CudaPartitioner(supports=lambda _: False)]])
def test_what_else_is_refused_is_listed_beside_a_write_that_nobody_can_follow(
    partitioners: list[Any],
) -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        y = x + 1
        y.expand(2, 3).zero_()
        first = torch.lgamma(y.mul_(2))
        return first, torch.cond(x.sum() > 0, torch.erfinv, torch.sin, (y,)), torch.igamma(x, x)

    assert _listed(forward, torch.ones(3), partitioners=partitioners) == [
        "aten.zero_.default",
        "aten.lgamma.default",
        "aten.erfinv.default",
        "aten.igamma.default",
    ]


def test_what_follows_a_hidden_write_may_not_be_known_but_the_rest_is_listed() -> None:
    library = torch.library.Library("placewire_test_hiding", "DEF")
    library.define("bump(Tensor x) -> Tensor")
    library.impl("bump", lambda x: x.add_(1) * 2, "CompositeImplicitAutograd")

    def forward(self: Any, x: torch.Tensor) -> Any:
        y = (x + 1).mul_(2)
        return torch.erfinv(torch.ops.placewire_test_hiding.bump(y)), torch.lgamma(y)

    found = _listed(forward, torch.ones(3))
    assert found == ["placewire_test_hiding.bump.default", "aten.lgamma.default"]


def test_a_write_in_a_branch_that_nobody_can_follow_leaves_the_rest_to_be_listed() -> None:
    def forward(self: Any, x: torch.Tensor) -> Any:
        def writes(x: torch.Tensor) -> torch.Tensor:
            y = x + 1
            y.expand(2, 3).zero_()
            return y

        return torch.cond(x.sum() > 0, writes, torch.sin, (x,)), torch.lgamma(x)

    assert _listed(forward, torch.ones(3)) == ["aten.zero_.default", "aten.lgamma.default"]
