"""The audit on real photographs labelled by eye, beside cleanvision: precision, recall and time.

    python -m benchmarks.audit_looks --data BIQ2021 [--split test] [--limit 400] [--peer PYTHON]

The photographs are those of `training/looks.csv`; a flaw is present from a mean severity of 1.5, moderate. Those of the
test split with a near-identical twin in the training split are left out. Limits were chosen on the training split;
docs/audit.md lists every look at the test split. PEER is the Python of an environment with cleanvision. One process
each, one after another, so that the ratios hold on a busy machine too.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.audit import run_ours, run_peer, times
from benchmarks.looks import without_twins
from training.looks import PRESENT, LookedAt, read_looks

FLAW_OF = {
    "blurry": "blur", "dark": "dark", "light": "bright", "noisy": "noise", "low_contrast": "contrast",
    "colour_cast": "colour",
}  # fmt: skip
SEED = 28


def main() -> None:
    """Runs everybody once and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of BIQ2021")
    parser.add_argument("--split", choices=("train", "test"), default="test")
    parser.add_argument("--limit", type=int, default=400)
    parser.add_argument("--peer", help="Python of an environment with cleanvision")
    given = parser.parse_args()
    looked_at = chosen(given.split, given.limit, given.data)
    with tempfile.TemporaryDirectory() as folder:
        for photograph in looked_at:
            (Path(folder) / photograph.image).symlink_to((given.data / "Images" / photograph.image).absolute())
        runs = {"quick": run_ours(Path(folder), True, 1)}
        if given.peer:
            runs["cleanvision"] = run_peer(given.peer, Path(folder), 1)
        runs["full"] = run_ours(Path(folder), False, 1)
    print(times(runs), end="\n\n")
    print(found_in(runs, looked_at))


def chosen(split: str, limit: int, data: Path) -> list[LookedAt]:
    """A random part of the split's photographs; of the test split those without twins."""
    looked_at = read_looks(split)
    if split == "test":
        looked_at = without_twins(looked_at, data)
    random.Random(SEED).shuffle(looked_at)
    return looked_at[:limit]


def found_in(runs: dict[str, dict[str, Any]], looked_at: list[LookedAt]) -> str:
    """Precision and recall of each issue in each run, as Markdown."""
    lines = [f"| issue (of {len(looked_at)}) | {' | '.join(f'{name}: precision, recall' for name in runs)} |"]
    lines.append("|---" * (len(runs) + 1) + "|")
    for issue, flaw in FLAW_OF.items():
        wanted = {photograph.image for photograph in looked_at if photograph.flaws[flaw] >= PRESENT}
        cells = [_cell(run["flags"].get(issue), wanted) for run in runs.values()]
        lines.append(f"| {issue} ({len(wanted)}) | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(flagged: list[str] | None, wanted: set[str]) -> str:
    if flagged is None:
        return "–"
    hits = len(wanted & set(flagged))
    precision = f"{hits / len(flagged):.2f}" if flagged else "none flagged"
    return f"{precision}, {hits / max(1, len(wanted)):.2f}"


if __name__ == "__main__":
    main()
