"""One evaluation from beginning to end: evidence for every picture, methods side by side, everything a report needs."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from agenticiqa.config import Settings, process_variables
from agenticiqa.errors import UsageError
from agenticiqa.evaluation.evidence import Evidence, EvidenceStore, OnPicture, gather, origin_of, time_runs
from agenticiqa.evaluation.faithfulness import Faithfulness, examine
from agenticiqa.evaluation.methods import ABLATIONS, IDENTICAL, Method, methods_of, runs_for, single_tools
from agenticiqa.evaluation.ratings import Coverage, PartAgreement, Row, by_part, coverage, rate
from agenticiqa.evaluation.recorded import Recorded, RecordedStudy, study_recorded
from agenticiqa.evaluation.runs import FULL, TOOLS
from agenticiqa.evaluation.samples import RatedSet
from agenticiqa.evaluation.statistics import USUAL, Resampling
from agenticiqa.parts import Parts


@dataclass(frozen=True)
class Evaluation:
    """Everything found out about one rated set."""

    rated: RatedSet
    evidence: Evidence
    rows: list[Row]
    tools: list[Row]
    kinds: list[PartAgreement]
    levels: list[PartAgreement]
    coverage: Coverage | None
    faithfulness: Faithfulness | None
    recorded: RecordedStudy | None
    failures: dict[str, int]
    provenance: dict[str, Any]
    seen: str = ""
    unlisted: tuple[str, ...] = ()
    """Ablations that cannot differ from the agent with this backend, and why."""

    @property
    def shown(self) -> list[Row]:
        """The rows of the first table: those of the fusion study where there is one."""
        return self.recorded.rows if self.recorded else self.rows


def chosen_ablations(wanted: Sequence[str]) -> list[str]:
    """The ablations these words name; `all` names every one."""
    names = [name.strip() for word in wanted for name in word.split(",") if name.strip()]
    unknown = [name for name in names if name not in (*ABLATIONS, "all")]
    if unknown:
        raise UsageError(f"no ablation named {unknown[0]!r}; there are: all, {', '.join(ABLATIONS)}")
    return list(ABLATIONS) if "all" in names else list(dict.fromkeys(names))


def evaluate_ratings(
    rated: RatedSet,
    parts: Parts,
    *,
    ablations: Sequence[str] = (),
    sampling: Resampling = USUAL,
    recorded: Recorded | None = None,
    store: EvidenceStore | None = None,
    command: str = "",
    seen: str = "",
    on_picture: OnPicture | None = None,
    jobs: int | None = None,
) -> Evaluation:
    """The agent, the ablations and every tool on a rated set; with recorded outputs the fusion study only."""
    kept = store or EvidenceStore(parts.settings)
    runs = [TOOLS] if recorded is not None else runs_for(ablations)
    evidence = gather(rated.samples, runs, parts, kept, on_picture, jobs)
    study = None if recorded is None else study_recorded(recorded, rated, evidence, parts.tools, sampling)
    rows: list[Row] = []
    same: list[Method] = []
    if recorded is None:
        timings = time_runs(rated.samples, [name for name in runs if name != TOOLS], parts, kept)
        backend = parts.vlm_clients["summarizer"].model
        methods = methods_of(evidence, rated.opinions, parts.tools, ablations, timings, backend)
        same = [method for method in methods if method.note.startswith(IDENTICAL)]
        listed = [method for method in methods if not method.note.startswith(IDENTICAL)]
        rows = rate(listed, rated, sampling, against=methods[0])
    agent = rows[0].method if rows else None
    return Evaluation(
        rated=rated,
        evidence=evidence,
        rows=rows,
        tools=rate(single_tools(evidence, parts.tools), rated, sampling, against=agent),
        kinds=by_part(agent, rated, "kind", sampling) if agent else [],
        levels=by_part(agent, rated, "level", sampling) if agent else [],
        coverage=coverage([one[FULL].get("interval") for one in evidence], rated) if rows else None,
        faithfulness=examine([one[FULL] for one in evidence]) if rows else None,
        recorded=study,
        failures=_failures(evidence),
        provenance=provenance_of(parts.settings, parts, sampling, command),
        seen=seen if parts.settings.pipeline.terms == "research" else "",
        unlisted=tuple(f"{method.title}: {method.note}" for method in same),
    )


def provenance_of(settings: Settings, parts: Parts, sampling: Resampling, command: str) -> dict[str, Any]:
    overlay = settings.tools_overlay_path()
    return {
        "command": command,
        "version": version("agenticiqa"),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in ("numpy", "onnxruntime", "opencv-python-headless", "scipy")},
        "backends": {role: client.model for role, client in parts.vlm_clients.items()},
        "terms": settings.pipeline.terms,
        "settings": settings.model_dump(mode="json", exclude={"pipeline": {"cache", "logging", "tools_overlay"}}),
        "overlay": str(overlay) if overlay.is_file() else None,
        "origin": origin_of(settings),
        "seed": sampling.seed,
        "repetitions": sampling.repetitions,
        "threads": process_variables().get("OMP_NUM_THREADS"),
    }


def _failures(evidence: Evidence) -> dict[str, int]:
    """How often each failure was met, the most frequent first."""
    counts: dict[str, int] = {}
    for one in evidence:
        for name, found in one.items():
            errors = [found.get("error"), *(f"{tool}: {text}" for tool, text in found.get("tool_errors", {}).items())]
            for error in filter(None, errors):
                counts[f"{name}: {error}"] = counts.get(f"{name}: {error}", 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))
