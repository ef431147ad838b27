"""Which tools may contradict which distortion: whose score falls reliably with that damage.

    python -m training.contradicting_tools            measures and writes contradicting_tools.json (ten minutes)
    python -m training.contradicting_tools AIQA_NR    measures this one again
    python -m training.contradicting_tools --table    prints what the file says

A severe distortion beside a score above 4 is a contradiction only if the tool would have seen the damage. It is taken
to see a category when, on ladders of the photographs that ship for calibration, its score falls by half a point or more
from the untouched picture to the strongest damage in nine of ten ladders, and stays above 4 in at most one of twenty
pictures with strong damage. The catalogue's `contradicts` lists the categories; a test holds the two together.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

from agenticiqa.config import load_settings
from agenticiqa.nodes.sufficiency import HIGH_SCORE
from agenticiqa.parts import build_parts
from agenticiqa.state import DISTORTION_CATEGORIES
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.tools.synthetic.kinds import KINDS
from agenticiqa.tools.synthetic.ladder import LADDER_KINDS, build_ladders, ladder_photographs

FILE = Path(__file__).with_suffix(".json")
LEVELS = (4, 5)
FALL, FALLING_SHARE, HIGH_SHARE = 0.5, 0.9, 0.05


@dataclass(frozen=True)
class Seen:
    """How one tool's score follows the damage of one category."""

    ladders: int
    falling: float
    high_when_strong: float

    @property
    def reliable(self) -> bool:
        """Whether the tool may contradict a finding of this category."""
        return self.falling >= FALLING_SHARE and self.high_when_strong <= HIGH_SHARE


def measure(tools: ToolRegistry, wanted: list[str]) -> dict[str, dict[str, Seen]]:
    """What each voting tool that runs here sees, by category; with `wanted`, those alone."""
    names = [name for name in tools.names() if tools.votes(name) and tools.available(name) is None]
    names = [name for name in names if not wanted or name in wanted]
    falls: dict[tuple[str, str], list[float]] = defaultdict(list)
    strong: dict[tuple[str, str], list[float]] = defaultdict(list)
    untouched: dict[str, float] = {}
    for rung in build_ladders(list(ladder_photographs().values()), LADDER_KINDS, LEVELS):
        scores = {name: tools.execute(name, rung.image, rung.original).calibrated for name in names}
        found = {name: score for name, score in scores.items() if score is not None}
        if rung.kind is None:
            untouched = found
            continue
        for name, score in found.items():
            key = (name, KINDS[rung.kind].category)
            strong[key].append(score)
            if rung.level == max(LEVELS):
                falls[key].append(untouched[name] - score)
    return {
        name: {kind: _seen(falls[name, kind], strong[name, kind]) for kind in DISTORTION_CATEGORIES} for name in names
    }


def _seen(falls: list[float], strong: list[float]) -> Seen:
    falling = sum(fall >= FALL for fall in falls) / len(falls)
    return Seen(len(falls), round(falling, 4), round(sum(score > HIGH_SCORE for score in strong) / len(strong), 4))


def stored() -> dict[str, dict[str, Seen]]:
    """What was measured."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: {kind: Seen(**seen) for kind, seen in kinds.items()} for name, kinds in content.items()}


def table(measured: dict[str, dict[str, Seen]]) -> str:
    """A row per tool: share of ladders on which it falls / share of strong damage scored above 4, * where reliable."""
    lines = ["| tool | " + " | ".join(DISTORTION_CATEGORIES) + " |", "|---" * (len(DISTORTION_CATEGORIES) + 1) + "|"]
    for name, kinds in measured.items():
        cells = [f"{s.falling:.2f} / {s.high_when_strong:.2f}{' *' if s.reliable else ''}" for s in kinds.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measures, writes and prints."""
    if "--table" not in sys.argv:
        plain = load_settings(
            environ={}, directory=Path("/nonexistent"), overrides={"pipeline": {"cache": {"enabled": False}}}
        )
        wanted = sys.argv[1:]
        found = (stored() if wanted else {}) | measure(build_parts(plain).tools, wanted)
        content = {name: {kind: asdict(seen) for kind, seen in kinds.items()} for name, kinds in found.items()}
        FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(table(stored()) + "\n")


if __name__ == "__main__":
    main()
