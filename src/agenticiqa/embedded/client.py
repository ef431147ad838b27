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
from agenticiqa.embedded.findings import Look, Perception
from agenticiqa.embedded.tools import METRICS
from agenticiqa.errors import UnknownBackendError
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.question.asked import Flaw, Open, Question, Score, categories_of
from agenticiqa.question.read import read_question
from agenticiqa.state import GLOBAL, OVERALL, UNABLE, DistortionCategory, Gap, PlanControlFlags, PlannerOutput, Region
from agenticiqa.values import Answer, Distortion, Judgement, Language, Reason
from agenticiqa.vlm_client import tasks
from agenticiqa.vlm_client.client import VLMClient, VLMReply, VLMRequest
from agenticiqa.wording import phrase, say
from agenticiqa.wording.findings import described, joined, place_name

NAME = "builtin.perception"


class PerceptionClient(VLMClient):
    """Answers every task of the agent from its own perception and the request's inputs."""

    model = NAME
    deterministic = True
    # Its own judgements, offered as tools too, and the metrics inside the full-reference one must not vote twice.
    derived_from = ("AIQA_NR", "AIQA_FR", *METRICS)

    def __init__(self, perception: Perception) -> None:
        self._perception = perception
        self._observer = Observer(perception)
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
        question, picture = read_question(prompt), load_image(image)
        given, reasons, _ = self._worked_out(question, picture, None, None)
        language = question.reply.language
        lead = "" if given.why_not else f"{given.text}. "
        return lead + in_one_text([*reasons, _no_vlm(language)], language)

    def ask(self, request: VLMRequest) -> VLMReply:
        """The reply to a task, computed from its inputs and images."""
        return self._tasks[request.task](request, request.inputs)

    def _plan(self, request: VLMRequest, inputs: tasks.PlanInputs) -> VLMReply:
        question = inputs.question or read_question(inputs.query, inputs.choices, inputs.tools)
        plan = plan_for(question, has_reference=inputs.has_reference, gap=inputs.gap)
        asked = f"{type(question).__name__}, {question.topic.flaw.attribute}"
        return self._reply(tasks.PlanReply.model_validate(plan.model_dump()), f"question understood as: {asked}")

    def _detect(self, request: VLMRequest, inputs: tasks.DetectInputs) -> VLMReply:
        return self._reply(tasks.DetectReply(distortion_set=self._detected(request, inputs)))

    def _detected(self, request: VLMRequest, inputs: tasks.DetectInputs | tasks.InspectInputs) -> dict[str, list[str]]:
        looks, _ = self._looks(request, inputs.objects, _question(inputs))
        return {
            name: [finding.category for finding in _strongest_first(looks[name]) if _is_detected(finding, inputs)]
            for name in inputs.objects
        }

    def _analyze(self, request: VLMRequest, inputs: tasks.AnalyzeInputs) -> VLMReply:
        analysis, findings = self._analyzed(request, inputs.distortions, _question(inputs))
        return replace(self._reply(tasks.AnalyzeReply(distortion_analysis=analysis)), findings=findings)

    def _analyzed(
        self, request: VLMRequest, distortions: Mapping[str, Sequence[str]], question: Question
    ) -> tuple[dict[str, list[tasks.AnalyzedDistortion]], tuple[Distortion, ...]]:
        """The analysis in words, and the findings it was made of."""
        looks, unlocated = self._looks(request, tuple(distortions), question)
        language = question.reply.language
        seen = seen_in(_test_image(request), language) if unlocated else ""
        whole = {name: _whole_image(name, seen, language) for name in unlocated}
        findings = {
            name: [replace(found, place=name) for found in map(looks[name].finding, categories) if found is not None]
            for name, categories in distortions.items()
        }
        entries = {
            name: [
                tasks.AnalyzedDistortion(
                    type=found.category,
                    severity=found.severity,
                    explanation=whole.get(name, "") + described(found, language),
                )
                for found in own
            ]
            for name, own in findings.items()
        }
        return entries, tuple(found for own in findings.values() for found in own)

    def _select_tools(self, request: VLMRequest, inputs: tasks.SelectToolsInputs) -> VLMReply:
        chosen = {
            name: {category: tool for category in categories if (tool := best_tool(category, inputs))}
            for name, categories in inputs.distortions.items()
        }
        return self._reply(tasks.SelectToolsReply(selected_tools=chosen))

    def _inspect(self, request: VLMRequest, inputs: tasks.InspectInputs) -> VLMReply:
        found = inputs.distortions or self._detected(request, inputs)
        wanted = found if inputs.severity_wanted else {}
        analyzed, values = self._analyzed(request, wanted, _question(inputs))
        judged = {(name, entry.type): entry.model_dump() for name, entries in analyzed.items() for entry in entries}
        findings = {
            name: [
                tasks.InspectedDistortion.model_validate(
                    {**judged.get((name, kind), {"type": kind}), "tool": best_tool(kind, inputs) or ""}
                )
                for kind in kinds
                if not inputs.severity_wanted or (name, kind) in judged
            ]
            for name, kinds in found.items()
        }
        overall = {name: tool for name in inputs.objects if (tool := best_tool(OVERALL, inputs))}
        return replace(self._reply(tasks.InspectReply(findings=findings, overall_tools=overall)), findings=values)

    def _locate(self, request: VLMRequest, inputs: tasks.LocateInputs) -> VLMReply:
        image = _test_image(request)
        boxes = {name: self._observer.region(image, name) for name in inputs.objects}
        reply = self._reply(tasks.LocateReply(regions={name: _in_fractions(box, image) for name, box in boxes.items()}))
        return replace(reply, regions={name: box for name, box in boxes.items() if box is not None})

    def _rank(self, request: VLMRequest, inputs: tasks.RankInputs) -> VLMReply:
        images = [item.image for item in request.images if item.role == "image"]
        return self._reply(compare_images(_question(inputs), images, self._perception))

    def _answer(self, request: VLMRequest, inputs: tasks.AnswerInputs) -> VLMReply:
        question = _question(inputs)
        image, reference = _test_image(request), request.image("reference")
        given, reasons, evidence = self._worked_out(question, image, reference, inputs)
        return self._told(evidence, given, reasons, question.reply.language)

    def _worked_out(
        self, question: Question, image: LoadedImage, reference: LoadedImage | None, inputs: tasks.AnswerInputs | None
    ) -> tuple[Answer, list[Reason], Evidence]:
        """The answer, its reasons and what both rest on; of several questions each under its number."""
        evidence = self._observer.evidence(question, image, reference, inputs)
        if not (isinstance(question, Open) and question.parts):
            given = answer(question, evidence)
            return given, explain(question, evidence, given), evidence
        texts, reasons = [], list[Reason]()
        for number, part in enumerate(question.parts, 1):
            given, own, _ = self._worked_out(part, image, reference, None)
            texts.append(f"{number}: {given.text}")
            first, *rest = own or [_no_vlm(part.reply.language)]
            reasons += [replace(first, text=f"{number}: {first.text}"), *rest]
        told = joined(texts, question.reply.language)
        return Answer(told, value=told), reasons, evidence

    def _score(self, request: VLMRequest, inputs: tasks.ScoreInputs) -> VLMReply:
        asked = _question(inputs)
        scale = asked.scale if isinstance(asked, Score) else None
        question = Score(replace(asked.topic, flaw=Flaw()), asked.reply, "fine", scale)
        evidence = self._observer.evidence(question, _test_image(request), request.image("reference"), inputs)
        judged, absent = evidence.judgement, is_about_what_is_absent(question, evidence)
        given = Answer(UNABLE, why_not="not_found" if absent else "no_evidence")
        if judged is not None and not absent:
            given = Answer(judged.letter, value=judged.letter)
        return self._told(evidence, given, explain(question, evidence, given), question.reply.language)

    def _told(self, evidence: Evidence, given: Answer, reasons: list[Reason], language: Language) -> VLMReply:
        text = in_one_text(reasons or [_no_vlm(language)], language)
        notes = evidence.judgement.notes if evidence.judgement else ()
        reply = self._reply(tasks.AnswerReply(final_answer=given.text, quality_reasoning=text), *notes)
        reply = replace(reply, answer=given, reasons=tuple(reasons))
        return reply if evidence.judgement is None else _with_levels(reply, evidence.judgement)

    def _looks(
        self, request: VLMRequest, names: Sequence[str], question: Question
    ) -> tuple[dict[str, Look], tuple[str, ...]]:
        return self._observer.looks(_test_image(request), request.image("reference"), names, question)

    def _reply(self, value: BaseModel, *notes: str) -> VLMReply:
        return VLMReply(text="", model=NAME, notes=(_no_vlm("en").text, *notes), value=value)


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


def _strongest_first(look: Look) -> list[Distortion]:
    return sorted(look.findings, key=lambda finding: -finding.weight)


def _is_detected(finding: Distortion, inputs: tasks.DetectInputs | tasks.InspectInputs) -> bool:
    return finding.category in inputs.categories and finding.is_present


def _whole_image(name: str, seen: str, language: Language) -> str:
    told = say(
        "unlocated",
        language,
        name=place_name(name, language),
        seen=say("seen_instead", language, things=seen) if seen else "",
    )
    return told + phrase("marks", "colon", language)


def _no_vlm(language: Language) -> Reason:
    return Reason(say("no_vlm", language), "model", name=NAME)


def _in_fractions(box: Region | None, image: LoadedImage) -> tasks.Box | None:
    if box is None:
        return None
    width, height = image.size
    return box.left / width, box.top / height, min(1.0, box.right / width), min(1.0, box.bottom / height)


def _with_levels(reply: VLMReply, judgement: Judgement) -> VLMReply:
    """The reply with the level probabilities behind it, whatever was asked: an answer's record has a score too."""
    return replace(
        reply,
        level_logprobs=_logarithms(judgement),
        probability_source="builtin",
        interval=judgement.interval,
    )


def _logarithms(judgement: Judgement) -> dict[str, float]:
    total = sum(judgement.levels.values())
    # A level the model rules out keeps a finite logarithm.
    return {letter: math.log(max(p / total, 1e-9)) for letter, p in judgement.levels.items()}


def plan_for(question: Question, *, has_reference: bool, gap: Gap | None = None) -> PlannerOutput:
    """The plan that finds out what the question needs, widened by what earlier plans failed to provide."""
    named = list[DistortionCategory]() if _must_look_again(gap) else categories_of(question)
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
        plan=_flags(topic.tool, explicit=bool(named)),
    )


def _flags(tool: str | None, *, explicit: bool) -> PlanControlFlags:
    return PlanControlFlags(
        distortion_detection=not explicit,
        distortion_analysis=True,
        tool_selection=tool is None,
        tool_execution=True,
    )


def _must_look_again(gap: Gap | None) -> bool:
    """Whether the gap asks for more than the distortions the question names."""
    return gap is not None and gap.kind in ("missing_analysis", "contradiction", "uncertainty")


def best_tool(category: str, inputs: tasks.SelectToolsInputs | tasks.InspectInputs) -> str | None:
    """The offer of the right reference mode with this strength; the order of the offers breaks ties."""
    wanted = "FR" if inputs.reference_mode == "Full-Reference" else "NR"
    usable = [offer for offer in inputs.tools if wanted == "FR" or offer.reference == "NR"]
    return min(usable, key=lambda offer: _rank(offer, category, wanted)).name if usable else None


def _rank(offer: tasks.ToolOffer, category: str, wanted: str) -> tuple[bool, bool, bool]:
    # The backend's own judgement, run as a tool, would add nothing: another opinion comes first.
    is_own = offer.name.startswith("AIQA_")
    return offer.reference != wanted, is_own, category not in offer.strengths
