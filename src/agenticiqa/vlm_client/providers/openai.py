"""OpenAI's models, and any server that speaks OpenAI's chat format: vLLM, Ollama, llama.cpp, LM Studio, OpenRouter."""

from __future__ import annotations

import base64
from typing import Any, ClassVar

from agenticiqa.config import RoleSettings, Settings
from agenticiqa.errors import BackendError, BadReplyError, RefusedError, SettingsError
from agenticiqa.vlm_client.client import Usage, VLMReply
from agenticiqa.vlm_client.providers.http import Message, Parameters, system_text
from agenticiqa.vlm_client.providers.image_encoding import SentImage, SizeRule
from agenticiqa.vlm_client.providers.logprobs import TOP_ALTERNATIVES, TokenLogprobs, with_levels
from agenticiqa.vlm_client.providers.network import SdkVLMClient
from agenticiqa.vlm_client.schemas import STRICT_KEYWORDS, bounded, cleaned, closed
from agenticiqa.vlm_client.tasks import Schema

# Codes of a 429 that no waiting mends, and of a 400 that is the content filter's.
_EXHAUSTED = ("insufficient_quota", "billing_hard_limit_reached")
_FILTERED = ("content_filter", "content_policy_violation")


class OpenAIVLMClient(SdkVLMClient):
    """A model of OpenAI's, through the chat completions of its SDK."""

    provider: ClassVar[str] = "openai"
    package: ClassVar[str] = "openai"
    sdk_class: ClassVar[str] = "OpenAI"
    extra: ClassVar[str] = "openai"
    default_base_url: ClassVar[str] = "https://api.openai.com/v1"
    schema_is_remembered: ClassVar[bool] = True
    # Reasoning models know no other name for the room of a reply, and all others know this one too.
    length_names: ClassVar[tuple[str, str]] = ("max_completion_tokens", "max_tokens")
    rule: ClassVar[SizeRule] = SizeRule(
        media_types=("image/png", "image/jpeg", "image/webp"), max_side=16384, max_bytes=20_000_000, shown_side=2048
    )

    def _optional(self, message: Message) -> Parameters:
        sampling = message.sampling
        options: Parameters = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            self.length_names[0]: sampling.max_tokens,
        }
        if message.wants_levels:
            options |= {"logprobs": True, "top_logprobs": TOP_ALTERNATIVES}
        if message.schema is not None:
            options["response_format"] = self._response_format(message.schema)
        return {name: value for name, value in options.items() if value is not None}

    def _response_format(self, schema: Schema) -> dict[str, Any]:
        strict = closed(schema)
        # Maps with free keys cannot be enforced strictly; then the schema guides the model and pydantic decides.
        loose = cleaned(schema, STRICT_KEYWORDS)
        form = {"name": schema.get("title", "reply"), "schema": strict or loose, "strict": strict is not None}
        return {"type": "json_schema", "json_schema": form}

    def _send(self, sdk: Any, message: Message, options: Parameters) -> VLMReply:
        system = system_text(message, enforced="response_format" in options)
        messages = [{"role": "system", "content": system}] if system else []
        name, other_name = self.length_names
        # Each server knows at least one of the two names; this one may have refused the first.
        length = {} if name in options else {other_name: message.sampling.max_tokens}
        body = {
            "model": self.name,
            "messages": [*messages, {"role": "user", "content": _content(message)}],
            **options,
            **length,
        }
        # `chat.completions.create` compares every value with all types it might have, which takes longer than sending.
        return self._read(sdk.post("/chat/completions", cast_to=_completion_type(), body=body))

    def _reply(self, completion: Any) -> VLMReply:
        choices = getattr(completion, "choices", None)
        if not choices or getattr(choices[0], "message", None) is None:
            raise BadReplyError(f"{self.model}: the service's answer holds no message")
        choice = choices[0]
        if choice.finish_reason == "content_filter" or choice.message.refusal:
            raise RefusedError(f"{self.model} declined to answer; rephrase the question or use another backend")
        if not choice.message.content:
            raise self._empty(choice.finish_reason, choice.finish_reason == "length")
        cut = choice.finish_reason == "length"
        reply = VLMReply(choice.message.content, self.model, usage=self._usage(completion), cut=cut)
        return with_levels(reply, _tokens(choice))

    def _usage(self, answer: Any) -> Usage:
        usage = answer.usage
        if usage is None:
            return Usage(cost_usd=None)
        cached = getattr(usage.prompt_tokens_details, "cached_tokens", None) or 0
        return Usage(
            input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens, cached_tokens=cached, cost_usd=None
        )

    def _status_error(self, error: Any, parameters: tuple[str, ...] = ()) -> BackendError:
        if error.code in _FILTERED:
            return RefusedError(f"{self.model}: the content filter declined the request")
        if error.code in _EXHAUSTED:
            return BackendError(f"{self.model}: the account's quota is used up ({error.code}); add credit")
        return super()._status_error(error, (error.param,) if error.param else parameters)


class CompatibleVLMClient(OpenAIVLMClient):
    """A model on any server that speaks OpenAI's chat format, at the role's `base_url`."""

    provider: ClassVar[str] = "compatible"
    # Local servers enforce a schema while they write; it is no part of what they read.
    schema_is_remembered: ClassVar[bool] = False
    length_names: ClassVar[tuple[str, str]] = ("max_tokens", "max_completion_tokens")
    # Not every server decodes more than these two.
    rule: ClassVar[SizeRule] = SizeRule(media_types=("image/png", "image/jpeg"), max_side=16384, max_bytes=20_000_000)

    @classmethod
    def _base_url(cls, role: RoleSettings, settings: Settings) -> str:
        if role.base_url is None:
            raise SettingsError(
                "compatible.MODEL needs the server's address; set base_url of the role, "
                "for example base_url: http://localhost:11434/v1"
            )
        return role.base_url

    @classmethod
    def _key(cls, settings: Settings) -> str:
        # Local servers want none, and the SDK wants something.
        return settings.api_key("compatible") or "none"

    def _response_format(self, schema: Schema) -> dict[str, Any]:
        form = super()._response_format(schema)
        form["json_schema"]["schema"] = bounded(form["json_schema"]["schema"])
        return form


def _completion_type() -> Any:
    from openai.types.chat import ChatCompletion

    return ChatCompletion


def _content(message: Message) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for image in message.images:
        parts.append({"type": "text", "text": f"{image.label}:"})
        parts.append({"type": "image_url", "image_url": {"url": data_url(image), "detail": "high"}})
    return [*parts, {"type": "text", "text": message.user}]


def data_url(image: SentImage) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"


def _tokens(choice: Any) -> list[TokenLogprobs]:
    reported = getattr(choice.logprobs, "content", None) or []
    return [
        TokenLogprobs(
            token=item.token,
            logprob=item.logprob,
            alternatives=tuple((other.token, other.logprob) for other in item.top_logprobs or ()),
        )
        for item in reported
    ]
