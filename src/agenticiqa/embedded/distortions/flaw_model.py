"""The detector of flaws: how strong each is in every part of a picture and in the whole, from one fit.

Two models have a first opinion of the whole: one knows labelled photographs, one clean pictures damaged by code. A
regression adds what other people would say. Five small networks look at the sixteen parts, then at the whole with what
was found in its parts and those opinions, and learned how far each holds; their outputs are averaged and put on the
scale of severity by one rising curve per flaw. Plain arrays, evaluated with NumPy; a file is used only with the hash in
the manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.distortion_model import DistortionModel, Opinion, load_distortion_model
from agenticiqa.embedded.distortions.photograph_model import FLAWS, PhotographModel, load_photograph_model
from agenticiqa.errors import ModelFileError
from agenticiqa.limits import MODERATE, SEVERE, SLIGHT, STRONGEST
from agenticiqa.state import DISTORTION_CATEGORIES
from agenticiqa.values import CATEGORY_OF, Attribute
from agenticiqa.weights import WeightSet, read_arrays

Floats = npt.NDArray[np.float32]
Arrays = Mapping[str, npt.NDArray[Any]]
MEMBERS, PARTS, LAYERS = 5, 16, {"part": 2, "whole": 3}
# Which of its parts the whole hears, from the most flawed to the least: how far they differ tells a fault of one part.
RANKS = [0, 3, 8, 15]
# How many of the whole's main directions a part is shown beside its own features.
CONTEXT = 32
# How many of the whole's features the model of damage is shown: the pooled trunk, and the first of the measurements.
POOLED, MEASURED = 1088, slice(2112, 2316)
# Among the first opinions: which world a picture is of, and the presence of each category of made damage.
GATE_AND_PRESENCE = slice(-15, -7)
# By less than this, in steps of severity, a first opinion is not corrected.
LEAST_CORRECTION = 0.25
# The severities a flaw's curve passes through; below nothing it goes on, so that of calm pictures one is nearer to it.
CURVE = (-1.0, SLIGHT, MODERATE, SEVERE, STRONGEST)
# Features further from training than this say only that they are far.
BOUND = 5.0


@dataclass(frozen=True)
class Flaw:
    """The probability that a flaw is at least slight, its strength from 0 to 4, and its strength in every part."""

    probability: float
    strength: float
    parts: Floats


@dataclass(frozen=True)
class FlawOpinion:
    """What was found of each flaw of `FLAWS`, and how much speaks for each kind of damage."""

    flaws: dict[Attribute, Flaw]
    kinds: dict[str, float]


@dataclass(frozen=True)
class FirstOpinions:
    """The models of labelled photographs and of damage made by code."""

    photographs: PhotographModel
    damage: DistortionModel

    def of(self, whole: Floats) -> Floats:
        """The strengths of the flaws, what speaks for each kind, and what tells how far either model holds."""
        photograph = self.photographs.judge(whole)
        damage = self.of_damage(whole)
        told = (photograph.strength, damage.kinds, photograph.blur_kinds)
        values = [value for each in told for value in each.values()]
        return np.array([*values, photograph.gate, *damage.presence, *damage.strength], np.float32)

    def of_people(self, whole: Floats, arrays: Arrays) -> Floats:
        """What people who labelled another source would say of some flaws, on their own scale."""
        return np.asarray(self.photographs.near(whole).ravel() @ arrays["people"] + arrays["people_mean"], np.float32)

    def of_damage(self, whole: Floats) -> Opinion:
        """What the model of damage alone says."""
        return self.damage.judge(np.concatenate([whole[:POOLED], whole[MEASURED]]))


def strengths_by_flaw(damage: Opinion) -> list[float]:
    """What the model of damage says of each flaw; a brightness is changed one way or the other."""
    other_way = "bright" if damage.kinds["darken"] >= damage.kinds["brighten"] else "dark"
    numbers = [DISTORTION_CATEGORIES.index(CATEGORY_OF[flaw]) for flaw in FLAWS]
    return [0.0 if flaw == other_way else float(damage.strength[n]) for flaw, n in zip(FLAWS, numbers, strict=True)]


@dataclass(frozen=True)
class FlawModel:
    """The networks with their standardisation, and the first opinions they go on from."""

    arrays: Arrays
    kinds: tuple[str, ...]
    first: FirstOpinions

    def judge(self, whole: Floats, parts: Floats) -> FlawOpinion:
        """What the networks together say of a picture: its features, and those of each part in a row."""
        opinions = self.first.of(whole)
        told = np.concatenate([whole, self.first.of_people(whole, self.arrays), opinions])
        if told.shape != self.arrays["whole_centre"].shape or parts.shape[1:] != self.arrays["part_centre"].shape:
            raise ModelFileError("the weights for flaws belong to other features; reinstall the package")
        inputs = self._prepared("whole", told), self._prepared("part", parts)
        outputs = [self._member(n, *inputs) for n in range(MEMBERS)]
        found = np.mean([output for output, _ in outputs], axis=0)
        changed = found[: len(FLAWS)]
        found[: len(FLAWS)] = np.sign(changed) * np.maximum(np.abs(changed) - LEAST_CORRECTION, 0)
        found += opinions[: len(found)]
        found[: len(FLAWS)] = self._heard(found[: len(FLAWS)], self.first.of_damage(whole), opinions)
        placed = np.mean([places for _, places in outputs], axis=0)
        curves = self.arrays["curves"]
        strengths = [float(np.interp(found[n], curves[n], CURVE)) for n in range(len(FLAWS))]
        flaws = {flaw: self._flaw(strengths[n], placed[:, n]) for n, flaw in enumerate(FLAWS)}
        return FlawOpinion(flaws, dict(zip(self.kinds, map(float, found[len(FLAWS) :]), strict=True)))

    def _heard(self, found: Floats, damage: Opinion, opinions: Floats) -> Floats:
        """What was found, with the model of damage heard as far as it was learned to be, flaw by flaw."""
        made = np.array(strengths_by_flaw(damage), np.float32)
        told = np.concatenate([opinions[GATE_AND_PRESENCE], found, made])
        share = 1 / (1 + np.exp(-(self.arrays["share_weight"] @ told + self.arrays["share_bias"])))
        return np.asarray(found + share * (made - found), np.float32)

    def judge_drawn(self, whole: Floats) -> FlawOpinion:
        """The damage of a page or a drawing, everywhere: it was never before a camera, and white paper is no flaw."""
        damage = self.first.of_damage(whole)
        flaws = {}
        for flaw, strength in zip(FLAWS, strengths_by_flaw(damage), strict=True):
            presence = float(damage.presence[DISTORTION_CATEGORIES.index(CATEGORY_OF[flaw])])
            flaws[flaw] = Flaw(presence, strength, np.full(PARTS, strength, np.float32))
        return FlawOpinion(flaws, damage.kinds)

    def _prepared(self, name: str, values: Floats) -> Floats:
        standard = np.clip((values - self.arrays[f"{name}_centre"]) / self.arrays[f"{name}_scale"], -BOUND, BOUND)
        projection = self.arrays[f"{name}_projection"]
        deep = len(projection)
        return np.concatenate([standard[..., :deep] @ projection, standard[..., deep:]], axis=-1)

    def _member(self, number: int, whole: Floats, parts: Floats) -> tuple[Floats, Floats]:
        context = np.broadcast_to(whole[:CONTEXT], (len(parts), CONTEXT))
        placed = self._layers("part", number, np.concatenate([parts, context], axis=1))
        ranked = -np.sort(-placed, axis=0)[RANKS]
        return self._layers("whole", number, np.concatenate([whole, ranked.ravel(), placed.mean(axis=0)])), placed

    def _layers(self, name: str, number: int, values: Floats) -> Floats:
        for depth in range(LAYERS[name]):
            values = values @ self.arrays[f"{name}_weight_{number}_{depth}"]
            values = values + self.arrays[f"{name}_bias_{number}_{depth}"]
            if depth < LAYERS[name] - 1:
                values = np.maximum(values, 0)
        return values

    def _flaw(self, found: float, placed: Floats) -> Flaw:
        """The flaw with its probability; no part shows more of it than the whole is said to have."""
        strength = min(STRONGEST, max(0.0, found))
        likely = 1 / (1 + np.exp(-float(self.arrays["slope"]) * (found - SLIGHT)))
        share = np.maximum(placed, 0) / max(float(placed.max()), 1e-3)
        return Flaw(float(likely), strength, (strength * share).astype(np.float32))


@lru_cache(maxsize=2)
def load_flaw_model(terms: WeightSet) -> FlawModel:
    """The detector under these terms, loaded once per process; stored in half precision, computed in single."""
    arrays = dict(read_arrays(f"detector_{terms}.npz"))
    kinds = tuple(map(str, arrays.pop("kinds")))
    widened = {key: array.astype(np.float32) for key, array in arrays.items()}
    return FlawModel(widened, kinds, load_first_opinions(terms))


def load_first_opinions(terms: WeightSet) -> FirstOpinions:
    """Both models that are heard first."""
    return FirstOpinions(load_photograph_model(f"flaws_{terms}"), load_distortion_model(f"distortions_{terms}"))
