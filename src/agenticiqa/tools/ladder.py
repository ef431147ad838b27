"""Calibration without ratings: known damage in graded ladders, judged by tools that already have curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np

from agenticiqa.errors import CalibrationError, ToolUnavailableError
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.tools.calibration import HIGHEST, Calibration, Floats
from agenticiqa.tools.fitting import fit_curve, rank_correlation
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.tools.tool import ToolCard

# One or two kinds of every category, so that no single sort of damage decides the curve.
LADDER_KINDS = (
    "gaussian_blur", "motion_blur", "white_noise", "correlated_noise", "impulse_noise", "jpeg", "jpeg2000", "webp",
    "color_quantisation", "saturation_down", "color_cast", "darken", "brighten", "contrast_down", "over_sharpen",
    "pixelate",
)  # fmt: skip
LEVELS = (1, 2, 3, 4, 5)
# The best three agree with opinions nearly as well as all of them, in a third of the time.
JUDGES = 3
# Below this a curve would only dress up noise as a judgement.
MIN_CORRELATION = 0.3


@dataclass(frozen=True)
class Rung:
    """A photograph, damaged or not, beside its original."""

    image: LoadedImage
    original: LoadedImage
    kind: str | None
    level: int


def photographs() -> dict[str, LoadedImage]:
    """The photographs that ship with the package, by name."""
    folder = resources.files("agenticiqa.tools").joinpath("photographs")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".webp")), key=lambda file: file.name)
    return {file.name.removesuffix(".webp"): load_image(file.read_bytes()) for file in files}


def build_ladders(
    originals: Sequence[LoadedImage], kinds: Sequence[str] = LADDER_KINDS, levels: Sequence[int] = LEVELS
) -> Iterator[Rung]:
    """Every original untouched, then damaged by each kind at each level; the same every time."""
    from agenticiqa.tools.distort import distort

    for original in originals:
        yield Rung(original, original, None, 0)
        for kind in kinds:
            for level in levels:
                yield Rung(load_image(distort(original.pixels, kind, level)), original, kind, level)


def judges_for(registry: ToolRegistry, tool: str) -> list[str]:
    """The best tools to judge ladders: comparing, rated by people, not this one, none inside another."""
    cards = [card for card in registry.suitable("Overall", has_reference=True) if _may_judge(registry, card, tool)]
    inside = {name for card in cards for name in card.derived_from}
    return [card.name for card in cards if card.name not in inside][:JUDGES]


def calibrate_by_ladder(registry: ToolRegistry, tool: str, rungs: Iterable[Rung] | None = None) -> Calibration:
    """A strictly monotone curve for this tool, with its spread; CalibrationError when the tool ignores the damage."""
    card = registry.card(tool)
    judges = _require_judges(registry, card)
    ladder = list(rungs if rungs is not None else build_ladders(list(photographs().values())))
    raw = np.array([registry.execute(card.name, rung.image, rung.original).raw for rung in ladder])
    scores, spreads = np.array([_judge(registry, judges, rung) for rung in ladder]).T
    _require_agreement(card, raw, scores)
    curve = fit_curve(
        raw,
        scores,
        increasing=card.higher_is_better,
        best=_untouched_value(card, raw, ladder),
        references=len({rung.original.sha256 for rung in ladder}),
    )
    # The judges err too, and the tool's own misfit comes on top.
    spread = math.hypot(curve.spread, float(np.sqrt(np.mean(spreads**2))))
    return Calibration(
        method="ladder",
        data=f"{len(ladder)} rungs of {curve.references} photographs, judged by {', '.join(judges)}",
        research_only=any(_research_only(registry, judge) for judge in judges),
        overall=curve.model_copy(update={"spread": round(spread, 4)}),
    )


def _require_judges(registry: ToolRegistry, card: ToolCard) -> list[str]:
    """Those who will judge, or an error before any work is done."""
    reason = registry.available(card.name)
    if reason is not None:
        raise ToolUnavailableError(f"{card.name} is not available: {reason}")
    if card.role == "attribute":
        raise CalibrationError(f"{card.name} is a measured attribute and never votes; it needs no calibration")
    if card.never_votes:
        raise CalibrationError(f"{card.name} never votes and needs no calibration: {card.never_votes}")
    judges = judges_for(registry, card.name)
    if not judges:
        raise CalibrationError("no calibrated full-reference tool is there to judge the ladders; see agenticiqa tools")
    return judges


def _may_judge(registry: ToolRegistry, card: ToolCard, tool: str) -> bool:
    calibration = registry.calibration(card.name)
    return (
        card.reference == "FR"
        and card.name != tool
        and tool not in card.derived_from
        and calibration is not None
        and calibration.method != "ladder"
    )


def _research_only(registry: ToolRegistry, judge: str) -> bool:
    calibration = registry.calibration(judge)
    return registry.card(judge).research_only or (calibration is not None and calibration.research_only)


def _judge(registry: ToolRegistry, judges: Sequence[str], rung: Rung) -> tuple[float, float]:
    """Mean score and spread of the judges, who are told the kind of damage."""
    if rung.kind is None:
        return HIGHEST, 0.0
    said = [registry.execute(judge, rung.image, rung.original, kinds={rung.kind: 1.0}) for judge in judges]
    scores = [one.calibrated for one in said if one.calibrated is not None]
    spreads = [one.spread for one in said if one.spread is not None]
    if not scores:
        raise CalibrationError(f"no judge could score {rung.kind} at level {rung.level}")
    return float(np.mean(scores)), float(np.mean(spreads))


def _require_agreement(card: ToolCard, raw: Floats, scores: Floats) -> None:
    correlation = rank_correlation(raw if card.higher_is_better else -raw, scores)
    if not correlation >= MIN_CORRELATION:
        raise CalibrationError(
            f"{card.name} does not follow the ladders (rank correlation {correlation:.2f}, at least {MIN_CORRELATION} "
            "is needed), so it gets no curve and does not vote"
        )


def _untouched_value(card: ToolCard, raw: Floats, ladder: Sequence[Rung]) -> float | None:
    """What a full-reference tool says of identical pairs; a no-reference tool has no such value."""
    if card.reference == "NR":
        return None
    same = [value for value, rung in zip(raw, ladder, strict=True) if rung.kind is None]
    return float(max(same) if card.higher_is_better else min(same)) if same else None
