"""Answers of the embedded backend to questions given as values: what a sentence is read as has no part in them."""

from __future__ import annotations

from functools import lru_cache

from agenticiqa.embedded.client import PerceptionClient
from agenticiqa.embedded.combined_models import ShippedPerception
from agenticiqa.embedded.findings import Perception
from agenticiqa.images import ImageSource, LabelledImage, LoadedImage, load_image
from agenticiqa.question.asked import Question
from agenticiqa.vlm_client.client import VLMRequest
from agenticiqa.vlm_client.structured import value_of
from agenticiqa.vlm_client.tasks import AnswerInputs, AnswerReply


def answered(question: Question, picture: LoadedImage | ImageSource, eyes: Perception | None = None) -> AnswerReply:
    """The answer and its reasons, by the shipped eyes unless others are given."""
    image = picture if isinstance(picture, LoadedImage) else load_image(picture)
    inputs = AnswerInputs(query="a question given as a value", question=question)
    request = VLMRequest(inputs.task, "", "", (LabelledImage("image", image),), inputs, AnswerReply)
    return value_of(PerceptionClient(eyes or _shipped()).ask(request), AnswerReply)


@lru_cache(maxsize=1)
def _shipped() -> Perception:
    return ShippedPerception("research")
