"""Fits the detector of flaws: five small networks over a picture's parts and the whole, each without one fold.

    python -m training.flaw_fit --cache DIR --terms research --mmp2k MMP-2k.csv

DIR holds what `training.flaw_pictures` wrote. Every network looks at the sixteen parts first and then at the whole with
what was found in its parts. Labels on the scale of other people (mild, medium, strong) are learned through a straight
line per flaw that is fitted too. The kernel's opinion of the photographs that taught it is replaced by that of a kernel
without their fold, or nothing could be learned of how far it holds. Where moderate and severe begin is chosen on what
each network says of the fold it did not see. Nothing here reads the `choice`, `check`, `bsds` rows or the test split.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from agenticiqa.embedded.distortions.flaw_model import (
    CURVE,
    GATE_AND_PRESENCE,
    LEAST_CORRECTION,
    RANKS,
    load_first_opinions,
)
from agenticiqa.embedded.distortions.parts import box_of
from agenticiqa.limits import MODERATE, SLIGHT, STRONGEST
from agenticiqa.state import DISTORTION_CATEGORIES
from agenticiqa.tools.synthetic.kinds import KINDS
from agenticiqa.values import CATEGORY_OF
from agenticiqa.weights import WeightSet
from training.detect_fit import ship
from training.detect_photographs import (
    FLAW_OF_CATEGORY,
    FLAW_OF_KIND,
    OTHER_WEIGHT,
    distances,
    fit_kernel,
    kind_losses,
    wanted_of,
)
from training.looks import FLAWS, OTHER_TABLE, PRESENT, TABLE, LookedAt, read_looks
from training.photograph_curves import FALSE_ALARMS, kappa
from training.resized import at_scale

Floats = npt.NDArray[np.float32]
FOLDS, COMPONENTS, PART_COMPONENTS, CONTEXT = 5, 64, 64, 32
PART_HIDDEN, HIDDEN = 96, (256, 128)
# What a row counts for how far the model of damage is heard, by its set.
SHARE_WEIGHTS = {"looks": 3.0, "other": 3.0, "camera": 0.4, "hard": 0.6, "mmp2k": 0.7}
DEEP, OPINIONS = 2112, 62
MEASURED_OF_PART = 14
RELUCTANCE = 0.1
# How far a network that was fitted further goes back to where it began: half way it knows both.
BACK = 0.5
INPUTS = [f"{name}_{what}" for name in ("whole", "part") for what in ("centre", "scale", "projection")]
# How many photographs in which other people see none of a flaw may be called moderately flawed, and the lowest output
# that is moderate; of those our eyes judged, as many as the kernel's curves allow.
FALSE_ALARMS_OF_PEOPLE, LEAST_MODERATE = 0.03, 1.0
# Below which label a photograph of a source is without the flaw.
CALM = {"looks": PRESENT, "other": PRESENT, "mmp2k": 0.5}
BATCH = 192
# How much of an example's likeness to itself is put down to chance.
PEOPLE_RIDGE = 2e-3
# What naming the main flaw wrongly costs beside wrong strengths, and how far a step of strength tells flaws apart.
MAIN_COST, MAIN_SHARP = 0.3, 4.0
KIND_NAMES = tuple(KINDS)
BY_EYE = ("looks", "other")
BLURS = {"defocus": "defocus_blur", "motion": "motion_blur", "soft": "gaussian_blur"}
# What a row counts for the networks, by its set; whole pictures made by code teach only how far the model of damage is
# heard.
WEIGHTS = {
    "looks": 1.0, "other": 1.0, "mmp2k": 1.0, "resized": 0.4, "parts": 1.5, "camera": 0.4, "hard": 0.6, "whole": 0.0,
    "ladders": 1.0,
}  # fmt: skip
FACTORS = {
    "out of focus": "blur", "motion blur": "blur", "overexposure": "bright", "underexposure": "dark",
    "noise and artifact": "noise",
}  # fmt: skip
MAGNITUDES = {"mild": 1.0, "medium": 2.0, "strong": 3.0}
ROWS = {"top": (0, 1), "center": (1, 2), "bottom": (2, 3)}
COLUMNS = {"left": (0, 1), "center": (1, 2), "right": (2, 3)}


@dataclass
class Examples:
    """Pictures as features, with the severity of every flaw in the whole and in each part; unknown ones are missing."""

    features: Floats
    parts: Floats
    whole: Floats
    placed: Floats
    kinds: Floats
    weight: Floats
    fold: npt.NDArray[np.intp]
    source: npt.NDArray[np.str_]
    names: npt.NDArray[np.str_]
    main: npt.NDArray[np.str_]

    def __getitem__(self, rows: Any) -> Examples:
        return Examples(*(getattr(self, field.name)[rows] for field in fields(self)))


def read_set(cache: Path, name: str, terms: WeightSet, table: Path | None) -> Examples | None:
    """All chunks of a set with their labels."""
    files = sorted(cache.glob(f"{name}_{terms}_*.npz"))
    if not files:
        return None
    loaded = [dict(np.load(path)) for path in files]
    columns = {key: np.concatenate([part[key] for part in loaded]) for key in loaded[0]}
    notes = [json.loads(str(note)) for note in columns["notes"]]
    labels = _labels(name, notes, table)
    count = len(notes)
    names = np.array([str(note.get("name", note.get("names", note.get("photograph", "")))) for note in notes])
    return Examples(
        _with_opinions(columns["whole"].astype(np.float32), terms),
        columns["parts"].astype(np.float32),
        np.array([label[0] for label in labels], np.float32),
        np.array([label[1] for label in labels], np.float32),
        np.array([label[2] for label in labels], np.float32),
        np.full(count, WEIGHTS.get(name, 1.0), np.float32),
        np.zeros(count, np.intp),
        np.full(count, name),
        names,
        _mains(name, names),
    )


def _with_opinions(whole: Floats, terms: WeightSet) -> Floats:
    """Features of the whole with the first opinions behind them."""
    first = load_first_opinions(terms)
    return np.array([np.concatenate([row, first.of(row)]) for row in whole])


def with_honest_opinions(examples: Examples, terms: WeightSet) -> None:
    """Puts what the kernel would say of a labelled photograph that had not taught it in the place of what it says."""
    rows = np.flatnonzero(np.isin(examples.source, BY_EYE))
    if not len(rows):
        return
    first = load_first_opinions(terms)
    kernel = first.photographs
    raw = examples.features[rows, :-OPINIONS]
    known = {each.image: each for table in (TABLE, OTHER_TABLE) for each in read_looks("train", table)}
    wanted = np.array([wanted_of(known[name]) for name in examples.names[rows]])
    weight = np.where(examples.source[rows] == "other", OTHER_WEIGHT, 1.0)
    near = [kernel.near(row) for row in raw]
    landmarks = kernel.arrays["landmarks"].astype(np.float64)
    among = [np.exp(-gamma * distances(landmarks, landmarks)) for gamma in kernel.arrays["gamma"]]
    widths = [each.astype(np.float64) for each in np.stack(near, axis=1)]
    for fold in range(FOLDS):
        inside = examples.fold[rows] != fold
        duals, means = fit_kernel([each[inside] for each in widths], among, wanted[inside], weight[inside])
        arrays = dict(kernel.arrays) | {"dual": np.stack(duals) / len(duals), "bias": means}
        honest = replace(first, photographs=replace(kernel, arrays=arrays))
        for row in np.flatnonzero(~inside):
            examples.features[rows[row], -OPINIONS:] = honest.of(raw[row])


def with_people(examples: Examples, terms: WeightSet) -> tuple[Examples, dict[str, Floats]]:
    """What people of another source would say, before the first opinions; of its own photographs by folds."""
    kernel = load_first_opinions(terms).photographs
    near = np.array([kernel.near(row).ravel() for row in examples.features[:, :-OPINIONS]])
    own = np.flatnonzero(examples.source == "mmp2k")
    columns = [FLAWS.index(flaw) for flaw in sorted(set(FACTORS.values()))] if len(own) else []
    said = np.zeros((len(near), len(columns)), np.float32)
    weights, means = _fit_people(near[own], examples.whole[own][:, columns])
    said[:] = near @ weights + means
    for fold in range(FOLDS if columns else 0):
        inside, outside = own[examples.fold[own] != fold], own[examples.fold[own] == fold]
        fitted, mean = _fit_people(near[inside], examples.whole[inside][:, columns])
        said[outside] = near[outside] @ fitted + mean
    features = np.concatenate([examples.features[:, :-OPINIONS], said, examples.features[:, -OPINIONS:]], axis=1)
    return replace(examples, features=features), {"people": weights, "people_mean": means}


def _fit_people(near: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Weights of the landmarks for what people said, and its mean: a ridge regression."""
    if not wanted.shape[1]:
        return np.zeros((near.shape[1], 0), np.float32), np.zeros(0, np.float32)
    mean = wanted.mean(axis=0)
    alike = near @ near.T
    alike = alike + PEOPLE_RIDGE * np.median(np.diag(alike)) * np.eye(len(alike))
    return (near.T @ np.linalg.solve(alike, wanted - mean)).astype(np.float32), mean


def _mains(name: str, names: npt.NDArray[np.str_]) -> npt.NDArray[np.str_]:
    """The main flaw of labelled photographs that were not picked for their flaws."""
    if name not in BY_EYE:
        return np.full(len(names), "", "U16")
    known = {each.image: each for each in read_looks("train", TABLE if name == "looks" else OTHER_TABLE)}
    return np.array([known[each].mains[0] if name == "other" or known[each].eyes[0] == "a" else "" for each in names])


Label = tuple[Floats, Floats, Floats]


def _labels(name: str, notes: list[dict[str, Any]], table: Path | None) -> list[Label]:
    if name in ("looks", "other", "resized", "choice"):
        known = {each.image: each for each in read_looks("train")}
        known |= {each.image: each for split in ("train", "choice") for each in read_looks(split, OTHER_TABLE)}
        return [_looked_at(known[Path(n.get("name") or n["names"]).name], float(n.get("scale", 1.0))) for n in notes]
    if name == "mmp2k":
        assert table is not None
        with table.open(newline="", encoding="utf-8-sig") as lines:
            told = {
                Path(r["file_name"]).name: json.loads(r["distortion annotation"] or "[]") for r in csv.DictReader(lines)
            }
        return [_by_people(told.get(note["name"], [])) for note in notes]
    if name == "parts":
        return [_in_part(note) for note in notes]
    if name == "ladders":
        return [_everywhere(note) for note in notes]
    return [_made(note) for note in notes]


def _nothing() -> Label:
    unknown = np.full(len(KIND_NAMES), np.nan, np.float32)
    return np.zeros(len(FLAWS), np.float32), np.full((16, len(FLAWS)), np.nan, np.float32), unknown


def _looked_at(look: LookedAt, scale: float) -> Label:
    whole, placed, kinds = _nothing()
    whole[:] = at_scale(np.array([[look.flaws[flaw] for flaw in FLAWS]]), np.array([scale]))[0]
    placed[:, whole == 0] = 0
    seen = [BLURS[kind] for kind in look.blur_kinds if kind in BLURS]
    if seen:
        _name_kind(kinds, max(set(seen), key=seen.count))
    return whole, placed, kinds


def _by_people(told: list[dict[str, str]]) -> Label:
    whole, placed, kinds = _nothing()
    known = [FLAWS.index(flaw) for flaw in set(FACTORS.values())]
    whole[[n for n in range(len(FLAWS)) if n not in known]] = np.nan
    placed[:, known] = 0
    for each in told:
        if not each["factor"]:
            continue
        flaw, size = FLAWS.index(FACTORS[each["factor"]]), MAGNITUDES[each["magnitude"]]
        whole[flaw] = max(whole[flaw], size)
        inside = part_mask(each["position"])
        placed[inside, flaw] = np.maximum(placed[inside, flaw], size)
    return whole, placed, kinds


def part_mask(position: str) -> npt.NDArray[np.bool_]:
    """The parts a position in words covers."""
    mask = np.zeros((4, 4), bool)
    if position in ("entire image", ""):
        mask[:] = True
        return mask.ravel()
    words = position.split()
    rows = next((ROWS[w] for w in words if w in ("top", "bottom")), None)
    columns = next((COLUMNS[w] for w in words if w in ("left", "right")), None)
    if "center" in words:
        rows, columns = rows or ROWS["center"], columns or COLUMNS["center"]
    mask[np.ix_(rows or range(4), columns or range(4))] = True
    return mask.ravel()


def _in_part(note: Mapping[str, Any]) -> Label:
    whole, placed, kinds = _nothing()
    strengths, covered = np.array(note["flaws"]), np.array(note["covered"])
    placed[:] = np.clip((covered[:, None] - 0.1) / 0.7, 0, 1) * strengths
    # What fills a corner disturbs less than what fills the picture.
    whole[:] = strengths * (0.6 + 0.4 * covered.mean())
    _kinds_of_shot(kinds, note["shot"])
    return whole, placed, kinds


def _everywhere(note: Mapping[str, Any]) -> Label:
    whole, placed, kinds = _nothing()
    whole[:] = placed[:] = np.array(note["flaws"])
    _kinds_of_shot(kinds, note["shot"])
    return whole, placed, kinds


def _made(note: Mapping[str, Any]) -> Label:
    whole, placed, kinds = _nothing()
    recipe = str(note["recipe"])
    if recipe.startswith("camera:"):
        whole[:] = note["flaws"]
        _kinds_of_shot(kinds, json.loads(recipe.removeprefix("camera:")))
    elif recipe != "clean":
        for kind, level in (part.split(":") for part in recipe.split("+")):
            flaw = FLAWS.index(FLAW_OF_KIND.get(kind) or FLAW_OF_CATEGORY[KINDS[kind].category])
            whole[flaw] = max(whole[flaw], kind_losses()[kind][int(level) - 1])
            if KINDS[kind].category == "Sharpness" and flaw == FLAWS.index("blur"):
                # Few large pixels are both: how far they are to be called unsharp is left to the first opinion.
                whole[FLAWS.index("oversharp")] = np.nan
            if whole[flaw] >= SLIGHT:
                _name_kind(kinds, kind)
    placed[:] = whole
    return whole, placed, kinds


def _kinds_of_shot(kinds: Floats, shot: Mapping[str, Any]) -> None:
    sigmas = {"defocus": shot["defocus"] / 2, "motion": shot["motion"] / 3.5, "soft": shot["soft"]}
    if max(sigmas.values()) > 1:
        _name_kind(kinds, BLURS[max(sigmas, key=lambda name: sigmas[name])])
    if shot["noise"] > 5:
        _name_kind(kinds, "correlated_noise" if shot["blotches"] else "white_noise")
    if abs(shot["stops"]) > 0.5:
        _name_kind(kinds, "darken" if shot["stops"] < 0 else "brighten")
    if shot["haze"] > 0.1 or shot["contrast"] != 1:
        _name_kind(kinds, "contrast_up" if shot["contrast"] > 1 else "contrast_down")
    if max(map(abs, shot["cast"])) > 0.2:
        _name_kind(kinds, "color_cast")
    elif shot["saturation"] != 1:
        _name_kind(kinds, "saturation_up" if shot["saturation"] > 1 else "saturation_down")
    if shot["codec"] in ("jpeg", "webp") and shot["quality"] < 60:
        _name_kind(kinds, shot["codec"])
    if shot["sharpening"] > 1.2:
        _name_kind(kinds, "over_sharpen")


def _name_kind(kinds: Floats, kind: str) -> None:
    """The kind it is among those of its category."""
    rivals = [n for n, name in enumerate(KIND_NAMES) if KINDS[name].category == KINDS[kind].category]
    kinds[rivals] = np.nan_to_num(kinds[rivals])
    kinds[KIND_NAMES.index(kind)] = 1


def with_folds(examples: Examples) -> Examples:
    """Every picture in the fold of its photograph; photographs that look alike share one."""
    fold = np.array([zlib.crc32(Path(str(name)).name.encode()) % FOLDS for name in examples.names])
    for source in ("looks", "mmp2k"):
        rows = np.flatnonzero(examples.source == source)
        if not len(rows):
            continue
        values = examples.features[rows, :544]
        values = (values - values.mean(0)) / (values.std(0) + 1e-4)
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        first, second = np.nonzero(np.triu(values @ values.T > 0.93, 1))
        for a, b in zip(first, second, strict=True):
            fold[rows[b]] = fold[rows[a]]
        fold_of = {str(examples.names[row]): fold[row] for row in rows}
        for n in np.flatnonzero(np.isin(examples.source, ("resized", "parts", "ladders"))):
            fold[n] = fold_of.get(Path(str(examples.names[n])).name, fold[n])
    examples.fold = fold
    return examples


def fit_inputs(examples: Examples) -> dict[str, Floats]:
    """Standardisation and main directions of the whole's and the parts' features."""
    arrays: dict[str, Floats] = {}
    chosen = np.isin(examples.source, ("looks", "other", "mmp2k", "camera"))
    flat = examples.parts[chosen][:, ::3].reshape(-1, examples.parts.shape[2])
    for name, values, count in (
        ("whole", examples.features[chosen], COMPONENTS),
        ("part", flat, PART_COMPONENTS),
    ):
        deep = DEEP if name == "whole" else values.shape[1] - MEASURED_OF_PART
        centre, scale = values.mean(axis=0), values.std(axis=0) + 1e-4
        standard: Floats = np.clip((values[:, :deep] - centre[:deep]) / scale[:deep], -5, 5)
        roots, vectors = np.linalg.eigh(standard.T @ standard / len(standard))
        projection = (vectors[:, ::-1][:, :count] / (roots[::-1][:count] + 0.5) ** 0.5).astype(np.float32)
        arrays |= {f"{name}_centre": centre, f"{name}_scale": scale, f"{name}_projection": projection}
    return {name: array.astype(np.float16 if "projection" in name else np.float32) for name, array in arrays.items()}


def prepare(values: Floats, arrays: Mapping[str, Floats], name: str) -> Floats:
    """Inputs of the networks, as the product computes them."""
    standard = np.clip((values - arrays[f"{name}_centre"]) / arrays[f"{name}_scale"], -5, 5)
    projection = arrays[f"{name}_projection"].astype(np.float32)
    deep = len(projection)
    return np.concatenate([standard[..., :deep] @ projection, standard[..., deep:]], axis=-1).astype(np.float32)


class Network(torch.nn.Module):
    """Parts first, then the whole with the ranks and the mean of what was found in its parts."""

    def __init__(self, whole: int, part: int) -> None:
        super().__init__()
        flaws = len(FLAWS)
        self.part = _layers(part + CONTEXT, PART_HIDDEN, flaws)
        self.whole = _layers(whole + (len(RANKS) + 1) * flaws, *HIDDEN, flaws + len(KIND_NAMES))
        self.light, self.heavy = torch.nn.Dropout(0.1), torch.nn.Dropout(0.4)
        # People of another source call the same flaw by other amounts.
        self.slope = torch.nn.Parameter(torch.ones(flaws))
        self.shift = torch.nn.Parameter(torch.zeros(flaws))

    def approach(self, arrays: Mapping[str, Floats], member: int, share: float) -> None:
        """Goes so far of the way to a fitted network."""
        for name in ("part", "whole"):
            for depth, layer in enumerate(getattr(self, name)):
                weight, bias = (
                    arrays[f"{name}_{what}_{member}_{depth}"].astype(np.float32) for what in ("weight", "bias")
                )
                layer.weight.data.lerp_(torch.from_numpy(weight.T.copy()), share)
                layer.bias.data.lerp_(torch.from_numpy(bias), share)

    def meet(self, whole: torch.Tensor, parts: torch.Tensor, opinions: torch.Tensor, wanted: torch.Tensor) -> None:
        """Sets the scale of the others to what fits their labels as the network is."""
        said = self.eval()(whole, parts)[0].detach() + opinions
        for flaw in range(len(FLAWS)):
            known = ~wanted[:, flaw].isnan()
            if known.any():
                told = torch.stack([said[known, flaw], torch.ones(int(known.sum()))], dim=1)
                self.slope.data[flaw], self.shift.data[flaw] = torch.linalg.lstsq(told, wanted[known, flaw]).solution
        self.train()

    def forward(self, whole: torch.Tensor, parts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        context = whole[:, None, :CONTEXT].expand(-1, parts.shape[1], -1)
        values = torch.relu(self.part[0](self.light(torch.cat([parts, context], dim=2))))
        placed = self.part[1](self.heavy(values))
        ranked = placed.sort(dim=1, descending=True).values[:, RANKS]
        values = torch.cat([self.light(whole), ranked.flatten(1), placed.mean(1)], dim=1)
        for layer in self.whole[:-1]:
            values = self.heavy(torch.relu(layer(values)))
        strengths, kinds = self.whole[-1](values).split((len(FLAWS), len(KIND_NAMES)), dim=1)
        return strengths, placed, kinds


def _layers(*widths: int) -> torch.nn.ModuleList:
    return torch.nn.ModuleList([torch.nn.Linear(before, after) for before, after in itertools.pairwise(widths)])


def train(
    inputs: tuple[Floats, Floats],
    examples: Examples,
    rows: npt.NDArray[np.bool_],
    member: int,
    epochs: int,
    start: Mapping[str, Floats] | None = None,
) -> Network:
    """One network on some of the rows, going on from the one of that number where there is a start."""
    torch.manual_seed(member)
    network = Network(inputs[0].shape[1], inputs[1].shape[2])
    if start is not None:
        network.approach(start, member, 1)
    optimiser = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.05)
    first = examples.features[:, -OPINIONS:][:, : len(FLAWS) + len(KIND_NAMES)]
    main = np.array([(*FLAWS, "none").index(name) if name else -1 for name in examples.main])
    told = (*inputs, first, examples.whole, examples.placed, examples.kinds, examples.weight, main)
    whole, parts, opinions, wanted, placed, kinds, weight, named = (
        torch.from_numpy(np.ascontiguousarray(a[rows])) for a in told
    )
    foreign = torch.from_numpy(examples.source[rows] == "mmp2k").float()
    steps = epochs * -(-len(whole) // BATCH)
    if start is not None:
        network.meet(whole, parts, opinions[:, : len(FLAWS)], torch.where(foreign[:, None] > 0, wanted, torch.nan))
    fastest = 3e-3 if start is None else 2e-3
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, fastest, total_steps=steps)
    for _ in range(epochs):
        for batch in torch.randperm(len(whole)).split(BATCH):
            noisy = whole[batch] + 0.1 * torch.randn_like(whole[batch])
            strengths, found, logits = network(noisy, parts[batch] + 0.1 * torch.randn_like(parts[batch]))
            corrections = strengths
            strengths = strengths + opinions[batch, : len(FLAWS)]
            misnamed = _misnamed(strengths, named[batch])
            logits = logits + opinions[batch, len(FLAWS) :]
            away = foreign[batch]
            strengths, found = (_on_their_scale(network, each, away) for each in (strengths, found))
            cost = (
                _missed(strengths, wanted[batch])
                + 0.5 * _missed(found, placed[batch])
                + 0.5 * _kind_cost(logits, kinds[batch])
                + MAIN_COST * misnamed
            )
            # What the first opinion of a photograph is worth is known: it is left alone unless there is a reason.
            cost = cost + RELUCTANCE * corrections.abs().mean(1)
            optimiser.zero_grad()
            ((cost * weight[batch]).sum() / weight[batch].sum()).backward()
            optimiser.step()
            schedule.step()
    if start is not None:
        network.approach(start, member, BACK)
    return network.eval()


def _on_their_scale(network: Network, values: torch.Tensor, away: torch.Tensor) -> torch.Tensor:
    away = away.reshape(-1, *[1] * (values.dim() - 1))
    return torch.where(away > 0, values * network.slope + network.shift, values)


def _missed(found: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """The mean squared error of what is known; what is badly flawed counts more."""
    known = ~wanted.isnan()
    true = torch.where(known, wanted, found.detach())
    error = (found - true) ** 2 * known * (1 + true.clamp(0, 3) / 2)
    return error.flatten(1).sum(1) / known.flatten(1).sum(1).clamp(min=1)


def _misnamed(strengths: torch.Tensor, main: torch.Tensor) -> torch.Tensor:
    """What it costs that the strongest flaw, or none that is slight, is not the main one a person named."""
    none = torch.full_like(strengths[:, :1], SLIGHT)
    logits = MAIN_SHARP * torch.cat([strengths, none], dim=1)
    return torch.nn.functional.cross_entropy(logits, main, ignore_index=-1, reduction="none")


def _kind_cost(logits: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    known = ~kinds.isnan()
    target = torch.where(known, kinds, torch.zeros_like(kinds))
    cost = torch.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none") * known
    return cost.sum(1) / known.sum(1).clamp(min=1)


def read_all(cache: Path, terms: WeightSet, table: Path | None) -> Examples:
    """Every set of the cache but those for choosing."""
    sets = [found for name in WEIGHTS if (found := read_set(cache, name, terms, table)) is not None]
    return with_folds(Examples(*(np.concatenate([getattr(s, f.name) for s in sets]) for f in fields(Examples))))


def fit(
    examples: Examples, epochs: int, start: Mapping[str, Floats] | None = None
) -> tuple[dict[str, Floats], Floats, Floats]:
    """All arrays but the curves, and what each network says of the whole and the parts of the fold it did not see.

    Networks that go on from earlier ones keep the inputs of those.
    """
    arrays = fit_inputs(examples) if start is None else {name: np.asarray(start[name]) for name in INPUTS}
    inputs = (
        prepare(examples.features, arrays, "whole"),
        prepare(examples.parts, arrays, "part"),
    )
    whole = np.zeros_like(examples.whole)
    placed = np.zeros_like(examples.placed)
    for member in range(FOLDS):
        outside = examples.fold == member
        network = train(inputs, examples, ~outside, member, epochs, start)
        with torch.no_grad():
            strengths, found, _ = network(*(torch.from_numpy(values[outside]) for values in inputs))
        corrections = torch.nn.functional.softshrink(strengths, LEAST_CORRECTION).numpy()
        whole[outside] = corrections + examples.features[outside, -OPINIONS:][:, : len(FLAWS)]
        placed[outside] = found.numpy()
        for name in ("part", "whole"):
            for depth, layer in enumerate(getattr(network, name)):
                arrays[f"{name}_weight_{member}_{depth}"] = layer.weight.detach().numpy().T.astype(np.float16)
                arrays[f"{name}_bias_{member}_{depth}"] = layer.bias.detach().numpy().astype(np.float16)
        print("member", member, "scale of the others", network.slope.detach().numpy().round(2), flush=True)
    return arrays, whole, placed


def fit_share(examples: Examples, found: Floats, rows: npt.NDArray[np.bool_]) -> dict[str, Floats]:
    """How far the model of damage is heard of each flaw, behind what the networks found: a logistic map."""
    torch.manual_seed(0)
    told, made = _told_of_share(examples, found)
    weight = np.array([SHARE_WEIGHTS.get(str(source), 1.0) for source in examples.source], np.float32)
    values, above, below, wanted, weights = (
        torch.from_numpy(each[rows]) for each in (told, made, found, examples.whole, weight)
    )
    centre, scale = values.mean(0), values.std(0) + 1e-3
    layer = torch.nn.Linear(values.shape[1], len(FLAWS))
    torch.nn.init.constant_(layer.bias, -2)
    optimiser = torch.optim.Adam(layer.parameters(), 0.03)
    for _ in range(300):
        share = torch.sigmoid(layer((values - centre) / scale))
        missed = (_missed(below + share * (above - below), wanted) * weights).sum() / weights.sum()
        optimiser.zero_grad()
        (missed + 1e-3 * layer.weight.square().sum()).backward()
        optimiser.step()
    steep = layer.weight.detach() / scale
    return {"share_weight": steep.numpy(), "share_bias": (layer.bias.detach() - steep @ centre).numpy()}


def with_share(examples: Examples, found: Floats, arrays: Mapping[str, Floats]) -> Floats:
    """What was found, with the model of damage heard."""
    told, made = _told_of_share(examples, found)
    share = 1 / (1 + np.exp(-(told @ arrays["share_weight"].T + arrays["share_bias"])))
    return np.asarray(found + share * (made - found), np.float32)


def _told_of_share(examples: Examples, found: Floats) -> tuple[Floats, Floats]:
    opinions = examples.features[:, -OPINIONS:]
    kinds = opinions[:, len(FLAWS) : len(FLAWS) + len(KIND_NAMES)]
    darker = kinds[:, KIND_NAMES.index("darken")] >= kinds[:, KIND_NAMES.index("brighten")]
    made = opinions[:, [DISTORTION_CATEGORIES.index(CATEGORY_OF[flaw]) - len(DISTORTION_CATEGORIES) for flaw in FLAWS]]
    made[darker, FLAWS.index("bright")] = 0
    made[~darker, FLAWS.index("dark")] = 0
    return np.concatenate([opinions[:, GATE_AND_PRESENCE], found, made], axis=1).astype(np.float32), made


def fit_curves(examples: Examples, found: Floats) -> Floats:
    """Per flaw the outputs at which the heights of `CURVE` lie.

    Moderate begins as low as false alarms allow, of the photographs our eyes do not call moderately flawed, of either
    source, and of those in which other people see nothing of it; severe where the words agree best with our labels.
    """
    curves = np.tile(np.array(CURVE, np.float32), (len(FLAWS), 1))
    looks = examples.source == "looks"
    for n, flaw in enumerate(FLAWS if looks.any() else ()):
        truth, said = examples.whole[:, n], found[:, n]
        calm = {source: said[(examples.source == source) & (truth < least)] for source, least in CALM.items()}
        allowed = {source: FALSE_ALARMS[flaw] if source in BY_EYE else FALSE_ALARMS_OF_PEOPLE for source in CALM}
        lowest = [np.quantile(each, 1 - allowed[source]) for source, each in calm.items() if len(each)]
        moderate = float(np.clip(max(lowest), LEAST_MODERATE, MODERATE))
        tried = [(-1.0, SLIGHT, moderate, severe, severe + 1.5) for severe in np.arange(2.0, 2.81, 0.1)]
        curves[n] = max(tried, key=lambda curve: kappa(truth[looks], np.interp(said[looks], curve, CURVE)))
        print(f"{flaw:12} moderate from {moderate:.2f}, severe from {curves[n][3]:.2f}")
    return curves


def on_scale(found: Floats, curves: Floats) -> Floats:
    """Outputs on the scale of severity, as the product computes them."""
    return np.stack([np.interp(found[:, n], curve, CURVE) for n, curve in enumerate(curves)], axis=1).astype(np.float32)


def fit_slope(examples: Examples, found: Floats) -> float:
    """How fast the odds of at least slight grow about where it begins."""
    known = ~np.isnan(examples.whole) & (examples.source != "mmp2k")[:, None]
    distance, present = found[known] - SLIGHT, examples.whole[known] >= SLIGHT
    slopes = np.geomspace(1, 12, 24)
    likely = (1 / (1 + np.exp(-np.clip(slope * distance, -30, 30))) for slope in slopes)
    errors = [-np.where(present, np.log(p + 1e-9), np.log(1 - p + 1e-9)).mean() for p in likely]
    return float(slopes[int(np.argmin(errors))])


def report(examples: Examples, found: Floats, placed: Floats) -> None:
    """What is found in folds: of our labels, of those of other people, and of places."""
    strengths = np.clip(found, 0, STRONGEST)
    for source in sorted(set(examples.source)):
        own = examples.source == source
        if source in ("looks", "other"):
            print(source)
            _report_labels(examples[own], strengths[own])
        if source == "mmp2k":
            _report_people(examples.whole[own], found[own], strengths[own])
        if source in ("parts", "mmp2k"):
            _report_places(source, examples[own], strengths[own], placed[own])


def _report_labels(examples: Examples, strengths: Floats) -> None:
    for n, flaw in enumerate(FLAWS):
        truth, said = examples.whole[:, n], strengths[:, n]
        present, alarmed = truth >= PRESENT, said >= PRESENT
        print(f"  {flaw:12} {present.sum():4d} found {alarmed[present].mean():.3f} ", end="")
        print(f"false {alarmed[~present].mean():.3f} kappa {kappa(truth, said):.3f}")
    named = np.where(strengths.max(1) >= SLIGHT, np.array(FLAWS)[strengths.argmax(1)], "none") == examples.main
    asked = examples.main != ""
    clear = asked & ((examples.whole.max(1) >= PRESENT) | (examples.main == "none"))
    print(f"  main flaw {named[asked].mean():.3f}, of the {clear.sum()} clear ones {named[clear].mean():.3f}")


def _report_people(truth: Floats, found: Floats, strengths: Floats) -> None:
    for flaw in sorted(set(FACTORS.values())):
        n = FLAWS.index(flaw)
        present, free = truth[:, n] >= MAGNITUDES["medium"], truth[:, n] == 0
        above = found[present, n] > np.quantile(found[free, n], 0.95)
        alarmed = strengths[:, n] >= PRESENT
        print(f"mmp2k {flaw:7} {present.sum():4d} found at .05 {above.mean():.3f}; by the words ", end="")
        print(f"{alarmed[present].mean():.3f} / {alarmed[free].mean():.3f}")


def _report_places(source: str, examples: Examples, strengths: Floats, placed: Floats) -> None:
    """How often the worst flaw is found that lies in a part, and its box has its centre there."""
    hits = []
    for row, severities in enumerate(np.nan_to_num(examples.whole)):
        n = int(severities.argmax())
        there = examples.placed[row, :, n]
        inside = there > 0.6 * np.nanmax(there)
        if severities[n] >= 1 and not inside.all():
            box = box_of(placed[row, :, n], (40, 40))
            centre = ((box.top + box.bottom) // 2, (box.left + box.right) // 2) if box else (0, 0)
            right = box is not None and inside[centre[0] // 10 * 4 + centre[1] // 10]
            hits.append((strengths[row, n] >= SLIGHT, right))
    print(f"{source}: {len(hits)} in parts, found and place right: {np.mean(hits, axis=0).round(3)}")


def main() -> None:
    """Fit on everything extracted so far and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--terms", choices=("research", "open"), default="research")
    parser.add_argument("--mmp2k", type=Path, help="table of MMP-2K's labels")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--start", type=Path, help="weights of a detector whose networks are fitted further")
    parser.add_argument("--keep", type=Path, help="where what is said of the folds is kept")
    given = parser.parse_args()
    torch.set_num_threads(1)
    examples = read_all(given.cache, given.terms, given.mmp2k)
    with_honest_opinions(examples, given.terms)
    examples, people = with_people(examples, given.terms)
    start = dict(np.load(given.start)) if given.start else None
    arrays, found, placed = fit(examples, given.epochs, start)
    if start is None:
        joined = found.copy()
        for fold in range(FOLDS):
            outside = examples.fold == fold
            joined[outside] = with_share(examples[outside], found[outside], fit_share(examples, found, ~outside))
        arrays |= fit_share(examples, found, np.ones(len(found), bool)) | people
        arrays |= {"curves": fit_curves(examples, joined), "kinds": np.array(KIND_NAMES)}
        whole = on_scale(joined, arrays["curves"])
        arrays["slope"] = np.array(fit_slope(examples, whole), np.float32)
    else:
        # What comes before and behind the networks stays.
        arrays = start | arrays
        whole = on_scale(with_share(examples, found, arrays), arrays["curves"])
    if given.keep:
        np.savez(given.keep, whole=whole, placed=placed, **arrays)  # type: ignore[arg-type]
    ship(f"detector_{given.terms}", arrays)
    report(examples, whole, placed)


if __name__ == "__main__":
    main()
