"""A local Qwen2.5-VL: loading it, preparing its inputs, generating, and reading its logits. Needs no torchvision."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from agenticiqa.state import LEVEL_LETTERS
from agenticiqa.vlm_client.client import Sampling
from agenticiqa.vlm_client.providers.logprobs import normalised

IMAGE_TOKEN = "<|image_pad|>"
# Words of ours that look like the model's control tokens must not become them.
_CONTROL = re.compile(r"<\|(?=\w+\|>)")


@dataclass(frozen=True)
class Prepared:
    """A prompt as tensors, and the size at which each image is shown."""

    tensors: dict[str, Any]
    shown: tuple[tuple[int, int], ...]

    @property
    def length(self) -> int:
        """Tokens of the prompt, those of the images included."""
        return int(self.tensors["input_ids"].shape[1])


class QwenModel:
    """The loaded model with its tokenizer and image processor."""

    def __init__(self, model: Any, tokenizer: Any, processor: Any) -> None:
        self._model, self._tokenizer, self._processor = model, tokenizer, processor

    def prepare(self, system: str, user: str, images: Sequence[tuple[str, Image.Image]]) -> Prepared:
        """The chat prompt with its labelled images, each given as many places as it needs."""
        pixels = self._processor(images=[image for _, image in images], return_tensors="pt")
        grids = [tuple(int(n) for n in grid) for grid in pixels["image_grid_thw"]]
        places = iter(height * width // self._processor.merge_size**2 for _, height, width in grids)
        text = self._tokenizer.apply_chat_template(
            _chat(system, user, [label for label, _ in images]), tokenize=False, add_generation_prompt=True
        )
        text = re.sub(re.escape(IMAGE_TOKEN), lambda _: IMAGE_TOKEN * next(places), text)
        encoded = self._tokenizer(text, return_tensors="pt", add_special_tokens=False)
        patch = self._processor.patch_size
        tensors = {
            "input_ids": encoded["input_ids"],
            "attention_mask": encoded["attention_mask"],
            "mm_token_type_ids": (encoded["input_ids"] == self._tokenizer.convert_tokens_to_ids(IMAGE_TOKEN)).long(),
            "pixel_values": pixels["pixel_values"].to(self._model.dtype),
            "image_grid_thw": pixels["image_grid_thw"],
        }
        device = self._model.device
        moved = {name: tensor.to(device) for name, tensor in tensors.items()}
        return Prepared(moved, tuple((width * patch, height * patch) for _, height, width in grids))

    def generate(self, prepared: Prepared, sampling: Sampling) -> tuple[str, int]:
        """The reply and its number of tokens."""
        import torch

        # The seed must not disturb anybody else's random numbers.
        with torch.inference_mode(), torch.random.fork_rng():
            if sampling.seed is not None:
                torch.manual_seed(sampling.seed)
            output = self._model.generate(**prepared.tensors, max_new_tokens=sampling.max_tokens, **_drawing(sampling))
        written = output[0, prepared.length :]
        return self._tokenizer.decode(written, skip_special_tokens=True), int(written.shape[0])

    def level_logprobs(self, prepared: Prepared, begun: str) -> dict[str, float]:
        """The log-probabilities of A to E as the next token of a reply begun like this, by one forward pass."""
        import torch

        tensors = dict(prepared.tensors)
        more = self._tokenizer(begun, return_tensors="pt", add_special_tokens=False)["input_ids"]
        more = more.to(self._model.device)
        tensors["input_ids"] = torch.cat([tensors["input_ids"], more], dim=1)
        tensors["attention_mask"] = torch.ones_like(tensors["input_ids"])
        tensors["mm_token_type_ids"] = torch.cat([tensors["mm_token_type_ids"], torch.zeros_like(more)], dim=1)
        with torch.inference_mode():
            logits = self._model(**tensors).logits[0, -1].double()
        ids = {letter: self._tokenizer.convert_tokens_to_ids(letter) for letter in LEVEL_LETTERS}
        return normalised({letter: float(logits[token]) for letter, token in ids.items()})


def load_model(name: str, *, device: str, dtype: str, max_pixels: int, local_only: bool) -> QwenModel:
    """The model of a folder or hub name; transformers' OSError if it is not there."""
    import torch
    from transformers import AutoModelForImageTextToText, AutoTokenizer
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    place = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    # Half precision is slow on CPUs.
    kind = ("float32" if place == "cpu" else "auto") if dtype == "auto" else dtype
    source = {"local_files_only": local_only or Path(name).is_dir()}
    processor = Qwen2VLImageProcessorPil.from_pretrained(name, max_pixels=max_pixels, **source)
    tokenizer = AutoTokenizer.from_pretrained(name, **source)
    model = AutoModelForImageTextToText.from_pretrained(name, dtype=kind, **source).eval().to(place)
    return QwenModel(model, tokenizer, processor)


def _chat(system: str, user: str, labels: list[str]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for label in labels:
        parts += [{"type": "text", "text": f"{label}:"}, {"type": "image"}]
    parts.append({"type": "text", "text": _CONTROL.sub("< |", user)})
    opening = [{"role": "system", "content": [{"type": "text", "text": _CONTROL.sub("< |", system)}]}]
    return [*(opening if system else []), {"role": "user", "content": parts}]


def _drawing(sampling: Sampling) -> dict[str, Any]:
    if sampling.temperature == 0:
        return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    return {"do_sample": True, "temperature": sampling.temperature, "top_p": sampling.top_p or 1.0, "top_k": 0}
