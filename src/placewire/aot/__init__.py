"""Ahead of time: from torch.export to a program that places tensors on devices. Needs torch."""

from .config import ExportConfig
from .delegates import PartitionError
from .devices import PropagateDevicePass
from .export import Artifact, InvalidOutputError, UnsupportedError, export
from .graph import GraphInput, InputKind, MethodGraph
from .invariants import InvalidGraphError
from .memory import BufferPlan
from .named_data import CompiledPart, NamedData, NamedDataError
from .partition import (
    Backend,
    EverythingPartitioner,
    OperatorPartitioner,
    Partition,
    Partitioner,
    PredicatePartitioner,
)
from .passes import Pass, PassOrderError, PassResult
from .report import Copies, MethodReport, Report
from .shared_buffers import SharedBufferError
from .specs import TensorSpec, UnboundedSizeError, spec_of, specs_of

__all__ = [
    "Artifact",
    "Backend",
    "BufferPlan",
    "CompiledPart",
    "Copies",
    "EverythingPartitioner",
    "ExportConfig",
    "GraphInput",
    "InputKind",
    "InvalidGraphError",
    "InvalidOutputError",
    "MethodGraph",
    "MethodReport",
    "NamedData",
    "NamedDataError",
    "OperatorPartitioner",
    "Partition",
    "PartitionError",
    "Partitioner",
    "Pass",
    "PassOrderError",
    "PassResult",
    "PredicatePartitioner",
    "PropagateDevicePass",
    "Report",
    "SharedBufferError",
    "TensorSpec",
    "UnboundedSizeError",
    "UnsupportedError",
    "export",
    "spec_of",
    "specs_of",
]
