"""Parameters on another device are copied to the host, never read where they are."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from placewire_schema.program import Tensor
from torch import nn
from torch.utils import _pytree as pytree

from placewire.aot import SharedBufferError, UnsupportedError, export
from placewire.aot.capture import capture
from placewire.aot.host_copies import HostCopies
from placewire.backends import CudaPartitioner
from placewire.pte import PteFile
from tests.placewire.aot.stateful_methods import DECODER_CALLS, Decoder, methods_of, places_of


class Remote(torch.Tensor):
    """A tensor on another device, which has no address here and whose data comes by a copy alone.

    It counts copies to the host; every other operator on it is an error.
    """

    held: torch.Tensor
    copies = 0

    @staticmethod
    def __new__(cls: type[Remote], held: torch.Tensor) -> Remote:
        made: Remote = torch.Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            dtype=held.dtype,
            device=torch.device("cuda:0"),
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if function is torch.ops.aten.detach.default:
            return Remote(args[0].held)
        if function is torch.ops.aten._to_copy.default:
            assert torch.device(kwargs.pop("device")).type == "cpu"
            cls.copies += 1
            return args[0].held.clone()
        raise AssertionError(f"{function} was called on data of another device")


def _moved(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """Put the parameters and buffers of a program on another device, tied ones still tied."""
    remote: dict[int, Remote] = {}
    for name, value in program.state_dict.items():
        moved = remote.setdefault(value.data_ptr(), Remote(value.detach()))
        program.state_dict[name] = moved
    return program


def _exported() -> torch.export.ExportedProgram:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)).eval()
    model[2].weight = model[0].weight
    return torch.export.export(model, (torch.zeros(2, 4),), strict=False)


def test_the_double_has_no_address_and_no_other_way_to_its_data() -> None:
    remote = Remote(torch.ones(2))
    assert remote.device.type == "cuda"
    with pytest.raises((AssertionError, RuntimeError, TypeError)):
        remote.numpy()
    with pytest.raises(AssertionError, match="was called on data of another device"):
        remote + 1
    assert torch.equal(remote.cpu(), torch.ones(2))


def test_parameters_on_another_device_give_the_bytes_of_those_on_the_host() -> None:
    expected = export(_exported()).pte
    Remote.copies = 0
    assert export(_moved(_exported())).pte == expected
    assert Remote.copies == 3  # the tied weight once


def test_different_parameters_of_one_size_are_not_taken_for_each_other() -> None:
    program = _moved(_exported())
    biases = [program.state_dict[name].held for name in ("0.bias", "2.bias")]
    assert biases[0].nbytes == biases[1].nbytes
    constants = [bytes(data) for data in PteFile.from_bytes(export(program).pte).constants]
    for bias in biases:
        assert any(data.startswith(bias.numpy().tobytes()) for data in constants)


def test_a_delegate_gets_its_parameters_on_the_host() -> None:
    expected = export(_exported(), partitioners=[CudaPartitioner()]).pte
    assert export(_moved(_exported()), partitioners=[CudaPartitioner()]).pte == expected


def test_the_initial_value_of_a_buffer_is_copied_too() -> None:
    class Counter(nn.Module):
        count: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.full((3,), 7.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count += x
            return self.count * 2

    file = PteFile.from_bytes(
        export(_moved(torch.export.export(Counter(), (torch.ones(3),), strict=False))).pte
    )
    (plan,) = file.program.execution_plan
    (tensor,) = [
        value.val
        for value in plan.values
        if isinstance(value.val, Tensor) and value.val.extra_tensor_info is not None
    ]
    (values,) = file.mutable_data
    assert bytes(values[tensor.data_buffer_idx]) == torch.full((3,), 7.0).numpy().tobytes()


def test_tensors_that_share_memory_on_a_device_share_it_on_the_host() -> None:
    class Elsewhere(torch.Tensor):
        """Says that it is elsewhere, but has memory like any other."""

        @property
        def device(self) -> torch.device:  # type: ignore[override]
            return torch.device("cuda:0")

        __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    whole = torch.arange(8.0)
    first, second = whole.as_subclass(Elsewhere), whole[2:6].view(2, 2).t().as_subclass(Elsewhere)
    hosted = HostCopies()
    one, other = hosted.copy_of(first), hosted.copy_of(second)
    assert one.data_ptr() + 2 * one.element_size() == other.data_ptr()
    assert torch.equal(other, torch.tensor([[2.0, 4.0], [3.0, 5.0]]))
    assert pytree.tree_map(type, (one, other)) == (torch.Tensor, torch.Tensor)


@pytest.mark.parametrize("compat", ["executorch-1.5", "placewire"])
@pytest.mark.parametrize("partitioners", [[], [CudaPartitioner("cuda:1")]], ids=["host", "device"])
def test_buffers_that_methods_share_are_copied_too(compat: str, partitioners: list[Any]) -> None:
    config = {"share_mutable_buffers": True, "compat": compat}
    expected = export(_methods(), config=config, partitioners=partitioners)
    artifact = export(
        {name: _moved(program) for name, program in _methods().items()},
        config=config,
        partitioners=partitioners,
    )
    assert artifact.pte == expected.pte
    assert len(set(places_of(artifact, "cache"))) == 1


def test_methods_can_share_the_copies_of_their_tensors() -> None:
    programs = methods_of(Decoder(), "prefill", "grow")
    moved: dict[str, Remote] = {}
    for program in programs.values():
        for name, value in program.state_dict.items():
            program.state_dict[name] = moved.setdefault(name, Remote(value.detach()))
    Remote.copies = 0
    export(programs)
    assert Remote.copies == len(moved) == 3
    hosted = HostCopies()
    methods = [capture(name, program, hosted)[0] for name, program in programs.items()]
    first, second = ({given.name: given.value for given in method.inputs} for method in methods)
    assert all(first[name] is second[name] for name in moved)


def test_methods_that_differ_in_a_buffer_are_named_wherever_it_is() -> None:
    changed = Decoder()
    changed.count += 1
    methods = methods_of(Decoder(), "prefill") | methods_of(changed, "decode")
    with pytest.raises(SharedBufferError) as caught:
        export(
            {name: _moved(program) for name, program in methods.items()},
            config={"share_mutable_buffers": True},
        )
    assert list(map(str, caught.value.differences)) == [
        "count: prefill and decode have different initial values"
    ]


def _methods() -> dict[str, torch.export.ExportedProgram]:
    exported: dict[str, torch.export.ExportedProgram] = methods_of(Decoder(), *DECODER_CALLS)
    return exported


def test_buffers_without_data_are_not_taken_for_one() -> None:
    module = Decoder().to("meta")
    calls = {"grow": (torch.ones(4, device="meta"),)}
    with pytest.raises(UnsupportedError) as caught:
        export(methods_of(module, "grow", calls=calls))
    found = {item.what for item in caught.value.unsupported}
    assert found == {"the buffer cache", "the buffer count", "the buffer unused"}


def test_parameters_without_data_are_refused_all_at_once() -> None:
    module = nn.Linear(4, 4, device="meta")
    with pytest.raises(UnsupportedError) as caught:
        export(module, (torch.randn(2, 4, device="meta"),))
    found = [item.what for item in caught.value.unsupported]
    assert found == ["the parameter weight", "the parameter bias"]
