"""The words of a request hold everything its inputs hold.

Exempt is `question`, which the inputs do not dump: it is read from the query and its choices alone, so it says nothing
the words do not say, and it stands in no prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from agenticiqa.nodes.context import user_words
from agenticiqa.question.read import read_question
from agenticiqa.state import DISTORTION_CATEGORIES, SEVERITIES
from agenticiqa.vlm_client.tasks import (
    AnalyzeInputs,
    AnswerInputs,
    DetectInputs,
    InspectInputs,
    LocateInputs,
    PlanInputs,
    RankInputs,
    ScoreInputs,
    SelectToolsInputs,
    TaskInputs,
)

text = st.text(min_size=1, max_size=20)
texts = st.lists(text, max_size=3).map(tuple)
mode = st.sampled_from(["Full-Reference", "No-Reference"])
distortions = st.dictionaries(text, st.lists(st.sampled_from(DISTORTION_CATEGORIES), max_size=3), max_size=2)
analysis = st.dictionaries(
    text,
    st.lists(
        st.fixed_dictionaries(
            {
                "type": st.sampled_from(DISTORTION_CATEGORIES),
                "severity": st.sampled_from(SEVERITIES),
                "explanation": text.filter(str.strip),
            }
        ),
        max_size=2,
    ),
    max_size=2,
)
scores = st.dictionaries(text, st.dictionaries(text, st.tuples(text, st.floats(1, 5)), max_size=2), max_size=2)
offer = st.fixed_dictionaries(
    {"name": text, "reference": st.sampled_from(["FR", "NR"]), "strengths": texts, "description": text}
)
evidence = {"query": text, "distortion_analysis": st.none() | analysis, "quality_scores": st.none() | scores}
choices = st.dictionaries(text, text, max_size=3)


def made(model: type[BaseModel], **fields: Any) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(fields).map(model.model_validate)


any_inputs = st.one_of(
    made(PlanInputs, query=text, has_reference=st.booleans(), choices=choices, tools=texts, replan_history=texts),
    made(DetectInputs, query=text, objects=texts, categories=texts, reference_mode=mode),
    made(AnalyzeInputs, query=text, distortions=distortions, reference_mode=mode),
    made(
        SelectToolsInputs,
        query=text,
        distortions=distortions,
        reference_mode=mode,
        tools=st.lists(offer, max_size=2).map(tuple),
    ),
    made(
        InspectInputs,
        query=text,
        objects=texts,
        categories=texts,
        distortions=distortions,
        reference_mode=mode,
        severity_wanted=st.booleans(),
        tools=st.lists(offer, max_size=2).map(tuple),
    ),
    made(AnswerInputs, **evidence, choices=choices, notes=texts),
    made(
        ScoreInputs,
        **evidence,
        tool_mean=st.none() | st.floats(1, 5),
        perceptual_weights=st.none() | st.dictionaries(text, st.floats(0, 1), max_size=5),
        notes=texts,
    ),
    made(LocateInputs, objects=texts),
    made(RankInputs, query=text, images=texts),
)


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif value is not None:
        yield value


@settings(deadline=None)
@given(any_inputs)
def test_every_leaf_of_the_inputs_is_in_the_words(inputs: TaskInputs[Any]) -> None:
    words = user_words(inputs)

    values = inputs.model_dump(mode="json")
    for leaf in leaves(list(values.values())):
        assert json.dumps(leaf, ensure_ascii=False) in words


@settings(deadline=None)
@given(any_inputs)
def test_the_words_depend_on_nothing_but_the_inputs(inputs: TaskInputs[Any]) -> None:
    again = type(inputs).model_validate(inputs.model_dump())

    assert (again.task, user_words(again)) == (inputs.task, user_words(inputs))


def test_the_question_as_it_was_read_stands_in_no_prompt() -> None:
    inputs = AnswerInputs(query="Is it blurry?")
    read = inputs.model_copy(update={"question": read_question(inputs.query)})

    assert (user_words(read), read.model_dump()) == (user_words(inputs), inputs.model_dump())
