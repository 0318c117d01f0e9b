"""On random graphs: no plan needs fewer copies, and everything is where it is used.

A graph is a few operators on the CPU, cuda:0 or cuda:1, with shared values, views and results. The
fewest copies that it can do with are found by trying all ways to run it. An interpreter that keeps
track of where every tensor lies runs what the pass made of it.
"""

from __future__ import annotations

import heapq
import itertools
import operator
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import fx

from placewire.aot.config import ExportConfig
from placewire.aot.copies import copies_in, copy_kind
from placewire.aot.delegates import insert_delegates, is_delegate_call
from placewire.aot.devices import PropagateDevicePass
from placewire.aot.fakes import FakeValues
from placewire.aot.graph import GraphInput, InputKind, MethodGraph
from placewire.aot.partition import Partition
from placewire.aot.specs import add_specs, spec_of
from placewire.aot.target import Compat
from placewire.aot.views import is_view
from placewire.device import Device
from placewire.placement import CPU
from tests.placewire.aot.demo_backend import DemoBackend, specs

PLACES = ("cpu:0", "cuda:0", "cuda:1")
SHAPES = ((2, 3), (6,), (3, 2))


@dataclass(frozen=True)
class Operation:
    """An operator of a random graph.

    Attributes:
        place: Where it runs; empty for a view, which runs wherever its source is.
        sources: The values that it takes, counted over inputs and operations.
        shape: The shape of its result.
    """

    place: str
    sources: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """A random graph and the settings it is lowered with."""

    inputs: int
    operations: tuple[Operation, ...]
    results: tuple[int, ...]
    compat: Compat
    skip_inputs: bool
    skip_outputs: bool

    @property
    def values(self) -> int:
        return self.inputs + len(self.operations)

    def shape(self, value: int) -> tuple[int, ...]:
        return SHAPES[0] if value < self.inputs else self.operations[value - self.inputs].shape


@st.composite
def cases(draw: st.DrawFn) -> Case:
    inputs = draw(st.integers(1, 3))
    shapes: list[tuple[int, ...]] = [SHAPES[0]] * inputs
    operations: list[Operation] = []
    for _ in range(draw(st.integers(1, 7))):
        first = draw(st.integers(0, len(shapes) - 1))
        place = draw(st.sampled_from(("", *PLACES, *PLACES[1:])))
        if not place:
            operation = Operation("", (first,), draw(st.sampled_from(SHAPES)))
        else:
            like = [value for value, shape in enumerate(shapes) if shape == shapes[first]]
            others = draw(st.lists(st.sampled_from(like), max_size=1))
            operation = Operation(place, (first, *others), shapes[first])
        operations.append(operation)
        shapes.append(operation.shape)
    results = draw(st.lists(st.integers(0, len(shapes) - 1), min_size=1, max_size=3, unique=True))
    compat: Compat = draw(st.sampled_from(("executorch-1.5", "placewire")))
    return Case(
        inputs, tuple(operations), tuple(results), compat, draw(st.booleans()), draw(st.booleans())
    )


def built(case: Case) -> MethodGraph:
    """The method graph of a case, with a delegate for each operation on a device."""
    fakes = FakeValues()
    graph = fx.Graph()
    values = [graph.placeholder(f"input_{number}") for number in range(case.inputs)]
    partitions = []
    for operation in case.operations:
        sources = [values[source] for source in operation.sources]
        if not operation.place:
            node = graph.call_function(
                torch.ops.aten.view_copy.default, (sources[0], operation.shape)
            )
        elif len(sources) == 2:
            node = graph.call_function(torch.ops.aten.add.Tensor, tuple(sources))
        else:
            node = graph.call_function(torch.ops.aten.sin.default, tuple(sources))
        values.append(node)
        if operation.place.startswith("cuda"):
            partitions.append(Partition((node,), DemoBackend(), specs(operation.place)))
    for number, node in enumerate(values):
        node.meta["val"] = fakes.tensor(torch.float32, case.shape(number))
    graph.output(tuple(values[result] for result in case.results))
    given = [GraphInput(InputKind.USER, f"input_{number}") for number in range(case.inputs)]
    method = MethodGraph("forward", graph, given, fakes)
    insert_delegates(method, partitions, {}, case.compat)
    return method


def placed(case: Case) -> MethodGraph:
    method = built(case)
    add_specs(method)
    config = ExportConfig(
        compat=case.compat,
        skip_h2d_for_method_inputs={"forward": case.skip_inputs},
        skip_d2h_for_method_outputs={"forward": case.skip_outputs},
    )
    PropagateDevicePass(config)(method)
    method.graph.lint()
    return method


# The fewest copies, by trying everything.

State = frozenset[tuple[int, str]]
"""Which values are in which places."""


def needed_places(case: Case) -> list[list[tuple[int, str]]]:
    """What each operation, and at last the caller, needs where; dead operations need nothing."""
    alive = set(case.results)
    needs: list[list[tuple[int, str]]] = []
    for number in reversed(range(len(case.operations))):
        operation = case.operations[number]
        if case.inputs + number not in alive:
            needs.append([])
            continue
        alive.update(operation.sources)
        needs.append([(source, operation.place) for source in operation.sources if operation.place])
    results = [] if case.skip_outputs else [(result, "cpu:0") for result in case.results]
    return [*reversed(needs), results]


def with_views(case: Case, state: State, run: int) -> State:
    """A view is wherever what it views is, and the other way round: it is the same memory."""
    found = set(state)
    changed = True
    while changed:
        changed = False
        for number, operation in enumerate(case.operations[:run]):
            if operation.place:
                continue
            view, source = case.inputs + number, operation.sources[0]
            for one, other in ((view, source), (source, view)):
                more = {(other, place) for value, place in found if value == one} - found
                found |= more
                changed = changed or bool(more)
    return frozenset(found)


def copies_from(case: Case, state: State, values: set[int]) -> Iterator[State]:
    """The states that one copy leads to."""
    for value, source in state:
        for target in PLACES:
            through_host = source == "cpu:0" or target == "cpu:0" or case.compat == "placewire"
            if value in values and through_host and (value, target) not in state:
                yield state | {(value, target)}


def fewest_copies(case: Case) -> int:
    """The fewest copies of all ways to run a case.

    A copy may as well be made when something first needs its result, so only copies of what the
    next operation needs are tried. Where a skipped input lies, is free.
    """
    return min(_fewest(case, start) for start in starts(case))


def starts(case: Case) -> Iterator[State]:
    """Where the inputs may be at first."""
    choices = []
    for value in range(case.inputs):
        free = case.skip_inputs and _device_uses(case, value)
        choices.append(PLACES if free else PLACES[:1])
    for places in itertools.product(*choices):
        yield frozenset(enumerate(places))


def _device_uses(case: Case, value: int) -> bool:
    """Whether a delegate that is not dead takes a value or a view of it."""
    same = {value}
    for number, operation in enumerate(case.operations):
        if not operation.place and operation.sources[0] in same:
            same.add(case.inputs + number)
    needs = [need for step in needed_places(case) for need in step]
    return any(source in same and place != "cpu:0" for source, place in needs)


def _fewest(case: Case, start: State) -> int:
    needs = needed_places(case)
    tie = itertools.count()
    queue = [(0, next(tie), 0, with_views(case, start, 0))]
    seen: set[tuple[int, State]] = set()
    while queue:
        cost, _, step, state = heapq.heappop(queue)
        if (step, state) in seen:
            continue
        seen.add((step, state))
        state = with_views(case, state, step)
        missing = [need for need in needs[step] if need not in state]
        if missing:
            values = {value for value, _ in missing}
            for following in copies_from(case, state, values):
                heapq.heappush(queue, (cost + 1, next(tie), step, following))
        elif step == len(case.operations):
            return cost
        else:
            operation = case.operations[step]
            made = {(case.inputs + step, operation.place)} if operation.place else set()
            heapq.heappush(queue, (cost, next(tie), step + 1, state | made))
    raise AssertionError("a graph can always be run")


# An interpreter that knows where everything is.


@dataclass(frozen=True)
class Placed:
    data: torch.Tensor
    place: Device


def run(method: MethodGraph, inputs: list[torch.Tensor]) -> list[Placed]:
    """Run a placed graph; every operator must find its inputs where it runs."""
    found: dict[object, object] = {}
    for node, data in zip(method.placeholders, inputs, strict=True):
        found[node] = Placed(data, spec_of(node).device)
    for node in method.graph.nodes:
        if node.op != "call_function":
            continue
        if node.target is operator.getitem:
            source = found[node.args[0]]
            assert isinstance(source, tuple)
            found[node] = source[node.args[1]]
        else:
            found[node] = _called(method, node, found)
        if isinstance(result := found[node], Placed):
            assert result.place == spec_of(node).device, node
    results = [found[result] for result in method.results]
    assert all(isinstance(result, Placed) for result in results)
    return results  # type: ignore[return-value]


def _called(method: MethodGraph, node: fx.Node, found: dict[object, object]) -> object:
    given = [found[source] for source in node.args if isinstance(source, fx.Node)]
    placed = [item for item in given if isinstance(item, Placed)]
    assert len(placed) == len(given)
    if is_delegate_call(node):
        delegate = method.delegates[str(node.args[0])]
        assert {item.place for item in placed} == {delegate.device}
        results = fx.Interpreter(delegate.program.graph_module).run(*(item.data for item in placed))
        return tuple(Placed(data, delegate.device or CPU) for data in results)
    if (kind := copy_kind(node)) is not None:
        target = spec_of(node).device
        assert target != placed[0].place
        assert kind is type(kind).between(placed[0].place, target)
        return Placed(kind.functional(placed[0].data), target)
    if is_view(node):
        assert spec_of(node).storage is spec_of(node.args[0]).storage  # type: ignore[arg-type]
        return Placed(placed[0].data.reshape(spec_of(node).sizes), placed[0].place)
    assert {item.place for item in placed} == {CPU}, node
    assert callable(node.target)
    first, *rest = (found[item].data if isinstance(item, fx.Node) else item for item in node.args)  # type: ignore[attr-defined]
    return Placed(node.target(first, *rest), CPU)


def reference(case: Case, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    values = list(inputs)
    for operation in case.operations:
        sources = [values[source] for source in operation.sources]
        if not operation.place:
            values.append(sources[0].reshape(operation.shape))
        else:
            values.append(sources[0] + sources[1] if len(sources) == 2 else sources[0].sin())
    return [values[result] for result in case.results]


@settings(max_examples=150, deadline=None)
@given(cases())
def test_no_way_to_run_a_graph_takes_fewer_copies(case: Case) -> None:
    assert len(list(copies_in(placed(case)))) == fewest_copies(case)


@settings(max_examples=80, deadline=None)
@given(cases())
def test_every_operator_finds_its_inputs_on_its_device_and_computes_the_same(case: Case) -> None:
    inputs = [torch.arange(6.0).reshape(2, 3) + number for number in range(case.inputs)]
    method = placed(case)
    results = run(method, inputs)
    expected = reference(case, inputs)
    assert len(results) == len(expected) > 0
    for result, data in zip(results, expected, strict=True):
        torch.testing.assert_close(result.data, data)
        if not case.skip_outputs:
            assert result.place == CPU


def test_the_search_finds_the_known_numbers_of_copies() -> None:
    def chain(second: str, compat: Compat) -> Case:
        first = Operation("cuda:0", (0, 1), SHAPES[0])
        then = Operation(second, (3, 2), SHAPES[0])
        return Case(3, (first, then), (4,), compat, skip_inputs=False, skip_outputs=False)

    assert fewest_copies(chain("cuda:0", "executorch-1.5")) == 3 + 1
    assert fewest_copies(chain("cuda:1", "executorch-1.5")) == 4 + 2
    assert fewest_copies(chain("cuda:1", "placewire")) == 3 + 1 + 1
