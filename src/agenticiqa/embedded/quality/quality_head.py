"""From pooled statistics to a quality and its uncertainty: plain arrays, no framework.

Two judges look at a picture. One was taught by opinions of photographs as cameras and people spoil them
(`authentic`), and by such photographs spoilt further; the other by clean ones damaged on purpose (`synthetic`). A
gate says how far the second knows this kind of picture. It never takes over whole: on a photograph of neither source
the gate may turn with the damage, and the score must not jump from one judge to the other.
Each judge is itself two models of different make whose mean errs less than either: a network on the statistics of
trunk and tuned stages, and a kernel regression. How far they disagree is part of the uncertainty. The regression of
opinions knows nothing far from the rated photographs, so its share fades there. Faint colour noise, which neither sees
well, costs the second judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Arrays = Mapping[str, npt.NDArray[Any]]

JUDGES = ("authentic", "synthetic")
CLIP = 6.0
KNEE = 0.5
# What resembles neither rated photographs nor known damage may be wrong twice as far.
STRANGE_WIDENING = 2.0


@dataclass(frozen=True)
class Estimate:
    """Quality from 1 to 5, its standard error, how synthetic the damage looks (0 to 1), what the error is told by."""

    quality: float
    error: float
    synthetic: float
    terms: Values


class QualityHead:
    """The fitted heads of one set of weights."""

    def __init__(self, arrays: Arrays) -> None:
        # Matrices are stored in 16 bits or in bytes: 32 lose nothing of them, and 64 would take three times as long.
        self._arrays: dict[str, npt.NDArray[Any]] = {
            name: np.asarray(value, np.float64 if np.ndim(value) < 2 else np.float32) for name, value in arrays.items()
        }
        if "authentic_step" in arrays:
            # Ten thousand points are stored as bytes, in steps of each component.
            self._arrays["authentic_points"] *= self._arrays["authentic_step"]
        # Tests and fits build heads of which a part is missing.
        known = {name: self._arrays[f"{name}_points"] for name in JUDGES if f"{name}_points" in self._arrays}
        self._lengths = {name: np.einsum("pc,pc->p", points, points) for name, points in known.items()}

    def estimate(self, tuned: npt.ArrayLike, likeness: npt.ArrayLike, grain: float, hidden: float = 0.0) -> Estimate:
        """The judgement of one picture from the statistics network and kernel look at, and its colour grain.

        Both begin with the trunk's and end with the open tail's; the research network sees its own between them.
        `hidden` is what damage costs that these statistics do not show.
        """
        outputs = self.network(np.asarray(tuned, np.float64)[None])
        apart = {name: self._distances(name, np.asarray(likeness, np.float64)[None]) for name in JUDGES}
        kernel = np.stack([self._regression(name, apart[name]) for name in JUDGES], 1)
        novelty = self._far_from_all(apart["authentic"])
        quality, synthetic, disagreement = self.combine(outputs, kernel, np.array([grain]), np.array([hidden]), novelty)
        terms = error_terms(quality, disagreement, novelty, self.strangeness(novelty, synthetic))
        return Estimate(float(quality[0]), float(self.error(terms)[0]), float(synthetic[0]), terms[0])

    def tone_cost(self, tones: float) -> float:
        """What a narrow range of grey levels costs, as in a picture far too dark or flat: nothing from `wide` on."""
        wide, narrow, most = self._arrays["tones"]
        return float(most * np.clip((wide - tones) / (wide - narrow), 0.0, 1.0))

    def cast_cost(self, pooled: npt.ArrayLike, tint: float) -> float:
        """What a colour cast costs that both the trunk and the least tinted pixels show; `open` knows of none."""
        a = self._arrays
        if "cast_weights" not in a:
            return 0.0
        seen = len(a["cast_weights"])
        scaled = np.clip((np.asarray(pooled, np.float64) - a["centre"][:seen]) / a["spread"][:seen], -CLIP, CLIP)
        usual, sure, untinted, tinted, most = a["cast"]
        found = np.clip((scaled @ a["cast_weights"] + a["cast_offset"] - usual) / (sure - usual), 0.0, 1.0)
        return float(most * found * np.clip((tint - untinted) / (tinted - untinted), 0.0, 1.0))

    def closeup_cost(self, statistics: npt.ArrayLike) -> float:
        """What a square at the picture's own resolution costs: nothing down to a usual softness, then ever more."""
        usual, share, most = self._arrays["closeup"]
        outputs = self.network(np.asarray(statistics, np.float64)[None])
        return float(np.clip(share * (usual - self.on_scale(outputs[:, 0])[0]), 0.0, most))

    def network(self, statistics: Values) -> Values:
        """Three numbers a row: authentic quality (standardised), synthetic quality (1–5), log-odds of synthetic."""
        a = self._arrays
        scaled = np.clip((statistics - a["centre"]) / a["spread"], -CLIP, CLIP)
        hidden = np.maximum(scaled.astype(np.float32) @ a["first_weight"] + a["first_bias"], 0)
        return np.asarray(hidden @ a["last_weight"] + a["last_bias"])

    def kernel(self, statistics: Values) -> Values:
        """Two numbers a row, from similarity to training pictures: authentic (standardised), synthetic (1–5)."""
        return np.stack([self._regression(name, self._distances(name, statistics)) for name in JUDGES], 1)

    def _distances(self, name: str, statistics: Values) -> Values:
        """Squared distances to one judge's points; damage shows in the trunk alone, so the second sees less."""
        centre, spread, projection = (self._arrays[f"{name}_{part}"] for part in ("centre", "spread", "projection"))
        seen = np.clip((statistics[:, : len(centre)] - centre) / spread, -CLIP, CLIP)
        seen = seen.astype(np.float32) @ projection
        known = self._arrays[f"{name}_points"]
        return np.asarray(np.maximum((seen**2).sum(1)[:, None] + self._lengths[name] - 2 * seen @ known.T, 0))

    def _regression(self, name: str, distances: Values) -> Values:
        width, weights, mean = (self._arrays[f"{name}_{part}"] for part in ("width", "weights", "mean"))
        if not distances.shape[1]:
            return np.full(len(distances), float(mean))
        return np.asarray(np.exp(-width * distances) @ weights + mean)

    def novelty(self, statistics: Values) -> Values:
        """How far each row is from the nearest picture somebody rated; 0 is one of them, 1 is far."""
        return self._far_from_all(self._distances("authentic", statistics))

    def _far_from_all(self, distances: Values) -> Values:
        return np.asarray(1 - np.exp(-self._arrays["authentic_width"] * distances.min(1)))

    def combine(
        self,
        outputs: Values,
        kernel: Values,
        grain: Values,
        hidden: Values | float = 0.0,
        novelty: Values | float = 0.0,
    ) -> tuple[Values, Values, Values]:
        """Quality, share of the synthetic judge, and disagreement of the two makes, per row."""
        a = self._arrays
        share = a["network_share"]
        likeness = (1 - share[0]) * self.worth_of_likeness(novelty)
        authentic = self.on_scale((1 - likeness) * outputs[:, 0] + likeness * kernel[:, 0])
        synthetic = share[1] * outputs[:, 1] + (1 - share[1]) * kernel[:, 1] - self.grain_cost(grain)
        steepness, offset, most = a["gate"]
        gate = most / (1 + np.exp(-np.clip(steepness * outputs[:, 2] + offset, -30, 30)))
        quality = within_scale((1 - gate) * authentic + gate * synthetic - hidden)
        apart = self.on_scale(outputs[:, 0]) - self.on_scale(kernel[:, 0])
        between = np.abs(authentic - synthetic) * np.sqrt(gate * (1 - gate))
        disagreement = np.sqrt((1 - gate) * apart**2 + gate * (outputs[:, 1] - kernel[:, 1]) ** 2 + between**2)
        return quality, gate, disagreement

    def worth_of_likeness(self, novelty: Values | float) -> Values:
        """How far likeness to rated photographs tells quality: wholly near them, not at all far from every one."""
        near, far = self._arrays["fading"]
        return np.asarray(np.clip((far - novelty) / (far - near), 0.0, 1.0))

    def strangeness(self, novelty: Values, gate: Values) -> Values:
        """How far a picture is of no kind that was taught: far from rated ones, and not damaged in a known way."""
        usual, strange = self._arrays["strange"]
        return np.asarray(
            np.clip((novelty - usual) / (strange - usual), 0.0, 1.0) * (1 - gate / self._arrays["gate"][2])
        )

    def grain_cost(self, grain: Values) -> Values:
        """What colour noise costs: nothing up to the floor of clean photographs, all of it from faint noise on."""
        clean, noisy, depth = self._arrays["grain"]
        return np.asarray(depth * np.clip((grain - clean) / (noisy - clean), 0, 1))

    def on_scale(self, authentic: Values) -> Values:
        """Standardised opinions on the common scale, along the source's monotone map."""
        a = self._arrays
        low, high = a["scale_from"][0], a["scale_from"][-1]
        return np.asarray(np.interp(np.clip(authentic, low, high), a["scale_from"], a["scale_to"]))

    def error(self, terms: Values, left_out: str = "") -> Values:
        """The standard error of rows of `error_terms`, by all sources of opinions or without the one left out."""
        weights = self._arrays["error_weights" + (f"_without_{left_out}" if left_out else "")]
        known = np.exp(np.clip(terms[:, :-1] @ weights, np.log(0.1), np.log(1.5)))
        return np.asarray(known * STRANGE_WIDENING ** terms[:, -1])

    def interval(self, quality: float, error: float, left_out: str = "") -> tuple[float, float]:
        """The 95 % interval of the mean opinion, within the scale."""
        below, above = self._arrays["interval_factors" + (f"_without_{left_out}" if left_out else "")]
        return float(max(1.0, quality - below * error)), float(min(5.0, quality + above * error))


def within_scale(quality: Values) -> Values:
    """Qualities strictly between 1 and 5 in unchanged order: the last half level at each end is bent, not cut."""
    bent = KNEE * np.tanh((np.abs(quality - 3) - (2 - KNEE)) / KNEE)
    return np.where(np.abs(quality - 3) <= 2 - KNEE, quality, 3 + np.sign(quality - 3) * (2 - KNEE + bent))


def error_terms(quality: Values, disagreement: Values, novelty: Values, strangeness: Values) -> Values:
    """What the standard error depends on: the place on the scale and how little is known of such pictures."""
    centred = quality - 3
    return np.stack([np.ones_like(quality), centred, centred**2, disagreement, novelty, strangeness], 1)
