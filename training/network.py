"""The convolutional network we train: EfficientNet-Lite stages with batch normalisation folded away."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

STAGES = 7
TRUNK_STAGES = 5
FOLDED_EPSILON = 1e-3


@dataclass(frozen=True)
class BlockShape:
    """One inverted-residual block, as the architecture's table gives it."""

    stage: int
    inputs: int
    outputs: int
    expansion: int
    kernel: int
    stride: int


# stage, channels, expansion, kernel, stride and repeats of EfficientNet-Lite0
LITE0 = (
    (1, 16, 1, 3, 1, 1),
    (2, 24, 6, 3, 2, 2),
    (3, 40, 6, 5, 2, 2),
    (4, 80, 6, 3, 2, 3),
    (5, 112, 6, 5, 1, 3),
    (6, 192, 6, 5, 2, 4),
    (7, 320, 6, 3, 1, 1),
)


def block_shapes() -> list[BlockShape]:
    """Every block of the network in order."""
    shapes, inputs = [], 32
    for stage, outputs, expansion, kernel, stride, repeats in LITE0:
        for repeat in range(repeats):
            shapes.append(BlockShape(stage, inputs, outputs, expansion, kernel, stride if repeat == 0 else 1))
            inputs = outputs
    return shapes


class Convolution(nn.Module):
    """A convolution with bias whose stride-2 form pads below and to the right, as the start weights expect."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        super().__init__()
        total = kernel - stride if stride > 1 else kernel - 1
        before = total // 2
        self.padding = (before, total - before, before, total - before) if stride > 1 else None
        inner = 0 if stride > 1 else kernel // 2
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding=inner, groups=groups)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(functional.pad(x, self.padding) if self.padding else x)


class Block(nn.Module):
    """An inverted residual: widen, filter each channel, narrow, add the input back where shapes agree."""

    def __init__(self, shape: BlockShape) -> None:
        super().__init__()
        wide = shape.inputs * shape.expansion
        self.expand = Convolution(shape.inputs, wide, 1) if shape.expansion != 1 else None
        self.depthwise = Convolution(wide, wide, shape.kernel, shape.stride, groups=wide)
        self.project = Convolution(wide, shape.outputs, 1)
        self.residual = shape.stride == 1 and shape.inputs == shape.outputs

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu6(self.expand(x)) if self.expand is not None else x
        y = self.project(functional.relu6(self.depthwise(y)))
        return x + y if self.residual else y


class Stages(nn.Module):
    """A run of stages; gives the map after each of them."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__()
        self.stem = Convolution(3, 32, 3, 2) if first == 1 else None
        kept = [s for s in block_shapes() if first <= s.stage <= last]
        self.blocks = nn.ModuleList(Block(s) for s in kept)
        following = [s.stage for s in kept[1:]] + [0]
        self.ends = [i for i, s in enumerate(kept) if following[i] != s.stage]

    def forward(self, x: Tensor) -> list[Tensor]:
        if self.stem is not None:
            x = functional.relu6(self.stem(x))
        maps = []
        for index, block in enumerate(self.blocks):
            x = block(x)
            if index in self.ends:
                maps.append(x)
        return maps


def pool(feature_map: Tensor) -> Tensor:
    """Mean and standard deviation of each channel over the picture."""
    flat = feature_map.flatten(2)
    mean = flat.mean(2)
    variance = (flat - mean.unsqueeze(2)).square().mean(2)
    return torch.cat([mean, (variance + 1e-6).sqrt()], 1)


def start_weights(path: str) -> dict[str, Tensor]:
    """The published ImageNet weights of EfficientNet-Lite0, read as plain tensors."""
    return dict(torch.load(path, map_location="cpu", weights_only=True))


def load_stages(first: int, last: int, weights: dict[str, Tensor]) -> Stages:
    """The stages asked for, carrying the published weights with normalisation folded in."""
    stages = Stages(first, last)
    if stages.stem is not None:
        _fold(stages.stem.conv, weights, "_conv_stem", "_bn0")
    shapes = block_shapes()
    kept = [i for i, s in enumerate(shapes) if first <= s.stage <= last]
    for block, index in zip(stages.blocks, kept, strict=True):
        prefix = f"_blocks.{index}."
        if block.expand is not None:
            _fold(block.expand.conv, weights, prefix + "_expand_conv", prefix + "_bn0")
        _fold(block.depthwise.conv, weights, prefix + "_depthwise_conv", prefix + "_bn1")
        _fold(block.project.conv, weights, prefix + "_project_conv", prefix + "_bn2")
    return stages


def _fold(conv: nn.Conv2d, weights: dict[str, Tensor], kernel: str, norm: str) -> None:
    scale = weights[norm + ".weight"] / (weights[norm + ".running_var"] + FOLDED_EPSILON).sqrt()
    with torch.no_grad():
        conv.weight.copy_(weights[kernel + ".weight"] * scale[:, None, None, None])
        conv.bias.copy_(weights[norm + ".bias"] - weights[norm + ".running_mean"] * scale)
