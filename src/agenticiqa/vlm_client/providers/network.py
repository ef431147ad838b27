"""What all network backends share: settings, encoding, parameters a model refuses, errors and usage."""

from __future__ import annotations

import json
import logging
import time
from abc import abstractmethod
from dataclasses import replace
from importlib import import_module
from threading import Lock
from typing import Any, ClassVar, Self

from PIL import Image
from pydantic import ValidationError

from agenticiqa.config import KEY_VARIABLES, RoleSettings, Settings
from agenticiqa.errors import (
    AuthenticationError,
    BackendError,
    BackendTimeoutError,
    BadReplyError,
    OfflineError,
    UnavailableError,
    UnknownBackendError,
    require_extra,
)
from agenticiqa.images import LabelledImage, load_image
from agenticiqa.logs import redact
from agenticiqa.vlm_client.client import (
    Sampling,
    Usage,
    VLMClient,
    VLMReply,
    VLMRequest,
    usage_of,
)
from agenticiqa.vlm_client.models import family_of, official_name
from agenticiqa.vlm_client.providers.http import (
    SHARED_SYSTEM,
    InvalidRequestError,
    Message,
    NoRoomError,
    Parameters,
    deadline_hooks,
    error_for_status,
    group_of,
    page_in,
    retry_after_seconds,
)
from agenticiqa.vlm_client.providers.image_encoding import SentImage, SizeRule, encode
from agenticiqa.vlm_client.schemas import schema_for, schema_rule

logger = logging.getLogger("agenticiqa.vlm_client.providers")

ROOM_TO_THINK = 8192
"""Tokens given to a model that used up the set number before it wrote anything."""
MOST_DOUBLINGS = 2
"""How often the room of a reply that was cut off is doubled."""
GIVEN_UP_IN_TURN = (
    "logprobs", "response_format", "output_config", "response_schema", "seed", "top_p", "max_completion_tokens",
    "max_tokens", "temperature",
)  # fmt: skip
"""What a refusal that names nothing costs, one group at a time; the temperature, on which replies depend most, last."""
# A schema has another name at every service.
_SCHEMA_GROUPS = {"response_format", "output_config", "response_schema"}
# What reading an answer of the wrong shape may raise: SDKs build their objects without looking at the values.
_MALFORMED = (AttributeError, TypeError, LookupError, ValueError)


class NetworkVLMClient(VLMClient):
    """A model behind a service; each provider says how a message is sent and what its errors mean."""

    provider: ClassVar[str]
    package: ClassVar[str]
    """The SDK's module, which proves that the extra is installed."""
    extra: ClassVar[str]
    rule: ClassVar[SizeRule]
    default_base_url: ClassVar[str]
    schema_is_remembered: ClassVar[bool] = False
    """Whether an enforced schema counts as the beginning of a request where the service remembers beginnings."""
    remote = True

    def __init__(self, name: str, role: RoleSettings, settings: Settings) -> None:
        self.name = name
        self.model = f"{self.provider}.{name}"
        self.base_url = self._base_url(role, settings)
        self.timeout = role.timeout
        self.key = self._key(settings)
        self._secrets = (self.key, *settings.secrets())
        self._keep_metadata = settings.pipeline.transport.keep_metadata
        self.identity = f"{self.model} at {self.base_url}, metadata kept: {self._keep_metadata}"
        self._sdk: Any = None
        self._family = family_of(self.provider, name)
        self._refused: dict[str, frozenset[str]] = {}
        self._rooms: dict[str, int] = {}
        self._lock = Lock()

    @classmethod
    def from_settings(cls, model: str, role: RoleSettings, settings: Settings) -> Self:
        """The client for a model; nothing is sent and no SDK is loaded yet."""
        if not model:
            raise UnknownBackendError(f"{cls.provider!r} needs a model; write {cls.provider}.MODEL")
        if settings.pipeline.offline:
            raise OfflineError(
                f"{cls.provider}.{model} needs the network, and offline mode is on; use builtin.perception"
            )
        require_extra(f"the backend {cls.provider}.{model}", cls.extra, cls.package)
        return cls(official_name(cls.provider, model), role, settings)

    @classmethod
    def _base_url(cls, role: RoleSettings, settings: Settings) -> str:
        return role.base_url or settings.base_urls.get(cls.provider) or cls.default_base_url

    @classmethod
    def _key(cls, settings: Settings) -> str:
        key = settings.api_key(cls.provider)
        if key is None:
            names = " or ".join(KEY_VARIABLES[cls.provider])
            raise AuthenticationError(f"{cls.provider} needs a key; set the environment variable {names}")
        return key

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        images = self._encoded((LabelledImage("image", load_image(image)),))
        return self._exchange(Message("", prompt, images, Sampling(**kwargs))).text

    def asked_without(self, request: VLMRequest) -> frozenset[str]:
        """What the model's family does not take, and what it refused for this task."""
        return self._family.leaves_out | self._refused.get(request.task, frozenset())

    def ask(self, request: VLMRequest) -> VLMReply:
        """The model's reply to a request, with level probabilities for the task `score` where the service has them."""
        message = Message(
            system=request.system,
            user=request.user,
            images=self._encoded(request.images),
            sampling=request.sampling,
            schema=schema_for(request),
            task=request.task,
            wants_levels=request.task == "score",
        )
        return self._exchange(self._with_images_first(message) if request.images_first else message)

    def open(self) -> None:
        self._connected()

    def close(self) -> None:
        with self._lock:
            if self._sdk is not None:
                self._sdk.close()
                self._sdk = None

    @abstractmethod
    def _connect(self) -> Any:
        """The SDK's client, with its own retries switched off: they are counted once, by us."""

    @abstractmethod
    def _optional(self, message: Message) -> Parameters:
        """The parameters a model may refuse."""

    @abstractmethod
    def _send(self, sdk: Any, message: Message, options: Parameters) -> VLMReply:
        """The reply to one try on the wire, with those optional parameters."""

    @abstractmethod
    def _reply(self, answer: Any) -> VLMReply:
        """The reply in what the SDK returned; the SDK may have checked nothing of it."""

    @abstractmethod
    def _usage(self, answer: Any) -> Usage:
        """What the answer says was consumed."""

    @abstractmethod
    def _translated(self, error: Exception) -> BackendError | None:
        """What an SDK's error means; None if it is not the service's doing."""

    def _redacted(self, text: object) -> str:
        return redact(str(text), self._secrets)

    def _out_of_reach(self) -> UnavailableError:
        said = f"{self.model}: {self.base_url} cannot be reached; check network and base_url"
        return UnavailableError(self._redacted(said))

    def _too_late(self) -> BackendTimeoutError:
        return BackendTimeoutError(f"{self.model}: no answer within {self.timeout:g} s; raise `timeout`")

    def _empty(self, reason: object, cut: bool) -> BadReplyError:
        """The error for a reply without text."""
        if cut:
            return NoRoomError(f"{self.model}: no room left for a reply ({reason}); raise max_tokens")
        return BadReplyError(f"{self.model}: an empty reply ({reason})")

    def _read(self, answer: Any) -> VLMReply:
        """The reply in the service's answer; an error carries what the answer says was consumed."""
        try:
            if isinstance(answer, str):
                # The SDKs hand on as text what does not call itself JSON.
                raise self._malformed(answer)
            reply = self._reply(answer)
        except BackendError as error:
            error.usage = self._reported_usage(answer)
            raise
        except _MALFORMED as error:
            malformed = self._malformed()
            malformed.usage = self._reported_usage(answer)
            raise malformed from error
        if not isinstance(reply.text, str):
            raise self._malformed()
        return replace(reply, usage=replace(reply.usage, paid_calls=1))

    def _reported_usage(self, answer: Any) -> Usage:
        try:
            usage = self._usage(answer)
        except _MALFORMED:
            return Usage()
        return replace(usage, paid_calls=1) if usage.input_tokens or usage.output_tokens else Usage()

    def _malformed(self, body: str = "") -> BadReplyError:
        page = page_in(body)
        if page is None:
            return BadReplyError(f"{self.model}: the service's answer is not in its own format")
        return BadReplyError(f"{self.model}: {self._redacted(self.base_url)} sent {page}; check base_url")

    def _with_images_first(self, message: Message) -> Message:
        """The message with its task after the images, so that the service's memory of beginnings covers them."""
        task, schema = message.system, message.schema
        if self.schema_is_remembered and schema is not None:
            task, schema = f"{task}\n\n{schema_rule(schema)}", None
        return replace(
            message, system=SHARED_SYSTEM, user=f"{task}\n\n{message.user}", schema=schema, images_first=True
        )

    def _encoded(self, images: tuple[LabelledImage, ...]) -> tuple[SentImage, ...]:
        return tuple(encode(item.label, item.image, self.rule, keep_metadata=self._keep_metadata) for item in images)

    def _connected(self) -> Any:
        with self._lock:
            if self._sdk is None:
                self._sdk = self._connect()
            return self._sdk

    def _exchange(self, message: Message) -> VLMReply:
        """The reply; one that was cut off is asked for again with more room, which the task keeps from then on."""
        started, wasted = time.perf_counter(), Usage(transport_attempts=0)
        asked = message.sampling.max_tokens
        room, rounds = self._rooms.get(message.task, asked + self._family.room), 0
        while True:
            try:
                reply = self._insist(replace(message, sampling=replace(message.sampling, max_tokens=room)), wasted)
            except NoRoomError as error:
                if room >= ROOM_TO_THINK:
                    raise
                # Nothing was written: the model thinks, and needs far more than a little.
                wasted, room = usage_of(error), ROOM_TO_THINK
                continue
            if not reply.cut or rounds == MOST_DOUBLINGS:
                break
            wasted, room, rounds = wasted.plus(reply.usage), 2 * room, rounds + 1
            logger.warning(
                "%s: the reply to %s was cut off; asked again with %d tokens", self.model, message.task, room
            )
        self._rooms[message.task] = room
        usage = replace(wasted.plus(reply.usage), seconds=time.perf_counter() - started)
        return replace(reply, usage=usage, notes=(*reply.notes, *_room_notes(reply, asked + self._family.room, room)))

    def _insist(self, message: Message, wasted: Usage) -> VLMReply:
        """The reply, asked for again without the parameters the model refuses; an error adds what was `wasted`."""
        attempts = 0
        left_out = self._family.leaves_out | self._refused.get(message.task, frozenset())
        while True:
            attempts += 1
            try:
                reply = self._try(message, left_out)
            except BackendError as error:
                more = self._refused_by(error, message, left_out)
                error.usage = wasted.plus(replace(usage_of(error), transport_attempts=attempts))
                if not more:
                    raise
                logger.warning("%s refuses %s for the task %s: %s", self.model, ", ".join(more), message.task, error)
                left_out |= more
                continue
            # Remembered only now: without a reply nobody knows that these parameters were the reason.
            self._refused[message.task] = left_out - self._family.leaves_out
            usage = replace(reply.usage, transport_attempts=attempts)
            return replace(reply, usage=usage, notes=(*self._notes(message, left_out), *reply.notes))

    def _notes(self, message: Message, left_out: frozenset[str]) -> list[str]:
        notes = [image.note for image in message.images]
        wanted = set(map(group_of, self._optional(message)))
        known, learnt = wanted & self._family.leaves_out, wanted & left_out - self._family.leaves_out
        if known:
            notes.append(f"models of this family take no {', '.join(sorted(known))}; asked without")
        if learnt:
            notes.append(f"the model refuses {', '.join(sorted(learnt))}; asked without")
        return notes

    def _try(self, message: Message, left_out: frozenset[str]) -> VLMReply:
        try:
            return self._send(self._connected(), message, self._options(message, left_out))
        except BackendError:
            raise
        except json.JSONDecodeError as error:
            raise self._malformed(error.doc) from error
        except (UnicodeDecodeError, ValidationError) as error:
            raise self._malformed() from error
        except Exception as error:
            translated = self._translated(error)
            if translated is None:
                raise
            # Without the cause: the SDK's message may repeat a part of the key.
            raise translated from None if isinstance(translated, AuthenticationError) else error

    def _refused_by(self, error: BackendError, message: Message, left_out: frozenset[str]) -> frozenset[str]:
        """The groups to leave out next: those the service names, or the next in turn when it names none."""
        if not isinstance(error, InvalidRequestError):
            return frozenset()
        options = self._options(message, left_out)
        named = {name.replace("[", ".").partition(".")[0] for name in error.parameters}
        if named & _SCHEMA_GROUPS:
            named |= _SCHEMA_GROUPS
        found = frozenset(group_of(name) for name in options if named & {name, group_of(name)})
        if found or error.parameters:
            return found
        groups = set(map(group_of, options))
        return frozenset([group for group in GIVEN_UP_IN_TURN if group in groups][:1])

    def _options(self, message: Message, left_out: frozenset[str]) -> Parameters:
        return {name: value for name, value in self._optional(message).items() if group_of(name) not in left_out}


def _room_notes(reply: VLMReply, asked: int, room: int) -> list[str]:
    notes = [f"max_tokens raised from {asked} to {room}: the model needs the room"] if room != asked else []
    return [*notes, "the reply was cut at max_tokens"] if reply.cut else notes


class SdkVLMClient(NetworkVLMClient):
    """A model behind a vendor's SDK; `sdk_class` is the class of the package that is opened."""

    sdk_class: ClassVar[str]

    def _connect(self) -> Any:
        sdk = import_module(self.package)
        http = sdk.DefaultHttpxClient(event_hooks=deadline_hooks(self.timeout))
        return getattr(sdk, self.sdk_class)(
            api_key=self.key, base_url=self.base_url, timeout=self.timeout, max_retries=0, http_client=http
        )

    def _translated(self, error: Exception) -> BackendError | None:
        sdk = import_module(self.package)
        if isinstance(error, sdk.APITimeoutError):
            return self._too_late()
        if isinstance(error, sdk.APIConnectionError):
            return self._out_of_reach()
        if isinstance(error, sdk.APIResponseValidationError):
            return self._malformed()
        return self._status_error(error) if isinstance(error, sdk.APIStatusError) else None

    def _status_error(self, error: Any, parameters: tuple[str, ...] = ()) -> BackendError:
        wait = retry_after_seconds(error.response.headers)
        # A page stands in the answer's body only: the SDK's message has what it could read as JSON.
        said = self._redacted(error.response.text if page_in(error.response.text) else error.message)
        return error_for_status(error.status_code, self.model, said, retry_after=wait, parameters=parameters)
