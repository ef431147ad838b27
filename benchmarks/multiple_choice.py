"""How often the embedded backend chooses the right option, and whether it says the true distortion first.

    python -m benchmarks.multiple_choice --tid DIR --bsds DIR --imagenet DIR

Asks at least 600 balanced questions about part of TID2013 and about held-out photographs damaged by known
amounts; unanswered counts as wrong. Every question is asked twice, with its options in another order.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from agenticiqa.embedded.client import PerceptionClient
from agenticiqa.embedded.findings import Perception
from agenticiqa.images import LabelledImage, LoadedImage, load_image
from agenticiqa.state import DISTORTION_CATEGORIES
from agenticiqa.vlm_client.client import VLMReply, VLMRequest
from agenticiqa.vlm_client.structured import value_of
from agenticiqa.vlm_client.tasks import AnswerInputs, AnswerReply
from benchmarks.known_damage import (
    SYNTHETIC_KINDS,
    VISIBLE_LEVELS,
    Picture,
    held_out_photographs,
    synthetic_pictures,
    tid_pictures,
)
from benchmarks.quality_questions import AskedPicture, make_questions

TARGETS = {"accuracy": 0.80, "unchanged": 0.97, "named first": 0.85}


def main() -> None:
    """Prints accuracy by kind and source, the confusion table and the share of true first-named distortions."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tid", type=Path, required=True, help="folder with scores.csv, reference/ and distorted/")
    options.add_argument("--bsds", type=Path, required=True)
    options.add_argument("--imagenet", type=Path, required=True)
    options.add_argument("--per-kind", type=int, default=80, help="questions per kind and source")
    options.add_argument("--seed", type=int, default=8)
    options.add_argument("--json", type=Path, help="also write the figures here")
    given = options.parse_args()
    photographs = held_out_photographs(given.bsds, given.imagenet)
    synthetic = list(synthetic_pictures(photographs, 25 * len(SYNTHETIC_KINDS), given.seed))
    clients = {source: PerceptionClient(eyes) for source, eyes in eyes_by_source().items()}
    questions = [
        question
        for pictures in (list(tid_pictures(given.tid)), synthetic)
        for question in make_questions(pictures, given.per_kind, given.seed)
    ]
    figures = ask_all(clients, questions, given.seed)
    visible = [picture for picture in synthetic if picture.level in VISIBLE_LEVELS]
    figures["named first"] = named_first(clients["synthetic"], visible)
    for name, target in TARGETS.items():
        print(f"{name}: {figures[name]:.3f} (target {target})")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))


def eyes_by_source() -> dict[str, Perception]:
    """The shipped eyes; for TID2013 the full-reference judgement is the one that was not fitted on it."""
    from agenticiqa.embedded.combined_models import ShippedPerception

    return {
        "synthetic": ShippedPerception("research"),
        "tid2013": ShippedPerception("research", pairs="open"),
    }


def ask_all(clients: Mapping[str, PerceptionClient], questions: Sequence[AskedPicture], seed: int) -> dict[str, float]:
    """Accuracy and the share of answers that stay when the options are reordered."""
    random = np.random.default_rng(seed)
    right: dict[tuple[str, str], list[bool]] = defaultdict(list)
    confusion: Counter[tuple[str, str, str]] = Counter()
    unchanged = []
    for question in questions:
        orders = [random.permutation(len(question.options)).tolist() for _ in range(2)]
        first, second = (chosen_option(clients[question.source], question, order) for order in orders)
        unchanged.append(first == second)
        right[question.kind, question.source].append(first == question.right)
        confusion[question.kind, question.right, first] += 1
    _print_accuracy(right)
    _print_confusion(confusion)
    everything = [hit for hits in right.values() for hit in hits]
    print(f"\n{len(everything)} questions")
    by_kind = {f"{kind}, {source}": float(np.mean(hits)) for (kind, source), hits in right.items()}
    return {"accuracy": float(np.mean(everything)), "unchanged": float(np.mean(unchanged)), **by_kind}


def chosen_option(client: PerceptionClient, question: AskedPicture, order: Sequence[int]) -> str:
    """The text of the chosen option, or what was said instead."""
    choices = question.choices(order)
    reference = None if question.reference is None else load_image(question.reference)
    reply = ask(client, AnswerInputs(query=question.query, choices=choices), load_image(question.pixels), reference)
    answer = value_of(reply, AnswerReply).final_answer
    return choices.get(answer, answer)


def named_first(client: PerceptionClient, pictures: Sequence[Picture]) -> float:
    """The share of damaged pictures whose explanation names the true category before any other."""
    from agenticiqa.wording import phrase

    names = {category: phrase("categories", category, "en") for category in DISTORTION_CATEGORIES}
    hits = []
    for picture in [picture for picture in pictures if picture.category][:300]:
        reply = ask(client, AnswerInputs(query="What is wrong with this image?"), load_image(picture.pixels))
        text = value_of(reply, AnswerReply).quality_reasoning
        said = {category: text.find(f"{name} (") for category, name in names.items() if f"{name} (" in text}
        hits.append(min(said, key=lambda category: said[category], default=None) == picture.category)
    print(f"{len(hits)} explanations")
    return float(np.mean(hits))


def ask(
    client: PerceptionClient, inputs: AnswerInputs, image: LoadedImage, reference: LoadedImage | None = None
) -> VLMReply:
    """The reply to a question asked without any evidence but the images."""
    images = [LabelledImage("image", image)]
    if reference is not None:
        images.append(LabelledImage("reference", reference))
    return client.ask(VLMRequest("answer", "", "", tuple(images), inputs, AnswerReply))


def _print_accuracy(right: dict[tuple[str, str], list[bool]]) -> None:
    print(f"{'kind':20}{'source':12}{'questions':>10}{'accuracy':>10}")
    for (kind, source), hits in right.items():
        print(f"{kind:20}{source:12}{len(hits):10}{np.mean(hits):10.3f}")


def _print_confusion(confusion: Counter[tuple[str, str, str]]) -> None:
    for kind in dict.fromkeys(kind for kind, _, _ in confusion):
        rows = sorted({truth for k, truth, _ in confusion if k == kind})
        columns = sorted({said for k, _, said in confusion if k == kind})
        print(f"\n{kind}: truth down, answer across")
        print(" " * 16 + "".join(f"{column[:13]:>15}" for column in columns))
        for row in rows:
            print(f"{row[:15]:16}" + "".join(f"{confusion[kind, row, column]:15}" for column in columns))


if __name__ == "__main__":
    main()
