"""Writes a trained reader as the ONNX file that is shipped, weights in bytes, vocabulary and heads beside them.

    python -m training.reader.export --reader reader.pt [later.pt …] --out src/agenticiqa/weights/reader.onnx

Of several readers, each begun with the one before it, the weights are averaged. Runs in the environment that has torch
and onnx.
"""

from __future__ import annotations

import argparse
import io
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from training.reader.model import CHOICES, HEADS, Reader

# Smaller arrays are stored as they are.
SMALL = 4096


class Read(nn.Module):
    """One text in, the probabilities of every head out, and per piece of a thing's name and of an option's words."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, pieces: Any) -> tuple[Any, ...]:
        """Probabilities in the order of the heads, those per piece last."""
        scores = self.reader(pieces, torch.ones(pieces.shape))
        told = [scores[head].softmax(-1) if head in CHOICES else scores[head].sigmoid() for head in HEADS]
        return (*told, scores["scope"].sigmoid(), scores["offered"].softmax(-1))


def averaged(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The last state with the mean of all weights, but of what the first does not have (new letters) the last's own."""
    mean = {}
    for name, last in states[-1]["reader"].items():
        known = len(states[0]["reader"][name])
        ours = torch.stack([state["reader"][name][:known] for state in states]).mean(0)
        mean[name] = torch.cat([ours, last[known:]])
    return {**states[-1], "reader": mean}


def written(state: dict[str, Any]) -> onnx.ModelProto:
    """The reader of a saved state as a graph whose matrices are stored in bytes."""
    reader = Reader(len(state["vocabulary"]), state["layers"])
    reader.load_state_dict(state["reader"])
    wide = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Read(reader.eval()), (torch.arange(12)[None],), wide, input_names=["pieces"], opset_version=17,
            output_names=[*HEADS, "scope", "offered"], dynamo=False,
            dynamic_axes={name: {1: "length"} for name in ("pieces", "scope", "offered")},
        )  # fmt: skip
    model = onnx.load_from_string(wide.getvalue())
    _in_bytes(model.graph)
    heads = json.dumps({head: list(values) for head, values in HEADS.items()})
    pieces = sorted(state["vocabulary"], key=state["vocabulary"].__getitem__)
    onnx.helper.set_model_props(model, {"heads": heads, "pieces": "\n".join(pieces)})
    return model


def _in_bytes(graph: onnx.GraphProto) -> None:
    """Stores every large array as bytes with a scale per column, widened when the file is loaded.

    Products of bytes would be faster, but they round what is read: 2 % of the Chinese polarities turned.
    """
    for array in [each for each in graph.initializer if np.prod(each.dims) > SMALL]:
        values = numpy_helper.to_array(array)
        scale = np.abs(values).max(0) / 127 + 1e-12
        narrow = np.round(values / scale).astype(np.int8)
        stored = {f"{array.name}_bytes": narrow, f"{array.name}_scale": scale.astype(np.float32)}
        graph.initializer.remove(array)
        graph.initializer.extend(numpy_helper.from_array(each, name) for name, each in stored.items())
        first, second = stored
        graph.node.insert(0, onnx.helper.make_node("Mul", [f"{first}_wide", second], [array.name]))
        graph.node.insert(0, onnx.helper.make_node("Cast", [first], [f"{first}_wide"], to=onnx.TensorProto.FLOAT))


def main() -> None:
    """Writes the file."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--reader", type=Path, nargs="+", required=True)
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    states = [torch.load(file, weights_only=True) for file in given.reader]
    given.out.write_bytes(written(averaged(states)).SerializeToString())


if __name__ == "__main__":
    main()
