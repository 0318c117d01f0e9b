"""Constant methods: what they give back is in the program, and nothing runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from placewire_schema.program import Double, ExecutionPlan, Int, String, Tensor
from torch import nn

from placewire.aot import Artifact, export
from placewire.pte import PteFile
from placewire.validate import validate
from tests.placewire.aot.test_other_devices import Remote


class Limits(NamedTuple):
    low: int
    high: int


def _export(**constant_methods: Any) -> Artifact:
    torch.manual_seed(0)
    return export(nn.Linear(4, 2), (torch.zeros(1, 4),), constant_methods=constant_methods)


def _plan(artifact: Artifact, name: str) -> ExecutionPlan:
    (plan,) = [plan for plan in artifact.program.execution_plan if plan.name == name]
    return plan


def test_they_stand_in_the_program_as_executorch_writes_them(corpus: Any) -> None:
    theirs = PteFile.load(corpus / "constmethods.pte").program.execution_plan[1:]
    ours = _export(get_vocab=32000, get_eps=1e-5, get_name="tiny", get_list=[1, 2, 3])
    assert [plan.name for plan in theirs] == ["get_vocab", "get_eps", "get_name", "get_list"]
    assert ours.program.execution_plan[1:] == theirs


def test_they_come_after_the_methods_in_the_order_in_which_they_are_given() -> None:
    plans = _export(z=1, a=2).program.execution_plan
    assert [plan.name for plan in plans] == ["forward", "z", "a"]


def test_a_number_a_string_and_a_list_are_values() -> None:
    artifact = _export(both=(3, {"name": "x", "rate": 0.5}))
    values = [value.val for value in _plan(artifact, "both").values]
    assert values == [Int(3), String("x"), Double(0.5)]


def test_a_tensor_shares_the_constants_of_the_methods() -> None:
    model = nn.Linear(4, 2)
    artifact = export(
        model, (torch.zeros(1, 4),), constant_methods={"weight": model.weight.t().t()}
    )
    (value,) = [value.val for value in _plan(artifact, "weight").values]
    assert isinstance(value, Tensor)
    assert value.sizes == [2, 4]
    assert artifact.program.constant_segment is not None
    assert len(artifact.program.constant_segment.offsets) == 1 + 2
    assert validate(artifact.pte) == []


def test_tensors_that_are_made_contiguous_do_not_take_each_other_s_data() -> None:
    same, other = torch.ones(64, 64), torch.arange(4096.0).view(64, 64)
    artifact = _export(a=same, b=[(same * 1).t() for _ in range(4)], c=other.t())
    constant = artifact.program.constant_segment
    assert constant is not None
    assert len(constant.offsets) == 1 + 2 + 2
    (value,) = [value.val for value in _plan(artifact, "c").values]
    assert isinstance(value, Tensor)
    assert value.data_buffer_idx == 4


def test_the_name_of_a_method_cannot_be_that_of_a_constant_method() -> None:
    with pytest.raises(ValueError, match=r"^forward: a method and a constant method have the same"):
        _export(forward=1)


def test_what_a_program_cannot_hold_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="the constant method bad gives a set; expected tensors"):
        _export(bad=[1, {2}])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2**63, "gives 9223372036854775808; a program holds whole numbers of 64 bits"),
        ("\ud800", "a program holds text that can be encoded as UTF-8"),
        (torch.zeros([1] * 17), "programs hold tensors of at most 16 dimensions; found 17"),
    ],
)
def test_a_value_beyond_what_a_program_holds_is_refused_by_name(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"the constant method limit.*{message}"):
        _export(limit=[value])


def test_a_named_tuple_that_torch_does_not_know_is_a_tuple() -> None:
    plan = _plan(_export(limits=Limits(1, 2)), "limits")
    assert [value.val for value in plan.values] == [Int(1), Int(2)]
    assert plan.container_meta_type is not None
    assert '"builtins.tuple"' in (plan.container_meta_type.encoded_out_str or "")


def test_keys_that_json_has_no_words_for_make_a_tuple() -> None:
    plan = _plan(_export(limits={(1, 2): 3}), "limits")
    assert plan.container_meta_type is not None
    assert '"builtins.tuple"' in (plan.container_meta_type.encoded_out_str or "")


def test_tensors_on_another_device_are_copied_to_the_host() -> None:
    one, other = torch.ones(3), torch.full((3,), 2.0)  # of one size, so that addresses would do

    def constants(move: Callable[[torch.Tensor], torch.Tensor]) -> dict[str, Any]:
        turned = torch.arange(6.0).view(2, 3).t()
        return {"a": move(one), "b": [move(other), {"c": move(one)}], "turned": move(turned)}

    expected = _export(**constants(lambda tensor: tensor))
    assert _export(**constants(Remote)).pte == expected.pte


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (torch.empty(3, device="meta"), "gives a tensor without data"),
        (torch.eye(3).to_sparse(), "gives a tensor with the layout torch.sparse_coo; expected den"),
    ],
)
def test_a_tensor_that_no_program_can_hold_is_refused_by_name(value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^the constant method bad {message}"):
        _export(bad=[1, value])


def test_what_is_wrong_is_told_before_torch_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.export, "export", lambda *_, **__: pytest.fail("torch was asked"))
    with pytest.raises(TypeError, match="the constant method bad gives a set"):
        _export(bad={2})
