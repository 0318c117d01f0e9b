"""The table of models that test_export_models.py exports and runs, by topic."""

from .dynamic import DYNAMIC
from .layers import LAYERS
from .model import ExportModel
from .networks import NETWORKS
from .tensors import TENSORS
from .writing import WRITING

__all__ = ["MODELS", "ExportModel"]

MODELS = [*LAYERS, *NETWORKS, *TENSORS, *DYNAMIC, *WRITING]
