"""Answers of the embedded backend to questions given as values: what a sentence is read as has no part in them."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig

from agenticiqa.assessor.assessment import Assessment, assessment_of
from agenticiqa.embedded.client import PerceptionClient
from agenticiqa.embedded.findings import Perception
from agenticiqa.graph.flow import initial_state, prepare_run
from agenticiqa.images import ImageSource, LabelledImage, LoadedImage
from agenticiqa.parts import build_parts
from agenticiqa.question.asked import Question
from agenticiqa.vlm_client.client import VLMRequest
from agenticiqa.vlm_client.structured import value_of
from agenticiqa.vlm_client.tasks import AnswerInputs, AnswerReply


def answered(question: Question, image: LoadedImage, eyes: Perception) -> AnswerReply:
    """The answer and its reasons, for these eyes."""
    inputs = AnswerInputs(query=repr(question), question=question)
    request = VLMRequest(inputs.task, "", "", (LabelledImage("image", image),), inputs, AnswerReply)
    return value_of(PerceptionClient(eyes).ask(request), AnswerReply)


def assessed(question: Question, picture: ImageSource) -> Assessment:
    """The assessment of a whole run with the parts as shipped.

    Runs are told apart by their text, so each question has one of its own.
    """
    parts = build_parts(None)
    store = parts.settings.image_store()
    state = initial_state(repr(question), store.place(picture), None, None)
    state["question"] = question
    config: RunnableConfig = {"configurable": {**vars(parts), "images": store}}
    return assessment_of(prepare_run(state, config).carry_out(), parts, store)
