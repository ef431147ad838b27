"""Calibration without ratings: known damage in graded ladders, judged by tools that already have curves."""

from __future__ import annotations

import json
import logging
import math
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from pydantic import ValidationError

from agenticiqa.errors import CalibrationError, ToolUnavailableError
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.outputs import write_whole
from agenticiqa.tools.calibration import HIGHEST, Calibration
from agenticiqa.tools.curve_fitting import Floats, fit_curve, rank_correlation
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.tools.tool import Tool, ToolCard

logger = logging.getLogger("agenticiqa.tools")

# One or two kinds of every category, so that no single sort of damage decides the curve.
LADDER_KINDS = (
    "gaussian_blur", "motion_blur", "white_noise", "correlated_noise", "impulse_noise", "jpeg", "jpeg2000", "webp",
    "color_quantisation", "saturation_down", "color_cast", "darken", "brighten", "contrast_down", "over_sharpen",
    "pixelate",
)  # fmt: skip
LEVELS = (1, 2, 3, 4, 5)
# Nobody should wait long for a tool's first use: one kind of every category and a second of compression, three levels.
FIRST_USE_KINDS = (
    "gaussian_blur", "white_noise", "jpeg", "jpeg2000", "saturation_down", "darken", "contrast_down", "pixelate",
)  # fmt: skip
FIRST_USE_LEVELS = (1, 3, 5)
# The learned no-reference score, which beside a judge with the original keeps curves on the scale of opinions.
OPINION = "AIQA_NR"
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
    """The photographs that ship with the package for trying things out, by name."""
    return _pictures("agenticiqa.tools")


def ladder_photographs() -> dict[str, LoadedImage]:
    """The photographs that ship for calibration alone, by name; nothing was trained, shown or tested on them."""
    return _pictures("agenticiqa.tools.synthetic")


def _pictures(package: str) -> dict[str, LoadedImage]:
    folder = resources.files(package).joinpath("photographs")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".webp")), key=lambda file: file.name)
    return {file.name.removesuffix(".webp"): load_image(file.read_bytes()) for file in files}


def build_ladders(
    originals: Sequence[LoadedImage], kinds: Sequence[str] = LADDER_KINDS, levels: Sequence[int] = LEVELS
) -> Iterator[Rung]:
    """Every original untouched, then damaged by each kind at each level; the same every time."""
    from agenticiqa.tools.synthetic.kinds import distort

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
    ladder = list(rungs if rungs is not None else build_ladders(list(ladder_photographs().values())))
    raw = np.array([registry.raw(card.name, rung.image, rung.original) for rung in ladder])
    opinion = [OPINION] if card.reference == "NR" and _has_opinion(registry, card) else []
    scores, spreads = np.array([_judge(registry, judges, opinion, rung) for rung in ladder]).T
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
        data=f"{len(ladder)} rungs of {curve.references} photographs, judged by {', '.join([*judges, *opinion])}",
        research_only=any(_research_only(registry, judge) for judge in [*judges, *opinion]),
        overall=curve.model_copy(update={"spread": round(spread, 4)}),
    )


def _require_judges(registry: ToolRegistry, card: ToolCard) -> list[str]:
    """Those who will judge, or an error before any work is done."""
    reason = registry.available(card.name)
    if reason is not None:
        raise ToolUnavailableError(f"{card.name} is not available: {reason}")
    if card.role == "attribute":
        raise CalibrationError(f"{card.name} is a measured attribute and never votes; it needs no calibration")
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


def _has_opinion(registry: ToolRegistry, card: ToolCard) -> bool:
    return OPINION in registry.names() and card.name != OPINION and registry.available(OPINION) is None


def _judge(registry: ToolRegistry, judges: Sequence[str], opinion: Sequence[str], rung: Rung) -> tuple[float, float]:
    """Mean score and spread of the judges, who are told the kind of damage; an untouched picture is perfect to them."""
    said = [registry.execute(name, rung.image) for name in opinion]
    scores, spreads = ([], []) if rung.kind is not None else ([HIGHEST], [0.0])
    if rung.kind is not None:
        said += [registry.execute(judge, rung.image, rung.original, kinds={rung.kind: 1.0}) for judge in judges]
    scores += [one.calibrated for one in said if one.calibrated is not None]
    spreads += [one.spread for one in said if one.spread is not None]
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


class LadderCalibrations:
    """Curves that tools got from the shipped ladders when they were first used, kept in a file of the user's.

    A tool that does not follow the ladders is remembered with the reason, so that it is not tried at every run. Curves
    fitted to ratings, the package's or the user's, go before these.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mutex = threading.Lock()
        self._read_at: float | None = None
        self._entries: dict[str, dict[str, Any]] = {}

    def known(self, tool: Tool) -> Calibration | None:
        """The curve the tool got before."""
        entry = self._entry(tool)
        try:
            return Calibration.model_validate(entry["curve"]) if entry and entry.get("curve") else None
        except ValidationError:
            return None

    def refusal(self, tool: Tool) -> str | None:
        """Why the tool got no curve; None if it was never tried, or got one."""
        entry = self._entry(tool)
        return str(entry["refused"]) if entry and entry.get("refused") else None

    def calibrate(self, registry: ToolRegistry, tool: Tool) -> Calibration | None:
        """A curve from the ladders, kept for the next time; None when the tool earns none."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Other threads and processes that use the tool first wait here and then find the curve.
        with self._mutex, FileLock(f"{self._path}.lock"):
            if self._entry(tool) is None:
                logger.warning("%s has no curve: it is calibrated now on graded damage, once", tool.name)
                self._keep(tool, self._fitted(registry, tool))
        return self.known(tool)

    def _fitted(self, registry: ToolRegistry, tool: Tool) -> dict[str, Any]:
        rungs = build_ladders(list(ladder_photographs().values()), FIRST_USE_KINDS, FIRST_USE_LEVELS)
        try:
            found = calibrate_by_ladder(registry, tool.name, rungs)
        except CalibrationError as error:
            logger.warning("%s gets no vote: %s", tool.name, error)
            return {"refused": str(error)}
        return {"curve": found.model_dump(mode="json", by_alias=True, exclude_defaults=True)}

    def _keep(self, tool: Tool, entry: dict[str, Any]) -> None:
        self._read()
        self._entries[tool.name] = {"made_for": _made_for(tool), **entry}
        write_whole(self._path, json.dumps(self._entries, indent=1))

    def _entry(self, tool: Tool) -> dict[str, Any] | None:
        self._read()
        entry = self._entries.get(tool.name)
        return entry if entry and entry.get("made_for") == _made_for(tool) else None

    def _read(self) -> None:
        try:
            changed = self._path.stat().st_mtime_ns
            if changed != self._read_at:
                self._entries, self._read_at = json.loads(self._path.read_text(encoding="utf-8")), changed
        except (OSError, ValueError):
            return


def _made_for(tool: Tool) -> str:
    return f"{tool.card.implementation} {tool.card.version}"
