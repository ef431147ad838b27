"""A second hidden layer beside the published head's: what it makes of pictures the first was never shown.

The tails are kept as they are; here only heads learn. The new units see trunk, research tail and open tail, start from
nothing and add to the three outputs (authentic, synthetic, gate). They are taught by the rated photographs, copies that
keep their opinion (black and white among them), ladders of spoilt photographs and synthetic ladders at once, and pay
for every change of a rated photograph's score, so that they change where there is a reason to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

Rows = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float32]
UNITS = 128


@dataclass(frozen=True)
class Group:
    """Rows of one view and kind, weakest damage first, and by how much each step must fall."""

    rows: Rows
    margins: Floats


@dataclass(frozen=True)
class Lessons:
    """Standardised statistics and what is wanted of them; opinions are in standard deviations, quality from 1 to 5."""

    rated: Floats
    opinions: Floats
    taught: Rows
    copies: Floats
    copied: Rows
    spoilt: Floats
    spoilt_opinions: Floats
    spoilt_quality: Floats
    spoilt_groups: list[Group]
    synthetic: Floats
    synthetic_opinions: Floats
    synthetic_quality: Floats
    synthetic_groups: list[Group]


class Correction(nn.Module):
    """The new units and what they add to the three outputs."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, UNITS)
        self.last = nn.Linear(UNITS, 3)
        self.dropout = nn.Dropout(0.3)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, statistics: Tensor) -> Tensor:
        found: Tensor = self.last(self.dropout(functional.relu(self.first(self.dropout(statistics)))))
        return found


@dataclass(frozen=True)
class Course:
    """Steps, learning rate, and weights: of rated photographs, of changing their scores, of copies, of spoilt ones."""

    steps: int = 4000
    rate: float = 2.5e-4
    rated: float = 3.0
    change: float = 0.6
    copies: float = 1.5
    spoilt: float = 0.6


def correct(published: nn.Module, lessons: Lessons, course: Course, seed: int) -> Correction:
    """The running average of the correction after the course."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    correction = Correction(lessons.rated.shape[1])
    optimiser = torch.optim.AdamW(correction.parameters(), course.rate, weight_decay=3e-2)
    average = {name: value.clone() for name, value in correction.state_dict().items()}
    correction.train()
    for step in range(course.steps):
        cooled = 0.02 + 0.49 * (1 + np.cos(np.pi * step / course.steps))
        optimiser.param_groups[0]["lr"] = course.rate * min(1.0, (step + 1) / 50) * cooled
        loss = _loss(published, correction, lessons, course, random)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        with torch.no_grad():
            for name, value in correction.state_dict().items():
                average[name].mul_(0.98).add_(value, alpha=0.02)
    correction.load_state_dict(average)
    return correction.eval()


def _loss(
    published: nn.Module, correction: Correction, lessons: Lessons, course: Course, random: np.random.Generator
) -> Tensor:
    taught, copied = random.choice(lessons.taught, 96), random.choice(len(lessons.copied), 48)
    spoilt = [lessons.spoilt_groups[i] for i in random.integers(len(lessons.spoilt_groups), size=12)]
    made = [lessons.synthetic_groups[i] for i in random.integers(len(lessons.synthetic_groups), size=8)]
    spoilt_rows, made_rows = (np.concatenate([group.rows for group in groups]) for groups in (spoilt, made))
    parts = [lessons.rated[taught], lessons.copies[copied], lessons.spoilt[spoilt_rows], lessons.synthetic[made_rows]]
    statistics = torch.from_numpy(np.concatenate(parts))
    change = correction(statistics)
    outputs = (published(statistics) + change).split([len(part) for part in parts])
    opinions = torch.from_numpy(lessons.opinions)
    total = course.rated * _agreement(outputs[0][:, 0], opinions[taught], 0.5)
    total = total + course.change * change[: len(taught), 0].square().mean()
    total = total + course.copies * _regression(outputs[1][:, 0], opinions[lessons.copied[copied]])
    total = total + _spoilt_loss(outputs[2], lessons, spoilt, spoilt_rows, course.spoilt)
    total = total + _synthetic_loss(outputs[3], lessons, made, made_rows)
    gates = torch.cat([part[:, 2] for part in outputs])
    source = torch.zeros_like(gates)
    source[-len(made_rows) :] = 1
    return total + 0.3 * functional.binary_cross_entropy_with_logits(gates, source)


def _spoilt_loss(outputs: Tensor, lessons: Lessons, groups: list[Group], rows: Rows, weight: float) -> Tensor:
    authentic, synthetic, gate = outputs.unbind(1)
    opinions, quality = (torch.from_numpy(v[rows]) for v in (lessons.spoilt_opinions, lessons.spoilt_quality))
    total = weight * (0.8 * _regression(authentic, opinions) + 2 * _falling(authentic, groups))
    total = total + 0.5 * _regression(synthetic, quality) + 0.5 * _falling(synthetic, groups)
    return total + 0.05 * torch.stack([part.var() for part in gate.split([len(g.rows) for g in groups])]).mean()


def _synthetic_loss(outputs: Tensor, lessons: Lessons, groups: list[Group], rows: Rows) -> Tensor:
    quality, opinions = (torch.from_numpy(v[rows]) for v in (lessons.synthetic_quality, lessons.synthetic_opinions))
    total = _agreement(outputs[:, 1], quality, 0.3) + _falling(outputs[:, 1], groups)
    # Both judges on one scale, so that the score does not jump where the gate turns from one to the other.
    return total + 0.5 * _regression(outputs[:, 0], opinions) + 0.5 * _falling(outputs[:, 0], groups, 0.4)


def _agreement(scores: Tensor, wanted: Tensor, ranking: float) -> Tensor:
    apart, found = wanted[:, None] - wanted[None], scores[:, None] - scores[None]
    weight = (apart > 0.25).float()
    order = (weight * functional.softplus(-4 * found) / 4).sum() / weight.sum().clamp(min=1)
    return _regression(scores, wanted) + ranking * order


def _regression(scores: Tensor, wanted: Tensor) -> Tensor:
    return functional.smooth_l1_loss(scores, wanted, beta=0.5)


def _falling(scores: Tensor, groups: list[Group], share: float = 1.0) -> Tensor:
    """By how much steps fall short of (a share of) their margins, in the mean."""
    parts = zip(scores.split([len(group.rows) for group in groups]), groups, strict=True)
    return torch.cat(
        [functional.relu(share * torch.from_numpy(g.margins) - (p[:-1] - p[1:])) for p, g in parts]
    ).mean()  # fmt: skip
