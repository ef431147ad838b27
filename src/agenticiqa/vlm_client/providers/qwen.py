"""Qwen2.5-VL on this machine, through transformers."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from PIL import Image

from agenticiqa.config import QwenSettings, RoleSettings, Settings
from agenticiqa.errors import BackendError, MissingExtraError, UnavailableError, UnknownBackendError
from agenticiqa.vlm_client.client import Sampling, Usage, VLMClient, VLMReply, VLMRequest
from agenticiqa.vlm_client.models import official_name
from agenticiqa.vlm_client.providers.logprobs import ANSWER_PREFIX, answer_position
from agenticiqa.vlm_client.providers.qwen_model import QwenModel, load_model
from agenticiqa.vlm_client.schemas import schema_for, schema_rule


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
        """The client for a folder or hub name; nothing is loaded yet."""
        if not model:
            raise UnknownBackendError("'qwen' needs a model; write qwen.FOLDER or qwen.Qwen/Qwen2.5-VL-7B-Instruct")
        if any(importlib.util.find_spec(module) is None for module in ("transformers", "torch")):
            raise MissingExtraError(f"the backend qwen.{model}", "qwen")
        return cls(
            str(Path(official_name("qwen", model)).expanduser()),
            settings.pipeline.qwen,
            local_only=settings.pipeline.offline,
            deterministic=role.temperature == 0,
        )

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        """The model's reply to a prompt about one image; kwargs are those of `Sampling`."""
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
