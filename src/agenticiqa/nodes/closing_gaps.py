"""A further pass: what the gap asks to be looked at again, and how the answer joins the evidence of the pass before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agenticiqa.images import LoadedImage, load_image
from agenticiqa.nodes.reply_normalisation import Distortions
from agenticiqa.nodes.sufficiency import tried_on
from agenticiqa.state import GLOBAL, ExecutorOutput, Gap, PlannerOutput, Region, ToolExecutionLog
from agenticiqa.values import Distortion

CLOSE_UP_PIXELS = 768
"""The side of a close-up, in pixels of the original: below it services show every pixel to the model."""
_NARROWS = ("missing_analysis", "contradiction")
_Kind = TypeVar("_Kind")
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Focus:
    """What a pass is about: everything the plan asks for, or the gap of the last pass and nothing else."""

    plan: PlannerOutput
    gap: Gap | None = None
    before: ExecutorOutput | None = None
    tried_tools: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The tools that were tried in this run, by object and distortion."""

    @property
    def is_narrow(self) -> bool:
        """Whether only the gap is looked at and the rest of the last pass's evidence stays."""
        return self.gap is not None and self.before is not None and self.gap.kind in _NARROWS and bool(self.objects())

    def added_to(self, now: ExecutorOutput) -> ExecutorOutput:
        """What this pass found with what stays of the last pass's evidence."""
        if self.before is None:
            return now
        return _joined(self.before, now) if self.is_narrow else _filled(self.before, now)

    def objects(self) -> list[str]:
        """The objects of the plan that are looked at."""
        named = self.gap.objects if self.gap and self.gap.kind in _NARROWS else ()
        return [name for name in self.plan.objects() if name in named] or self.plan.objects()

    def distortions(self) -> Distortions | None:
        """The distortions a contradiction is about, per object; None when they are to be looked for."""
        gap = self.gap
        if not self.is_narrow or gap is None or not gap.distortions:
            return None
        return {name: list(gap.distortions) for name in self.objects()}

    def avoided_tools(self) -> tuple[str, ...]:
        """Tools that were tried on this in the run or gave no score: a second opinion comes from another."""
        if self.gap is None or self.gap.kind not in ("contradiction", "missing_scores", "no_scores"):
            return ()
        return tuple(sorted(tried_on(self.tried_tools, self.gap) if self.is_contradicted else self.gap.tools))

    @property
    def is_contradicted(self) -> bool:
        """Whether measurements and looks disagree: then a tool that was tried has nothing to add."""
        return self.gap is not None and self.gap.kind == "contradiction"

    def tried_with(self, logs: Iterable[ToolExecutionLog]) -> dict[str, list[str]]:
        """The tools tried in this run, those of this pass included."""
        tried_tools = {place: list(names) for place, names in self.tried_tools.items()}
        for log in logs:
            names = tried_tools.setdefault(f"{log.object_name}/{log.distortion}", [])
            if log.tool_name not in names:
                names.append(log.tool_name)
        return tried_tools

    @property
    def wants_close_up(self) -> bool:
        """Whether the doubt may go away when the model sees the pixels as they are."""
        return self.gap is not None and self.gap.kind in ("contradiction", "uncertainty")

    def key(self) -> str:
        """The same for two passes that would ask the same: the plan, and what of the gap changes the requests."""
        gap = self.gap
        asked = None if gap is None or (gap.kind == "no_scores" and not gap.tools) else gap.model_dump_json()
        if gap is not None and self.is_contradicted:
            # Another score or another tool's name is no other question, once every tool was tried.
            asked = json.dumps([gap.kind, gap.objects, gap.distortions, self.avoided_tools()])
        return hashlib.sha256(f"{self.plan.model_dump_json()} {asked}".encode()).hexdigest()


# The evidence each step of a pass leaves.
_LEFT_BY = {
    "distortion_set": "distortion_detection",
    "distortion_analysis": "distortion_analysis",
    "selected_tools": "tool_selection",
    "quality_scores": "tool_execution",
}


def _filled(before: ExecutorOutput, now: ExecutorOutput) -> ExecutorOutput:
    """This pass's evidence; a step that failed has the last pass's in its place, beside its error."""
    failed = [
        name
        for name, step in _LEFT_BY.items()
        if getattr(now, name) is None and not {step, "executor"}.isdisjoint(now.errors)
    ]
    update: dict[str, Any] = {name: getattr(before, name) for name in failed}
    if "quality_scores" in failed:
        update["tool_logs"] = _logs(before, now, before.quality_scores or {})
        update["regions"] = {**before.regions, **now.regions}
    return now.model_copy(update=update)


def _joined(before: ExecutorOutput, now: ExecutorOutput) -> ExecutorOutput:
    """The last pass's evidence with what this pass found in its place, distortion by distortion."""
    scores = _merged(before.quality_scores, now.quality_scores)
    analysis, again = before.distortion_analysis or {}, now.distortion_analysis or {}
    found = {**{name: [] for name in again}, **(before.distortion_set or {}), **(now.distortion_set or {})}
    looked_at = {(name, entry.type) for name, entries in again.items() for entry in entries}
    # A distortion that a second look does not find is not there.
    gone = {(name, entry.type) for name, entries in again.items() for entry in entries if entry.severity == "none"}
    return ExecutorOutput(
        distortion_set={name: [kind for kind in kinds if (name, kind) not in gone] for name, kinds in found.items()}
        or None,
        distortion_analysis={
            name: [*(e for e in analysis.get(name, []) if (name, e.type) not in looked_at), *again.get(name, [])]
            for name in {**analysis, **again}
        }
        or None,
        selected_tools=_merged(before.selected_tools, now.selected_tools) or None,
        quality_scores=scores or None,
        tool_logs=_logs(before, now, scores),
        errors=now.errors,
        uncertainties=now.uncertainties,
        regions={**before.regions, **now.regions},
        notes=list(dict.fromkeys([*before.notes, *now.notes])),
    )


def _merged(
    before: Mapping[str, Mapping[_Kind, _Value]] | None, now: Mapping[str, Mapping[_Kind, _Value]] | None
) -> dict[str, dict[_Kind, _Value]]:
    """Values by object and distortion, the newer ones in the place of the older."""
    before, now = before or {}, now or {}
    return {name: {**before.get(name, {}), **now.get(name, {})} for name in {**before, **now}}


def _logs(
    before: ExecutorOutput, now: ExecutorOutput, scores: Mapping[str, Mapping[Any, tuple[str, float]]]
) -> list[ToolExecutionLog]:
    """The logs of this pass, after those of the last that gave a score still standing."""
    measured = {(log.object_name, log.distortion) for log in now.tool_logs}
    standing = [
        log
        for log in before.tool_logs
        if (log.object_name, log.distortion) not in measured
        and scores.get(log.object_name, {}).get(log.distortion) == (log.tool_name, log.normalized_score)
    ]
    return [*standing, *now.tool_logs]


def joined_findings(before: Sequence[Distortion], now: Sequence[Distortion]) -> list[Distortion]:
    """The last pass's findings with those of this pass in their place."""
    fresh = {(found.place, found.category) for found in now}
    return [*(found for found in before if (found.place, found.category) not in fresh), *now]


def close_up(image: LoadedImage, objects: list[str], regions: Mapping[str, Region | None]) -> LoadedImage | None:
    """The located object, or the middle of the image, at full resolution; None for an image that is shown whole."""
    box = next((region for name in objects if name != GLOBAL and (region := regions.get(name))), None)
    if box is None:
        if max(image.size) <= CLOSE_UP_PIXELS:
            return None
        left, top = max(0, (image.width - CLOSE_UP_PIXELS) // 2), max(0, (image.height - CLOSE_UP_PIXELS) // 2)
        box = Region(
            left=left,
            top=top,
            right=min(image.width, left + CLOSE_UP_PIXELS),
            bottom=min(image.height, top + CLOSE_UP_PIXELS),
        )
    return load_image(image.pixels[box.top : box.bottom, box.left : box.right].copy())
