"""Tune one more tail: stages six and seven taught by several sources of opinions and by labelled flaws at once.

    python -m training.tune_tail --data DATA --maps CACHE --start src/agenticiqa/weights/tail_open.onnx --out FILE

Every source has a linear output of its own on the pooled statistics, so that the stages are shared and the scales are
not. Opinions are ranked within their source. Fold 0 of BIQ2021 and of MMP-2K are in no batch; the sources that choose
(PCUID, HECD) neither. The shipped stages are a running average of the weights.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional

from training.export import export_tail
from training.network import STAGES, TRUNK_STAGES, Stages, pool
from training.rated_maps import RatedMaps, load_rated_maps

SHARES = {"biq2021": 10, "mmp2k": 8, "fsqd": 4}
CROP = 22
RATE, WARM_STEPS, AVERAGING = 2e-4, 60, 0.995


class Taught(nn.Module):
    """The stages and, per source, outputs for its opinions and its labelled flaws."""

    def __init__(self, tail: Stages, centre: Tensor, spread: Tensor, flaws: dict[str, int]) -> None:
        super().__init__()
        self.tail = tail
        self.register_buffer("centre", centre)
        self.register_buffer("spread", spread)
        self.opinions = nn.ModuleDict({name: nn.Linear(len(centre), 1) for name in SHARES})
        self.flaws = nn.ModuleDict({name: nn.Linear(len(centre), count) for name, count in flaws.items()})
        self.dropout = nn.Dropout(0.2)

    def describe(self, stage5: Tensor) -> Tensor:
        """Standardised statistics of both stages."""
        pooled = torch.cat([pool(stage) for stage in self.tail(stage5)], 1)
        return self.dropout(((pooled - self.centre) / self.spread).clamp(-6, 6))


def start_tail(path: Path) -> Stages:
    """The stages of a tail that was exported before."""
    stages = Stages(TRUNK_STAGES + 1, STAGES)
    given = {w.name.removesuffix("_half"): numpy_helper.to_array(w) for w in onnx.load(str(path)).graph.initializer}
    wanted = {f"stages.{name}": name for name in stages.state_dict()}
    stages.load_state_dict({short: torch.from_numpy(given[name].astype(np.float32)) for name, short in wanted.items()})
    return stages.to(memory_format=torch.channels_last)


@dataclass(frozen=True)
class Batch:
    """Crops of one source with what is known of them; flaws are NaN where nobody looked."""

    source: str
    maps: Tensor
    opinions: Tensor
    flaws: Tensor


def batches(sources: dict[str, RatedMaps], steps: int, seed: int) -> Iterator[list[Batch]]:
    """For every step a random part of each source, as random crops of its maps."""
    random = np.random.default_rng(seed)
    queues: dict[str, list[int]] = {name: [] for name in SHARES}
    for _ in range(steps):
        found = []
        for name, count in SHARES.items():
            if len(queues[name]) < count:
                queues[name] = list(random.permutation(sources[name].taught))
            rows, queues[name] = np.array(queues[name][:count]), queues[name][count:]
            crops = torch.from_numpy(np.stack([_crop(sources[name].map(row), random) for row in rows]))
            crops = crops.to(torch.float32).contiguous(memory_format=torch.channels_last)
            known = (sources[name].ranks, sources[name].flaws)
            found.append(Batch(name, crops, *(torch.from_numpy(values[rows].astype(np.float32)) for values in known)))
        yield found


def _crop(stage5: npt.NDArray[np.float16], random: np.random.Generator) -> npt.NDArray[np.float16]:
    top, left = (int(random.integers(0, side - CROP + 1)) for side in stage5.shape[1:])
    part = stage5[:, top : top + CROP, left : left + CROP]
    return np.ascontiguousarray(part[:, :, ::-1] if random.random() < 0.5 else part)


def loss_of(network: Taught, parts: list[Batch]) -> Tensor:
    """Regression and ranking of opinions within each source, and the flaws."""
    described = network.describe(torch.cat([part.maps for part in parts])).split([len(part.maps) for part in parts])
    total = torch.zeros(())
    for part, seen in zip(parts, described, strict=True):
        opinion = network.opinions[part.source](seen)[:, 0]
        total = total + functional.smooth_l1_loss(opinion, part.opinions, beta=0.5)
        total = total + 0.5 * ranking(opinion, part.opinions)
        if part.source in network.flaws and (known := ~part.flaws.isnan()).any():
            error = functional.smooth_l1_loss(network.flaws[part.source](seen)[known], part.flaws[known], beta=0.5)
            total = total + 0.7 * error
    return total


def ranking(scores: Tensor, wanted: Tensor) -> Tensor:
    """How far pairs stand in the wrong order."""
    apart, found = wanted[:, None] - wanted[None], scores[:, None] - scores[None]
    weight = (apart > 0.25).float()
    return (weight * functional.softplus(-4 * found) / 4).sum() / weight.sum().clamp(min=1)


def tune(sources: dict[str, RatedMaps], start: Path, out: Path, steps: int, minutes: float, seed: int) -> None:
    """Warm the outputs up on unchanged stages, then tune everything; the running average is written now and then."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    tail = start_tail(start)
    with torch.no_grad():
        first = torch.cat([part.maps for step in batches(sources, 12, seed + 1) for part in step])
        seen = torch.cat([torch.cat([pool(s) for s in tail(part)], 1) for part in first.split(24)])
    flaws = {name: source.flaws.shape[1] for name, source in sources.items() if source.flaws.shape[1]}
    network = Taught(tail, seen.mean(0), seen.std(0) + 1e-3, flaws)
    outputs = [*network.opinions.parameters(), *network.flaws.parameters()]
    optimiser = torch.optim.AdamW([{"params": outputs}, {"params": tail.parameters()}], RATE, weight_decay=1e-2)
    average = {name: value.clone() for name, value in tail.state_dict().items()}
    began, told = time.monotonic(), 0.0
    for step, parts in enumerate(batches(sources, steps, seed)):
        done = max(step / steps, (time.monotonic() - began) / (60 * minutes))
        if done >= 1:
            break
        cooled = 0.02 + 0.49 * (1 + np.cos(np.pi * done))
        optimiser.param_groups[0]["lr"] = 5 * RATE * cooled
        optimiser.param_groups[1]["lr"] = RATE * cooled * min(1.0, max(0, step - WARM_STEPS) / 50)
        loss = loss_of(network, parts)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        share = min(AVERAGING, (step + 1) / (step + 50))
        for name, value in tail.state_dict().items():
            average[name].mul_(share).add_(value.detach(), alpha=1 - share)
        told = 0.98 * told + 0.02 * float(loss.detach())
        if step % 100 == 99:
            print(step + 1, round(time.monotonic() - began), round(told / (1 - 0.98 ** (step + 1)), 4), flush=True)
        if step % 400 == 399:
            torch.save(average, out.with_suffix(".pt"))
    tail.load_state_dict(average)
    torch.save(average, out.with_suffix(".pt"))
    export_tail(tail, out)


def main() -> None:
    """Tune and write one tail."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "maps", "start", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--seed", type=int, default=8)
    given = parser.parse_args()
    sources = load_rated_maps(given.data, given.maps, SHARES)
    tune(sources, given.start, given.out, given.steps, given.minutes, given.seed)


if __name__ == "__main__":
    main()
