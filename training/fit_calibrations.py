"""Fits the calibrations of the built-in tools and prints how far they can be trusted.

    python -m training.fit_calibrations --tid2013 FOLDER --biq2021 FOLDER --cache FOLDER

Full-reference tools are fitted on a part of TID2013, no-reference tools on BIQ2021's training split; both are for
research use. Opinions reach the 1–5 scale through the maps in training/scales.yaml. Measurements are kept in the
cache folder, so that a second run only fits.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.cache import Cache, cache_key
from agenticiqa.config import load_settings
from agenticiqa.images import load_image
from agenticiqa.tools import Calibration, Curve, ToolCard, ToolRegistry, default_registry
from agenticiqa.tools.calibration import packaged_calibrations
from agenticiqa.tools.catalogue import BuiltinTool
from agenticiqa.tools.curve_fitting import evaluate, fit_curve, rank_correlation, shrink
from training.biq2021 import read_photographs
from training.kind_guess import describe_change, guess_kinds
from training.opinions import RatedPair, on_common_scale, read_tid2013

Floats = NDArray[np.float64]
Names = NDArray[np.str_]

DESTINATION = Path("src/agenticiqa/tools/calibrations.json")
REACHES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
# A kind wrongly named may cost .02 of rank correlation; the choice keeps a margin for other draws.
WRONG_KIND_COST = 0.015
DRAWS = 5
NR_PHOTOGRAPHS = 600
# A long run may be set aside for minutes.
PATIENT = 3600.0


class PairTable:
    """What is known of every rated pair: raw values, opinion on the common scale, reference, kind, description."""

    def __init__(self, pairs: Sequence[RatedPair], registry: ToolRegistry, tools: Sequence[str], cache: Cache) -> None:
        self.scores = on_common_scale("tid2013", [pair.opinion for pair in pairs])
        self.references = np.array([pair.reference.name for pair in pairs])
        self.kinds = np.array([pair.kind for pair in pairs])
        self.categories = np.array([pair.category for pair in pairs])
        rows = np.array([_measured(pair, registry, tools, cache) for pair in pairs])
        self.raw = dict(zip(tools, rows[:, : len(tools)].T, strict=True))
        self.described = rows[:, len(tools) :]

    def folds(self) -> list[NDArray[np.bool_]]:
        """One mask per reference, true for its pairs."""
        return [self.references == name for name in sorted(set(self.references))]


class ConditionalFit:
    """The curves of one tool for one set of kinds, fitted with one reference left out at a time."""

    def __init__(self, table: PairTable, card: ToolCard, kinds: Names, guesses: GuessedKinds) -> None:
        self.table, self.card, self.kinds, self.guesses = table, card, kinds, guesses
        self.raw = table.raw[card.name]
        self.best = best_raw(card)
        everything = np.ones(len(kinds), bool)
        self.left_out = [(mask, *self._curves(~mask)) for mask in table.folds()]
        self.overall, self.by_kind = self._curves(everything)

    def _curves(self, known: NDArray[np.bool_]) -> tuple[Curve, dict[str, Curve]]:
        references = len(set(self.table.references[known]))
        fit = partial(fit_curve, increasing=self.card.higher_is_better, best=self.best, references=references)
        raw, scores = self.raw[known], self.table.scores[known]
        overall = fit(raw, scores)
        weights = self.guesses.within(known)
        curves = {}
        for column, name in enumerate(self.guesses.names):
            share = weights[:, column]
            near = share > 0.02
            curves[name] = fit(raw[near], scores[near], weights=share[near])
        return overall, curves

    @lru_cache(maxsize=1)  # noqa: B019 - the fit outlives its scores
    def calibrations(self, reach: float) -> list[tuple[NDArray[np.bool_], Calibration]]:
        """For each reference, the calibration that has not seen it."""
        return [(mask, self._joined(overall, curves, reach)) for mask, overall, curves in self.left_out]

    def calibration(self, reach: float) -> Calibration:
        """The calibration fitted on everything."""
        return self._joined(self.overall, self.by_kind, reach)

    def score(self, reach: float, kinds: Sequence[dict[str, float]] | None) -> Floats:
        """Scores of all pairs by curves that have not seen their reference, told these kinds."""
        scores = np.zeros(len(self.raw))
        for mask, calibration in self.calibrations(reach):
            by_kind = {name: evaluate(curve, self.raw) for name, curve in calibration.kinds.items()}
            by_kind["other"] = evaluate(calibration.overall, self.raw)
            for row in map(int, np.flatnonzero(mask)):
                weights = calibration.weights(kinds[row] if kinds else {})
                scores[row] = sum(share * by_kind[name][row] for name, share in weights.items())
        return scores

    @staticmethod
    def _joined(overall: Curve, curves: dict[str, Curve], reach: float) -> Calibration:
        bounded = {name: shrink(curve, overall, reach) for name, curve in curves.items()}
        return Calibration(method="ratings", data="", overall=overall, kinds=bounded)


class GuessedKinds:
    """Probabilities of kinds, each pair guessed by a classifier that has not seen its reference."""

    def __init__(self, table: PairTable, kinds: Names) -> None:
        self.names = sorted(set(kinds))
        self._table, self._kinds = table, kinds
        features = [np.sign(raw) * np.log1p(np.abs(raw)) for raw in table.raw.values()]
        self._features = np.column_stack([*features, table.described])

    def within(self, known: NDArray[np.bool_]) -> Floats:
        """Guesses for the known pairs, each from the other known references."""
        guesses = np.zeros((len(known), len(self.names)))
        for mask in self._table.folds():
            if (mask & known).any():
                guesses[mask & known] = self._guess(known & ~mask, mask & known)
        return guesses[known]

    def all(self) -> list[dict[str, float]]:
        """One guess per pair."""
        guesses = self.within(np.ones(len(self._kinds), bool))
        return [dict(zip(self.names, map(float, row), strict=True)) for row in guesses]

    def accuracy(self) -> float:
        """The share of pairs whose likeliest kind is the true one."""
        guesses = self.within(np.ones(len(self._kinds), bool))
        return float((np.array(self.names)[guesses.argmax(1)] == self._kinds).mean())

    def wrong(self, draw: int) -> list[dict[str, float]]:
        """For every pair one of the other kinds, said with certainty."""
        random = np.random.default_rng(draw)
        return [{str(random.choice([name for name in self.names if name != kind])): 1.0} for kind in self._kinds]

    def _guess(self, known: NDArray[np.bool_], unknown: NDArray[np.bool_]) -> Floats:
        return guess_kinds(self._features[known], self._kinds[known], self._features[unknown], self.names)


def study(fit: ConditionalFit, guesses: GuessedKinds, reach: float) -> dict[str, float]:
    """Rank correlations on references left out: one global curve; true, guessed and wrong kinds."""
    truth = fit.table.scores
    said = [{str(kind): 1.0} for kind in fit.kinds]
    wrong = [rank_correlation(fit.score(reach, guesses.wrong(draw)), truth) for draw in range(DRAWS)]
    figures = {
        "global": rank_correlation(fit.score(reach, None), truth),
        "true": rank_correlation(fit.score(reach, said), truth),
        "predicted": rank_correlation(fit.score(reach, guesses.all()), truth),
        "wrong": float(np.mean(wrong)),
        "reach": reach,
    }
    return {name: round(value, 4) for name, value in figures.items()}


def choose_reach(fit: ConditionalFit, guesses: GuessedKinds) -> float:
    """The furthest a kind may move a score while naming a wrong one stays cheap."""
    truth = fit.table.scores
    plain = rank_correlation(fit.score(REACHES[0], None), truth)
    chosen = REACHES[0]
    for reach in REACHES:
        wrong = [rank_correlation(fit.score(reach, guesses.wrong(draw)), truth) for draw in range(DRAWS)]
        if plain - float(np.mean(wrong)) > WRONG_KIND_COST:
            break
        chosen = reach
    return chosen


def fit_with_reference(table: PairTable, cards: Sequence[ToolCard]) -> dict[str, Calibration]:
    """Calibrations of full-reference tools, with curves for kinds and for categories; prints the study."""
    sets = {"kind": table.kinds, "category": table.categories}
    guesses = {level: GuessedKinds(table, kinds) for level, kinds in sets.items()}
    for level, guessed in guesses.items():
        print(f"{level} guessed right, references left out: {guessed.accuracy():.3f}")
    print("| tool | curves by | global | true | predicted | wrong | reach |\n|---|---|---|---|---|---|---|")
    fitted = {}
    for card in cards:
        curves: dict[str, Curve] = {}
        figures: dict[str, float] = {}
        for level, kinds in sets.items():
            fit = ConditionalFit(table, card, kinds, guesses[level])
            reach = choose_reach(fit, guesses[level])
            found = study(fit, guesses[level], reach)
            values = " | ".join(f"{found[name]:.3f}" for name in ("global", "true", "predicted", "wrong", "reach"))
            print(f"| {card.name} | {level} | {values} |", flush=True)
            figures |= {name if name == "global" else f"{level} {name}": value for name, value in found.items()}
            curves |= fit.calibration(reach).kinds
            overall = fit.overall.model_copy(update={"spread": _spread(fit.score(reach, None), table.scores)})
        data = "TID2013, 6 references, 24 distortions, 5 levels"
        fitted[card.name] = _calibration(overall, curves, figures, data)
    return fitted


def fit_without_reference(cards: Sequence[ToolCard], data: Path) -> dict[str, Calibration]:
    """Calibrations of no-reference tools; each half of the photographs measures the spread of the other's curve."""
    # Never from a cache: the parameters of these tools are fitted here too and may be newer than it.
    registry = ToolRegistry([BuiltinTool(card) for card in cards], timeout=PATIENT)
    photographs = [photograph for photograph in read_photographs(data) if photograph.split == "train"]
    # NSS_REGRESSION was fitted on every fourth photograph, the first included; these are others.
    chosen = photographs[2::4][:NR_PHOTOGRAPHS]
    scores = on_common_scale("biq2021", [photograph.opinion for photograph in chosen])
    images = [load_image(data / "Images" / photograph.name) for photograph in chosen]
    fitted = {}
    print("| tool | fitted on | SRCC | spread |\n|---|---|---|---|")
    for card in cards:
        raw = np.array([registry.execute(card.name, image).raw for image in images])
        half = np.arange(len(raw)) % 2 == 0
        fit = partial(fit_curve, increasing=card.higher_is_better, references=len(raw))
        unseen = np.zeros(len(raw))
        for part in (half, ~half):
            unseen[~part] = evaluate(fit(raw[part], scores[part]), raw[~part])
        spread = _spread(unseen, scores)
        overall = fit(raw, scores).model_copy(update={"spread": spread})
        fitted[card.name] = _calibration(overall, {}, {}, f"BIQ2021, {len(raw)} photographs of its training split")
        print(f"| {card.name} | {len(raw)} | {overall.srcc:.3f} | {spread:.2f} |", flush=True)
    return fitted


def main() -> None:
    """Measures, fits, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tid2013", type=Path, help="without it, full-reference tools keep their curves")
    parser.add_argument("--biq2021", type=Path, help="without it, no-reference tools keep their curves")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--tool", action="append", help="fit only this one; may be repeated")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    cache = Cache(given.cache / "calibration.sqlite")
    patience = {"pipeline": {"limits": {"tool_timeout": PATIENT}}}
    registry = default_registry(load_settings(overrides=patience), cache=cache)
    cards = [registry.card(name) for name in registry.names()]
    ours = [card for card in cards if card.implementation.startswith("builtin:") and card.role == "metric"]
    wanted = set(given.tool or [card.name for card in ours])
    fitted: dict[str, Calibration] = {}
    if given.tid2013:
        comparing = [card for card in ours if card.reference == "FR"]
        table = PairTable(read_tid2013(given.tid2013), registry, [card.name for card in comparing], cache)
        fitted |= fit_with_reference(table, [card for card in comparing if card.name in wanted])
    if given.biq2021:
        judging_alone = [card for card in ours if card.reference == "NR" and card.name in wanted]
        fitted |= fit_without_reference(judging_alone, given.biq2021)
    write_calibrations({**packaged_calibrations(), **fitted}, DESTINATION)


def _measured(pair: RatedPair, registry: ToolRegistry, tools: Sequence[str], cache: Cache) -> list[float]:
    """Raw values of the tools, then the description of the change; kept from run to run."""
    versions = [(name, registry.card(name).version) for name in tools]
    stamp = pair.distorted.stat()
    key = cache_key(str(pair.distorted), stamp.st_size, stamp.st_mtime_ns, versions)
    known = cache.get("pairs", key)
    if known is None:
        test, reference = load_image(pair.distorted), load_image(pair.reference)
        raw = [registry.execute(name, test, reference).raw for name in tools]
        known = json.dumps([*raw, *describe_change(test.pixels, reference.pixels)])
        cache.put("pairs", key, known)
    return [float(value) for value in json.loads(known)]


def best_raw(card: ToolCard) -> float | None:
    """The raw value of an identical pair where it ends the range; VIF goes on above it when contrast was raised."""
    return card.raw_range[1] if card.higher_is_better else 0.0


def shortened(curve: Curve) -> Curve:
    """The curve with knots in as few digits as matter."""
    knots = tuple((float(f"{x:.7g}"), round(y, 5)) for x, y in curve.knots)
    return Curve.model_validate({**curve.model_dump(), "knots": knots})


def write_calibrations(fitted: dict[str, Calibration], destination: Path) -> None:
    """One line per tool, by name."""
    entries = {name: fitted[name].model_dump(mode="json", by_alias=True) for name in sorted(fitted)}
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}" for name, entry in entries.items()
    )
    destination.write_text("{\n" + lines + "\n}\n", encoding="utf-8")
    print(f"{len(entries)} calibrations written to {destination}")


def _spread(fitted: Floats, truth: Floats) -> float:
    return round(float(np.sqrt(np.mean((fitted - truth) ** 2))), 4)


def _calibration(overall: Curve, kinds: dict[str, Curve], figures: dict[str, float], data: str) -> Calibration:
    return Calibration(
        method="ratings",
        data=data,
        research_only=True,
        study=figures,
        overall=shortened(overall),
        kinds={name: shortened(curve) for name, curve in kinds.items()},
    )


if __name__ == "__main__":
    main()
