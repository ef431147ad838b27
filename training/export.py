"""Networks written as ONNX files with half-precision weights, computed in single precision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

SMALLEST_STORED_HALF = 256


def export_network(
    network: torch.nn.Module,
    example: tuple[torch.Tensor, ...],
    path: Path,
    inputs: Sequence[str],
    outputs: Sequence[str],
    axes: dict[str, dict[int, str]],
) -> None:
    """Write the network for any size of input, its large weights stored in half precision."""
    torch.onnx.export(
        network.eval(),
        example,
        str(path),
        input_names=list(inputs),
        output_names=list(outputs),
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )
    model = onnx.load(str(path))
    store_half(model)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def store_half(model: onnx.ModelProto) -> None:
    """Replace large float weights by half-precision ones and a cast, which the runtime folds while loading."""
    casts = []
    for weight in model.graph.initializer:
        values = numpy_helper.to_array(weight)
        if values.dtype != np.float32 or values.size < SMALLEST_STORED_HALF:
            continue
        name = weight.name
        weight.CopyFrom(numpy_helper.from_array(values.astype(np.float16), name + "_half"))
        casts.append(helper.make_node("Cast", [name + "_half"], [name], to=TensorProto.FLOAT))
    for cast in reversed(casts):
        model.graph.node.insert(0, cast)
