"""Several trained networks as one ONNX graph: embedded tokens in, averaged probabilities per head out."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from agenticiqa.question.reader import HEADS

# Larger arrays are stored as bytes with a scale per row, smaller ones in half precision.
SMALL = 4096


class _Graph:
    """Nodes and constants under names that no other network of the graph has."""

    def __init__(self, prefix: str, nodes: list[Any], constants: list[Any]) -> None:
        self._prefix, self._nodes, self._constants = prefix, nodes, constants

    def add(self, kind: str, inputs: list[str], name: str, **options: Any) -> str:
        """The name of a new node's output."""
        self._nodes.append(helper.make_node(kind, inputs, [self._prefix + name], **options))
        return self._prefix + name

    def number(self, value: Any, name: str) -> str:
        """The name of an integer constant."""
        self._constants.append(numpy_helper.from_array(np.array(value, dtype=np.int64), self._prefix + name))
        return self._prefix + name

    def weights(self, array: Any, name: str) -> str:
        """The name of an array that is widened when the graph is loaded."""
        array, stored = np.asarray(array, dtype=np.float32), self._prefix + name + "_stored"
        if array.size <= SMALL:
            self._constants.append(numpy_helper.from_array(array.astype(np.float16), stored))
            return self.add("Cast", [stored], name, to=TensorProto.FLOAT)
        scale = np.abs(array).max(-1, keepdims=True) / 127 + 1e-12
        self._constants.append(numpy_helper.from_array(np.round(array / scale).astype(np.int8), stored))
        self._constants.append(numpy_helper.from_array(scale.astype(np.float32), stored + "_scale"))
        wide = self.add("Cast", [stored], name + "_wide", to=TensorProto.FLOAT)
        return self.add("Mul", [wide, stored + "_scale"], name)


def graph_of(states: list[dict[str, Any]]) -> bytes:
    """The networks of these state dictionaries as bytes of an ONNX file."""
    nodes: list[Any] = []
    constants: list[Any] = []
    outputs: dict[str, list[str]] = {head: [] for head in HEADS}
    for place, state in enumerate(states):
        _network(_Graph(f"n{place}_", nodes, constants), {k: v.numpy() for k, v in state.items()}, place, outputs)
    nodes += [helper.make_node("Mean", names, [head]) for head, names in outputs.items()]
    width = states[0]["g1.weight_ih_l0"].shape[1]
    given = helper.make_tensor_value_info("tokens", TensorProto.FLOAT, [len(states), "T", 1, width])
    told = [helper.make_tensor_value_info(h, TensorProto.FLOAT, [1, len(v)]) for h, v in HEADS.items()]
    graph = helper.make_graph(nodes, "reader", [given], told, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def state_of(file: bytes, embedding: Any, place: int) -> dict[str, Any]:
    """The arrays of one network in such a file, with its embedding, under the names PyTorch gives them."""
    stored = {each.name: numpy_helper.to_array(each) for each in onnx.load_from_string(file).graph.initializer}

    def array(name: str) -> Any:
        name = f"n{place}_{name}_stored"
        return stored[name].astype(np.float32) * stored.get(name + "_scale", np.float32(1))

    state = {"emb.weight": embedding, "att.weight": array("att").T, "att.bias": np.zeros(len(HEADS), np.float32)}
    for layer, part in itertools.product(("g1", "g2"), "WR"):
        for side, both in zip(("", "_reverse"), array(layer + part), strict=True):
            width = both.shape[0] // 3
            state[f"{layer}.weight_{'ih' if part == 'W' else 'hh'}_l0{side}"] = _reordered(both, width)
    for layer in ("g1", "g2"):
        for side, both in zip(("", "_reverse"), array(layer + "B"), strict=True):
            for kind, half in zip(("ih", "hh"), np.split(both, 2), strict=True):
                state[f"{layer}.bias_{kind}_l0{side}"] = _reordered(half, len(half) // 3)
    for head, number, part in itertools.product(HEADS, (0, 3), ("weight", "bias")):
        state[f"out.{head}.{number}.{part}"] = array(f"{head}_{number}_{part}")
    return state


def _network(graph: _Graph, state: dict[str, Any], place: int, outputs: dict[str, list[str]]) -> None:
    tokens = graph.add("Gather", ["tokens", graph.number(place, "which")], "x", axis=0)
    layers = [_layer(graph, state, "g1", tokens)]
    layers.append(_layer(graph, state, "g2", layers[0]))
    both = graph.add("Concat", layers, "both", axis=2)
    every = graph.add("Concat", [both, tokens], "all", axis=2)
    scores = graph.add("MatMul", [every, graph.weights(state["att.weight"].T, "att")], "scores")
    weights = graph.add("Softmax", [scores], "weights", axis=0)
    by_head = graph.add("Transpose", [weights], "by_head", perm=[1, 2, 0])
    by_token = graph.add("Transpose", [both], "by_token", perm=[1, 0, 2])
    pooled = graph.add("MatMul", [by_head, by_token], "pooled")
    for number, head in enumerate(HEADS):
        outputs[head].append(_head(graph, state, head, number, pooled))


def _layer(graph: _Graph, state: dict[str, Any], name: str, inputs: str) -> str:
    width = state[f"{name}.weight_hh_l0"].shape[1]
    sides = ("", "_reverse")
    weight = np.stack([_reordered(state[f"{name}.weight_ih_l0{side}"], width) for side in sides])
    recurrent = np.stack([_reordered(state[f"{name}.weight_hh_l0{side}"], width) for side in sides])
    bias = np.stack(
        [
            np.concatenate([_reordered(state[f"{name}.bias_{kind}_l0{side}"], width) for kind in ("ih", "hh")])
            for side in sides
        ]
    )
    arrays = [graph.weights(array, name + part) for array, part in ((weight, "W"), (recurrent, "R"), (bias, "B"))]
    run = graph.add("GRU", [inputs, *arrays], name, hidden_size=width, direction="bidirectional", linear_before_reset=1)
    side_by_side = graph.add("Transpose", [run], name + "_sides", perm=[0, 2, 1, 3])
    return graph.add("Reshape", [side_by_side, graph.number([0, 1, 2 * width], name + "_shape")], name + "_states")


def _reordered(array: Any, width: int) -> Any:
    """PyTorch keeps the gates as reset, update, new; ONNX as update, reset, new."""
    return np.concatenate([array[width : 2 * width], array[:width], array[2 * width :]])


def _head(graph: _Graph, state: dict[str, Any], head: str, number: int, pooled: str) -> str:
    own = graph.add("Gather", [pooled, graph.number(number, head + "_number")], head + "_in", axis=1)
    first, second = (
        [graph.weights(state[f"out.{head}.{layer}.{part}"], f"{head}_{layer}_{part}") for part in ("weight", "bias")]
        for layer in (0, 3)
    )
    inner = graph.add("Tanh", [graph.add("Gemm", [own, *first], head + "_inner", transB=1)], head + "_tanh")
    return graph.add("Softmax", [graph.add("Gemm", [inner, *second], head + "_out", transB=1)], head + "_p", axis=1)
