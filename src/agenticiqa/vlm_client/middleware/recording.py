"""Requests and replies in a file, and answering from it with no network and no key."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from PIL import Image

from agenticiqa import errors
from agenticiqa.errors import BackendError, BadReplyError, SettingsError
from agenticiqa.logs import REDACTED, redact
from agenticiqa.vlm_client.client import Usage, VLMClient, VLMReply, VLMRequest, WrappingVLMClient
from agenticiqa.vlm_client.middleware.caching import reply_from_dict, reply_to_dict, request_key


class RecordingVLMClient(WrappingVLMClient):
    """A client whose requests and replies, failures too, are appended to a file; images by their hash only."""

    def __init__(self, client: VLMClient, path: Path, secrets: tuple[str, ...] = ()) -> None:
        super().__init__(client)
        self._path, self._secrets = path, secrets

    def ask(self, request: VLMRequest) -> VLMReply:
        try:
            reply = self.client.ask(request)
        except BackendError as error:
            self._write(request, {"error": failure_to_dict(error)})
            raise
        self._write(request, {"reply": reply_to_dict(reply)})
        return reply

    def _write(self, request: VLMRequest, outcome: dict[str, Any]) -> None:
        entry = {
            "request": request_key(self.model, request),
            "backend": self.model,
            "task": request.task,
            "system": redact(request.system, self._secrets),
            "user": redact(request.user, self._secrets),
            "sampling": vars(request.sampling),
            "images": {item.label: item.image.sha256 for item in request.images},
            **outcome,
        }
        # Known keys only: patterns that look like keys could match inside a reply and break it.
        line = without_secrets(json.dumps(entry, ensure_ascii=False), self._secrets) + "\n"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # One write in append mode: lines of several threads or processes do not mix.
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            # Half a surrogate pair, which a model may write, has no UTF-8; written as an escape it is JSON still.
            os.write(handle, line.encode(errors="backslashreplace"))
        finally:
            os.close(handle)


class ReplayingVLMClient(VLMClient):
    """Answers from a recording; a request made several times gets its replies in order, the last one repeating."""

    def __init__(self, backend: str, path: Path) -> None:
        self.model = backend
        self._path = path
        self._outcomes = _read(path)
        self._turns: dict[str, int] = defaultdict(int)
        self._lock = Lock()

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        raise BadReplyError(f"{self._path}: a recording answers requests only; call ask")

    def ask(self, request: VLMRequest) -> VLMReply:
        """The recorded reply, or the recorded failure raised again; nothing of it is charged."""
        key = request_key(self.model, request)
        outcomes = self._outcomes.get(key)
        if not outcomes:
            raise BadReplyError(f"{self._path}: no reply of {self.model} to this {request.task} request; record again")
        with self._lock:
            turn, self._turns[key] = self._turns[key], self._turns[key] + 1
        outcome = outcomes[min(turn, len(outcomes) - 1)]
        if "error" in outcome:
            raise failure_from_dict(outcome["error"])
        reply = reply_from_dict(outcome["reply"])
        return replace(reply, usage=Usage(from_cache=True), notes=(*reply.notes, f"replayed from {self._path.name}"))


def failure_to_dict(error: BackendError) -> dict[str, Any]:
    public = next(kind.__name__ for kind in type(error).__mro__ if hasattr(errors, kind.__name__))
    return {"type": public, "message": str(error), "retry_after": error.retry_after, "attempts": error.attempts}


def failure_from_dict(data: dict[str, Any]) -> BackendError:
    kind = getattr(errors, data["type"], BackendError)
    error: BackendError = kind(data["message"])
    error.retry_after, error.usage = data["retry_after"], Usage(transport_attempts=data["attempts"])
    return error


def without_secrets(text: str, secrets: tuple[str, ...]) -> str:
    """The text with these keys replaced and nothing else touched."""
    for secret in filter(None, secrets):
        text = text.replace(secret, REDACTED)
    return text


def _read(path: Path) -> dict[str, list[dict[str, Any]]]:
    outcomes: dict[str, list[dict[str, Any]]] = defaultdict(list)
    try:
        # Only line feeds part entries: a reply may hold other separators as they are.
        for line in filter(None, path.read_text(encoding="utf-8").split("\n")):
            entry = json.loads(line)
            outcomes[entry["request"]].append(entry)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(f"{path}: not a recording ({error}); record one with pipeline.transport.record") from error
    return outcomes
