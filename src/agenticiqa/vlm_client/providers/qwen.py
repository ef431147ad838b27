"""Qwen2.5-VL on this machine, through transformers and without torchvision: loading, generating, reading its logits."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from PIL import Image

from agenticiqa.config import QwenSettings, RoleSettings, Settings
from agenticiqa.errors import BackendError, UnavailableError, UnknownBackendError, require_extra
from agenticiqa.state import LEVEL_LETTERS
from agenticiqa.vlm_client.client import Sampling, Usage, VLMClient, VLMReply, VLMRequest
from agenticiqa.vlm_client.models import official_name
from agenticiqa.vlm_client.providers.logprobs import ANSWER_PREFIX, answer_position, normalised
from agenticiqa.vlm_client.schemas import schema_for, schema_rule

IMAGE_TOKEN = "<|image_pad|>"
# Words of ours that look like the model's control tokens must not become them.
_CONTROL = re.compile(r"<\|(?=\w+\|>)")


@dataclass(frozen=True)
class Prompt:
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

    def prepare(self, system: str, user: str, images: Sequence[tuple[str, Image.Image]]) -> Prompt:
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
        return Prompt(moved, tuple((width * patch, height * patch) for _, height, width in grids))

    def generate(self, prepared: Prompt, sampling: Sampling) -> tuple[str, int]:
        """The reply and its number of tokens."""
        import torch

        # The seed must not disturb anybody else's random numbers.
        with torch.inference_mode(), torch.random.fork_rng():
            if sampling.seed is not None:
                torch.manual_seed(sampling.seed)
            output = self._model.generate(**prepared.tensors, max_new_tokens=sampling.max_tokens, **_drawing(sampling))
        written = output[0, prepared.length :]
        return self._tokenizer.decode(written, skip_special_tokens=True), int(written.shape[0])

    def level_logprobs(self, prepared: Prompt, begun: str) -> dict[str, float]:
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


class QwenVLMClient(VLMClient):
    """A local model, loaded with the first request and kept; one request at a time."""

    def __init__(
        self,
        name: str,
        settings: QwenSettings | None = None,
        *,
        local_only: bool = False,
        deterministic: bool = True,
    ) -> None:
        self.name = name
        self.settings = settings or QwenSettings()
        self.model = f"qwen.{name}"
        self.identity = f"{self.model}, {self.settings!r}"
        self.deterministic = deterministic
        self._local_only = local_only
        self._loaded: QwenModel | None = None
        self._lock = Lock()

    @classmethod
    def from_settings(cls, model: str, role: RoleSettings, settings: Settings) -> QwenVLMClient:
        if not model:
            raise UnknownBackendError("'qwen' needs a model; write qwen.FOLDER or qwen.Qwen/Qwen2.5-VL-7B-Instruct")
        require_extra(f"the backend qwen.{model}", "qwen", "transformers", "torch")
        return cls(
            str(Path(official_name("qwen", model)).expanduser()),
            settings.pipeline.qwen,
            local_only=settings.pipeline.offline,
            deterministic=role.temperature == 0,
        )

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        with self._lock, self._within_memory():
            loaded = self._load()
            prepared = loaded.prepare("", prompt, [("test image", image.convert("RGB"))])
            return loaded.generate(prepared, Sampling(**kwargs))[0]

    def ask(self, request: VLMRequest) -> VLMReply:
        """The model's reply, with exact level probabilities for the task `score`."""
        started = time.perf_counter()
        levels = request.task == "score"
        system = f"{request.system}\n\n{schema_rule(schema_for(request))}"
        images = [(item.label, Image.fromarray(item.image.pixels)) for item in request.images]
        with self._lock, self._within_memory():
            loaded = self._load()
            prepared = loaded.prepare(system, request.user, images)
            text, written = loaded.generate(prepared, request.sampling)
            logprobs = loaded.level_logprobs(prepared, _before_the_letter(text)) if levels else None
        sizes = zip(request.images, prepared.shown, strict=True)
        return VLMReply(
            text=text,
            model=self.model,
            level_logprobs=logprobs,
            probability_source="logprobs" if levels else None,
            usage=Usage(prepared.length, written, cost_usd=0.0, seconds=time.perf_counter() - started),
            notes=tuple(f"{item.label} shown to the model at {width}×{height}" for item, (width, height) in sizes),
        )

    @contextmanager
    def _within_memory(self) -> Iterator[None]:
        import torch

        try:
            yield
        except torch.OutOfMemoryError as error:
            raise BackendError(
                f"{self.model} does not fit into memory; lower pipeline.qwen.max_pixels or set dtype: bfloat16"
            ) from error

    def _load(self) -> QwenModel:
        if self._loaded is None:
            settings = self.settings
            try:
                self._loaded = load_model(
                    self.name,
                    device=settings.device,
                    dtype=settings.dtype,
                    max_pixels=settings.max_pixels,
                    local_only=self._local_only,
                )
            except (OSError, ValueError) as error:
                where = "on this machine; offline mode is on" if self._local_only else "in the hub or as a folder"
                raise UnavailableError(f"no usable Qwen2.5-VL named {self.name!r} {where}; check the name") from error
        return self._loaded


def _before_the_letter(text: str) -> str:
    """The reply up to its answer's letter; the usual beginning of a reply that has none."""
    at = answer_position(text)
    return ANSWER_PREFIX if at is None else text[:at]
