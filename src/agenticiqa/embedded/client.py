"""`builtin.perception`: the whole agent's model with no network, no key, no GPU. It is not a vision-language model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PIL import Image
from pydantic import BaseModel

from agenticiqa.config import RoleSettings, Settings
from agenticiqa.embedded.answers.answering import answer, is_about_what_is_absent
from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.embedded.answers.gathering import Observer, seen_in
from agenticiqa.embedded.answers.reasons import explain, in_one_text
from agenticiqa.embedded.comparing import compare_images
from agenticiqa.embedded.findings import Perception
from agenticiqa.embedded.tools import METRICS
from agenticiqa.errors import UnknownBackendError
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.question.asked import Flaw, Open, Question, Score, categories_of
from agenticiqa.question.read import read_question
from agenticiqa.state import GLOBAL, OVERALL, UNABLE, DistortionCategory, Gap, PlanControlFlags, PlannerOutput
from agenticiqa.values import Answer, Distortion, Language, Reason
from agenticiqa.vlm_client import tasks
from agenticiqa.vlm_client.client import VLMClient, VLMReply, VLMRequest
from agenticiqa.wording import say
from agenticiqa.wording.findings import described, joined, labelled, unlocated

NAME = "builtin.perception"


class PerceptionClient(VLMClient):
    """Answers every task of the agent from its own perception and the request's inputs."""

    model = NAME
    deterministic = True
    # Its own judgements, offered as tools too, and the metrics inside the full-reference one must not vote twice.
    derived_from = ("AIQA_NR", "AIQA_FR", *METRICS)

    def __init__(self, perception: Perception) -> None:
        self._perception = perception
        self._tasks: dict[str, Callable[[VLMRequest, Any], VLMReply]] = {
            "plan": self._plan,
            "detect": self._detect,
            "analyze": self._analyze,
            "select_tools": self._select_tools,
            "inspect": self._inspect,
            "locate": self._locate,
            "answer": self._answer,
            "score": self._score,
            "rank": self._rank,
        }

    @classmethod
    def from_settings(cls, model: str, role: RoleSettings, settings: Settings) -> PerceptionClient:
        """The client with the shipped eyes; there is one model, called "perception"."""
        from agenticiqa.embedded.combined_models import RecalibratedPerception, shipped_perception
        from agenticiqa.tools.catalogue import read_overlay

        if model not in ("", "perception"):
            raise UnknownBackendError(f"no embedded model named {model!r}; there is one: {NAME}")
        perception = shipped_perception(settings.pipeline.terms, settings.pipeline.viewing)
        scales = read_overlay(settings.tools_overlay_path()).embedded
        return cls(RecalibratedPerception(perception, scales) if scales else perception)

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        """The answer to a question about one image, with its reasons, as plain text."""
        observer = Observer(self._perception, read_question(prompt), load_image(image))
        given, reasons, _ = _worked_out(observer, None)
        language = observer.question.reply.language
        lead = "" if given.why_not else f"{given.text}. "
        return lead + in_one_text([*reasons, _no_vlm(language)], language)

    def ask(self, request: VLMRequest) -> VLMReply:
        """The reply to a task, computed from its inputs and images."""
        return self._tasks[request.task](request, request.inputs)

    def _plan(self, request: VLMRequest, inputs: tasks.PlanInputs) -> VLMReply:
        question = inputs.question or read_question(inputs.query, inputs.choices, inputs.tools)
        plan = plan_for(question, has_reference=inputs.has_reference, gap=inputs.gap)
        asked = f"{type(question).__name__}, {question.topic.flaw.attribute}"
        return _reply(tasks.PlanReply.model_validate(plan.model_dump()), f"question understood as: {asked}")

    def _detect(self, request: VLMRequest, inputs: tasks.DetectInputs) -> VLMReply:
        return _reply(tasks.DetectReply(distortion_set=self._detected(request, inputs)))

    def _detected(self, request: VLMRequest, inputs: tasks.DetectInputs | tasks.InspectInputs) -> dict[str, list[str]]:
        looks, _ = self._observer(request, inputs).looks(inputs.objects)
        found = {name: sorted(look.findings, key=lambda finding: -finding.weight) for name, look in looks.items()}
        return {
            name: [each.category for each in findings if each.is_present and each.category in inputs.categories]
            for name, findings in found.items()
        }

    def _analyze(self, request: VLMRequest, inputs: tasks.AnalyzeInputs) -> VLMReply:
        analysis, findings = self._analyzed(request, inputs, inputs.distortions)
        return replace(_reply(tasks.AnalyzeReply(distortion_analysis=analysis)), findings=findings)

    def _analyzed(
        self, request: VLMRequest, inputs: _Asked, distortions: Mapping[str, Sequence[str]]
    ) -> tuple[dict[str, list[tasks.AnalyzedDistortion]], tuple[Distortion, ...]]:
        """The analysis in words, and the findings it was made of."""
        observer = self._observer(request, inputs)
        looks, missing = observer.looks(distortions)
        language = observer.question.reply.language
        seen = seen_in(observer.image, language) if missing else ""
        analysis, findings = {}, list[Distortion]()
        for name, categories in distortions.items():
            found = [replace(each, place=name) for each in map(looks[name].finding, categories) if each is not None]
            told = [described(each, language) for each in found]
            if name in missing:
                told = [labelled(unlocated(name, seen, language), each, language) for each in told]
            analysis[name] = [
                tasks.AnalyzedDistortion(type=each.category, severity=each.severity, explanation=text)
                for each, text in zip(found, told, strict=True)
            ]
            findings += found
        return analysis, tuple(findings)

    def _select_tools(self, request: VLMRequest, inputs: tasks.SelectToolsInputs) -> VLMReply:
        chosen = {
            name: {category: tool for category in categories if (tool := best_tool(category, inputs))}
            for name, categories in inputs.distortions.items()
        }
        return _reply(tasks.SelectToolsReply(selected_tools=chosen))

    def _inspect(self, request: VLMRequest, inputs: tasks.InspectInputs) -> VLMReply:
        found = inputs.distortions or self._detected(request, inputs)
        analysis, values = self._analyzed(request, inputs, found if inputs.severity_wanted else {})
        entries: dict[str, list[dict[str, Any]]] = {
            name: [entry.model_dump() for entry in analysis[name]]
            if inputs.severity_wanted
            else [{"type": category} for category in categories]
            for name, categories in found.items()
        }
        findings = {
            name: [
                tasks.InspectedDistortion.model_validate({**entry, "tool": best_tool(entry["type"], inputs) or ""})
                for entry in own
            ]
            for name, own in entries.items()
        }
        overall = {name: tool for name in inputs.objects if (tool := best_tool(OVERALL, inputs))}
        return replace(_reply(tasks.InspectReply(findings=findings, overall_tools=overall)), findings=values)

    def _locate(self, request: VLMRequest, inputs: tasks.LocateInputs) -> VLMReply:
        image = _test_image(request)
        boxes = {name: self._perception.locate(image, name) for name in inputs.objects}
        located = {name: box for name, box in boxes.items() if box is not None}
        shares: dict[str, tasks.Box | None] = {
            name: (box.left / image.width, box.top / image.height, box.right / image.width, box.bottom / image.height)
            for name, box in located.items()
        }
        return replace(_reply(tasks.LocateReply(regions=dict.fromkeys(boxes) | shares)), regions=located)

    def _rank(self, request: VLMRequest, inputs: tasks.RankInputs) -> VLMReply:
        images = [item.image for item in request.images if item.role == "image"]
        return _reply(compare_images(_question(inputs), images, self._perception))

    def _answer(self, request: VLMRequest, inputs: tasks.AnswerInputs) -> VLMReply:
        observer = self._observer(request, inputs)
        given, reasons, evidence = _worked_out(observer, inputs)
        return _answered(evidence, given, reasons, observer.question.reply.language)

    def _score(self, request: VLMRequest, inputs: tasks.ScoreInputs) -> VLMReply:
        asked = _question(inputs)
        scale = asked.scale if isinstance(asked, Score) else None
        question = Score(replace(asked.topic, flaw=Flaw()), asked.reply, "fine", scale)
        evidence = replace(self._observer(request, inputs), question=question).evidence(inputs)
        judged, absent = evidence.judgement, is_about_what_is_absent(question, evidence)
        given = Answer(UNABLE, why_not="not_found" if absent else "no_evidence")
        if judged is not None and not absent:
            given = Answer(judged.letter, value=judged.letter)
        return _answered(evidence, given, explain(question, evidence, given), question.reply.language)

    def _observer(self, request: VLMRequest, inputs: _Asked) -> Observer:
        return Observer(self._perception, _question(inputs), _test_image(request), request.image("reference"))


_Asked = (
    tasks.DetectInputs
    | tasks.AnalyzeInputs
    | tasks.InspectInputs
    | tasks.AnswerInputs
    | tasks.ScoreInputs
    | tasks.RankInputs
)


def _question(inputs: _Asked) -> Question:
    """The question of a request: as the run read it, or read now for a request that was made by hand."""
    choices = inputs.choices if isinstance(inputs, tasks.AnswerInputs) else None
    return inputs.question or read_question(inputs.query, choices)


def _test_image(request: VLMRequest) -> LoadedImage:
    return request.image("image") or request.images[0].image


def _worked_out(observer: Observer, inputs: tasks.AnswerInputs | None) -> tuple[Answer, list[Reason], Evidence]:
    """The answer, its reasons and what both rest on; of several questions each under its number."""
    question, evidence = observer.question, observer.evidence(inputs)
    if not (isinstance(question, Open) and question.parts):
        given = answer(question, evidence)
        return given, explain(question, evidence, given), evidence
    texts, reasons = [], list[Reason]()
    for number, part in enumerate(question.parts, 1):
        given, own, _ = _worked_out(replace(observer, question=part), None)
        texts.append(f"{number}: {given.text}")
        first, *rest = own or [_no_vlm(part.reply.language)]
        reasons += [replace(first, text=f"{number}: {first.text}"), *rest]
    told = joined(texts, question.reply.language)
    return Answer(told, value=told), reasons, evidence


def _answered(evidence: Evidence, given: Answer, reasons: list[Reason], language: Language) -> VLMReply:
    """The reply with an answer, and whatever was asked with the level probabilities, so that its record has a score."""
    text = in_one_text(reasons or [_no_vlm(language)], language)
    judged = evidence.judgement
    reply = _reply(
        tasks.AnswerReply(final_answer=given.text, quality_reasoning=text), *(judged.notes if judged else ())
    )
    reply = replace(reply, answer=given, reasons=tuple(reasons))
    if judged is None:
        return reply
    total = sum(judged.levels.values())
    # A level the model rules out keeps a finite logarithm.
    logarithms: dict[str, float] = {letter: math.log(max(p / total, 1e-9)) for letter, p in judged.levels.items()}
    return replace(reply, level_logprobs=logarithms, probability_source="builtin", interval=judged.interval)


def _reply(value: BaseModel, *notes: str) -> VLMReply:
    return VLMReply(text="", model=NAME, notes=(_no_vlm("en").text, *notes), value=value)


def _no_vlm(language: Language) -> Reason:
    return Reason(say("no_vlm", language), "model", name=NAME)


def plan_for(question: Question, *, has_reference: bool, gap: Gap | None = None) -> PlannerOutput:
    """The plan that finds out what the question needs, widened by what earlier plans failed to provide."""
    # Gaps of these kinds ask for more than the distortions the question names.
    looks_again = gap is not None and gap.kind in ("missing_analysis", "contradiction", "uncertainty")
    named = list[DistortionCategory]() if looks_again else categories_of(question)
    topic = question.topic
    scope = list(topic.scope) or GLOBAL
    places = [GLOBAL] if scope == GLOBAL else list(topic.scope)
    rates = isinstance(question, Score) and topic.flaw.attribute == "overall" and question.scale is None
    return PlannerOutput(
        query_type="IQA" if rates else "Other",
        query_scope=scope,
        distortion_source="Explicit" if named else "Inferred",
        distortions=dict.fromkeys(places, named) if named else None,
        reference_mode="Full-Reference" if has_reference and topic.reference != "refused" else "No-Reference",
        required_tool=topic.tool,
        plan=PlanControlFlags(
            distortion_detection=not named,
            distortion_analysis=True,
            tool_selection=topic.tool is None,
            tool_execution=True,
        ),
    )


def best_tool(category: str, inputs: tasks.SelectToolsInputs | tasks.InspectInputs) -> str | None:
    """The offer of the right reference mode with this strength; the order of the offers breaks ties."""
    wanted = "FR" if inputs.reference_mode == "Full-Reference" else "NR"
    usable = [offer for offer in inputs.tools if wanted == "FR" or offer.reference == "NR"]
    # The backend's own judgement, run as a tool, would add nothing: another opinion comes first.
    usable.sort(
        key=lambda offer: (offer.reference != wanted, offer.name.startswith("AIQA_"), category not in offer.strengths)
    )
    return usable[0].name if usable else None
