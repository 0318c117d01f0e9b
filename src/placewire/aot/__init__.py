"""Ahead of time: from torch.export to a program that places tensors on devices. Needs torch."""

from .config import ExportConfig
from .export import Artifact, InvalidOutputError, UnsupportedError, export
from .graph import GraphInput, InputKind, MethodGraph
from .passes import Pass, PassOrderError, PassResult
from .report import Copies, MethodReport, Report
from .specs import TensorSpec, UnboundedSize, spec_of, specs_of

__all__ = [
    "Artifact",
    "Copies",
    "ExportConfig",
    "GraphInput",
    "InputKind",
    "InvalidOutputError",
    "MethodGraph",
    "MethodReport",
    "Pass",
    "PassOrderError",
    "PassResult",
    "Report",
    "TensorSpec",
    "UnboundedSize",
    "UnsupportedError",
    "export",
    "spec_of",
    "specs_of",
]
