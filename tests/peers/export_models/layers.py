"""Layers of torch.nn and torch.nn.functional, each on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn, randn
from torch.nn import functional

from .model import ExportModel, function

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LAYERS"]


def _layer(name: str, build: Callable[[], nn.Module], *shapes: tuple[int, ...]) -> ExportModel:
    return ExportModel(name, build, lambda: tuple(randn(*shape) for shape in shapes))


class SelfAttention(nn.Module):
    """Attention of a sequence to itself, without or with masks."""

    def __init__(self, masked: bool) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.masked = masked

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        if not self.masked:
            return self.attention(x, x, x, need_weights=False)
        padding = x[..., 0] > 1.5
        causal = torch.triu(torch.ones(6, 6, dtype=torch.bool), 1)
        return self.attention(x, x, x, key_padding_mask=padding, attn_mask=causal & ~causal.T)


def _attention_inputs() -> tuple[torch.Tensor, ...]:
    return randn(1, 2, 6, 8), randn(1, 2, 6, 8), randn(1, 2, 6, 8)


def _masked_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def _causal_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


LAYERS = [
    _layer("linear", lambda: nn.Linear(8, 4), (2, 8)),
    _layer("linear_of_a_vector", lambda: nn.Linear(8, 4), (8,)),
    _layer("bilinear", lambda: nn.Bilinear(3, 4, 5), (2, 3), (2, 4)),
    _layer("conv1d", lambda: nn.Conv1d(4, 8, 3, stride=2), (2, 4, 16)),
    _layer("conv2d_grouped", lambda: nn.Conv2d(4, 8, 3, padding=1, groups=2), (2, 4, 7, 7)),
    _layer(
        "conv2d_circular",
        lambda: nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"),
        (1, 3, 6, 6),
    ),
    _layer("conv3d", lambda: nn.Conv3d(4, 6, (3, 2, 2), 2, (1, 0, 1), groups=2), (2, 4, 5, 6, 6)),
    _layer("conv_transpose1d", lambda: nn.ConvTranspose1d(4, 6, 3, 2, 1, 1), (1, 4, 7)),
    _layer("conv_transpose2d", lambda: nn.ConvTranspose2d(4, 6, 3, 2, groups=2), (1, 4, 5, 5)),
    _layer("conv_transpose3d", lambda: nn.ConvTranspose3d(2, 3, 3, 2, 1, 1), (1, 2, 4, 4, 4)),
    ExportModel(
        "conv2d_channels_last",
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)),
        lambda: (randn(1, 3, 9, 9).to(memory_format=torch.channels_last),),
    ),
    _layer("lstm", lambda: nn.LSTM(8, 6, 2, bidirectional=True), (4, 2, 8)),
    _layer("lstm_projected", lambda: nn.LSTM(8, 6, proj_size=3, batch_first=True), (2, 4, 8)),
    _layer("gru", lambda: nn.GRU(8, 6, 2), (4, 2, 8), (2, 2, 6)),
    _layer("rnn", lambda: nn.RNN(8, 6, nonlinearity="relu"), (4, 2, 8)),
    ExportModel(
        "lstm_cell", lambda: nn.LSTMCell(4, 5), lambda: (randn(2, 4), (randn(2, 5), randn(2, 5)))
    ),
    _layer("attention", lambda: SelfAttention(masked=False), (2, 6, 16)),
    _layer("attention_masked", lambda: SelfAttention(masked=True), (2, 6, 16)),
    function("dot_product_attention_masked", _masked_attention, _attention_inputs),
    function("dot_product_attention_causal", _causal_attention, _attention_inputs),
    _layer(
        "transformer_encoder_layer",
        lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True),
        (2, 5, 16),
    ),
    ExportModel(
        "embedding",
        lambda: nn.Embedding(20, 8, padding_idx=0),
        lambda: (torch.randint(0, 20, (3, 4)),),
    ),
    ExportModel(
        "embedding_bag_mean",
        lambda: nn.EmbeddingBag(10, 4),
        lambda: (torch.randint(0, 10, (2, 3)),),
    ),
    ExportModel(
        "embedding_bag_max_of_ragged",
        lambda: nn.EmbeddingBag(10, 4, mode="max"),
        lambda: (torch.randint(0, 10, (6,)), torch.tensor([0, 2, 2])),
    ),
    _layer("layer_norm", lambda: nn.LayerNorm(8), (3, 8)),
    _layer("rms_norm", lambda: nn.RMSNorm(8), (3, 8)),
    _layer("group_norm", lambda: nn.GroupNorm(2, 8), (2, 8, 4, 4)),
    _layer("batch_norm", lambda: nn.BatchNorm3d(2), (1, 2, 3, 3, 3)),
    _layer("instance_norm", lambda: nn.InstanceNorm2d(3, affine=True), (2, 3, 5, 5)),
    function(
        "pooling",
        lambda x: (
            functional.max_pool2d(x, 3, 2, 1),
            functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
            functional.adaptive_avg_pool2d(x, (2, 4)),
            functional.adaptive_avg_pool2d(x, 1),
            functional.lp_pool2d(x, 2, 2),
        ),
        lambda: (randn(1, 3, 9, 9),),
    ),
    function(
        "pooling_with_indices",
        lambda x: (
            functional.max_pool2d(x, 2, return_indices=True),
            functional.adaptive_max_pool2d(x, (2, 4), return_indices=True),
        ),
        lambda: (randn(1, 3, 9, 9),),
    ),
    function(
        "pooling_in_3d",
        lambda x: (
            functional.avg_pool3d(x, 2, padding=1),
            functional.max_pool3d(x, 2),
            functional.adaptive_avg_pool3d(x, 3),
        ),
        lambda: (randn(1, 2, 4, 4, 4),),
    ),
    function(
        "activations",
        lambda x: (
            functional.gelu(x),
            functional.gelu(x, approximate="tanh"),
            functional.silu(x),
            functional.mish(x),
            functional.elu(x),
            functional.selu(x),
            functional.leaky_relu(x),
            functional.softplus(x),
            functional.hardswish(x),
            functional.hardsigmoid(x),
            functional.relu6(x),
            functional.glu(x),
            functional.logsigmoid(x),
            functional.hardshrink(x),
            functional.softmax(x, -1),
            functional.log_softmax(x, 0),
        ),
        lambda: (randn(4, 6),),
    ),
    _layer("prelu", lambda: nn.PReLU(3), (2, 3, 4)),
    _layer("dropout", lambda: nn.Dropout(0.5), (3,)),
    function(
        "losses",
        lambda x, t: (
            functional.cross_entropy(x, t, label_smoothing=0.1),
            functional.nll_loss(functional.log_softmax(x, 1), t),
            functional.smooth_l1_loss(x, x * 2),
            functional.binary_cross_entropy_with_logits(x, torch.sigmoid(x)),
            functional.cosine_similarity(x, x * 2 + 1),
            functional.pairwise_distance(x, x * 2),
        ),
        lambda: (randn(4, 6), torch.randint(0, 6, (4,))),
    ),
    function(
        "resampling",
        lambda x: (
            functional.interpolate(x, scale_factor=2.0),
            functional.interpolate(x, size=(7, 5), mode="bilinear", align_corners=True),
            functional.interpolate(x, scale_factor=2.0, mode="bicubic"),
            functional.pixel_shuffle(x, 2),
            functional.unfold(x, 2),
        ),
        lambda: (randn(1, 4, 4, 4),),
    ),
    function(
        "padding",
        lambda x: (
            functional.pad(x, (1, 2, 0, 1), value=3.5),
            functional.pad(x, (1, 1, 1, 1), mode="reflect"),
            functional.pad(x, (1, 1, 2, 2), mode="replicate"),
            functional.pad(x, (1, 1, 1, 1), mode="circular"),
        ),
        lambda: (randn(1, 2, 4, 4),),
    ),
    function("cropping", lambda x: functional.pad(x, (-1, 1)), lambda: (randn(1, 2, 4, 4),)),
    function("randomized_relu", lambda x: functional.rrelu(x) + 1, lambda: (randn(4, 6),)),
]
