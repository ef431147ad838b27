"""Fits the model of real photographs: a kernel on trunk, tail, traces and measurements, calibrated on content folds.

    python -m training.detect_photographs --cache DIR --terms research --tail tail_research.onnx

DIR holds what `training.detect_pictures looks|other|plain|camera|hard|whole` wrote. `research` learns from the labelled
photographs of two sources and from pictures through a camera; `open` from pictures of free photographs through a camera
alone. Curves and thresholds come from folds over the labelled training photographs (clusters whole), those for sources
nobody trained on also from one source judged by a fit without it; the test split is not read. The weights go to
`src/agenticiqa/weights/flaws_<terms>.npz`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agenticiqa.tools.synthetic.kinds import KINDS
from training.clusters import folds_of
from training.looks import CATEGORY_OF, FLAWS, OTHER_TABLE, TABLE, LookedAt, read_looks
from training.manifest import write_arrays
from training.photograph_curves import Sources, fit_all_curves
from training.resized import at_scale

Floats = npt.NDArray[np.float64]
Arrays = dict[str, npt.NDArray[np.generic]]
WEIGHTS = Path("src/agenticiqa/weights")
BLUR_KINDS = ("defocus", "motion", "soft")
NETWORK = ("pooled", "half", "tail")
COMPONENTS, LANDMARKS, FOLDS = 128, 3500, 5
# How much traces and measurements count in a distance beside the network's features.
SHARE_OF_REST = 0.5
BOUND = 5.0
# Two widths of the kernel, averaged, with the ridge of each; widths are in medians of the squared distance.
WIDTHS = ((1.0, 0.3), (0.1, 0.1))
HARD = -2
GATE_RIDGE, PLAIN_WEIGHT, ELSEWHERE_WEIGHT = 0.3, 3.0, 2.0
# The share of landmarks that are pictures made by us, photographs nobody labelled, and photographs at other sizes.
MADE_LANDMARKS, PLAIN_LANDMARKS, RESIZED_LANDMARKS = 0.13, 0.04, 0.15
FLAW_OF_CATEGORY = {category: flaw for flaw, category in CATEGORY_OF.items()}
FLAW_OF_KIND = {"darken": "dark", "brighten": "bright", "mean_shift": "bright", "upscale": "blur", "pixelate": "blur"}
# What a picture made by us counts beside a photograph labelled by eye; a whole photograph damaged by code only tells
# the two worlds apart.
MADE_WEIGHT, WHOLE_WEIGHT = 0.1, 0.0
# Photographs of another source are seen by other people's cameras and labelled by other eyes.
OTHER_WEIGHT = 0.7
# What a photograph at another size or shape counts beside the one that was looked at, each time it is shown.
RESIZED = 0.45
# Pictures meant to look as they do count more: nothing else says that a night is dark on purpose.
HARD_WEIGHT = 1.5


@dataclass(frozen=True)
class Rows:
    """Pictures as features, the outputs wanted, their weight, folds (-1: always in the fit) and whether code made them.

    Hard negatives belong to either world and have no part in telling them apart: their fold is -2 or lower.
    `main` is the main flaw of those the curves are fitted on, "" for the others.
    """

    network: Floats
    rest: Floats
    wanted: Floats
    weight: Floats
    fold: npt.NDArray[np.intp]
    made: npt.NDArray[np.bool_]
    main: npt.NDArray[np.str_]


def read_part(cache: Path, name: str, tail: Path) -> dict[str, npt.NDArray[np.generic]]:
    """One extracted file with what the tail makes of its stage-5 maps, unless it holds that already."""
    part = dict(np.load(cache / f"{name}.npz"))
    if "tail" in part:
        return part
    kept = cache / f"{name}_{hashlib.sha256(tail.read_bytes()).hexdigest()[:12]}.npy"
    if not kept.exists():
        np.save(kept, run_tail(cache / f"{name}_s5.npz", tail))
    part["tail"] = np.load(kept)
    return part


def run_tail(maps: Path, tail: Path) -> npt.NDArray[np.float32]:
    """The pooled last stages of every picture of a file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(tail), options, providers=["CPUExecutionProvider"])
    stored = np.load(maps)
    flat, shapes = stored["flat"], stored["shapes"]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    pieces = zip(np.split(flat, ends[:-1]), shapes, strict=True)
    planes = (piece.reshape(shape)[None].astype(np.float32) for piece, shape in pieces)
    return np.array([session.run(None, {"stage5": plane})[-1][0] for plane in planes], np.float32)


def looked_at_rows(part: dict[str, npt.NDArray[np.generic]], clusters: dict[str, int]) -> Rows:
    """The labelled photographs of the training split."""
    known = {photograph.image: photograph for photograph in read_looks("train")}
    looked_at = [known[str(name)] for name in part["names"]]
    groups = np.array([clusters[photograph.image.lower()] for photograph in looked_at])
    wanted = np.array([wanted_of(photograph) for photograph in looked_at])
    count = len(looked_at)
    # The photographs picked where a first fit was unsure or a flaw was likely are no fair sample: they teach, but do
    # not calibrate.
    main = np.array([p.mains[0] if p.eyes[0] == "a" else "" for p in looked_at])
    fold = folds_of(groups, FOLDS, 3)
    return Rows(*_features(part), wanted, np.ones(count), fold, np.zeros(count, bool), main)


def other_rows(part: dict[str, npt.NDArray[np.generic]]) -> Rows:
    """The labelled photographs of another source: they teach, and calibrate what is said of sources nobody knows."""
    known = {photograph.image: photograph for photograph in read_looks("train", OTHER_TABLE)}
    looked_at = [known[str(name)] for name in part["names"]]
    wanted = np.array([wanted_of(photograph) for photograph in looked_at])
    count = len(looked_at)
    # Each shows another thing: there are no twins to keep together.
    fold = np.random.default_rng(3).permutation(count) % FOLDS
    none = np.full(count, "", "U16")
    return Rows(*_features(part), wanted, np.full(count, OTHER_WEIGHT), fold, np.zeros(count, bool), none)


def resized_rows(part: dict[str, npt.NDArray[np.generic]], table: Path, originals: Rows, names: list[str]) -> Rows:
    """Labelled photographs at other sizes and shapes: each in the fold of its original, severities as they are seen."""
    known = {photograph.image: photograph for photograph in read_looks("train", table)}
    fold_of = dict(zip(names, originals.fold, strict=True))
    shown = [str(name) for name in part["names"]]
    wanted = np.array([wanted_of(known[name]) for name in shown])
    wanted[:, : len(FLAWS)] = at_scale(wanted[:, : len(FLAWS)], part["scale"].astype(np.float64))
    count = len(shown)
    fold = np.array([fold_of[name] for name in shown])
    weight = np.full(count, RESIZED * originals.weight[0])
    return Rows(*_features(part), wanted, weight, fold, np.zeros(count, bool), np.full(count, "", "U16"))


def made_rows(part: dict[str, npt.NDArray[np.generic]], terms: str) -> Rows:
    """Pictures through a camera with their flaws; clean, hard and damaged ones for telling the two worlds apart."""
    chosen = np.isin(part["terms"], ("open",) if terms == "open" else ("open", "research"))
    part = {name: column[chosen] for name, column in part.items() if len(column) == len(chosen)}
    by_code = np.isin(part["world"], ("kinds", "whole"))
    flaws = np.where(by_code[:, None], [_flaws_of(str(recipe)) for recipe in part["recipe"]], part["flaws"])
    worst = flaws.max(axis=1, keepdims=True)
    kinds = np.array([_blur_kinds(str(r), f[0]) for r, f in zip(part["recipe"], flaws, strict=True)])
    rest = np.concatenate([kinds, (worst < 1).astype(np.float64)], axis=1)
    weight = np.where(part["world"] == "hard", HARD_WEIGHT, MADE_WEIGHT)
    weight = np.where(part["world"] == "whole", WHOLE_WEIGHT, weight)
    fold, main = np.where(part["world"] == "hard", HARD, -1), np.full(len(flaws), "", "U16")
    if terms == "open":
        # Without labelled photographs the pictures through a camera calibrate too, photographs whole.
        fold = np.where(by_code, fold, [zlib.crc32(str(name).encode()) % FOLDS for name in part["photograph"]])
        main = np.where(by_code, "", np.where(worst[:, 0] < 1, "none", np.array(FLAWS)[flaws.argmax(axis=1)]))
    return Rows(*_features(part), np.concatenate([flaws, rest], axis=1), weight, fold, by_code, main)


def plain_rows(part: dict[str, npt.NDArray[np.generic]]) -> Rows:
    """Photographs of other sources as they are: nobody labelled them, but they went through a camera."""
    network, rest = _features(part)
    count = len(network)
    wanted = np.zeros((count, len(FLAWS) + len(BLUR_KINDS) + 1))
    none = np.full(count, "", "U16")
    return Rows(network, rest, wanted, np.zeros(count), np.full(count, -1), np.zeros(count, bool), none)


def _flaws_of(recipe: str) -> list[float]:
    """The flaws of a picture damaged by known kinds, each as strong as the loss of its level; none of other recipes."""
    found = dict.fromkeys(FLAWS, 0.0)
    if recipe.startswith("camera:") or recipe == "clean":
        return list(found.values())
    for kind, level in (part.split(":") for part in recipe.split("+")):
        flaw = FLAW_OF_KIND.get(kind) or FLAW_OF_CATEGORY[KINDS[kind].category]
        found[flaw] = max(found[flaw], kind_losses()[kind][int(level) - 1])
    return list(found.values())


@lru_cache(maxsize=1)
def kind_losses() -> dict[str, list[float]]:
    """The loss of quality of every kind of made damage at each of its levels."""
    losses: dict[str, list[float]] = json.loads(Path(__file__).with_name("kind_losses.json").read_text())
    return losses


def _blur_kinds(recipe: str, blur: float) -> list[float]:
    """Which kind of blur a shot shows most of; unknown without blur."""
    if not recipe.startswith("camera:") or blur < 1:
        return [np.nan] * len(BLUR_KINDS)
    shot = json.loads(recipe.removeprefix("camera:"))
    sigmas = (shot["defocus"] / 2, shot["motion"] / 3.5, shot["soft"])
    return [float(sigma == max(sigmas)) for sigma in sigmas]


def _features(part: dict[str, npt.NDArray[np.generic]]) -> tuple[Floats, Floats]:
    network = np.concatenate([part[name] for name in NETWORK], axis=1).astype(np.float64)
    return network, np.concatenate([part["traces"], part["seen"]], axis=1).astype(np.float64)


def wanted_of(photograph: LookedAt) -> list[float]:
    """Flaws, shares of the kinds of blur (unknown without blur), and whether nothing is the main flaw."""
    kinds = [kind for kind in photograph.blur_kinds if kind in BLUR_KINDS]
    shares = [kinds.count(kind) / len(kinds) if kinds else np.nan for kind in BLUR_KINDS]
    return [
        *(photograph.flaws[flaw] for flaw in FLAWS),
        *shares,
        float(np.mean([m == "none" for m in photograph.mains])),
    ]


def join(parts: list[Rows]) -> Rows:
    """Several sets of rows as one."""
    columns = zip(*((r.network, r.rest, r.wanted, r.weight, r.fold, r.made, r.main) for r in parts), strict=True)
    return Rows(*(np.concatenate(column) for column in columns))


def fit_inputs(rows: Rows) -> dict[str, npt.NDArray[np.generic]]:
    """Standardisation, the main directions of the network's features, and the scale of the rest."""
    chosen = rows.fold >= 0
    both = np.concatenate([rows.network, rows.rest], axis=1)
    centre, scale = both[chosen].mean(axis=0), both[chosen].std(axis=0) + 1e-4
    standard = np.clip((both[chosen] - centre) / scale, -BOUND, BOUND)
    count = rows.network.shape[1]
    values, vectors = np.linalg.eigh(standard[:, :count] @ standard[:, :count].T)
    size = min(COMPONENTS, len(values))
    directions = standard[:, :count].T @ vectors[:, ::-1][:, :size] / np.sqrt(values[::-1][:size])
    largest = np.abs(directions).max(axis=0)
    stored = np.rint(directions / largest * 127).astype(np.int8)
    length = np.sqrt(np.square(standard[:, :count] @ (stored * largest / 127)).sum(axis=1).mean())
    traces = rows.rest.shape[1] - 132
    sizes = [np.sqrt(np.square(part).sum(axis=1).mean()) for part in np.split(standard[:, count:], [traces], axis=1)]
    rest = np.concatenate([np.full(traces, 1 / sizes[0]), np.full(132, 1 / sizes[1])]) * np.sqrt(SHARE_OF_REST)
    single = (np.float32, np.float32, np.int8, np.float32, np.float32)
    names = ("centre", "scale", "projection", "projection_scale", "rest_scale")
    arrays = (centre, scale, stored, largest / 127 / length, rest)
    return {name: array.astype(kind) for name, array, kind in zip(names, arrays, single, strict=True)}


def prepare(rows: Rows, arrays: dict[str, npt.NDArray[np.generic]]) -> Floats:
    """Inputs of the kernel, as the product computes them."""
    both = np.concatenate([rows.network, rows.rest], axis=1)
    standard = np.clip((both - arrays["centre"]) / arrays["scale"], -BOUND, BOUND)
    count = len(arrays["projection"])
    projected = standard[:, :count] @ arrays["projection"].astype(np.float64) * arrays["projection_scale"]
    return np.concatenate([projected, standard[:, count:] * arrays["rest_scale"]], axis=1)


def distances(first: Floats, second: Floats) -> Floats:
    """Squared distances of every row of the first to every row of the second."""
    sums = np.square(first).sum(1)[:, None] + np.square(second).sum(1)[None]
    return np.asarray(np.maximum(sums - 2 * first @ second.T, 0))


def fit_kernel(near: list[Floats], among: list[Floats], wanted: Floats, weight: Floats) -> tuple[list[Floats], Floats]:
    """Per width the weights of the landmarks for every output, and the outputs' means; unknown wants are left out."""
    means, duals = np.zeros(wanted.shape[1]), [np.zeros((len(a), wanted.shape[1])) for a in among]
    for output in range(wanted.shape[1]):
        known = ~np.isnan(wanted[:, output]) & (weight > 0)
        means[output] = np.average(wanted[known, output], weights=weight[known])
    for columns in _same_known(wanted):
        known = ~np.isnan(wanted[:, columns[0]]) & (weight > 0)
        for k, ((_, ridge), here, own) in enumerate(zip(WIDTHS, near, among, strict=True)):
            weighted = here[known] * weight[known, None]
            left = weighted.T @ here[known] + ridge * own + 1e-6 * np.eye(len(own))
            right = weighted.T @ (wanted[np.ix_(known, columns)] - means[columns])
            duals[k][:, columns] = np.linalg.solve(left, right)
    return duals, means


def _same_known(wanted: Floats) -> list[npt.NDArray[np.intp]]:
    """Outputs grouped by the rows in which they are known."""
    kinds = np.isnan(wanted).any(axis=0)
    return [np.flatnonzero(group) for group in (~kinds, kinds) if group.any()]


def fit(rows: Rows, home: npt.NDArray[np.bool_], away: npt.NDArray[np.bool_]) -> tuple[Arrays, Sources]:
    """All arrays of a model but its curves, and the outputs the curves are fitted on.

    `home` are the rows most labels come from, `away` the labelled ones of another source, if there are any.
    """
    arrays = fit_inputs(rows)
    values = prepare(rows, arrays)
    usable = np.flatnonzero(rows.weight > 0)
    stored, step = in_steps(values[pick_landmarks(rows, usable)])
    landmarks: Floats = np.asarray(stored * step.astype(np.float64), np.float64)
    far, own = distances(values, landmarks), distances(landmarks, landmarks)
    middle = float(np.median(far[usable]))
    near, among = ([np.exp(-width * d / middle) for width, _ in WIDTHS] for d in (far, own))
    outputs = _out_of_fold(rows, near, among)
    unseen = _left_out(rows, away, near, among) if away.any() else outputs[away]
    duals, means = fit_kernel(near, among, rows.wanted, rows.weight)
    arrays |= {
        "landmarks": stored,
        "landmark_scale": step,
        "gamma": np.array([width / middle for width, _ in WIDTHS], np.float32),
        "dual": (np.stack(duals) / len(WIDTHS)).astype(np.float32),
        "bias": means.astype(np.float32),
    }
    arrays |= fit_gate(near, among, rows)
    if away.any():
        arrays["likeness"] = fit_likeness(near, among, rows, home)
    likeness = sum((n @ d for n, d in zip(near, arrays["likeness"], strict=True)), np.zeros(1)) if away.any() else None
    return arrays, Sources(outputs, unseen, likeness, home, away)


def pick_landmarks(rows: Rows, usable: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Rows the kernel compares with: labelled photographs, strong flaws first, made pictures, some nobody labelled."""
    random = np.random.default_rng(5)
    by_eye = np.isin(rows.weight[usable], (1.0, OTHER_WEIGHT))
    resized = np.isin(rows.weight[usable], (RESIZED, RESIZED * OTHER_WEIGHT))
    worst = rows.wanted[usable, : len(FLAWS)].max(axis=1)
    chances = random.random(len(usable)) + 0.35 * np.minimum(worst, 3)
    plain = random.permutation(np.flatnonzero(rows.weight == 0))[: round(LANDMARKS * PLAIN_LANDMARKS)]
    count = min(LANDMARKS - len(plain), len(usable))
    made = round(LANDMARKS * MADE_LANDMARKS) if by_eye.any() else count
    varied = random.permutation(usable[resized])[: round(LANDMARKS * RESIZED_LANDMARKS)]
    first = usable[by_eye][np.argsort(-chances[by_eye])[: count - made - len(varied)]]
    return np.concatenate([first, varied, random.permutation(usable[~by_eye & ~resized])[:made], plain])


def in_steps(landmarks: Floats) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Landmarks in 255 steps per column, and the size of a step."""
    step = np.maximum(np.abs(landmarks).max(axis=0), 1e-6) / 127
    return np.rint(landmarks / step).astype(np.int8), step.astype(np.float32)


def _out_of_fold(rows: Rows, near: list[Floats], among: list[Floats]) -> Floats:
    outputs = np.zeros((len(rows.fold), rows.wanted.shape[1]))
    for fold in range(FOLDS):
        outside = rows.fold == fold
        outputs[outside] = _left_out(rows, outside, near, among)
    return outputs


def _left_out(rows: Rows, outside: npt.NDArray[np.bool_], near: list[Floats], among: list[Floats]) -> Floats:
    """The outputs of some rows by a fit on all others."""
    inside = ~outside
    duals, means = fit_kernel([n[inside] for n in near], among, rows.wanted[inside], rows.weight[inside])
    return np.asarray(np.mean([n[outside] @ d for n, d in zip(near, duals, strict=True)], axis=0) + means)


def fit_gate(near: list[Floats], among: list[Floats], rows: Rows) -> dict[str, npt.NDArray[np.generic]]:
    """Weights of the landmarks for how likely code damaged a clean picture; both worlds weigh the same."""
    told = rows.fold > HARD
    made = np.where(rows.made, 1.0, -1.0)
    weight = np.where(made > 0, 0.5 / (made[told] > 0).mean(), 0.5 / (made[told] < 0).mean())
    # The gate must hear as much of photographs from other sources, labelled or not.
    elsewhere = np.isin(rows.weight, (0.0, OTHER_WEIGHT, OTHER_WEIGHT * RESIZED))
    weight = weight * np.where(elsewhere, PLAIN_WEIGHT, np.where(rows.made, rows.weight / MADE_WEIGHT, 1.0))
    return {"gate": _tell_apart(near, among, made, np.where(told, weight, 0.0))}


def fit_likeness(
    near: list[Floats], among: list[Floats], rows: Rows, home: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float32]:
    """Weights of the landmarks for how much a photograph is like those most labels come from."""
    weight = np.where(home, 1.0, ELSEWHERE_WEIGHT) * (~rows.made & (rows.fold > HARD))
    return _tell_apart(near, among, np.where(home, 1.0, -1.0), weight)


def _tell_apart(near: list[Floats], among: list[Floats], side: Floats, weight: Floats) -> npt.NDArray[np.float32]:
    told = weight > 0
    duals = []
    for here, own in zip(near, among, strict=True):
        weighted = here[told] * weight[told, None]
        left = weighted.T @ here[told] + GATE_RIDGE * own + 1e-6 * np.eye(len(own))
        duals.append(np.linalg.solve(left, weighted.T @ side[told]))
    return np.asarray(np.stack(duals) / len(WIDTHS), np.float32)


def ship(name: str, arrays: dict[str, npt.NDArray[np.generic]], weights: Path = WEIGHTS) -> None:
    """Write the weights and record their size and hash in the manifest."""
    path = weights / f"{name}.npz"
    write_arrays(path, arrays)
    record = weights / "manifest.json"
    manifest = json.loads(record.read_text())
    content = path.read_bytes()
    manifest[path.name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    record.write_text(json.dumps(dict(sorted(manifest.items())), indent=2) + "\n")
    print(f"{path.name}: {len(content)} bytes")


def labelled_rows(given: argparse.Namespace) -> tuple[list[Rows], list[Rows]]:
    """The labelled photographs of the first source and of another one, each as they are and at other sizes."""
    from training.biq2021 import read_photographs

    numbered = [photograph.name.lower() for photograph in read_photographs(given.data)]
    clusters = dict(zip(numbered, map(int, np.load(given.clusters)), strict=True))
    looks, others = (_columns(given, names) for names in (given.looks, given.other))
    found = []
    for name, table, part, rows in (
        ("looks", TABLE, looks, looked_at_rows(looks, clusters)),
        ("other", OTHER_TABLE, others, other_rows(others)),
    ):
        files = (read_part(given.cache, f"resized_{name}_{seed}", given.tail) for seed in given.resized)
        found.append(
            [rows, *(resized_rows(file, table, rows, [str(each) for each in part["names"]]) for file in files)]
        )
    return found[0], found[1]


def _columns(given: argparse.Namespace, names: list[str]) -> dict[str, npt.NDArray[np.generic]]:
    """Several extracted files as one."""
    parts = [read_part(given.cache, name, given.tail) for name in names]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def main() -> None:
    """Fit, calibrate, report the folds and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--tail", type=Path, required=True)
    parser.add_argument("--terms", choices=("research", "open"), default="research")
    parser.add_argument("--looks", nargs="*", default=["looks"])
    parser.add_argument("--other", nargs="*", default=["other"], help="labelled photographs of another source")
    parser.add_argument(
        "--resized", nargs="*", type=int, default=[1, 2], help="seeds of the photographs at other sizes"
    )
    parser.add_argument("--made", nargs="*", default=["made_train_31", "made_train_77", "made_train_78"])
    parser.add_argument("--plain", nargs="*", default=["plain"], help="photographs nobody labelled, for the gate")
    parser.add_argument("--clusters", type=Path, help="cluster number per photograph, in the order of BIQ2021's lists")
    parser.add_argument("--data", type=Path, help="folder of BIQ2021")
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    given = parser.parse_args()
    made = [made_rows(read_part(given.cache, name, given.tail), given.terms) for name in given.made]
    photographs = labelled_rows(given) if given.terms == "research" else ([], [])
    plain = [plain_rows(read_part(given.cache, name, given.tail)) for name in given.plain] if photographs[0] else []
    parts = [*photographs[0], *photographs[1], *made, *plain]
    rows = join(parts)
    ends = np.cumsum([0, *(len(part.fold) for part in parts)])
    first, second = (int(ends[len(photographs[0]) + more]) for more in (0, len(photographs[1])))
    numbers = np.arange(len(rows.fold))
    home, away = numbers < first, (numbers >= first) & (numbers < second)
    arrays, sources = fit(rows, home, away)
    curves = fit_all_curves(sources, rows.wanted[:, : len(FLAWS)], rows.main)
    ship(f"flaws_{given.terms}", arrays | curves, given.weights)


if __name__ == "__main__":
    main()
