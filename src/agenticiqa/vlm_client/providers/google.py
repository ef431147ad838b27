"""Google's Gemini models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar

from agenticiqa.errors import BackendError, BadReplyError, RefusedError
from agenticiqa.vlm_client.client import Usage, VLMReply
from agenticiqa.vlm_client.providers.http import (
    Message,
    Parameters,
    deadline_hooks,
    error_for_status,
    parameters_named_in,
    retry_after_seconds,
    system_text,
)
from agenticiqa.vlm_client.providers.image_encoding import SizeRule
from agenticiqa.vlm_client.providers.logprobs import TOP_ALTERNATIVES, TokenLogprobs, with_levels
from agenticiqa.vlm_client.providers.network import NetworkVLMClient
from agenticiqa.vlm_client.schemas import GOOGLE_KEYWORDS, cleaned

API_VERSION = "v1beta"
"""The version that knows JSON schemas and log-probabilities; the SDK's default does not."""
_ANSWERED = ("STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED")
_SAMPLING = ("temperature", "top_p", "seed")
# The wait the service asks for, a protobuf duration in the details of its error.
_RETRY_DELAY = re.compile(r'"retryDelay": "([\d.]+)s"')


class GoogleVLMClient(NetworkVLMClient):
    """A model of Google's, through the Gemini API of its SDK."""

    provider: ClassVar[str] = "google"
    package: ClassVar[str] = "google.genai"
    extra: ClassVar[str] = "google"
    default_base_url: ClassVar[str] = "https://generativelanguage.googleapis.com"
    # A request may hold 20 MB in all, after base64, with two images in it.
    rule: ClassVar[SizeRule] = SizeRule(
        media_types=("image/png", "image/jpeg", "image/webp"), max_side=16384, max_bytes=7_000_000, shown_side=3072
    )

    def _connect(self) -> Any:
        from google import genai
        from google.genai import types

        options = types.HttpOptions(
            base_url=self.base_url,
            api_version=API_VERSION,
            timeout=round(self.timeout * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
            client_args={"event_hooks": deadline_hooks(self.timeout)},
        )
        return genai.Client(api_key=self.key, vertexai=False, http_options=options)

    def _optional(self, message: Message) -> Parameters:
        sampling = vars(message.sampling)
        options: Parameters = {name: sampling[name] for name in _SAMPLING if sampling[name] is not None}
        if message.wants_levels:
            options |= {"response_logprobs": True, "logprobs": TOP_ALTERNATIVES}
        if message.schema is not None:
            options["response_mime_type"] = "application/json"
            options["response_json_schema"] = cleaned(message.schema, GOOGLE_KEYWORDS)
        return options

    def _send(self, sdk: Any, message: Message, options: Parameters) -> VLMReply:
        from google.genai import types

        config = types.GenerateContentConfig(
            system_instruction=system_text(message, enforced="response_json_schema" in options) or None,
            max_output_tokens=message.sampling.max_tokens,
            **options,
        )
        parts: list[Any] = []
        for image in message.images:
            parts += [f"{image.label}:", types.Part.from_bytes(data=image.data, mime_type=image.media_type)]
        response = sdk.models.generate_content(model=self.name, contents=[*parts, message.user], config=config)
        return self._read(response)

    def _reply(self, response: Any) -> VLMReply:
        if response.prompt_feedback and response.prompt_feedback.block_reason:
            raise RefusedError(f"{self.model}: the request was blocked ({response.prompt_feedback.block_reason.value})")
        candidate = response.candidates[0] if response.candidates else None
        if candidate is None:
            raise BadReplyError(f"{self.model}: the service's answer holds no candidate")
        finish = candidate.finish_reason.value if candidate.finish_reason else "STOP"
        if finish not in _ANSWERED:
            raise RefusedError(f"{self.model} declined to answer ({finish}); rephrase or use another backend")
        text = "".join(_texts(candidate))
        if not text:
            raise self._empty(finish, finish == "MAX_TOKENS")
        reply = VLMReply(text, self.model, usage=self._usage(response), cut=finish == "MAX_TOKENS")
        return with_levels(reply, _tokens(candidate.logprobs_result))

    def _usage(self, answer: Any) -> Usage:
        usage = answer.usage_metadata
        if usage is None:
            return Usage(cost_usd=None)
        return Usage(
            input_tokens=usage.prompt_token_count or 0,
            output_tokens=(usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
            cached_tokens=usage.cached_content_token_count or 0,
            cost_usd=None,
        )

    def _translated(self, error: Exception) -> BackendError | None:
        from google.genai import errors

        if isinstance(error, errors.UnknownApiResponseError):
            return self._malformed(str(error))
        if isinstance(error, errors.APIError):
            return self._status_error(error)
        # The SDK may use httpx or httpx2, and hands their errors on as they are.
        kinds = {kind.__name__ for kind in type(error).__mro__ if kind.__module__.startswith("httpx")}
        if "TimeoutException" in kinds:
            return self._too_late()
        return self._out_of_reach() if "HTTPError" in kinds else None

    def _status_error(self, error: Any) -> BackendError:
        details = json.dumps(error.details, default=str)
        wait = retry_after_seconds(getattr(error.response, "headers", None) or {})
        if wait is None and (delay := _RETRY_DELAY.search(details)):
            wait = float(delay[1])
        said = self._redacted(error.message)
        return error_for_status(error.code, self.model, said, retry_after=wait, parameters=parameters_named_in(details))


def _texts(candidate: Any) -> Iterator[str]:
    for part in (candidate.content.parts if candidate.content else None) or ():
        if part.text and not part.thought:
            yield part.text


def _tokens(result: Any) -> list[TokenLogprobs]:
    chosen = (result.chosen_candidates if result else None) or []
    tops = (result.top_candidates if result else None) or []
    return [
        TokenLogprobs(
            token=item.token or "",
            logprob=_logprob(item),
            alternatives=tuple(
                (other.token or "", _logprob(other))
                for other in (tops[index].candidates or [] if index < len(tops) else [])
            ),
        )
        for index, item in enumerate(chosen)
    ]


def _logprob(item: Any) -> float:
    # A probability of exactly 1 has the log-probability 0, which this protocol leaves out.
    return float(item.log_probability) if item.log_probability is not None else 0.0
