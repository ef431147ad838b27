"""Networks written as ONNX files with half-precision weights, computed in single precision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from training.network import Stages, pool

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
    fold_padding(model)
    store_half(model)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def fold_padding(model: onnx.ModelProto) -> None:
    """Let each strided convolution pad for itself, below and to the right as `training.network` does.

    The runtime keeps maps in blocks of channels; a padding of its own between two convolutions makes it unpack and
    pack the largest maps again, which took a third of the trunk's time.
    """
    graph = model.graph
    padded = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Pad"}
    for node in graph.node:
        if node.op_type != "Conv" or node.input[0] not in padded:
            continue
        node.input[0] = padded[node.input[0]]
        given = {attribute.name: attribute for attribute in node.attribute}
        total = given["kernel_shape"].ints[0] - given["strides"].ints[0]
        before = total // 2
        given["pads"].ints[:] = [before, before, total - before, total - before]
    _drop_unused(graph)


def _drop_unused(graph: onnx.GraphProto) -> None:
    """Remove nodes nobody reads, until none is left."""
    while True:
        read = {name for node in graph.node for name in node.input} | {output.name for output in graph.output}
        unused = [node for node in graph.node if not read.intersection(node.output)]
        if not unused:
            break
        for node in unused:
            graph.node.remove(node)


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
