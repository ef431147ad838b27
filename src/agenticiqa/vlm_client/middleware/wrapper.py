"""A client around another one."""

from __future__ import annotations

from typing import Any

from PIL import Image

from agenticiqa.vlm_client.client import VLMClient, VLMReply, VLMRequest


class WrappingVLMClient(VLMClient):
    """Answers as the client inside does, under its name; subclasses change what they are about."""

    def __init__(self, client: VLMClient) -> None:
        self.client = client
        self.model = client.model
        self.deterministic = client.deterministic
        self.derived_from = client.derived_from
        self.identity = client.identity
        self.remote = client.remote

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        """The client's reply to a bare prompt."""
        return self.client.generate(prompt, image, **kwargs)

    def ask(self, request: VLMRequest) -> VLMReply:
        """The client's reply."""
        return self.client.ask(request)

    def asked_without(self, request: VLMRequest) -> frozenset[str]:
        """What the client leaves out."""
        return self.client.asked_without(request)

    def keep(self, request: VLMRequest, reply: VLMReply) -> None:
        """Lets the client remember the reply."""
        self.client.keep(request, reply)

    def open(self) -> None:
        """Opens the client."""
        self.client.open()

    def close(self) -> None:
        """Closes the client."""
        self.client.close()
