"""A client that says what a script says: for tests, demonstrations and replays, never a model."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from PIL import Image

from agenticiqa.config import RoleSettings, Settings
from agenticiqa.errors import BadReplyError, SettingsError
from agenticiqa.vlm_client.client import VLMClient, VLMReply, VLMRequest

Line = str | Mapping[str, Any] | VLMReply | BaseException
"""One scripted reply: text, data to be written as JSON, a whole reply, or an error to raise."""
Script = Mapping[str, Line | Sequence[Line] | Callable[[VLMRequest], Line]]

NO_MODEL_NOTE = "scripted reply: no model looked at the image"

# Says nothing about any image: it plans the plainest assessment and leaves the judgement open.
STAND_IN: Script = {
    "plan": {
        "query_type": "IQA", "query_scope": "Global", "distortion_source": "Inferred", "distortions": None,
        "reference_mode": "No-Reference", "required_tool": None,
        "plan": {"distortion_detection": False, "distortion_analysis": False, "tool_selection": True,
                 "tool_execution": True},
    },
    "detect": {"distortion_set": {}},
    "analyze": {"distortion_analysis": {}},
    "select_tools": {"selected_tools": {}},
    "inspect": {"findings": {}},
    "locate": {"regions": {}},
    "rank": {"why_not": f"this is a {NO_MODEL_NOTE}"},
    "answer": {"final_answer": "Unable to determine", "quality_reasoning": f"This is a {NO_MODEL_NOTE}."},
    "score": {"final_answer": "Unable to determine", "quality_reasoning": f"This is a {NO_MODEL_NOTE}."},
}  # fmt: skip


class ScriptedVLMClient(VLMClient):
    """Replies from a script: per task one line, lines in turn (the last one repeats), or a function of the request.

    `requests` holds every request made, in order, unless `keeps_requests` is false: a long batch would fill the memory.
    """

    def __init__(
        self,
        script: Script = STAND_IN,
        *,
        model: str = "scripted",
        deterministic: bool = False,
        keeps_requests: bool = True,
    ) -> None:
        self.model = model
        self._keeps_requests = keeps_requests
        self.deterministic = deterministic or script is STAND_IN
        self.requests: list[VLMRequest] = []
        self._script = script
        self._turns: dict[str, int] = defaultdict(int)
        self._lock = Lock()

    @classmethod
    def from_settings(cls, model: str, role: RoleSettings, settings: Settings) -> ScriptedVLMClient:
        """`scripted` says the stand-in's lines; `scripted.FILE` those of a JSON file, one entry per task."""
        if not model:
            return cls(keeps_requests=False)
        try:
            lines = json.loads(Path(model).read_text(encoding="utf-8"))
            return cls(lines, model=f"scripted.{model}", keeps_requests=False)
        except (OSError, json.JSONDecodeError) as error:
            raise SettingsError(
                f"{model}: not a script of replies ({error}); name a JSON file with one entry per task"
            ) from error

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        """The script's line for `answer`: a bare prompt has no task."""
        return _as_reply(self._pick("answer", None), self.model).words()

    def ask(self, request: VLMRequest) -> VLMReply:
        return _as_reply(self._pick(request.task, request), self.model)

    def _pick(self, task: str, request: VLMRequest | None) -> Line:
        with self._lock:
            if request is not None and self._keeps_requests:
                self.requests.append(request)
            turn, self._turns[task] = self._turns[task], self._turns[task] + 1
        lines = self._script.get(task)
        if lines is None:
            raise BadReplyError(f"the script has no line for the task {task!r}; add one")
        if callable(lines):
            if request is None:
                raise BadReplyError("a line that is a function needs a request; call ask")
            return lines(request)
        if isinstance(lines, Sequence) and not isinstance(lines, str):
            return lines[min(turn, len(lines) - 1)]
        return lines


def _as_reply(line: Line, model: str) -> VLMReply:
    if isinstance(line, BaseException):
        raise line
    if isinstance(line, VLMReply):
        return line
    text = line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)
    return VLMReply(text=text, model=model, notes=(NO_MODEL_NOTE,))
