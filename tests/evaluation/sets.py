"""A small rated set with real pictures, and an agent whose parts are fixed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from agenticiqa.cache import Cache
from agenticiqa.evaluation.evidence import EvidenceStore, gather
from agenticiqa.evaluation.runs import RUNS, Found
from agenticiqa.evaluation.samples import OpinionScale, RatedPicture, RatedSet
from agenticiqa.parts import Parts
from agenticiqa.tools import Pixels
from tests.evaluation.copies import picture
from tests.support.agent import FixedTool, registry, scripted, settings

ROLES = ("planner", "executor", "summarizer")
AGENT_RUNS = [name for name in RUNS if name != "embedded"]


def brightness(pixels: Pixels) -> float:
    """A tool's value that differs from picture to picture."""
    return 1 + 4 * float(pixels[0, 0, 0]) / 255


def rated_set(folder: Path, count: int = 12, references: bool = False) -> RatedSet:
    """Pictures whose opinion grows with their number, three to a content."""
    samples = []
    original = picture(folder / "original.png", 99) if references else None
    for number in range(count):
        path = picture(folder / f"{number:03d}.png", number)
        kind, opinion = ("Blurs", "Noise")[number % 2], 1 + 4 * number / count
        group = f"content {number // 3}"
        samples.append(RatedPicture(path.name, path, opinion, original, group, kind, str(number % 3)))
    return RatedSet("made", tuple(samples), OpinionScale(1, 5))


def agent_parts(**changes: Any) -> Parts:
    """Parts with a scripted model and two tools that measure something."""
    tools = registry(FixedTool("GAUGE", brightness), FixedTool("OTHER", lambda pixels: 6 - brightness(pixels)))
    return Parts(dict.fromkeys(ROLES, scripted(**changes)), tools, settings())


def store_in(folder: Path, parts: Parts) -> EvidenceStore:
    """A store of its own."""
    return EvidenceStore(parts.settings, Cache(folder / "evaluation.sqlite"))


def known_set(folder: Path, count: int, parts: Parts, store: EvidenceStore) -> RatedSet:
    """Pictures of which the store knows everything, five to a content, with scores spread round the opinion."""
    template = gather(rated_set(folder, 1).samples, AGENT_RUNS, parts, store)[0]
    random, samples = np.random.default_rng(0), []
    for number in range(count):
        path = folder / f"p{number}.bin"
        path.write_bytes(number.to_bytes(4, "big"))
        opinion = float(random.uniform(1, 5))
        known = _scattered(template, opinion, random) | {f"timed {name}": {"seconds": 0.1} for name in AGENT_RUNS}
        store.keep(path, None, known)
        samples.append(RatedPicture(path.name, path, opinion, group=f"g{number // 5}"))
    return RatedSet("made", tuple(samples), OpinionScale(1, 5))


def _scattered(template: dict[str, Found], opinion: float, random: np.random.Generator) -> dict[str, Found]:
    known: dict[str, Found] = json.loads(json.dumps(template))
    for found in known.values():
        if "raw" in found:
            found["raw"] = {name: float(np.clip(opinion + random.normal(), 1, 5)) for name in found["raw"]}
        else:
            found["score"] = float(np.clip(opinion + random.normal(), 1, 5))
    return known
