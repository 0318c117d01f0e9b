"""Programs for devices compute what the model does, call by call, with memory for each device."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from placewire_schema.program import DelegateCall, Tensor
from torch._higher_order_ops import scan, while_loop
from torch.utils import _pytree as pytree

from placewire.aot import Artifact, ExportConfig, export
from placewire.aot.partition import OperatorPartitioner
from placewire.aot.target import Compat
from placewire.backends import CudaPartitioner, TorchBackend
from placewire.device import Device
from placewire.placement import CPU, tensor_device
from tests.placewire.aot.demo_backend import ADD, SIN, EachAlone, module, specs
from tests.placewire.aot.device_machine import Machine

COMPATS: tuple[Compat, ...] = ("executorch-1.5", "placewire")
H2D, D2H = "et_copy::_h2d_copy", "et_copy::_d2h_copy"


def everything() -> CudaPartitioner:
    return CudaPartitioner("cuda:0")


def alone(*devices: str | None) -> EachAlone:
    """Each addition and sine is a delegate of its own."""
    operators = [ADD, SIN, torch.ops.aten.add.Scalar]
    return EachAlone(operators, devices or ("cuda:0",), TorchBackend())


def linears(device: str) -> OperatorPartitioner:
    return OperatorPartitioner([torch.ops.aten.linear.default], TorchBackend(), specs(device))


class Branch(torch.nn.Module):
    """A `cond` that takes a tensor of a delegate, a weight and an input."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((2, 2), 3.0))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        total = x + y
        return torch.cond(
            x.sum() > 0,
            lambda a, b: (a + b + self.weight).sin(),
            lambda a, b: (a + b) * 2,
            (total, y),
        )


class Nested(torch.nn.Module):
    """A `cond` in a `cond`, which take and view a tensor of a delegate, used after them too."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        def positive(a: torch.Tensor, b: torch.Tensor) -> Any:
            total = a + b
            return torch.cond(
                total.sum() > 1,
                lambda c, d: (c.view(4) + d.view(4)).sin().view(2, 2),
                lambda c, d: c + d,
                (total, b),
            )

        total = x + y
        inner = torch.cond(x.sum() > 0, positive, lambda a, b: (a + b) * 2, (total, y))
        return inner + total


class Tied(torch.nn.Module):
    """Uses one weight twice."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(10, 4)
        self.linear = torch.nn.Linear(4, 10, bias=False)
        self.linear.weight = self.embedding.weight

    def forward(self, index: torch.Tensor) -> Any:
        return self.linear(self.embedding(index))


class Cache(torch.nn.Module):
    """Writes a row of a buffer in every call."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = torch.nn.Buffer(torch.arange(8.0).reshape(4, 2))

    def forward(self, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        self.cache.index_copy_(0, position, row)
        return self.cache.sum(0)


class SharedCache(Cache):
    """A cache that the CPU writes to, and delegates read and view before and after."""

    def forward(self, row: torch.Tensor, position: torch.Tensor) -> Any:
        before = self.cache.view(8)
        old = before.sin()
        self.cache[position] = row
        return old + self.cache.view(8), self.cache.sin(), before.cos()


class ChangedInput(torch.nn.Module):
    """Writes to its argument what a delegate computes."""

    def forward(self, x: torch.Tensor) -> Any:
        x.add_(1)
        return x.sin()


class Accumulator(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.total = torch.nn.Buffer(torch.ones(2, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total * 2


class Loop(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        return while_loop(
            lambda count, _: count < 3,
            lambda count, value: (count + 1, value + y),
            (torch.tensor(0), x + y),
        )


class Scan(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        return scan(lambda carry, item: (carry + item, carry * item), x + y, torch.stack([x, y]))


@dataclass(frozen=True)
class Case:
    """A model, what goes to which device, its arguments, and those of other calls."""

    model: Callable[[], torch.nn.Module]
    arguments: tuple[torch.Tensor, ...]
    partitioner: Callable[[], Any] = everything
    dynamic_shapes: Any = None
    others: tuple[tuple[torch.Tensor, ...], ...] = field(default=())


def _random(*shape: int) -> torch.Tensor:
    return torch.linspace(-1, 1, torch.Size(shape).numel()).reshape(shape)


BATCH = torch.export.Dim("batch", min=2, max=8)

CASES: dict[str, Case] = {
    "mlp": Case(
        lambda: torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4)),
        (_random(2, 4),),
    ),
    "linear layers apart": Case(
        lambda: torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4)),
        (_random(2, 4),),
        lambda: linears("cuda:1"),
    ),
    "convolutions": Case(
        lambda: torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3),
            torch.nn.BatchNorm2d(4),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(144, 3),
        ).eval(),
        (_random(1, 3, 8, 8),),
    ),
    "channels last": Case(
        lambda: torch.nn.Conv2d(3, 4, 3),
        (_random(1, 3, 8, 8).to(memory_format=torch.channels_last),),
    ),
    "lstm": Case(lambda: torch.nn.LSTM(4, 4), (_random(3, 2, 4),)),
    "batch norm in training": Case(lambda: torch.nn.BatchNorm1d(4), (_random(3, 4),)),
    "strange strides as results": Case(
        lambda: module(lambda x: (x.t(), x.t() + 1, x.expand(3, 2, 2))), (_random(2, 2),)
    ),
    "two devices": Case(
        lambda: module(lambda a, b: ((a + b).sin() + a).sin()),
        (_random(2, 2), _random(2, 2)),
        lambda: alone("cuda:0", "cuda:1", "cuda:0", None),
    ),
    "views in between": Case(
        lambda: module(lambda a, b: ((a + b).view(4).sin() + b.view(4), (a + b).view(4).cos())),
        (_random(2, 2), _random(2, 2)),
        alone,
    ),
    "cond": Case(
        Branch,
        (_random(2, 2) + 1, _random(2, 2)),
        alone,
        others=((_random(2, 2) - 1, _random(2, 2)),),
    ),
    "cond, all of it": Case(
        Branch, (_random(2, 2) + 1, _random(2, 2)), others=((_random(2, 2) - 1, _random(2, 2)),)
    ),
    "cond in cond": Case(
        Nested,
        (_random(2, 2) + 1, _random(2, 2)),
        alone,
        others=((_random(2, 2) - 1, _random(2, 2)), (_random(2, 2) + 1, _random(2, 2) * 9)),
    ),
    "cond in cond, two devices": Case(
        Nested,
        (_random(2, 2) + 1, _random(2, 2)),
        lambda: alone("cuda:0", "cuda:1"),
        others=((_random(2, 2) - 1, _random(2, 2)), (_random(2, 2) + 1, _random(2, 2) * 9)),
    ),
    "tied weights": Case(Tied, (torch.tensor([1, 2]),)),
    "transformer layer": Case(
        lambda: torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(),
        (_random(2, 5, 8),),
    ),
    "sizes as numbers": Case(
        lambda: module(lambda x: (x.view(x.shape[0] * 4) + x.shape[0]).sin()),
        (_random(3, 4),),
        dynamic_shapes=(({0: BATCH},),),
        others=((_random(8, 4),),),
    ),
    "a size read from a delegate's tensor": Case(
        lambda: module(lambda x: torch.cat([x, x]).sin().view(-1).cos()),
        (_random(3, 4),),
        alone,
        dynamic_shapes=(({0: BATCH},),),
        others=((_random(8, 4),),),
    ),
    "while loop": Case(
        Loop,
        (_random(2, 2), _random(2, 2)),
        lambda: EachAlone([ADD], ["cuda:0"], TorchBackend()),
    ),
    "scan": Case(Scan, (_random(2, 2), _random(2, 2))),
    "cache": Case(
        Cache,
        (_random(1, 2), torch.tensor([1])),
        others=((_random(1, 2) + 2, torch.tensor([3])),),
    ),
    "cache, written by the CPU": Case(
        SharedCache,
        (_random(1, 2), torch.tensor([1])),
        alone,
        others=((_random(1, 2) + 2, torch.tensor([3])),),
    ),
    "changed input": Case(ChangedInput, (_random(2, 2),), alone),
    "accumulator": Case(Accumulator, (_random(2, 2),)),
    "accumulator, added on the device": Case(Accumulator, (_random(2, 2),), alone),
    "dynamic batch": Case(
        lambda: torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Flatten()),
        (_random(3, 4),),
        dynamic_shapes=({0: BATCH},),
        others=((_random(8, 4),), (_random(2, 4),)),
    ),
    "dynamic views in between": Case(
        lambda: module(lambda x: (x + 1).reshape(-1).sin().view(x.shape[0], 4) + x),
        (_random(3, 4),),
        alone,
        dynamic_shapes=(({0: BATCH},),),
        others=((_random(8, 4),), (_random(2, 4),)),
    ),
}


def lowered(case: Case, compat: Compat) -> tuple[torch.nn.Module, Artifact]:
    torch.manual_seed(0)
    model = case.model()
    artifact = export(
        copy.deepcopy(model),
        case.arguments,
        dynamic_shapes=case.dynamic_shapes,
        partitioners=[case.partitioner()],
        config=ExportConfig(compat=compat),
    )
    return model, artifact


@pytest.mark.parametrize("compat", COMPATS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_program_gives_in_every_call_what_the_model_gives(case: Case, compat: Compat) -> None:
    model, artifact = lowered(case, compat)
    machine = Machine(artifact)
    assert machine.delegates
    for arguments in (case.arguments, *case.others, case.arguments):
        expected = pytree.tree_leaves(model(*(argument.clone() for argument in arguments)))
        results = machine(*arguments)
        assert len(results) == len(expected) > 0
        for result, value in zip(results, expected, strict=True):
            torch.testing.assert_close(result, value.detach())


@pytest.mark.parametrize("compat", COMPATS)
def test_views_of_inputs_and_results_that_stay_on_the_device_are_right_in_every_call(
    compat: Compat,
) -> None:
    def function(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        total = a.view(4).sin() + b.view(4)
        return total, total.view(2, 2), a

    config = ExportConfig(
        compat=compat, skip_h2d_for_method_inputs=True, skip_d2h_for_method_outputs=True
    )
    arguments = (_random(2, 2), _random(2, 2) + 1)
    artifact = export(module(function), arguments, partitioners=[alone()], config=config)
    machine = Machine(artifact)
    for given in (arguments, arguments[::-1]):
        for result, value in zip(machine(*given), function(*given), strict=True):
            torch.testing.assert_close(result, value)
        assert machine.copied == []


def copies(name: str, compat: Compat) -> list[str]:
    """The copies that a call of a case makes."""
    machine = Machine(lowered(CASES[name], compat)[1])
    machine(*CASES[name].arguments)
    return machine.copied


class TestControlFlow:
    def test_a_branch_takes_a_tensor_of_a_delegate_where_it_is(self) -> None:
        # x and y go to the device, before the branch, and the branch's result comes back.
        assert copies("cond", "executorch-1.5") == [H2D, H2D, D2H]

    def test_a_copy_for_all_branches_is_made_once_before_them(self) -> None:
        _, artifact = lowered(CASES["cond"], "executorch-1.5")
        report = artifact.report.methods["forward"]
        assert report.copies["H2D"].count == 2
        assert report.copies["D2H"].count == 2  # the result of each branch

    def test_what_a_loop_takes_from_outside_is_copied_before_it(self) -> None:
        # The value that the loop carries goes to the device and back in each of its iterations.
        assert copies("while loop", "executorch-1.5") == [H2D, H2D, D2H] + [H2D, D2H] * 3

    def test_a_weight_of_a_delegate_in_a_branch_is_in_its_blob_alone(self) -> None:
        _, artifact = lowered(CASES["cond"], "executorch-1.5")
        assert len(artifact.file.constants) <= 1

    def test_for_placewire_it_is_on_the_device_from_the_start(self) -> None:
        _, artifact = lowered(CASES["cond"], "placewire")
        assert copies("cond", "placewire") == [H2D, H2D, D2H]
        assert len(artifact.file.mutable_data[0]) == 2


class TestBuffersThatChange:
    """A cache that a delegate writes to."""

    def test_for_executorch_it_is_on_the_cpu_and_copied_in_every_call(self) -> None:
        assert copies("accumulator", "executorch-1.5") == [H2D, H2D, D2H, D2H]
        assert _devices("accumulator", "executorch-1.5", "total") == [CPU]

    def test_for_placewire_it_is_planned_on_the_device_and_never_copied(self) -> None:
        assert copies("accumulator", "placewire") == [H2D, D2H]
        assert _devices("accumulator", "placewire", "total") == [Device.parse("cuda:0")]

    def test_the_delegate_gives_the_value_that_it_takes(self) -> None:
        _, artifact = lowered(CASES["accumulator"], "placewire")
        (plan,) = artifact.program.execution_plan
        (call,) = [
            call
            for instruction in plan.chains[0].instructions
            if isinstance(call := instruction.instr_args, DelegateCall)
        ]
        (buffer,) = [
            index
            for index, value in enumerate(plan.values)
            if isinstance(value.val, Tensor) and value.val.data_buffer_idx
        ]
        assert call.args.count(buffer) == 2

    def test_its_initial_value_is_in_the_program(self) -> None:
        _, artifact = lowered(CASES["accumulator"], "placewire")
        (values,) = artifact.file.mutable_data
        data = torch.frombuffer(bytearray(values[1]), dtype=torch.float32)
        assert data.tolist() == [1.0] * 4

    def test_read_after_the_write_by_the_cpu_it_has_the_new_value(self) -> None:
        class Model(Accumulator):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                self.total.add_(x)
                return self.total.cos()

        case = Case(Model, (_random(2, 2),), alone)
        for compat in COMPATS:
            model, artifact = lowered(case, compat)
            machine = Machine(artifact)
            for _ in range(3):
                torch.testing.assert_close(machine(_random(2, 2))[0], model(_random(2, 2)))

    def test_whose_old_value_is_needed_after_the_write_it_is_not_overwritten(self) -> None:
        class Model(Accumulator):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                old = self.total.clone()
                self.total.add_(x)
                return (self.total.sin() + old).cos()

        case = Case(Model, (_random(2, 2),), alone)
        for compat in COMPATS:
            model, artifact = lowered(case, compat)
            machine = Machine(artifact)
            for _ in range(3):
                torch.testing.assert_close(machine(_random(2, 2))[0], model(_random(2, 2)))


def _devices(name: str, compat: Compat, buffer: str) -> list[Device]:
    """The devices of the tensors of a program that have a buffer's name."""
    _, artifact = lowered(CASES[name], compat)
    (plan,) = artifact.program.execution_plan
    return [
        tensor_device(value.val)
        for value in plan.values
        if isinstance(value.val, Tensor)
        and value.val.extra_tensor_info is not None
        and value.val.extra_tensor_info.fully_qualified_name == buffer
    ]
