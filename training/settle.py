"""The last stretch of fine-tuning: photographs people rated learn to get worse.

After `training.finetune` the judge of authentic photographs has never seen one damaged on purpose, and the gate
takes any damage for a sign of the clean source. Here batches also hold ladders of rated photographs: the authentic
judge must follow them down, the gate must stay with it, and the other judge must agree as far as it can.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.finetune import CROP, TRUNK_POOLED, Ladders, Photographs, QualityNetwork, batches, ladder_loss, loss_of
from training.quality_data import Spoilt

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
    network: QualityNetwork, photographs: Photographs, ladders: Ladders, spoilt: Spoilt,
    on_scale: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]], steps: int, seed: int, seconds: float,
) -> QualityNetwork:  # fmt: skip
    """Train tail and head on, at most for the given time, and return the running average of the weights."""
    rates, start, running = (1e-4, 3e-4), time.time(), 0.0
    groups = [
        {"params": network.tail.parameters(), "lr": rates[0]},
        {"params": [*network.first.parameters(), *network.last.parameters()], "lr": rates[1]},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=1e-2)
    average = torch.optim.swa_utils.AveragedModel(
        network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99)
    )
    network.train()
    both = zip(
        batches(photographs, ladders, steps, seed), spoilt_batches(photographs, spoilt, on_scale, seed), strict=False
    )
    for step, ((maps, pooled, targets, count, sizes), worse) in enumerate(both):
        done = max(step / steps, (time.time() - start) / seconds)
        if done >= 1:
            break
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * min(1.0, (step + 1) / 30) * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * done)))
        outputs = network(torch.cat([maps, worse.maps]), torch.cat([pooled, worse.pooled]))
        loss = loss_of(outputs[: len(maps)], targets, count, sizes) + spoilt_loss(outputs[len(maps) :], worse)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 2.0)
        optimiser.step()
        average.update_parameters(network)
        running = 0.95 * running + 0.05 * loss.item()
        if step % 25 == 0:
            print(f"step {step} loss {running:.4f} {time.time() - start:.0f} s", flush=True)
    settled = average.module
    settled.eval()
    return settled


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


def spoilt_batches(
    photographs: Photographs, spoilt: Spoilt,
    on_scale: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]], seed: int,
) -> Iterator[Batch]:  # fmt: skip
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
            quality.append(np.append(np.interp(photographs.opinions[row], *on_scale), spoilt.quality[rows]))
        yield Batch(
            torch.from_numpy(np.concatenate(maps).astype(np.float32)),
            torch.from_numpy(np.concatenate(pooled)),
            torch.from_numpy(np.concatenate(opinions).astype(np.float32)),
            torch.from_numpy(np.concatenate(quality).astype(np.float32)),
        )
