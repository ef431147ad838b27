"""Fine-tuning of the last two stages and the head, from cached maps of the frozen trunk.

The network has three outputs: quality as authentic photographs are judged (in standard deviations of
the training opinions), quality as synthetic damage is judged (on the scale of 1 to 5), and the
log-odds that the picture is of the second kind. Opinions of one source are only ever ranked and
regressed against others of the same source.
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

from training.network import Stages, pool

CROP = 20
TRUNK_POOLED = 544
TAIL_POOLED = 1024


@dataclass
class Photographs:
    """Rated photographs: stage-5 maps, pooled trunk statistics, standardised opinions."""

    maps: npt.NDArray[np.float16]
    pooled: npt.NDArray[np.float32]
    opinions: npt.NDArray[np.float32]
    rows: npt.NDArray[np.intp]


@dataclass
class Ladders:
    """Synthetic pictures in groups: each group is rows of one view and kind, weakest damage first."""

    maps: npt.NDArray[np.float16]
    pooled: npt.NDArray[np.float32]
    labels: npt.NDArray[np.float32]
    groups: list[npt.NDArray[np.intp]]


class QualityNetwork(nn.Module):
    """Stage-5 map and pooled trunk statistics to the three outputs."""

    def __init__(self, tail: Stages, centre: Tensor, spread: Tensor, hidden: int = 192) -> None:
        super().__init__()
        self.tail = tail
        self.register_buffer("centre", centre)
        self.register_buffer("spread", spread)
        self.first = nn.Linear(TRUNK_POOLED + TAIL_POOLED, hidden)
        self.last = nn.Linear(hidden, 3)
        self.dropout = nn.Dropout(0.3)

    def forward(self, stage5: Tensor, pooled: Tensor) -> Tensor:
        return self.judge(torch.cat([pooled, self.describe(stage5)], 1))

    def describe(self, stage5: Tensor) -> Tensor:
        """Pooled statistics of the two fine-tuned stages."""
        return torch.cat([pool(m) for m in self.tail(stage5)], 1)

    def judge(self, statistics: Tensor) -> Tensor:
        """The three outputs from all pooled statistics."""
        scaled = ((statistics - self.centre) / self.spread).clamp(-6, 6)
        return self.last(self.dropout(functional.relu(self.first(self.dropout(scaled)))))


def loss_of(outputs: Tensor, targets: Tensor, photographs: int, groups: list[int]) -> Tensor:
    """Regression and ranking within each source, and telling the sources apart."""
    authentic, synthetic, gate = outputs.unbind(1)
    source = torch.zeros_like(gate)
    source[photographs:] = 1
    total = 0.3 * functional.binary_cross_entropy_with_logits(gate, source)
    if photographs:
        total = total + functional.smooth_l1_loss(authentic[:photographs], targets[:photographs], beta=0.5)
        total = total + 0.5 * _ranking(authentic[:photographs], targets[:photographs], 0.25)
    if len(gate) > photographs:
        total = total + functional.smooth_l1_loss(synthetic[photographs:], targets[photographs:], beta=0.5)
        total = total + 0.3 * _ranking(synthetic[photographs:], targets[photographs:], 0.25)
        total = total + ladder_loss(synthetic[photographs:], groups, 0.25)
    return total


def _ranking(scores: Tensor, targets: Tensor, tolerance: float) -> Tensor:
    wanted = targets[:, None] - targets[None]
    found = scores[:, None] - scores[None]
    weight = (wanted > tolerance).float()
    return (weight * functional.softplus(-4 * found) / 4).sum() / weight.sum().clamp(min=1)


def ladder_loss(scores: Tensor, groups: list[int], margin: float) -> Tensor:
    """By how much steps of ladders fall short of the margin, in the mean."""
    steps = [functional.relu(margin - (part[:-1] - part[1:])) for part in scores.split(groups) if len(part) > 1]
    return torch.cat(steps).mean() if steps else scores.sum() * 0


def batches(
    photographs: Photographs | None, ladders: Ladders, steps: int, seed: int, size: int = 16
) -> Iterator[tuple[Tensor, Tensor, Tensor, int, list[int]]]:
    """Batches of random crops: photographs first, then whole ladders."""
    random = np.random.default_rng(seed)
    queue: list[int] = []
    for _ in range(steps):
        maps, pooled, targets = [], [], []
        if photographs is not None:
            if len(queue) < size:
                queue = list(random.permutation(photographs.rows))
            taken, queue = queue[:size], queue[size:]
            for row in taken:
                top, left = random.integers(0, photographs.maps.shape[2] - CROP + 1, 2)
                maps.append(photographs.maps[row][:, top : top + CROP, left : left + CROP])
            pooled.append(photographs.pooled[taken])
            targets.append(photographs.opinions[taken])
        chosen: list[npt.NDArray[np.intp]] = []
        while sum(map(len, chosen)) < size - 2:
            chosen.append(ladders.groups[random.integers(len(ladders.groups))])
        rows = np.concatenate(chosen)
        maps += [ladders.maps[row] for row in rows]
        stacked = torch.from_numpy(np.stack(maps).astype(np.float32))
        if random.random() < 0.5:
            stacked = stacked.flip(3)
        pooled.append(ladders.pooled[rows])
        targets.append(ladders.labels[rows])
        count = len(stacked) - len(rows)
        yield (
            stacked,
            torch.from_numpy(np.concatenate(pooled)),
            torch.from_numpy(np.concatenate(targets)),
            count,
            [len(g) for g in chosen],
        )


def warm_up(
    network: QualityNetwork,
    photographs: Photographs | None,
    ladders: Ladders,
    statistics: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]],
    steps: int,
    seed: int,
) -> None:
    """Train the head alone on cached statistics of the unchanged stages."""
    random = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW([*network.first.parameters(), *network.last.parameters()], 1e-3, weight_decay=1e-2)
    network.train()
    for _ in range(steps):
        parts, targets, count = [], [], 0
        if photographs is not None:
            rows = random.choice(photographs.rows, 96)
            parts, targets, count = [statistics[0][rows]], [photographs.opinions[rows]], 96
        chosen = [ladders.groups[i] for i in random.integers(len(ladders.groups), size=24)]
        together = np.concatenate(chosen)
        inputs = torch.from_numpy(np.concatenate([*parts, statistics[1][together]]))
        wanted = torch.from_numpy(np.concatenate([*targets, ladders.labels[together]]))
        loss = loss_of(network.judge(inputs), wanted, count, [len(g) for g in chosen])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


@dataclass(frozen=True)
class Course:
    """How a network is trained: rates of tail and head, steps to warm up, share of the running average kept, end."""

    rates: tuple[float, float]
    warming: int
    kept: float
    steps: int
    seconds: float


def fine_tune(
    network: QualityNetwork, photographs: Photographs | None, ladders: Ladders, steps: int, seed: int, seconds: float
) -> QualityNetwork:
    """Train tail and head together, at most for the given time, and return the running average of the weights."""
    course = Course((2e-4, 5e-4), 50, 0.995, steps, seconds)
    losses = (
        loss_of(network(maps, pooled), targets, count, sizes)
        for maps, pooled, targets, count, sizes in batches(photographs, ladders, steps, seed)
    )
    return follow(course, network, losses)


def follow(course: Course, network: QualityNetwork, losses: Iterator[Tensor]) -> QualityNetwork:
    """The running average of the weights after descending along each loss, which is asked for step by step."""
    head = [*network.first.parameters(), *network.last.parameters()]
    groups = [
        {"params": part, "lr": rate} for part, rate in zip((network.tail.parameters(), head), course.rates, strict=True)
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=1e-2)
    average = torch.optim.swa_utils.AveragedModel(
        network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(course.kept)
    )
    start, running = time.time(), 0.0
    network.train()
    for step, loss in enumerate(losses):
        # The rate follows whichever is further on, steps or time, so that a slow machine still ends cooled down.
        done = max(step / course.steps, (time.time() - start) / course.seconds)
        if done >= 1:
            break
        for group, rate in zip(optimiser.param_groups, course.rates, strict=True):
            group["lr"] = rate * min(1.0, (step + 1) / course.warming) * (0.02 + 0.49 * (1 + np.cos(np.pi * done)))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 2.0)
        optimiser.step()
        average.update_parameters(network)
        running = 0.98 * running + 0.02 * loss.item()
        if step % 50 == 0:
            print(f"step {step} loss {running:.4f} {time.time() - start:.0f} s", flush=True)
    averaged: QualityNetwork = average.module
    averaged.eval()
    return averaged
