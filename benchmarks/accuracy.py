"""How well the no-reference score agrees with people, beside baselines on the same pictures.

    python -m benchmarks.accuracy --data DIR [DIR ...] [--limit N] [--baselines NAME ...] [--ladders PHOTOGRAPHS]

Looks in each DIR for `biq2021` (its test split; photographs with a twin in the training split are left
out), `tid2013-part` (its references are not used), `avt` (the pictures of
`image_quality_test/test_1`), `ai` (`avt_ai_images`) and `bsds500` (photographs held out of training: clean ones, and
ladders of blur, JPEG and noise). Intervals of the correlations are 95 % bootstraps over clusters, references or scenes.
Intervals of the scores are reported twice: as shipped, and calibrated without the source they are checked on.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt

from agenticiqa.config import load_settings
from agenticiqa.embedded.quality.quality_model import QualityJudgement, load_quality_model
from agenticiqa.embedded.trunk import load_backbone
from agenticiqa.evaluation.statistics import bootstrap, fit_logistic, krcc, paired_bootstrap, plcc, rmse, srcc
from agenticiqa.tools import ToolRegistry, default_registry
from agenticiqa.tools.synthetic.kinds import LEVELS, distort
from agenticiqa.weights import WeightSet
from training.biq2021 import read_photographs
from training.clusters import find_clusters, thumbnails
from training.opinions import on_common_scale
from training.pictures import Pixels, read_pixels
from training.sources import list_scenes

Values = npt.NDArray[np.float64]
BASELINES = ("NSS_DISTANCE", "NSS_REGRESSION", "PIQE", "SHARPNESS")
TERMS: tuple[WeightSet, ...] = ("research", "open")
LADDERS = ("gaussian_blur", "jpeg", "white_noise")


@dataclass
class Source:
    """Rated pictures: paths, opinions, the cluster of each, and the opinions on the common scale."""

    key: str
    name: str
    paths: list[Path]
    opinions: Values
    clusters: list[str]
    scaled: Values
    scores: dict[str, Values] = field(default_factory=dict)


def read_biq2021(folder: Path) -> Source:
    """The test split without photographs whose cluster reaches into the training split."""
    listed = read_photographs(folder)
    clusters = find_clusters(thumbnails(folder / "Images" / p.name for p in listed))
    trained = {int(c) for p, c in zip(listed, clusters, strict=True) if p.split == "train"}
    kept = [(p, int(c)) for p, c in zip(listed, clusters, strict=True) if p.split == "test" and int(c) not in trained]
    opinions = np.array([p.opinion for p, _ in kept])
    paths = [folder / "Images" / p.name for p, _ in kept]
    return Source(
        "biq2021",
        "biq2021 test, no twins",
        paths,
        opinions,
        [str(c) for _, c in kept],
        on_common_scale("biq2021", opinions),
    )


def read_tid2013(folder: Path) -> Source:
    """The part of TID2013 at hand, references left aside; nothing was fitted on it."""
    rows = _rows(folder / "scores.csv")
    opinions = np.array([float(row["mos"]) for row in rows])
    paths = [folder / "distorted" / row["distorted"] for row in rows]
    return Source(
        "tid2013",
        "tid2013-part, no reference",
        paths,
        opinions,
        [r["reference"] for r in rows],
        on_common_scale("tid2013", opinions),
    )


def read_avt(folder: Path) -> Source:
    """Stills of several sizes and rates, rated enlarged to one screen; no fit has seen them."""
    rows = _rows(folder / "test_1" / "mos_ci.csv")
    found = [(folder / "test_1" / "images" / f"{row['image_name']}.png", row) for row in rows]
    found = [(path, row) for path, row in found if path.exists()]
    opinions = np.array([float(row["mos"]) for _, row in found])
    scenes = [row["image_name"].partition("_1frame")[0] for _, row in found]
    return Source("avt", "avt stills", [path for path, _ in found], opinions, scenes, on_common_scale("avt", opinions))


def read_ai(folder: Path) -> Source:
    """Generated pictures and real ones; no fit has seen them."""
    rows = _rows(folder / "evaluation_quality_appeal" / "quality.csv")
    found = [(folder / "images" / f"{row['image_key']}.png", row) for row in rows]
    found = [(path, row) for path, row in found if path.exists()]
    opinions = np.array([float(row["rating"]) for _, row in found])
    prompts = [row["prompt"] for _, row in found]
    return Source("ai", "ai pictures", [path for path, _ in found], opinions, prompts, on_common_scale("ai", opinions))


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


READERS: dict[str, Callable[[Path], Source]] = {
    "biq2021": read_biq2021, "tid2013-part": read_tid2013, "avt": read_avt, "ai": read_ai,
}  # fmt: skip


def main() -> None:
    """Print one table per source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", default=[])
    parser.add_argument("--ladders", type=Path, help="a folder of other clean photographs to make ladders of")
    parser.add_argument("--limit", type=int, help="at most so many pictures per source, drawn with seed 0")
    parser.add_argument("--baselines", nargs="*", default=BASELINES)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    for source in find_sources(given.data, given.limit):
        judged = judge_source(source, given.baselines, given.workers)
        report_agreement(source)
        report_intervals(source, judged)
    for folder in given.data:
        if (folder / "bsds500").is_dir():
            report_ladders("held-out clean photographs", held_out_views(folder / "bsds500", given.limit))
    if given.ladders:
        report_ladders(
            given.ladders.name, [read_pixels(path) for path in sorted(given.ladders.iterdir())][: given.limit]
        )
    report_nothing()


def find_sources(folders: list[Path], limit: int | None) -> Iterator[Source]:
    """Each known source that is there, thinned if asked."""
    for folder in folders:
        for name, reader in READERS.items():
            if (folder / name).is_dir():
                yield _thinned(reader(folder / name), limit)


def judge_source(source: Source, baselines: Sequence[str], workers: int) -> dict[WeightSet, list[QualityJudgement]]:
    """Fill in the scores of both weight sets and of the baselines, oriented so that higher is better."""
    with ProcessPoolExecutor(workers) as pool:
        rows = list(pool.map(partial(judge_file, baselines), source.paths, chunksize=16))
    judged: dict[WeightSet, list[QualityJudgement]] = {terms: [row[0][terms] for row in rows] for terms in TERMS}
    source.scores = {f"AIQA_NR {terms}": np.array([j.score for j in js]) for terms, js in judged.items()}
    source.scores |= {name: np.array([row[1][name] for row in rows]) for name in baselines}
    return judged


def judge_file(baselines: Sequence[str], path: Path) -> tuple[dict[WeightSet, QualityJudgement], dict[str, float]]:
    """The judgements of both weight sets and the baselines' values for one file."""
    pixels = read_pixels(path)
    features = load_backbone().features(pixels)
    judged = {terms: load_quality_model(terms).judge_features(features) for terms in TERMS}
    return judged, {name: _oriented(name, pixels) for name in baselines}


@lru_cache(maxsize=1)
def _registry() -> ToolRegistry:
    return default_registry(load_settings())


def _oriented(name: str, pixels: Pixels) -> float:
    tool = _registry().get(name)
    return (1 if tool.card.higher_is_better else -1) * tool.measure(pixels)


def report_agreement(source: Source) -> None:
    """SRCC, PLCC, KRCC with intervals, and the lead over each baseline."""
    print(f"\n## {source.name}: {len(source.opinions)} pictures, {len(set(source.clusters))} clusters")
    ours = source.scores["AIQA_NR research"]
    for name, scores in source.scores.items():
        fit = fit_logistic(scores, source.opinions)
        fitted = fit(scores)
        ranks = bootstrap(srcc, scores, source.opinions, clusters=source.clusters)
        linear = bootstrap(plcc, fitted, source.opinions, clusters=source.clusters)
        lead = paired_bootstrap(srcc, ours, scores, source.opinions, clusters=source.clusters)
        ordered, error = krcc(scores, source.opinions), rmse(fitted, source.opinions)
        print(
            f"{name:18s} SRCC {ranks.value:.3f} [{ranks.low:.3f}, {ranks.high:.3f}]  PLCC {linear.value:.3f} "
            f"[{linear.low:.3f}, {linear.high:.3f}]  KRCC {ordered:.3f}  RMSE {error:.3f}  "
            f"fit {fit.form}  "
            f"lead {lead.value:+.3f} (p {lead.p_value:.3f})"
        )


def report_intervals(source: Source, judged: dict[WeightSet, list[QualityJudgement]]) -> None:
    """Coverage and mean width of the 95 % and 80 % intervals."""
    for terms, judgements in judged.items():
        whole = np.array([j.interval for j in judgements])
        likely = np.array([j.likely_interval for j in judgements])
        flagged = sum(j.out_of_domain is not None for j in judgements)
        print(
            f"interval {terms}: 95 % holds {_covered(source, whole):.1%}, mean width {_width(whole):.2f}; "
            f"80 % holds {_covered(source, likely):.1%}, {_width(likely):.2f}; {flagged} out of domain"
        )


def _covered(source: Source, intervals: Values) -> float:
    return float(((source.scaled >= intervals[:, 0]) & (source.scaled <= intervals[:, 1])).mean())


def _width(intervals: Values) -> float:
    return float((intervals[:, 1] - intervals[:, 0]).mean())


def held_out_views(bsds: Path, limit: int | None) -> list[Pixels]:
    """Photographs of BSDS500 that no fit has seen, whole."""
    scenes = [s for s in list_scenes(bsds, bsds / "none", 6) if s.split == "held" and s.terms == "research"][:limit]
    return [read_pixels(Path(scene.photograph)) for scene in scenes]


def report_ladders(name: str, pictures: list[Pixels]) -> None:
    """The mean of clean photographs and how often ladders of damage made of them fall at every step."""
    for terms in TERMS:
        model, clean = load_quality_model(terms), list[float]()
        changes: dict[str, list[npt.NDArray[np.float64]]] = {kind: [] for kind in LADDERS}
        for pixels in pictures:
            clean.append(model.judge(pixels).score)
            for kind in LADDERS:
                steps = [clean[-1], *(model.judge(distort(pixels, kind, level)).score for level in LEVELS)]
                changes[kind].append(np.diff(steps))
        shares = ", ".join(f"{kind} {np.all(np.array(steps) < 0, 1).mean():.0%}" for kind, steps in changes.items())
        every = np.concatenate([np.array(steps) for steps in changes.values()])
        fell = every < 0
        print(f"\n{name} {terms}: mean {np.mean(clean):.2f} of {len(clean)}")
        print(f"ladders that fall at every step: {shares}; all {fell.all(1).mean():.1%}; steps {fell.mean():.1%}")
        rises = np.maximum(every, 0).max(1)
        print(f"the largest rise within a ladder: {rises.mean():.3f} in the mean, {rises.max():.2f} at most")


def report_nothing() -> None:
    """Scores of pictures of nothing."""
    random = np.random.default_rng(0)
    nothing: dict[str, Pixels] = {
        name: np.full((512, 512, 3), value, np.uint8) for name, value in (("black", 0), ("white", 255), ("grey", 128))
    }
    nothing["noise"] = random.integers(0, 256, (512, 512, 3), dtype=np.uint8)
    for terms in TERMS:
        model = load_quality_model(terms)
        print(f"{terms}: " + ", ".join(f"{name} {model.judge(pixels).score:.2f}" for name, pixels in nothing.items()))


def _thinned(source: Source, limit: int | None) -> Source:
    if limit is None or limit >= len(source.paths):
        return source
    rows = np.sort(np.random.default_rng(0).permutation(len(source.paths))[:limit])
    return Source(
        source.key, source.name, [source.paths[r] for r in rows], source.opinions[rows],
        [source.clusters[r] for r in rows], source.scaled[rows],
    )  # fmt: skip


if __name__ == "__main__":
    main()
