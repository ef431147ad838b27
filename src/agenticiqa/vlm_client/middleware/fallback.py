"""A backend with another one behind it."""

from __future__ import annotations

from typing import Any

from PIL import Image

from agenticiqa.errors import BackendError
from agenticiqa.vlm_client.client import VLMClient, VLMReply, VLMRequest


class FallbackVLMClient(VLMClient):
    """Two backends in one: the second is asked when the first fails or, in `ask_for`, gives no valid reply."""

    def __init__(self, first: VLMClient, second: VLMClient) -> None:
        self.first, self.second = first, second
        self.model = first.model
        self.deterministic = first.deterministic and second.deterministic
        self.derived_from = first.derived_from
        self.remote = first.remote or second.remote

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        """The first backend's reply to a bare prompt, or the second's."""
        try:
            return self.first.generate(prompt, image, **kwargs)
        except BackendError:
            return self.second.generate(prompt, image, **kwargs)

    def ask(self, request: VLMRequest) -> VLMReply:
        """The first backend's reply, or the second's."""
        try:
            return self.first.ask(request)
        except BackendError:
            return self.second.ask(request)

    def open(self) -> None:
        """Opens the first backend; the second may never be needed."""
        self.first.open()

    def close(self) -> None:
        """Closes both backends."""
        self.first.close()
        self.second.close()

    def chain(self) -> tuple[VLMClient, ...]:
        """Both backends, in turn."""
        return (*self.first.chain(), *self.second.chain())
