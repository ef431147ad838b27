"""The no-reference quality model: how good people would find a picture, how sure that is, and where it is worst.

`load_quality_model(terms).judge(image)` gives a `QualityJudgement`. The model is loaded once per
process and terms, holds no state that changes, and sums in one fixed order: the same picture has the
same score in any thread, process or batch. Large pictures are judged at the working size described in
`backbone.features`; nothing else is resized.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from agenticiqa.backbone.features import Backbone, Features, load_backbone
from agenticiqa.backbone.tail import Tail, Terms, load_tail
from agenticiqa.backbone.weight_files import read_arrays
from agenticiqa.images import LoadedImage
from agenticiqa.perception.quality_domain import OutOfDomain, find_out_of_domain
from agenticiqa.perception.quality_grain import colour_grain
from agenticiqa.perception.quality_head import Estimate, QualityHead
from agenticiqa.perception.quality_levels import level_probabilities
from agenticiqa.perception.quality_map import LocalQuality, map_quality
from agenticiqa.state import Region

Pixels = npt.NDArray[np.uint8]
# Outside its domain the model's error is unknown; its interval is widened by this factor.
WIDENING = 2.0


@dataclass(frozen=True)
class QualityJudgement:
    """Quality from 1 to 5 with its level probabilities (levels 1 to 5), 95 % interval, doubts and places."""

    score: float
    probabilities: tuple[float, float, float, float, float]
    interval: tuple[float, float]
    out_of_domain: OutOfDomain | None
    synthetic: float
    local_quality: npt.NDArray[np.float64] = field(repr=False)
    worst_region: Region
    scale: float

    @property
    def reason(self) -> str | None:
        """Why the judgement is doubtful, in words."""
        doubt = self.out_of_domain
        return f"{doubt.kind}: {doubt.reason}" if doubt else None


class QualityModel:
    """The shared trunk, the last stages of network and kernel, and the fitted heads."""

    def __init__(self, backbone: Backbone, tuned: Tail, likeness: Tail, head: QualityHead) -> None:
        self._backbone = backbone
        self._tuned = tuned
        self._likeness = likeness
        self._head = head

    def judge(self, image: Pixels | LoadedImage) -> QualityJudgement:
        """The judgement of one picture."""
        pixels = image.pixels if isinstance(image, LoadedImage) else image
        return self.judge_features(self._backbone.features(pixels), (pixels.shape[0], pixels.shape[1]))

    def judge_all(self, images: Iterable[Pixels | LoadedImage]) -> list[QualityJudgement]:
        """One judgement per picture, each exactly as if it were alone."""
        return [self.judge(image) for image in images]

    def judge_features(self, features: Features, size: tuple[int, int]) -> QualityJudgement:
        """The judgement from features somebody already has; `size` is the picture's own (height, width)."""
        estimate, local = self._look(features, size)
        doubt = find_out_of_domain(features.working)
        score = min(estimate.quality, doubt.ceiling) if doubt else estimate.quality
        error = estimate.error * (WIDENING if doubt else 1.0)
        return QualityJudgement(
            score, level_probabilities(score, error), self._head.interval(score, error), doubt,
            estimate.synthetic, local.grid, local.worst, features.scale,
        )  # fmt: skip

    def _look(self, features: Features, size: tuple[int, int]) -> tuple[Estimate, LocalQuality]:
        tuned = self._tuned.features(features.maps[-1])
        likeness = tuned if self._likeness is self._tuned else self._likeness.features(features.maps[-1])
        network, kernel = (np.concatenate([features.pooled, last.pooled]) for last in (tuned, likeness))
        estimate = self._head.estimate(network, kernel, colour_grain(features.working))
        height, width = features.working.shape[:2]
        maps = [*features.maps, *tuned.maps]
        return estimate, map_quality(self._head, maps, (height, width), size, estimate.synthetic)


@lru_cache(maxsize=2)
def load_quality_model(terms: Terms = "research") -> QualityModel:
    """The quality model fitted under these terms, loaded once per process."""
    head = QualityHead(read_arrays(f"quality_{terms}.npz"))
    # Stages tuned on the rated photographs know them by heart: what resembles them is told by the other set's.
    return QualityModel(load_backbone(), load_tail(terms), load_tail("open"), head)


def judge(image: Pixels | LoadedImage, terms: Terms = "research") -> QualityJudgement:
    """The judgement of one picture by the model of these terms."""
    return load_quality_model(terms).judge(image)


def aiqa_nr(pixels: Pixels, terms: Terms = "research") -> float:
    """The score alone, 1 to 5: the raw value of the tool AIQA_NR."""
    return judge(pixels, terms).score
