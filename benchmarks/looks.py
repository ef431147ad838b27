"""What the eyes see in real photographs, against the project's own labels, and whether they contradict themselves.

    python -m benchmarks.looks --data BIQ2021 [--terms research] [--limit 400] [--skip-questions] [--resized SEED]
    python -m benchmarks.looks --other IMAGENET [--split check] [--terms research]
    python -m benchmarks.looks --other BSDS500/data/images --split bsds [--terms research]
    python -m benchmarks.looks --show FILE ... [--terms research]

Looks at the photographs of BIQ2021's test split that two eyes labelled independently (`training/looks.csv`); those
with a near-identical twin in the training split are left out. A flaw is present from a mean severity of 1.5; the main
flaw is the strongest finding, dark and bright told apart by direction; "nothing wrong" is no finding of moderate or
above. Intervals are 95 % bootstraps over photographs.

`--other` looks at photographs of other sources that were left out of the fit, labelled by one eye
(`training/other_looks.csv`): `check` of a source that others of its photographs teach, `bsds` of one no label of
which does; of these the main flaw counts where it is clear: something is at least moderate, or nothing is wrong.
`--resized` shows each photograph in another size or shape (`training/resized.py`): a thumbnail, a band, a picture twice
as wide, enlarged; blur, noise and coding count as far as they are still to be seen. `--show` prints a table of what is
said about any photographs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.client import PerceptionClient
from agenticiqa.embedded.combined_models import ShippedPerception
from agenticiqa.embedded.findings import Look
from agenticiqa.images import load_image
from agenticiqa.state import SEVERITIES
from agenticiqa.weights import WeightSet
from benchmarks.contradictions import QUESTIONS, ask_and_check
from training.biq2021 import read_photographs
from training.clusters import thumbnails, twins_between
from training.looks import CATEGORY_OF, FLAWS, OTHER_TABLE, PRESENT, LookedAt, read_looks
from training.resized import at_scale, vary

Floats = npt.NDArray[np.float64]
MODERATE = SEVERITIES.index("moderate")
DRAWS = 1000
TARGETS = {
    "AUC blur": 0.97, "AUC noise": 0.97, "AUC dark": 0.98, "AUC bright": 0.95, "AUC contrast": 0.93,
    "AUC colour": 0.90, "AUC compression": 0.85, "found blur": 0.8, "found dark": 0.8, "found bright": 0.8,
    "found noise": 0.8, "main flaw": 0.75, "nothing wrong": 0.75, "kappa blur": 0.75, "kappa dark": 0.75,
    "kappa bright": 0.75, "kappa noise": 0.6,
}  # fmt: skip
MOST_FALSE_ALARMS = 0.05
# A main flaw that lost more than this many steps of severity to the size of a picture may no longer be the main one.
LOST = 0.5


def main() -> None:
    """Prints every figure with its interval and target."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, help="folder of BIQ2021")
    options.add_argument("--other", type=Path, help="folder of the ImageNet sample, to look at instead")
    options.add_argument("--show", type=Path, nargs="+", help="photographs to print a table of instead")
    options.add_argument(
        "--split", choices=("choice", "check", "bsds"), default="check", help="which part of the other source"
    )
    options.add_argument("--terms", choices=("research", "open"), default="research")
    options.add_argument("--limit", type=int, default=10_000)
    options.add_argument("--skip-questions", action="store_true", help="leave the contradictions out")
    options.add_argument("--resized", type=int, metavar="SEED", help="each photograph in another size or shape")
    options.add_argument("--json", type=Path, help="also write the figures here")
    given = options.parse_args()
    if given.show:
        show(given.show, given.terms)
        return
    if given.other:
        look_elsewhere(given.other, given.split, given.terms)
        return
    if given.data is None:
        options.error("give --data, --other or --show")
    looked_at = without_twins(read_looks("test"), given.data)[: given.limit]
    eyes = ShippedPerception(given.terms)
    client = PerceptionClient(eyes)
    looks, contradictions = [], []
    for number, photograph in enumerate(looked_at):
        image = load_image(given.data / "Images" / photograph.image)
        if given.resized is not None:
            random = np.random.default_rng((given.resized, number))
            varied, scale = vary(image.pixels, random)
            image, looked_at[number] = load_image(varied), seen_at(photograph, scale)
        looks.append(eyes.look(image))
        if not given.skip_questions:
            contradictions += [f"{photograph.image}: {found}" for found in ask_and_check(client, image, looks[-1])]
    figures = report(looked_at, looks)
    if not given.skip_questions:
        print(f"contradictions: {len(contradictions)} over {len(looked_at)} photographs x {len(QUESTIONS)} questions")
        print("\n".join(contradictions[:40]))
        figures["contradictions"] = float(len(contradictions))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))


def seen_at(photograph: LookedAt, scale: float) -> LookedAt:
    """The labels of a photograph that was shrunk; its main flaw is dropped where it is hardly to be seen any more."""
    severities = at_scale(np.array([[photograph.flaws[flaw] for flaw in FLAWS]]), np.array([scale]))[0]
    flaws = dict(zip(FLAWS, map(float, severities), strict=True))
    faded = any(main in flaws and flaws[main] < photograph.flaws[main] - LOST for main in photograph.mains)
    return replace(photograph, flaws=flaws, mains=() if faded else photograph.mains)


def show(files: Sequence[Path], terms: WeightSet) -> None:
    """Prints score and findings of each photograph as a table."""
    eyes = ShippedPerception(terms)
    print("| photograph | score | findings |\n|---|---|---|")
    for path in files:
        look = eyes.look(load_image(path))
        told = [f"{f.category}: {f.severity}, {f.kind}" for f in look.findings if f.severity != "none"]
        print(f"| {path.stem} | {look.quality.score:.1f} | {'; '.join(told) or 'nothing'} |")


def look_elsewhere(folder: Path, split: str, terms: WeightSet) -> None:
    """Prints what was found in photographs of another source."""
    eyes, looked_at = ShippedPerception(terms), read_looks(split, OTHER_TABLE)
    looks = [eyes.look(load_image(folder / photograph.image)) for photograph in looked_at]
    for flaw in FLAWS:
        truth = np.array([p.flaws[flaw] for p in looked_at])
        _of_flaw(flaw, truth, np.array([strength_of(look, flaw) for look in looks]))
    pairs = zip(looked_at, looks, strict=True)
    right = [(max(p.flaws.values()) >= PRESENT, p.mains[0], p.mains[0] == main_flaw(look)) for p, look in pairs]
    _share("main flaw", np.array([hit for present, main, hit in right if present or main == "none"]))
    calm = [look for look, (_, main, _) in zip(looks, right, strict=True) if main == "none"]
    fine = [max(strength_of(look, flaw) for flaw in FLAWS) < MODERATE - 0.5 for look in calm]
    _share("nothing wrong", np.array(fine))


def without_twins(looked_at: list[LookedAt], data: Path) -> list[LookedAt]:
    """The photographs that no photograph of the training split resembles."""
    paths = [data / "Images" / p.name for p in read_photographs(data) if p.split == "train"]
    own = thumbnails([data / "Images" / photograph.image for photograph in looked_at])
    twins = {first for first, _ in twins_between(own, thumbnails(paths))}
    print(f"{len(twins)} of {len(looked_at)} photographs have a twin in the training split and are left out")
    return [photograph for number, photograph in enumerate(looked_at) if number not in twins]


def strength_of(look: Look, flaw: str) -> float:
    """The strength of a flaw's finding, by its own direction; without directions the opposite counts below none."""
    finding = look.finding(CATEGORY_OF[flaw])
    if finding is None:
        return 0.0
    if flaw in ("dark", "bright"):
        if finding.directions:
            return finding.directions[flaw == "bright"].strength
        return finding.strength if is_flaw(finding.kind, flaw) else -finding.strength
    return finding.strength


def is_flaw(kind: str | None, flaw: str) -> bool:
    """Whether a kind of brightness is the one the flaw names."""
    return kind == {"dark": "darken", "bright": "brighten"}[flaw]


def main_flaw(look: Look) -> str:
    """The strongest finding as a flaw of the guide, "none" where nothing is even slight."""
    strengths = {flaw: strength_of(look, flaw) for flaw in FLAWS}
    best = max(strengths, key=lambda flaw: strengths[flaw])
    return best if strengths[best] >= 0.5 else "none"


def report(looked_at: Sequence[LookedAt], looks: Sequence[Look]) -> dict[str, float]:
    """All figures of the photographs, printed and by name."""
    truth = {flaw: np.array([p.flaws[flaw] for p in looked_at]) for flaw in FLAWS}
    found = {flaw: np.array([strength_of(look, flaw) for look in looks]) for flaw in FLAWS}
    figures: dict[str, float] = {}
    for flaw in FLAWS:
        figures |= _of_flaw(flaw, truth[flaw], found[flaw])
    agreed = [(p.agreed_main, main_flaw(look)) for p, look in zip(looked_at, looks, strict=True) if p.agreed_main]
    figures |= _share("main flaw", np.array([said == true for true, said in agreed]))
    fine = np.array([np.max([found[flaw][n] for flaw in FLAWS]) < MODERATE - 0.5 for n in range(len(looks))])
    none = np.array([p.agreed_main == "none" for p in looked_at])
    return figures | _share("nothing wrong", fine[none])


def _of_flaw(flaw: str, truth: Floats, found: Floats) -> dict[str, float]:
    present, alarmed = truth >= PRESENT, found >= MODERATE - 0.5
    if not present.any():
        return {}
    figures = _printed(f"AUC {flaw}", auc, present.astype(np.float64), found)
    figures |= _share(f"found {flaw}", alarmed[present])
    figures |= _share(f"false alarms {flaw}", alarmed[~present])
    return figures | _printed(f"kappa {flaw}", kappa, truth, found)


def auc(present: Floats, found: Floats) -> float:
    """How often a photograph with the flaw is ranked above one without."""
    if present.all() or not present.any():
        return float("nan")
    above = found[present.astype(bool)][:, None] - found[~present.astype(bool)][None]
    return float((above > 0).mean() + 0.5 * (above == 0).mean())


def kappa(truth: Floats, found: Floats) -> float:
    """Quadratic kappa of the severity words with the eyes' mean, halves rounded up, from none to severe."""
    first, second = (np.clip(np.floor(values + 0.5), 0, 3).astype(int) for values in (truth, found))
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    apart = np.subtract.outer(np.arange(4), np.arange(4)) ** 2
    chance = np.outer(table.sum(1), table.sum(0)) / table.sum()
    return float(1 - (apart * table).sum() / (apart * chance).sum())


def _printed(name: str, measure: Callable[..., float], *columns: Floats) -> dict[str, float]:
    value = measure(*columns)
    random = np.random.default_rng(1)
    rows = (random.integers(0, len(columns[0]), len(columns[0])) for _ in range(DRAWS))
    drawn = [measure(*(column[row] for column in columns)) for row in rows]
    low, high = np.nanpercentile(drawn, (2.5, 97.5))
    target = f"target {TARGETS[name]}" if name in TARGETS else ""
    print(f"{name:22} {value:.3f}  [{low:.3f}, {high:.3f}]  {target}")
    return {name: value}


def _share(name: str, hits: npt.NDArray[np.bool_]) -> dict[str, float]:
    figures = _printed(name, lambda rows: float(rows.mean()), hits.astype(np.float64))
    limit = f"at most {MOST_FALSE_ALARMS}" if name.startswith("false alarms") else ""
    print(f"{'':22} {int(hits.sum())} of {len(hits)} {limit}")
    return figures


if __name__ == "__main__":
    main()
