"""Stage 0: exported programs become functional method graphs; the caller's are left as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputSpec,
)
from torch.export.graph_signature import InputKind as SignatureKind

from .fakes import FakeValues
from .graph import GraphInput, InputKind, MethodGraph

if TYPE_CHECKING:
    from torch.export import ExportedProgram

__all__ = ["capture"]


def capture(name: str, program: ExportedProgram) -> MethodGraph:
    """The method graph of an exported program."""
    values = (node.meta.get("val") for node in program.graph.nodes)
    return MethodGraph(
        name=name,
        graph=program.graph,
        inputs=_inputs(program.graph_signature, program),
        fakes=FakeValues(values),
        in_spec=program.call_spec.in_spec,
        out_spec=program.call_spec.out_spec,
    )


_KINDS = {
    SignatureKind.PARAMETER: InputKind.PARAMETER,
    SignatureKind.BUFFER: InputKind.BUFFER,
    SignatureKind.CONSTANT_TENSOR: InputKind.CONSTANT,
}


def _inputs(signature: ExportGraphSignature, program: ExportedProgram) -> list[GraphInput]:
    return [_input(spec, program) for spec in signature.input_specs]


def _input(spec: InputSpec, program: ExportedProgram) -> GraphInput:
    if spec.kind is SignatureKind.USER_INPUT:
        value = spec.arg.value if isinstance(spec.arg, ConstantArgument) else None
        return GraphInput(InputKind.USER, spec.arg.name, value)
    assert spec.target is not None
    state = program.state_dict
    tensor = state[spec.target] if spec.target in state else program.constants[spec.target]
    return GraphInput(_KINDS[spec.kind], spec.target, tensor.detach())
