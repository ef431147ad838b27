"""Anthropic's models; they give no log-probabilities."""

from __future__ import annotations

import base64
from typing import Any, ClassVar

from agenticiqa.errors import BadReplyError, RefusedError
from agenticiqa.vlm_client.client import Usage, VLMReply
from agenticiqa.vlm_client.providers.http import Message, Parameters, system_text
from agenticiqa.vlm_client.providers.image_encoding import SizeRule
from agenticiqa.vlm_client.providers.network import SdkVLMClient
from agenticiqa.vlm_client.schemas import closed

_CUT = ("max_tokens", "model_context_window_exceeded")


class AnthropicVLMClient(SdkVLMClient):
    """A model of Anthropic's, through the messages of its SDK."""

    provider: ClassVar[str] = "anthropic"
    package: ClassVar[str] = "anthropic"
    sdk_class: ClassVar[str] = "Anthropic"
    extra: ClassVar[str] = "anthropic"
    default_base_url: ClassVar[str] = "https://api.anthropic.com"
    schema_is_remembered: ClassVar[bool] = True
    # 5 MB are allowed after base64, which makes four bytes of three.
    rule: ClassVar[SizeRule] = SizeRule(
        media_types=("image/png", "image/jpeg", "image/webp"), max_side=8000, max_bytes=3_750_000, shown_side=1568
    )

    def _optional(self, message: Message) -> Parameters:
        sampling = message.sampling
        # Newer models take no sampling parameters at all, and older ones only one of the two.
        if sampling.top_p is not None and sampling.temperature > 0:
            options: Parameters = {"top_p": sampling.top_p}
        else:
            options = {"temperature": min(sampling.temperature, 1.0)}
        schema = closed(message.schema) if message.schema else None
        if schema is not None:
            options["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return options

    def _send(self, sdk: Any, message: Message, options: Parameters) -> VLMReply:
        system = system_text(message, enforced="output_config" in options)
        reply = sdk.messages.create(
            **({"system": system} if system else {}),
            model=self.name,
            max_tokens=message.sampling.max_tokens,
            messages=[{"role": "user", "content": _content(message)}],
            # The SDK no longer lists the sampling parameters, which many models still take.
            extra_body=options,
        )
        return self._read(reply)

    def _reply(self, message: Any) -> VLMReply:
        blocks = getattr(message, "content", None)
        if not isinstance(blocks, list):
            raise BadReplyError(f"{self.model}: the service's answer holds no message")
        if message.stop_reason == "refusal":
            raise RefusedError(f"{self.model} declined to answer; rephrase the question or use another backend")
        text = "".join(block.text for block in blocks if block.type == "text" and block.text)
        if not text:
            raise self._empty(message.stop_reason, message.stop_reason in _CUT)
        return VLMReply(text=text, model=self.model, usage=self._usage(message), cut=message.stop_reason in _CUT)

    def _usage(self, answer: Any) -> Usage:
        usage = answer.usage
        if usage is None:
            return Usage(cost_usd=None)
        cached = usage.cache_read_input_tokens or 0
        # This service counts tokens read from or written to its cache apart.
        total = usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0)
        return Usage(input_tokens=total, output_tokens=usage.output_tokens, cached_tokens=cached, cost_usd=None)


def _content(message: Message) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for image in message.images:
        data = base64.b64encode(image.data).decode()
        parts.append({"type": "text", "text": f"{image.label}:"})
        parts.append({"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": data}})
    if message.images_first and parts:
        parts[-1]["cache_control"] = {"type": "ephemeral"}
    return [*parts, {"type": "text", "text": message.user}]
