"""Small networks, built as the large ones are."""

from __future__ import annotations

import torch
from torch import Tensor, nn, randn
from torch.nn import functional

from .model import ExportModel

__all__ = ["NETWORKS", "Decoder"]


class Residual(nn.Module):
    """The basic block of a ResNet."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
        )

    def forward(self, x: Tensor) -> Tensor:
        hidden = functional.relu(self.norm1(self.first(x)))
        return functional.relu(self.norm2(self.second(hidden)) + self.shortcut(x))


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, channels // 2, 1),
            nn.SiLU(),
            nn.Conv2d(channels // 2, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gate(x)


class InvertedResidual(nn.Module):
    """The block of MobileNetV3."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        wide = channels * 4
        self.body = nn.Sequential(
            nn.Conv2d(channels, wide, 1, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, 1, 1, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.Hardswish(),
            SqueezeExcite(wide),
            nn.Conv2d(wide, channels, 1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x)


class UNet(nn.Module):
    """One level down, and up again in two ways."""

    def __init__(self) -> None:
        super().__init__()

        def block(inputs: int, outputs: int) -> nn.Module:
            return nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()
            )

        self.down1, self.down2, self.joined = block(3, 8), block(8, 16), block(16, 8)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.resize = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.head, self.coarse_head = nn.Conv2d(8, 2, 1), nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        fine = self.down1(x)
        coarse = self.down2(functional.max_pool2d(fine, 2))
        joined = self.joined(torch.cat([fine, self.up(coarse)], 1))
        return self.head(joined), self.coarse_head(self.resize(coarse))


class VisionTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(randn(1, 1, 16))
        self.positions = nn.Parameter(randn(1, 17, 16))
        layer = nn.TransformerEncoderLayer(
            16, 2, 32, batch_first=True, activation="gelu", norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.encoder(x)[:, 0])


class RootMeanSquare(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def _rotated(x: Tensor, angles: Tensor) -> Tensor:
    left, right = x.chunk(2, -1)
    return x * angles.cos() + torch.cat([-right, left], -1) * angles.sin()


class Decoder(nn.Module):
    """One layer of a LLaMA: rotary embedding, grouped queries, gated MLP, tied weights."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.norm1, self.norm2 = RootMeanSquare(32), RootMeanSquare(32)
        self.query = nn.Linear(32, 32, bias=False)
        self.key_value = nn.Linear(32, 32, bias=False)
        self.output = nn.Linear(32, 32, bias=False)
        self.gate, self.up = nn.Linear(32, 64, bias=False), nn.Linear(32, 64, bias=False)
        self.down = nn.Linear(64, 32, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        batch, length, width = x.shape
        hidden = self.norm1(x)
        q = self.query(hidden).view(batch, length, 4, 8).transpose(1, 2)
        k, v = self.key_value(hidden).view(batch, length, 2, 2, 8).unbind(2)
        k = k.transpose(1, 2).repeat_interleave(2, 1)
        v = v.transpose(1, 2).repeat_interleave(2, 1)
        angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, 8, 2) / 8)
        angles = torch.cat([angles, angles], -1)
        attended = functional.scaled_dot_product_attention(
            _rotated(q, angles), _rotated(k, angles), v, is_causal=True
        )
        x = x + self.output(attended.transpose(1, 2).reshape(batch, length, width))
        hidden = self.norm2(x)
        x = x + self.down(functional.silu(self.gate(hidden)) * self.up(hidden))
        return x @ self.embedding.weight.T


class MixtureOfExperts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(8, 4)
        self.first, self.second = nn.Parameter(randn(4, 8, 16)), nn.Parameter(randn(4, 16, 8))

    def forward(self, x: Tensor) -> Tensor:
        weights, experts = torch.topk(self.router(x).softmax(-1), 2)
        weights = weights / weights.sum(-1, keepdim=True)
        hidden = functional.gelu(torch.einsum("td,tkdf->tkf", x, self.first[experts]))
        chosen = torch.einsum("tkf,tkfd->tkd", hidden, self.second[experts])
        return (chosen * weights[..., None]).sum(1)


class Encoder(nn.Module):
    """The embeddings, one attention and the pooler of a BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30, 16, padding_idx=0)
        self.places = nn.Embedding(12, 16)
        self.norm = nn.LayerNorm(16, eps=1e-12)
        self.query, self.key, self.value = (nn.Linear(16, 16) for _ in range(3))
        self.pool = nn.Linear(16, 16)
        self.position_ids = nn.Buffer(torch.arange(12)[None])

    def forward(self, tokens: Tensor, mask: Tensor) -> dict[str, Tensor]:
        batch, length = tokens.shape
        x = self.norm(self.words(tokens) + self.places(self.position_ids[:, :length]))
        hidden = (1.0 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min

        def heads(layer: nn.Module) -> Tensor:
            return layer(x).view(batch, length, 2, 8).permute(0, 2, 1, 3)

        scores = heads(self.query) @ heads(self.key).transpose(-1, -2) / 8**0.5 + hidden
        x = (scores.softmax(-1) @ heads(self.value)).permute(0, 2, 1, 3).contiguous()
        x = x.view(batch, length, 16)
        return {"hidden": x, "pooled": torch.tanh(self.pool(x[:, 0]))}


def _perceptron() -> nn.Module:
    return nn.Sequential(
        nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4)
    )


def _convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 4, 3, groups=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 10),
    )


def _channels_last(module: nn.Module) -> nn.Module:
    return module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def _image(size: int) -> tuple[Tensor]:
    return (randn(2, 3, size, size),)


def _tokens(count: int) -> Tensor:
    return torch.randint(0, count, (2, 7))


NETWORKS = [
    ExportModel("perceptron", _perceptron, lambda: (randn(2, 8),)),
    ExportModel("convolutional_network", _convolutional, lambda: _image(16)),
    ExportModel(
        "resnet", lambda: nn.Sequential(Residual(3, 8, 1), Residual(8, 16, 2)), lambda: _image(8)
    ),
    ExportModel("mobilenet", lambda: InvertedResidual(3), lambda: _image(6)),
    ExportModel(
        "mobilenet_channels_last",
        lambda: _channels_last(InvertedResidual(3)),
        lambda: (randn(1, 3, 6, 6).to(memory_format=torch.channels_last),),
    ),
    ExportModel("unet", UNet, lambda: _image(8)),
    ExportModel("vision_transformer", VisionTransformer, lambda: _image(16)),
    ExportModel("decoder", Decoder, lambda: (_tokens(50),)),
    ExportModel("mixture_of_experts", MixtureOfExperts, lambda: (randn(5, 8),)),
    ExportModel(
        "encoder", Encoder, lambda: (_tokens(30), torch.tensor([[1] * 7, [1] * 4 + [0] * 3]))
    ),
    ExportModel(
        "sequence_to_sequence",
        lambda: nn.Transformer(16, 2, 1, 1, 32, batch_first=True),
        lambda: (randn(1, 4, 16), randn(1, 5, 16)),
    ),
]
