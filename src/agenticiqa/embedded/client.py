"""`builtin.perception`: the whole agent's model with no network, no key, no GPU. It is not a vision-language model."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PIL import Image

from agenticiqa.config import RoleSettings, Settings
from agenticiqa.embedded.answers.answering import Answer, answer
from agenticiqa.embedded.answers.evidence import Evidence
from agenticiqa.embedded.answers.gathering import Observer, seen_in
from agenticiqa.embedded.answers.reasons import Sentence, describe_finding, explain, in_one_text
from agenticiqa.embedded.findings import Eyes, Look
from agenticiqa.embedded.tools import METRICS
from agenticiqa.errors import UnknownBackendError
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.question.meaning import Question
from agenticiqa.question.several_questions import split_questions
from agenticiqa.question.text import Language
from agenticiqa.question.understanding import understand
from agenticiqa.state import GLOBAL, OVERALL, UNABLE, DistortionCategory, Gap, PlanControlFlags, PlannerOutput, Region
from agenticiqa.values import Distortion, Judgement
from agenticiqa.vlm_client.client import VLMClient, VLMReply, VLMRequest
from agenticiqa.vlm_client.tasks import (
    AnalyzeInputs,
    AnswerInputs,
    DetectInputs,
    InspectInputs,
    LocateInputs,
    PlanInputs,
    ScoreInputs,
    SelectToolsInputs,
    ToolOffer,
)
from agenticiqa.wording import say

NAME = "builtin.perception"
Reply = dict[str, Any]


class PerceptionClient(VLMClient):
    """Answers every task of the agent from its own eyes and the request's inputs."""

    model = NAME
    deterministic = True
    # Its own judgements, offered as tools too, and the metrics inside the full-reference one must not vote twice.
    derived_from = ("AIQA_NR", "AIQA_FR", *METRICS)

    def __init__(self, eyes: Eyes) -> None:
        self._observer = Observer(eyes)
        self._tasks: dict[str, Callable[[VLMRequest, Any], VLMReply]] = {
            "plan": self._plan,
            "detect": self._detect,
            "analyze": self._analyze,
            "select_tools": self._select_tools,
            "inspect": self._inspect,
            "locate": self._locate,
            "answer": self._answer,
            "score": self._score,
        }

    @classmethod
    def from_settings(cls, model: str, role: RoleSettings, settings: Settings) -> PerceptionClient:
        """The client with the shipped eyes; there is one model, called "perception"."""
        from agenticiqa.embedded.combined_models import RecalibratedEyes, shipped_eyes
        from agenticiqa.tools.catalogue import read_overlay

        if model not in ("", "perception"):
            raise UnknownBackendError(f"no embedded model named {model!r}; there is one: {NAME}")
        eyes = shipped_eyes(settings.pipeline.terms, settings.pipeline.viewing)
        scales = read_overlay(settings.tools_overlay_path()).embedded
        return cls(RecalibratedEyes(eyes, scales) if scales else eyes)

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        """The answer to a question about one image, with its reasons, as plain text."""
        if several := asked_together(prompt):
            given, reasons = self._one_by_one(several, load_image(image), None)
            return f"{given.text}. {in_one_text([*reasons, _no_vlm('en')], 'en')}"
        question = understand(prompt)
        evidence = self._observer.evidence(question, load_image(image), None)
        given = answer(question, evidence)
        reasons = [*explain(question, evidence, given), _no_vlm(question.language)]
        lead = "" if given.text == UNABLE and given.why_not else f"{given.text}. "
        return lead + in_one_text(reasons, question.language)

    def ask(self, request: VLMRequest) -> VLMReply:
        """The reply to a task, computed from its inputs and images."""
        return self._tasks[request.task](request, request.inputs)

    def _plan(self, request: VLMRequest, inputs: PlanInputs) -> VLMReply:
        question = understand(inputs.query, inputs.choices, inputs.tools)
        if not inputs.choices and (several := asked_together(inputs.query)):
            question = _about_all(several)
        plan = plan_for(question, has_reference=inputs.has_reference, gap=inputs.gap)
        return self._reply(plan.model_dump(), f"question understood as: {question.intent}, {question.attribute}")

    def _detect(self, request: VLMRequest, inputs: DetectInputs) -> VLMReply:
        return self._reply({"distortion_set": self._detected(request, inputs)})

    def _detected(self, request: VLMRequest, inputs: DetectInputs | InspectInputs) -> dict[str, list[str]]:
        looks, _ = self._looks(request, inputs.objects, inputs.query)
        return {
            name: [finding.category for finding in _strongest_first(looks[name]) if _is_detected(finding, inputs)]
            for name in inputs.objects
        }

    def _analyze(self, request: VLMRequest, inputs: AnalyzeInputs) -> VLMReply:
        return self._reply({"distortion_analysis": self._analyzed(request, inputs.distortions, inputs.query)})

    def _analyzed(
        self, request: VLMRequest, distortions: Mapping[str, Sequence[str]], query: str
    ) -> dict[str, list[dict[str, str]]]:
        looks, unlocated = self._looks(request, tuple(distortions), query)
        language = understand(query).language
        seen = seen_in(_test_image(request), language) if unlocated else ""
        whole = {name: _whole_image(name, seen, language) for name in unlocated}
        return {
            name: [
                {
                    "type": finding.category,
                    "severity": finding.severity,
                    "explanation": whole.get(name, "") + describe_finding(finding, language),
                }
                for finding in map(looks[name].finding, categories)
                if finding is not None
            ]
            for name, categories in distortions.items()
        }

    def _select_tools(self, request: VLMRequest, inputs: SelectToolsInputs) -> VLMReply:
        chosen = {
            name: {category: tool for category in categories if (tool := best_tool(category, inputs))}
            for name, categories in inputs.distortions.items()
        }
        return self._reply({"selected_tools": chosen})

    def _inspect(self, request: VLMRequest, inputs: InspectInputs) -> VLMReply:
        found = inputs.distortions or self._detected(request, inputs)
        findings = {name: [{"type": category} for category in categories] for name, categories in found.items()}
        if inputs.severity_wanted:
            findings = self._analyzed(request, found, inputs.query)
        for finding in (finding for entries in findings.values() for finding in entries):
            finding["tool"] = best_tool(finding["type"], inputs) or ""
        overall = {name: tool for name in inputs.objects if (tool := best_tool(OVERALL, inputs))}
        return self._reply({"findings": findings, "overall_tools": overall})

    def _locate(self, request: VLMRequest, inputs: LocateInputs) -> VLMReply:
        image = _test_image(request)
        boxes = {name: self._observer.region(image, name) for name in inputs.objects}
        return self._reply({"regions": {name: _in_fractions(box, image) for name, box in boxes.items()}})

    def _answer(self, request: VLMRequest, inputs: AnswerInputs) -> VLMReply:
        question = understand(inputs.query, inputs.choices)
        image, reference = _test_image(request), request.image("reference")
        if not inputs.choices and (several := asked_together(inputs.query)):
            given, sentences = self._one_by_one(several, image, reference)
            evidence = self._observer.evidence(_about_all(several), image, reference, inputs)
            return self._told(evidence, given, sentences, "en")
        evidence = self._observer.evidence(question, image, reference, inputs)
        return self._answered(question, evidence, answer(question, evidence))

    def _one_by_one(
        self, questions: Sequence[Question], image: LoadedImage, reference: LoadedImage | None
    ) -> tuple[Answer, list[Sentence]]:
        """The answers to several questions of one sentence in one text, and the reasons of each under its number."""
        texts, sentences = [], []
        for number, question in enumerate(questions, 1):
            evidence = self._observer.evidence(question, image, reference)
            given = answer(question, evidence)
            texts.append(f"{number}: {given.text}")
            first, *rest = explain(question, evidence, given) or [_no_vlm("en")]
            sentences += [replace(first, text=f"{number}: {first.text}"), *rest]
        return Answer("; ".join(texts)), sentences

    def _score(self, request: VLMRequest, inputs: ScoreInputs) -> VLMReply:
        question = replace(understand(inputs.query), intent="score", attribute="overall", yes_means="fine", doubts=())
        evidence = self._observer.evidence(question, _test_image(request), request.image("reference"), inputs)
        if evidence.judgement is None:
            return self._answered(question, evidence, Answer(UNABLE, why_not="no_evidence"))
        return self._answered(question, evidence, Answer(evidence.judgement.letter))

    def _answered(self, question: Question, evidence: Evidence, given: Answer) -> VLMReply:
        return self._told(evidence, given, explain(question, evidence, given), question.language)

    def _told(self, evidence: Evidence, given: Answer, sentences: list[Sentence], language: Language) -> VLMReply:
        reasons = in_one_text(sentences or [_no_vlm(language)], language)
        items = [f"evidence: {sentence.item}" for sentence in sentences]
        items += evidence.judgement.notes if evidence.judgement else ()
        reply = self._reply({"final_answer": given.text, "quality_reasoning": reasons}, *items)
        return reply if evidence.judgement is None else _with_levels(reply, evidence.judgement)

    def _looks(self, request: VLMRequest, names: Sequence[str], query: str) -> tuple[dict[str, Look], tuple[str, ...]]:
        return self._observer.looks(_test_image(request), request.image("reference"), names, understand(query))

    def _reply(self, content: Reply, *notes: str) -> VLMReply:
        text = json.dumps(content, ensure_ascii=False)
        return VLMReply(text=text, model=NAME, notes=(_no_vlm("en").text, *notes))


def asked_together(query: str) -> list[Question]:
    """The questions of a sentence that asks several things, each of which is understood; empty for a single one."""
    questions = [understand(part) for part in split_questions(query)]
    different = {(question.attribute, question.scope, question.intent) for question in questions}
    plain = all(not question.is_declined and question.intent in _ASKED_TOGETHER for question in questions)
    return questions if plain and len(different) == len(questions) > 1 else []


_ASKED_TOGETHER = ("yesno", "degree", "open", "where", "advice", "measure")


def _about_all(questions: Sequence[Question]) -> Question:
    """A question whose plan finds out what each of several needs."""
    named = [question.scope for question in questions]
    scope = tuple(dict.fromkeys(name for names in named for name in names)) if all(named) else ()
    return replace(questions[0], intent="open", attribute="overall", kind=None, tool=None, reach=None, scope=scope)


def _test_image(request: VLMRequest) -> LoadedImage:
    return request.image("image") or request.images[0].image


def _strongest_first(look: Look) -> list[Distortion]:
    return sorted(look.findings, key=lambda finding: -finding.weight)


def _is_detected(finding: Distortion, inputs: DetectInputs | InspectInputs) -> bool:
    return finding.category in inputs.categories and finding.is_present


def _whole_image(name: str, seen: str, language: Language) -> str:
    return say("whole_image", language, name=name, seen=say("seen_instead", language, things=seen) if seen else "")


def _no_vlm(language: Language) -> Sentence:
    return Sentence(say("no_vlm", language), "model: embedded")


def _in_fractions(box: Region | None, image: LoadedImage) -> tuple[float, ...] | None:
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


_NOTHING_TO_DO = PlanControlFlags(
    distortion_detection=False, distortion_analysis=False, tool_selection=False, tool_execution=False
)


def plan_for(question: Question, *, has_reference: bool, gap: Gap | None = None) -> PlannerOutput:
    """The plan that finds out what the question needs, widened by what earlier plans failed to provide."""
    named = list[DistortionCategory]() if _must_look_again(gap) else question.categories
    scope = list(question.scope) or GLOBAL
    places = [GLOBAL] if scope == GLOBAL else list(question.scope)
    return PlannerOutput(
        query_type="IQA" if question.is_scoring and question.scale is None else "Other",
        query_scope=scope,
        distortion_source="Explicit" if named else "Inferred",
        distortions=dict.fromkeys(places, named) if named else None,
        reference_mode="Full-Reference" if has_reference and not question.refuses_reference else "No-Reference",
        required_tool=question.tool,
        plan=_NOTHING_TO_DO if question.is_declined else _flags(question, explicit=bool(named)),
    )


def _flags(question: Question, *, explicit: bool) -> PlanControlFlags:
    return PlanControlFlags(
        distortion_detection=not explicit,
        distortion_analysis=True,
        tool_selection=question.tool is None,
        tool_execution=True,
    )


def _must_look_again(gap: Gap | None) -> bool:
    """Whether the gap asks for more than the distortions the question names."""
    return gap is not None and gap.kind in ("missing_analysis", "contradiction", "uncertainty")


def best_tool(category: str, inputs: SelectToolsInputs | InspectInputs) -> str | None:
    """The offer of the right reference mode with this strength; the order of the offers breaks ties."""
    wanted = "FR" if inputs.reference_mode == "Full-Reference" else "NR"
    usable = [offer for offer in inputs.tools if wanted == "FR" or offer.reference == "NR"]
    return min(usable, key=lambda offer: _rank(offer, category, wanted)).name if usable else None


def _rank(offer: ToolOffer, category: str, wanted: str) -> tuple[bool, bool, bool]:
    # The backend's own judgement, run as a tool, would add nothing: another opinion comes first.
    is_own = offer.name.startswith("AIQA_")
    return offer.reference != wanted, is_own, category not in offer.strengths
