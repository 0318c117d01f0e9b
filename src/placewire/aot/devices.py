"""PropagateDevicePass: every tensor gets its device, and copies where one is left for another.

A tensor is somewhere first, its home: what a delegate computes on the delegate's device, everything
else on the CPU. A consumer needs it where it runs. For each device besides its home that needs a
tensor there is exactly one copy, right before the first that needs it. A view that only gives
another shape to contiguous memory belongs to the tensor that it views: it is made anew wherever it
is needed, on a device without a kernel, and never copied.

Each tensor can be looked at alone, so this is the least number of copies that there can be.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from placewire_schema.program import TensorShapeDynamism
from torch import fx

from placewire.placement import CPU

from .control_flow import control_flow_of, is_control_flow, methods_in
from .copies import CopyKind, copies_in, is_copy
from .delegates import constants_of, delegate_calls, is_delegate_call
from .graph import InputKind
from .operators import is_write
from .passes import PassResult
from .reshapes import become_alias, is_reshape
from .residents import make_constant_resident, make_states_resident
from .simplify import remove_dead_code
from .specs import TensorSpec, spec_of, specs_of
from .surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from placewire.device import Device

    from .config import ExportConfig
    from .graph import GraphInput, MethodGraph

__all__ = ["PropagateDevicePass"]


@dataclass(frozen=True)
class PropagateDevicePass:
    """Give tensors their devices and insert the copies between them.

    Args:
        config: Of it count `compat`, the skip flags and `enable_device_memory_planning`. Without
            device memory planning, what delegates on a device take and give is labelled with it,
            and no copies are inserted.
        homes: Where the buffers are that methods share, by name, as `shared_homes` says; None if
            each method decides for itself.
    """

    config: ExportConfig
    homes: Mapping[str, Device] | None = None
    name: str = "propagate devices"
    requires: frozenset[str] = frozenset({"specs"})
    ensures: frozenset[str] = frozenset({"devices"})

    def __call__(self, method: MethodGraph, /) -> PassResult:
        if not self.config.enable_device_memory_planning:
            return PassResult(_label(method))
        direct = self.config.compat == "placewire"
        placement = _Placement(
            method,
            direct,
            constants_of(method),
            self.config.for_method("skip_h2d_for_method_inputs", method.name),
            self.config.for_method("skip_d2h_for_method_outputs", method.name),
            homes=self.homes,
        )
        changed = _has_devices(method) or _has_homes(method, self.homes or {})
        if changed:
            placement.run()
        return PassResult(changed, _summary(method))


def _summary(method: MethodGraph) -> str:
    kinds = [kind for _, kind, _ in copies_in(method)]
    return ", ".join(f"{kinds.count(kind)} {kind.label}" for kind in CopyKind if kind in kinds)


def _copy_to_place(branch: MethodGraph, places: tuple[TensorSpec | None, ...]) -> None:
    """Let the last copies of a branch put its results where those of the `cond` are."""
    results = branch.results
    for result, place in zip(results, places, strict=True):
        if not isinstance(result, fx.Node) or place is None or not is_copy(result):
            continue
        shape = tuple(result.meta["val"].shape)
        fits = place.dynamism is TensorShapeDynamism.DYNAMIC_BOUND or shape == place.sizes
        if fits and list(result.users) == [branch.output] and results.count(result) == 1:
            result.meta["spec"] = place


def _has_devices(method: MethodGraph) -> bool:
    """Whether a delegate in a method, or in one of its bodies, is on a device."""
    calls = (call for part in methods_in(method) for call in delegate_calls(part))
    return any(call.delegate.device is not None for call in calls)


def _has_homes(method: MethodGraph, homes: Mapping[str, Device]) -> bool:
    """Whether a method has a buffer that others keep on a device."""
    return any(given.is_state and given.name in homes for given in method.inputs)


def _label(method: MethodGraph) -> bool:
    """Label what delegates on a device take and give; of several devices the first counts."""
    changed = False
    for call in delegate_calls(method):
        if (device := call.delegate.device) is not None:
            given = [spec for node in call.inputs for spec in specs_of(node)]
            for spec in (*given, *specs_of(call.node)):
                if spec.device.is_cpu and spec.constant is None:
                    spec.device = device
            changed = True
    for body in method.bodies.values():
        changed |= _label(body)
    return changed


@dataclass
class _Placement:
    """The placement of one graph.

    Attributes:
        method: The graph.
        direct: Copies from device to device are possible, and so are tensors that stay on a device
            from call to call.
        constants: The placeholders that stand for constants.
        skip_inputs: User inputs for delegates are on their device already.
        skip_outputs: Results stay on the device that they are computed on.
        surroundings: The graph around it, if it is a body of control flow.
        homes: Where the buffers are that methods share, if they share them.
    """

    method: MethodGraph
    direct: bool
    constants: Mapping[fx.Node, GraphInput]
    skip_inputs: bool = False
    skip_outputs: bool = False
    surroundings: Surroundings | None = None
    homes: Mapping[str, Device] | None = None
    _roots: dict[fx.Node, fx.Node] = field(default_factory=dict)
    _members: dict[fx.Node, list[fx.Node]] = field(default_factory=dict)
    _homes: dict[fx.Node, Device] = field(default_factory=dict)
    _versions: dict[tuple[fx.Node, Device], fx.Node] = field(default_factory=dict)
    _inputs: dict[fx.Node, GraphInput] = field(default_factory=dict)
    _specs: dict[fx.Node, TensorSpec] = field(default_factory=dict)
    _operands: dict[fx.Node, int] = field(default_factory=dict)

    def run(self) -> None:
        """Place the graph and its bodies."""
        remove_dead_code(self.method)
        self._inputs = dict(zip(self.method.placeholders, self.method.inputs, strict=True))
        if self.direct:
            states = make_states_resident(self.method, self._inputs, self.homes)
            self._homes.update(states)
        self._find_homes()
        for node in list(self.method.graph.nodes):
            if node.op == "call_function" and node.target is not operator.getitem:
                if is_control_flow(node.target):
                    self._serve_control_flow(node)
                elif not self._is_view(node):
                    self._serve(node)
            elif node.op == "output":
                self._serve_results(node)
        remove_dead_code(self.method)

    def _find_homes(self) -> None:
        """Group tensors that are one memory, and say where each is first."""
        if self.surroundings is not None:
            self._operands = self.surroundings.positions(self.method)
            self._homes = {node: spec.device for node in self._operands for spec in specs_of(node)}
        for node in self.method.graph.nodes:
            if isinstance(node.meta.get("spec"), TensorSpec):
                root = self._roots[node.args[0]] if self._is_of_same_version(node) else node
                self._roots[node] = root
                self._specs[node] = spec_of(node)
                self._members.setdefault(root, []).append(node)
        for call in delegate_calls(self.method):
            if (device := call.delegate.device) is None:
                continue
            for spec in specs_of(call.node):
                spec.device = device
            for output in call.outputs:
                self._homes[output] = device
            for node in call.inputs:
                if self.skip_inputs and self._is_user_tensor(self._roots.get(node)):
                    self._expect_on_device(self._roots[node], device)

    def _is_of_same_version(self, node: fx.Node) -> bool:
        """Whether a node is a view that always has the value of what it views.

        What views a tensor that the method writes to has to be made at its own time.
        """
        if not is_reshape(node):
            return False
        given = self._inputs.get(self._roots[node.args[0]])  # type: ignore[index]
        return given is None or not given.mutated

    def _is_user_tensor(self, node: fx.Node | None) -> bool:
        given = self._inputs.get(node) if node is not None else None
        return given is not None and given.kind is InputKind.USER and not given.mutated

    def _expect_on_device(self, placeholder: fx.Node, device: Device) -> None:
        """The caller brings an input on the device of the first delegate that uses it."""
        if placeholder not in self._homes:
            self._homes[placeholder] = device
            spec = spec_of(placeholder)
            spec.device, spec.planned = device, False

    def _is_view(self, node: fx.Node) -> bool:
        return self._roots.get(node, node) is not node

    def _home(self, node: fx.Node) -> Device:
        return self._homes.get(self._roots[node], CPU)

    def _serve(self, node: fx.Node) -> None:
        """Give a node that computes something its tensors where it runs."""
        device = CPU
        if is_delegate_call(node):
            device = self.method.delegates[str(node.args[0])].device or CPU
        needed = [source for source in node.all_input_nodes if source in self._roots]
        if node.target is torch.ops.aten.sym_size.int:
            device = self._home(needed[0])  # a size is known without looking at the data
        versions = {source: self._at(source, device, node) for source in needed}
        if any(versions[source] is not source for source in needed):
            node.args = fx.map_arg(node.args, lambda source: versions.get(source, source))
            node.kwargs = fx.map_arg(node.kwargs, lambda source: versions.get(source, source))
        for written in _written(node):
            self._forget_copies(written)

    def _serve_control_flow(self, node: fx.Node) -> None:
        """Place the bodies of a branch or loop.

        It asks the CPU whether to go on, and what is carried and given back is there.
        """

        def at_home(item: object) -> object:
            known = isinstance(item, fx.Node) and item in self._roots
            return self._at(item, self._home(item), node) if known else item  # type: ignore[arg-type]

        def on_host(item: object) -> object:
            known = isinstance(item, fx.Node) and item in self._roots
            return self._at(item, CPU, node) if known else item  # type: ignore[arg-type]

        flow = control_flow_of(node.target, node.args)
        surroundings = Surroundings(
            replace(
                flow,
                predicate=on_host(flow.predicate),
                carried=tuple(map(on_host, flow.carried)),
                mapped=tuple(map(on_host, flow.mapped)),
                outside=tuple(map(at_home, flow.outside)),
            ),
            [self.method.bodies[name.target] for name in flow.bodies],
            lambda item, device: self._at(item, device, node),
        )
        surroundings.hand_in()
        for body in surroundings.bodies:
            constants = constants_of(body)
            _Placement(body, self.direct, constants, surroundings=surroundings).run()
        node.args = surroundings.arguments  # type: ignore[assignment]
        if not flow.is_loop:
            for body in surroundings.bodies:
                _copy_to_place(body, node.meta["spec"])

    def _serve_results(self, output: fx.Node) -> None:
        results: list[Any] = []
        for result in self.method.results:
            if isinstance(result, fx.Node) and result in self._roots:
                home = self._home(result)
                stays = self.skip_outputs and not home.is_cpu
                node = self._at(result, home if stays else CPU, output)
                if stays:
                    self._leave_to_caller(node)
                results.append(node)
            else:
                results.append(result)
        output.args = (tuple(results),)

    def _leave_to_caller(self, result: fx.Node) -> None:
        """A result that stays on its device is written where the caller wants it.

        Unless it is a view, whose memory is that of another value too, or is kept between calls.
        """
        spec = spec_of(result)
        given = self._inputs.get(result)
        if spec.base is None and spec.initial is None and given is None:
            spec.planned = False

    def _at(self, node: fx.Node, device: Device, user: fx.Node) -> fx.Node:
        """The version of a tensor on a device; if it is new, it stands before `user`."""
        home = self._home(node)
        known = node if device == home and not self._is_view(node) else None
        known = known or self._versions.get((node, device))
        if known is None:
            if self._is_view(node):
                known = self._view(node, device, user)
            elif self.surroundings is not None and node in self._operands:
                known = self.surroundings.operand(self.method, self._operands[node], device)
            else:
                known = self._copy(node, home, device, user)
            self._versions[node, device] = known
        return known

    def _copy(self, root: fx.Node, home: Device, device: Device, user: fx.Node) -> fx.Node:
        given = self.constants.get(root)
        if self.direct and given is not None:
            return make_constant_resident(self.method, root, given, device)
        source = root
        if not (home.is_cpu or device.is_cpu or self.direct):
            source, home = self._at(root, CPU, user), CPU
        kind = CopyKind.between(home, device)
        with self.method.graph.inserting_before(user):
            copy = self.method.graph.call_function(kind.functional, (source,))
        copy.meta = _meta_on(device, root, self._specs[root])
        return copy

    def _view(self, node: fx.Node, device: Device, user: fx.Node) -> fx.Node:
        """A view of the version of its source that is on a device."""
        assert isinstance(node.args[0], fx.Node)
        source = self._at(node.args[0], device, user)
        if source is not node.args[0]:
            with self.method.graph.inserting_before(user):
                view = self.method.graph.node_copy(node)
            view.replace_input_with(node.args[0], source)
        else:
            view = node
        if device.is_cpu:
            view.meta = {**node.meta, "spec": self._specs[node]}
        else:
            view.meta = _meta_on(device, node, self._specs[node])
            become_alias(view)
        return view

    def _forget_copies(self, written: fx.Node) -> None:
        """After a tensor was written to, copies of it are of an earlier version."""
        for member in self._members[self._roots[written]]:
            for key in [key for key in self._versions if key[0] is member]:
                del self._versions[key]


def _written(node: fx.Node) -> list[fx.Node]:
    """The tensors that a node writes to."""
    if not is_write(node.target):
        return []
    arguments = node.target._schema.arguments
    given = dict(zip((argument.name for argument in arguments), node.args, strict=False))
    given.update(node.kwargs)
    return [
        value
        for argument in arguments
        if argument.alias_info is not None
        and argument.alias_info.is_write
        and isinstance(value := given.get(argument.name), fx.Node)
    ]


def _meta_on(device: Device, source: fx.Node, spec: TensorSpec) -> dict[str, object]:
    """What to say of a version of a tensor on a device, which has a spec of its own."""
    meta: dict[str, object] = {
        key: source.meta[key] for key in ("val", "stack_trace") if key in source.meta
    }
    meta["spec"] = replace(
        spec,
        device=device,
        planned=True,
        constant=None,
        initial=None,
        qualified_name=None,
        base=None,
        place=None,
    )
    return meta
