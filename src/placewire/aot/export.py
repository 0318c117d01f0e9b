"""export: from a model, or what torch.export made of one, to a program file."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from placewire.pte import PteFile
from placewire.validate import validate

from .capture import capture
from .config import ExportConfig
from .container import assemble
from .decompose import Unsupported, decompose
from .delegates import lower_delegates
from .devices import PropagateDevicePass
from .emit import BlobPool, ConstantPool, check_constant, emit_constant_method, emit_method
from .host_copies import HostCopies
from .in_place import write_in_place
from .invariants import CheckedPass
from .joint_plan import plan_jointly
from .layouts import make_layouts_explicit
from .memory import MemoryPlan, plan_memory
from .named_data import NamedDataPool
from .names import checked_name
from .partition import Partitioner, partition, preserved_operators
from .partition_types import checked_partitioner
from .passes import Pass, checked_pass, run_passes
from .recipes import Recipes
from .report import Report, report_of
from .residents import shared_homes
from .shared_buffers import mark_shared_buffers
from .simplify import simplify
from .specs import add_specs
from .target import target_of
from .unplannable_sizes import unplannable_sizes
from .views import ShareMemory
from .wording import described

if TYPE_CHECKING:
    from placewire_schema import Finding
    from placewire_schema.program import Program

    from .graph import MethodGraph

__all__ = ["Artifact", "InvalidOutputError", "UnsupportedError", "are_exported", "export"]


class UnsupportedError(ValueError):
    """A model has parts that cannot be exported.

    Attributes:
        unsupported: All of them.
    """

    def __init__(self, unsupported: Sequence[Unsupported]) -> None:
        self.unsupported = tuple(unsupported)
        count = len(self.unsupported)
        noun = "part" if count == 1 else "parts"
        listed = "\n".join(map(str, self.unsupported))
        super().__init__(f"{count} {noun} of the model cannot be exported:\n{listed}")


class InvalidOutputError(RuntimeError):
    """The validator found an error in what was emitted; the fault is in the exporter or a pass.

    Attributes:
        findings: What it found.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("the exported program is not valid:\n" + "\n".join(map(str, findings)))


@dataclass(frozen=True)
class Artifact:
    """What `export` gives: a program, ready to be saved.

    It shares nothing with the model, whose weights may change or go.

    Attributes:
        pte: The bytes of the file.
        report: How it came about.
    """

    pte: bytes = field(repr=False)
    report: Report

    @cached_property
    def file(self) -> PteFile:
        """The program file, read when first asked for; its data are views of `pte`.

        What is changed in it is what `save` writes; `pte` stays as it was exported.
        """
        return PteFile.from_bytes(self.pte)

    @property
    def program(self) -> Program:
        """The program, as generated dataclasses."""
        return self.file.program

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file; it is there as a whole or not at all."""
        self.file.save(path)


def export(
    model: torch.nn.Module | ExportedProgram | Mapping[str, ExportedProgram],
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    partitioners: Sequence[Partitioner] = (),
    passes: Sequence[Pass] = (),
    constant_methods: Mapping[str, Any] | None = None,
    config: ExportConfig | Mapping[str, Any] | None = None,
) -> Artifact:
    """Lower a model to a program.

    Args:
        model: A module, which is given to `torch.export` with `args`; or what that made of one; or
            several methods by name.
        args: Example arguments of a module.
        kwargs: Example keyword arguments of a module.
        dynamic_shapes: As `torch.export.export` takes it, for a module.
        partitioners: What chooses the parts that backends get; the first one takes first.
        passes: Passes to run on every method after devices are known and before memory is planned.
        constant_methods: Methods without arguments that give back a value known ahead of time, such
            as `{"get_vocab_size": 32000}`: a tensor, number, string, bool or None, or a nesting of
            them in tuples, lists and dictionaries.
        config: What else can be chosen: an `ExportConfig`, or its settings by name.

    Raises:
        TypeError: An argument is not of the kind described above.
        ValueError: A setting has a value that it cannot have; pydantic's `ValidationError`.
        SharedBufferError: With `share_mutable_buffers`, methods have different buffers of one name.
        UnsupportedError: The model has operators or constructs that cannot be exported, or sizes
            that nothing bounds; all of them are listed.
        PartitionError: A partitioner gives partitions that no order of the graph can call.
        InvalidArgumentError: A delegate names a device that there cannot be.
        UnboundedSizeError: A size that came about later has no maximum.
        InvalidGraphError: A pass left a graph that cannot be emitted.
        InvalidOutputError: The validator rejects the result.
    """
    config = _config(config)
    _check_steps(partitioners, passes)
    getters = _getters(constant_methods)
    report = Report()
    with report.stage("torch.export"):
        programs = _programs(model, args, kwargs, dynamic_shapes)
    config.check_methods(programs)
    if twice := sorted(programs.keys() & getters.keys()):
        raise ValueError(f"{', '.join(twice)}: a method and a constant method have the same name")
    with _paused_collector():
        lowering = _Lowering(config, report, tuple(partitioners), tuple(passes))
        methods = lowering.decomposed(programs)
        lowering.run_passes(methods)
        return lowering.artifact(methods, lowering.planned(methods), getters)


@contextmanager
def _paused_collector() -> Iterator[None]:
    """Keep the garbage collector out of work that makes many objects and no garbage."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _programs(
    model: torch.nn.Module | ExportedProgram | Mapping[str, ExportedProgram],
    args: tuple[Any, ...] | None,
    kwargs: dict[str, Any] | None,
    dynamic_shapes: Any,
) -> dict[str, ExportedProgram]:
    if isinstance(model, torch.nn.Module):
        if args is None:
            raise TypeError("a module needs example arguments: export(module, (tensor, ...))")
        _check_examples(args, kwargs)
        exported = torch.export.export(
            model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False
        )
        return {"forward": exported}
    programs = {"forward": model} if isinstance(model, ExportedProgram) else model
    if not are_exported(programs):
        raise TypeError(
            f"cannot export {described(model)}; expected a module, an ExportedProgram, or a "
            "dictionary of ExportedPrograms by method"
        )
    if args is not None or kwargs is not None or dynamic_shapes is not None:
        raise TypeError(
            "example arguments and dynamic shapes are for a module; this one is exported"
        )
    if not programs:
        raise ValueError("there is no method to export")
    return {checked_name("the name of a method", name): each for name, each in programs.items()}


def _config(config: object) -> ExportConfig:
    if config is None:
        return ExportConfig()
    if isinstance(config, ExportConfig):
        return config
    if isinstance(config, Mapping):
        return ExportConfig.model_validate(dict(config))
    raise TypeError(
        f"config is {described(config)}; expected an ExportConfig, or a dictionary of its "
        'settings such as {"compat": "placewire"}'
    )


def _getters(constant_methods: object) -> dict[str, Any]:
    if constant_methods is None:
        return {}
    if not isinstance(constant_methods, Mapping):
        raise TypeError(
            f"constant_methods is {described(constant_methods)}; expected a dictionary of "
            "values by the names of methods"
        )
    for name in constant_methods:
        if not isinstance(name, str):
            raise TypeError(f"constant_methods has the name {name!r}; expected a string")
        checked_name("the name of a constant method", name)
        check_constant(name, constant_methods[name])
    hosted = HostCopies()
    return {
        name: pytree.tree_map_only(torch.Tensor, hosted.copy_of, value)
        for name, value in constant_methods.items()
    }


def _check_examples(args: object, kwargs: object) -> None:
    if not isinstance(args, tuple):
        raise TypeError(f"args is {described(args)}; expected a tuple of example arguments")
    if kwargs is not None and not isinstance(kwargs, dict):
        raise TypeError(f"kwargs is {described(kwargs)}; expected a dictionary")


def are_exported(programs: object) -> TypeGuard[Mapping[str, ExportedProgram]]:
    """Whether something is what torch exported of several methods, by their names."""
    return isinstance(programs, Mapping) and all(
        isinstance(name, str) and isinstance(program, ExportedProgram)
        for name, program in programs.items()
    )


def _check_steps(partitioners: Sequence[object], passes: Sequence[object]) -> None:
    """Refuse what is no partitioner or pass before torch has spent time on the model."""
    for name, steps in (("partitioners", partitioners), ("passes", passes)):
        if not isinstance(steps, Sequence):
            raise TypeError(f"{name} is {described(steps)}; expected a list")
    for partitioner in partitioners:
        checked_partitioner(partitioner)
    for step in passes:
        checked_pass(step)


@dataclass
class _Lowering:
    config: ExportConfig
    report: Report
    partitioners: tuple[Partitioner, ...]
    passes: tuple[Pass, ...]

    def __post_init__(self) -> None:
        self.target = target_of(self.config.compat)
        self.constants = ConstantPool(self.config.constant_alignment)
        self.initial_values = ConstantPool(1)
        self.blobs = BlobPool()
        self.named_data = NamedDataPool()
        self.notes: dict[str, dict[str, str]] = {}

    def decomposed(self, programs: Mapping[str, ExportedProgram]) -> list[MethodGraph]:
        captured, unsupported = [], []
        hosted = HostCopies()
        with self.report.stage("decompose"):
            for name, program in programs.items():
                method, refused = capture(name, program, hosted)
                captured.append(method)
                unsupported += refused
            if self.config.share_mutable_buffers:
                mark_shared_buffers(captured)
        methods = []
        preserved = preserved_operators(self.partitioners)
        for whole in captured:
            with self.report.stage("decompose"):
                method, missing = decompose(whole, Recipes(whole.fakes, self.target, preserved))
            if self.partitioners:
                method, missing = self._partitioned(method)
            unsupported += missing
            unsupported += unplannable_sizes(method)
            methods.append(method)
        if unsupported:
            raise UnsupportedError(unsupported)
        with self.report.stage("lower delegates"):
            for method in methods:
                lower_delegates(method, self.named_data)
        return methods

    def _partitioned(self, method: MethodGraph) -> tuple[MethodGraph, list[Unsupported]]:
        """Take the delegates out of a method, and decompose what was preserved in vain."""
        with self.report.stage("partition"):
            simplify(method)
            for partitioner in self.partitioners:
                partition(method, partitioner, self.config.compat)
        with self.report.stage("decompose"):
            return decompose(method, Recipes(method.fakes, self.target))

    def run_passes(self, methods: Sequence[MethodGraph]) -> None:
        """Settle everything about the tensors of the methods but their places in memory."""
        for method in methods:
            with self.report.stage("layouts"):
                make_layouts_explicit(method)
            with self.report.stage("simplify"):
                simplify(method)
                write_in_place(method, self.target)
            with self.report.stage("specs"):
                add_specs(method, names=self.config.names)
        with self.report.stage("passes"):
            homes = shared_homes(methods) if self._shares_on_devices else None
            devices = self.config.enable_device_memory_planning
            passes: list[Pass] = [PropagateDevicePass(self.config, homes)]
            passes += [CheckedPass(step, self.target, devices) for step in self.passes]
            passes.append(ShareMemory())
            for method in methods:
                results = run_passes(passes, method, {"kernels", "specs"})
                self.notes[method.name] = {
                    name: result.summary for name, result in results.items() if result.summary
                }

    @property
    def _shares_on_devices(self) -> bool:
        config = self.config
        return (
            config.share_mutable_buffers
            and config.compat == "placewire"
            and config.enable_device_memory_planning
        )

    def planned(self, methods: Sequence[MethodGraph]) -> list[MemoryPlan]:
        config, devices = self.config, self.config.enable_device_memory_planning
        with self.report.stage("plan memory"):
            if config.share_mutable_buffers:
                joint = plan_jointly(
                    methods,
                    self.initial_values.index_of,
                    config.alignment,
                    config.planner,
                    devices=devices,
                )
                self.report.shared_buffers = tuple(joint.shared)
                return joint.methods
            return [
                plan_memory(method, config.alignment, config.planner, devices=devices)
                for method in methods
            ]

    def artifact(
        self,
        methods: Sequence[MethodGraph],
        memory_plans: Sequence[MemoryPlan],
        getters: Mapping[str, Any],
    ) -> Artifact:
        with self.report.stage("emit"):
            plans = [
                emit_method(
                    method,
                    plan,
                    self.target,
                    self.constants,
                    self.initial_values,
                    self.blobs,
                    stacktraces=self.config.stacktraces,
                )
                for method, plan in zip(methods, memory_plans, strict=True)
            ]
            constant_plans = [
                emit_constant_method(name, value, self.constants, self.initial_values)
                for name, value in getters.items()
            ]
        for plan, memory in zip(plans, memory_plans, strict=True):
            self.report.methods[plan.name] = report_of(plan, memory, self.notes[plan.name])
        with self.report.stage("container"):
            file = assemble(
                plans,
                self.constants,
                self.initial_values,
                self.blobs,
                self.named_data,
                constant_plans,
            )
            # Of all that was collected for it, only the bytes outlive this.
            pte = file.to_bytes()
        with self.report.stage("validate"):
            errors = [finding for finding in validate(pte) if finding.level == "error"]
        if errors:
            raise InvalidOutputError(errors)
        return Artifact(pte, self.report)
