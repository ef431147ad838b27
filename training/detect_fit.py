"""Fits the distortion model: five small networks, each without one fold of the photographs, calibrated on that fold.

python -m training.detect_fit --cache DIR --terms research [--pairs]
"""

from __future__ import annotations

import argparse
import itertools
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from agenticiqa.state import DISTORTION_CATEGORIES
from agenticiqa.tools.synthetic.kinds import KINDS
from training.detect_extract import read_recipe
from training.detect_severity import Losses, category_losses, measure_losses
from training.manifest import write_arrays, write_manifest

Floats = npt.NDArray[np.float32]
WEIGHTS = Path("src/agenticiqa/weights")
FOLDS, COMPONENTS, POOLED = 5, 128, 1088
HIDDEN = (256, 128)
BATCH = 256
CATEGORIES = len(DISTORTION_CATEGORIES)
VISIBLE = 0.5
# How far the strength's curve goes from the mean loss to the loss of equal rank, and where the curve is noted down.
UNSHRINK = 0.5
GRID = np.linspace(-0.5, 4.5, 51, dtype=np.float32)
COLUMNS = ("features", "photograph", "terms", "recipe", "hard")
# A picture without any colour is taken for a black-and-white photograph: without the original nobody can tell.
COLOURLESS = ("saturation_down", 5)


@dataclass(frozen=True)
class Examples:
    """Pictures as features with their losses per category, kinds, folds and weights."""

    features: Floats
    losses: Floats
    kinds: Floats
    fold: npt.NDArray[np.intp]
    weight: Floats
    hard: npt.NDArray[np.bool_]


def read_examples(files: list[Path], losses: Losses, terms: str, with_reference: bool) -> Examples:
    """The extracted pictures of these files under the given terms."""
    parts = [dict(np.load(path, allow_pickle=False)) for path in files]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
    chosen = np.isin(columns["terms"], ("open",) if terms == "open" else ("open", "research"))
    recipes = [read_recipe(str(recipe)) for recipe in columns["recipe"][chosen]]
    if not with_reference:
        recipes = [[part for part in recipe if part != COLOURLESS] for recipe in recipes]
    lost = np.array([category_losses(recipe, losses) for recipe in recipes], np.float32)
    return Examples(
        columns["features"][chosen],
        lost,
        np.array([_kind_row(recipe, losses) for recipe in recipes], np.float32),
        np.array([zlib.crc32(str(name).encode()) % FOLDS for name in columns["photograph"][chosen]]),
        np.where(columns["hard"][chosen] != "", 2.0, _rarity(lost)).astype(np.float32),
        columns["hard"][chosen] != "",
    )


def _rarity(lost: Floats) -> Floats:
    """More weight for pictures that show a category few pictures show."""
    shown = lost >= VISIBLE
    rarity = np.sqrt(shown.mean(axis=0).max() / shown.mean(axis=0))
    return np.maximum(1, (shown * rarity).max(axis=1)).astype(np.float32)


def _kind_row(recipe: list[tuple[str, int]], losses: Losses) -> list[float]:
    visible = {kind for kind, level in recipe if losses[kind][level - 1] >= VISIBLE}
    return [float(kind in visible) for kind in KINDS]


def train_member(
    inputs: Floats, examples: Examples, rows: npt.NDArray[np.bool_], seed: int, epochs: int
) -> torch.nn.Module:
    """One network for presence, strength and kind together."""
    torch.manual_seed(seed)
    widths = (inputs.shape[1], *HIDDEN, 2 * CATEGORIES + len(KINDS))
    layers: list[torch.nn.Module] = [torch.nn.Dropout(0.1)]
    for position, (before, after) in enumerate(itertools.pairwise(widths)):
        layers += [torch.nn.Linear(before, after)]
        if position < len(HIDDEN):
            layers += [torch.nn.ReLU(), torch.nn.Dropout(0.3)]
    network = torch.nn.Sequential(*layers)
    optimiser = torch.optim.AdamW(network.parameters(), 2e-3, weight_decay=0.02)
    steps = epochs * (int(rows.sum()) // BATCH + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=steps)
    x, losses, kinds, weight = (
        torch.from_numpy(a[rows]) for a in (inputs, examples.losses, examples.kinds, examples.weight)
    )
    for _ in range(epochs):
        for batch in torch.randperm(len(x)).split(BATCH):
            noisy = x[batch] + 0.1 * torch.randn_like(x[batch])
            cost = _cost(network(noisy), losses[batch], kinds[batch], weight[batch])
            optimiser.zero_grad()
            cost.backward()
            optimiser.step()
            if schedule.last_epoch < steps - 1:
                schedule.step()
    return network.eval()


def _cost(outputs: torch.Tensor, losses: torch.Tensor, kinds: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    logits, strength, kind_logits = outputs.split((CATEGORIES, CATEGORIES, len(KINDS)), dim=1)
    # Damage nobody sees is neither present nor absent: its target lies between.
    present = (losses / (2 * VISIBLE)).clamp(0, 1)
    presence = torch.nn.functional.binary_cross_entropy_with_logits(logits, present, reduction="none").mean(1)
    size = torch.nn.functional.smooth_l1_loss(strength, losses, reduction="none", beta=0.5).mean(1)
    kind = torch.nn.functional.binary_cross_entropy_with_logits(kind_logits, kinds, reduction="none").mean(1)
    return ((presence + size + 2 * kind) * weight).mean()


def project(features: Floats, pooled: int, components: int) -> dict[str, Floats]:
    """Standardisation of all features and the main directions of the first of them."""
    centre, scale = features.mean(axis=0), features.std(axis=0) + 1e-4
    standard = np.clip((features[:, :pooled] - centre[:pooled]) / scale[:pooled], -5, 5)
    projection = np.zeros((0, 0), np.float32)
    if pooled:
        values, vectors = np.linalg.eigh(standard.T @ standard / len(standard))
        # Whitened in part: small directions carry traces of damage that large ones, the content, would drown.
        projection = vectors[:, ::-1][:, :components] / (values[::-1][:components] + 0.5) ** 0.5
    return {"centre": centre, "scale": scale, "projection": projection.astype(np.float16)}


def prepare(features: Floats, arrays: dict[str, Floats]) -> Floats:
    """Inputs of the networks, as the product computes them."""
    standard = np.clip((features - arrays["centre"]) / arrays["scale"], -5, 5)
    projection = arrays["projection"].astype(np.float32)
    count = len(projection)
    first = standard[:, :count] @ projection if count else standard[:, :0]
    return np.concatenate([first, standard[:, count:]], axis=1).astype(np.float32)


def calibrate(outputs: Floats, losses: Floats) -> dict[str, Floats]:
    """Per category, from out-of-fold outputs: presence from both outputs, and a rising curve of strength."""
    from sklearn.linear_model import LogisticRegression

    lines, heights = [], []
    for c in range(CATEGORIES):
        told = (losses[:, c] == 0) | (losses[:, c] >= VISIBLE)
        line = LogisticRegression(C=10).fit(outputs[told][:, [c, CATEGORIES + c]], losses[told, c] > 0)
        lines.append((*line.coef_[0], line.intercept_[0]))
        heights.append(_rising_curve(outputs[:, CATEGORIES + c], losses[:, c]))
    slope, lift, shift = np.array(lines, np.float32).T
    curves = {"knots": np.tile(GRID, (CATEGORIES, 1)), "heights": np.array(heights, np.float32)}
    return {"slope": slope, "lift": lift, "shift": shift, **curves}


def _rising_curve(found: Floats, losses: Floats) -> Floats:
    """Losses over GRID: the mean loss of an output, half way to the loss of equal rank where damage is plain.

    The mean alone draws the ends to the middle, so that nothing would ever be called extreme.
    """
    from sklearn.isotonic import IsotonicRegression

    mean = IsotonicRegression(y_min=0, y_max=4, out_of_bounds="clip").fit(found, losses).predict(GRID)
    visible = losses >= VISIBLE
    shares = np.linspace(0, 1, 101)
    ranked = np.interp(GRID, np.quantile(found[visible], shares), np.quantile(losses[visible], shares))
    curve = np.maximum.accumulate(mean + UNSHRINK * np.clip(mean - VISIBLE, 0, 1) * (ranked - mean))
    # A little of the identity keeps the curve strictly rising, so that stronger stays stronger.
    return np.asarray(0.9 * curve + 0.1 * np.clip(GRID, 0, 4), np.float32)


def fit(examples: Examples, pooled: int, epochs: int) -> tuple[dict[str, Floats], Floats]:
    """All arrays of a model, and its out-of-fold outputs."""
    arrays = project(examples.features, pooled, COMPONENTS)
    inputs = prepare(examples.features, arrays)
    outputs = np.zeros((len(inputs), 2 * CATEGORIES + len(KINDS)), np.float32)
    for member in range(FOLDS):
        network = train_member(inputs, examples, examples.fold != member, member, epochs)
        left_out = examples.fold == member
        with torch.no_grad():
            outputs[left_out] = network(torch.from_numpy(inputs[left_out])).numpy()
        linears = [layer for layer in network if isinstance(layer, torch.nn.Linear)]  # type: ignore[attr-defined]
        for depth, layer in enumerate(linears):
            arrays[f"weight_{member}_{depth}"] = layer.weight.detach().numpy().T.astype(np.float16)
            arrays[f"bias_{member}_{depth}"] = layer.bias.detach().numpy().astype(np.float16)
    arrays["shape"] = np.array([FOLDS, len(HIDDEN) + 1])
    arrays["kinds"] = np.array(list(KINDS))
    return arrays | calibrate(outputs, examples.losses), outputs


def ship(name: str, arrays: dict[str, Floats]) -> None:
    """Write the weights and record their hash."""
    path = WEIGHTS / f"{name}.npz"
    write_arrays(path, arrays)
    write_manifest(WEIGHTS)


def main() -> None:
    """Fit on everything extracted so far and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--terms", choices=("research", "open"), default="research")
    parser.add_argument("--pairs", action="store_true", help="the model that has the original at hand")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--parts", nargs="+", help="extracted files to fit on, such as train_8; all by default")
    given = parser.parse_args()
    torch.set_num_threads(1)
    kinds = ("pairs_train", "pairs_ladders") if given.pairs else ("train", "ladders")
    files = [given.cache / f"detect_{part}.npz" for part in given.parts or ()] or sorted(
        path for kind in kinds for path in given.cache.glob(f"detect_{kind}_[0-9]*.npz") if ".part" not in path.name
    )
    chosen = read_examples(files, measure_losses(given.cache / "synthetic.csv"), given.terms, given.pairs)
    weights, _ = fit(chosen, 0 if given.pairs else POOLED, given.epochs)
    weights["names"] = np.load(files[0])["names"] if given.pairs else np.array([], "U1")
    name = f"distortions_pair_{given.terms}" if given.pairs else f"distortions_{given.terms}"
    ship(name, weights)
    print(f"{name}: {len(chosen.features)} pictures")


if __name__ == "__main__":
    main()
