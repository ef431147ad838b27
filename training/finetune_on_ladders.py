"""The last stretch of fine-tuning: photographs people rated learn to get worse.

After `training.finetune` the judge of authentic photographs has never seen one damaged on purpose, and the gate
takes any damage for a sign of the clean source. Here batches also hold ladders of rated photographs: the authentic
judge must follow them down, the gate must stay with it, and the other judge must agree as far as it can.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from training.finetune import (
    CROP,
    TRUNK_POOLED,
    Course,
    Ladders,
    Photographs,
    QualityNetwork,
    batches,
    follow,
    ladder_loss,
    loss_of,
)
from training.quality_data import Spoilt

# Opinions in standard deviations and the qualities they stand for.
Scale = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]

STEPS_OF_A_LADDER = 6
LADDERS = 3
# Standard deviations of the opinions; a step of damage is about half of one.
MARGIN = 0.12


@dataclass(frozen=True)
class Batch:
    """Whole ladders, each from the photograph as it was rated to its worst."""

    maps: Tensor
    pooled: Tensor
    opinions: Tensor
    quality: Tensor


def settle(
    network: QualityNetwork, photographs: Photographs, ladders: Ladders, spoilt: Spoilt, scale: Scale,
    steps: int, seed: int, seconds: float,
) -> QualityNetwork:  # fmt: skip
    """Train tail and head on, at most for the given time, and return the running average of the weights."""
    usual, worse = batches(photographs, ladders, steps, seed), spoilt_batches(photographs, spoilt, scale, seed)
    losses = (_loss(network, *both) for both in zip(usual, worse, strict=False))
    return follow(Course((1e-4, 3e-4), 30, 0.99, steps, seconds), network, losses)


def _loss(network: QualityNetwork, usual: tuple[Tensor, Tensor, Tensor, int, list[int]], worse: Batch) -> Tensor:
    maps, pooled, targets, count, sizes = usual
    outputs = network(torch.cat([maps, worse.maps]), torch.cat([pooled, worse.pooled]))
    return loss_of(outputs[: len(maps)], targets, count, sizes) + spoilt_loss(outputs[len(maps) :], worse)


def spoilt_loss(outputs: Tensor, batch: Batch) -> Tensor:
    """Both judges follow the ladders down; the gate stays with the judge of authentic photographs."""
    authentic, synthetic, gate = outputs.unbind(1)
    sizes = [STEPS_OF_A_LADDER] * (len(gate) // STEPS_OF_A_LADDER)
    return (
        functional.smooth_l1_loss(authentic, batch.opinions, beta=0.5)
        + 2 * ladder_loss(authentic, sizes, MARGIN)
        + 0.3 * functional.smooth_l1_loss(synthetic, batch.quality, beta=0.5)
        + 0.3 * functional.binary_cross_entropy_with_logits(gate, torch.zeros_like(gate))
        + 0.05 * _spread(gate, sizes)
    )


def _spread(gate: Tensor, sizes: list[int]) -> Tensor:
    """How much the gate moves along ladders."""
    return torch.stack([part.var() for part in gate.split(sizes)]).mean()


def spoilt_batches(photographs: Photographs, spoilt: Spoilt, scale: Scale, seed: int) -> Iterator[Batch]:
    """Ladders drawn at random without end, every picture of one cut at the same place."""
    random = np.random.default_rng(seed)
    starts = np.nonzero(spoilt.training)[0][:: STEPS_OF_A_LADDER - 1]
    while True:
        maps, pooled, opinions, quality = [], [], [], []
        for first in random.choice(starts, LADDERS, replace=False):
            rows, row = np.arange(first, first + STEPS_OF_A_LADDER - 1), spoilt.photographs[first]
            top, left = random.integers(0, spoilt.maps.shape[2] - CROP + 1, 2)
            whole = np.concatenate([photographs.maps[row][None], spoilt.maps[rows]])
            maps.append(whole[:, :, top : top + CROP, left : left + CROP])
            pooled.append(np.concatenate([photographs.pooled[row][None], spoilt.statistics[rows][:, :TRUNK_POOLED]]))
            opinions.append(np.append(photographs.opinions[row], spoilt.opinions[rows]))
            quality.append(np.append(np.interp(photographs.opinions[row], *scale), spoilt.quality[rows]))
        yield Batch(
            torch.from_numpy(np.concatenate(maps).astype(np.float32)),
            torch.from_numpy(np.concatenate(pooled)),
            torch.from_numpy(np.concatenate(opinions).astype(np.float32)),
            torch.from_numpy(np.concatenate(quality).astype(np.float32)),
        )
