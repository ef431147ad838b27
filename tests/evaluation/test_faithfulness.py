"""Claims of explanations held against their evidence, and explanations that follow the evidence when it is swapped."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from agenticiqa.assessor import Assessor
from agenticiqa.embedded.client import PerceptionClient
from agenticiqa.evaluation.faithfulness import check_claims, examine
from agenticiqa.evaluation.runs import run_full
from agenticiqa.parts import Parts
from agenticiqa.values import Reading, Reason
from tests.support.agent import registry, settings
from tests.support.looks import BLURRED, NOISY, FixedEyes

SEEN: dict[str, Any] = {
    "distortions": [{"type": "Noise", "severity": "moderate"}],
    "tools": {"PSNR": 3.47, "HaarPSI": 3.2},
    "score": 3.4,
    "model_score": 3.4,
    "notes": [],
}


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("Noise (moderate): grain covers flat areas.", ["tied"]),
        ("Moderate noise covers the sky.", ["tied"]),
        ("Severe noise covers the sky.", ["contradicting"]),
        ("There is no noise.", ["contradicting"]),
        ("The image is blurred.", ["unsupported"]),
        ("There is no blur.", ["tied"]),
        ("PSNR gives 3.5 of 5 for noise.", ["tied"]),
        ("PSNR gives 2.1 of 5 for noise.", ["contradicting"]),
        ("VSI gives 2.1 of 5.", ["unsupported"]),
        ("The quality is fair.", ["tied"]),
        ("The quality is excellent.", ["contradicting"]),
        ("It was taken in Paris.", []),
    ],
)
def test_a_claim_is_tied_contradicting_or_unsupported(text: str, verdicts: list[str]) -> None:
    assert [checked.verdict for checked in check_claims(text, SEEN)] == verdicts


def test_the_value_of_a_reason_supports_a_tools_score() -> None:
    reason = Reason("PSNR contradicts VSI.", "metrics", name="VSI", number=2.1, others=(Reading("PSNR", 3.5),))
    evidence = {**SEEN, "reasons": [asdict(reason)]}

    told = check_claims("VSI gives 2.1 of 5, PSNR 3.5 and SSIM 2.2.", evidence)

    assert [checked.verdict for checked in told] == ["tied", "tied", "unsupported"]


def test_shares_are_of_all_claims_and_failed_results_are_left_out() -> None:
    results = [
        {**SEEN, "reasoning": "Moderate noise covers the sky. The image is blurred."},
        {**SEEN, "reasoning": "It was taken in Paris."},
        {"error": "the service did not answer", "reasoning": "Noise."},
    ]

    found = examine(results)

    assert (found.explanations, found.claims, found.without_claims) == (2, 2, 1)
    assert (found.share("tied"), found.share("unsupported"), found.share("contradicting")) == (0.5, 0.5, 0.0)
    assert [example.claim for example in found.examples] == ["Blurs"]


def test_swapping_the_evidence_of_two_images_swaps_their_explanations() -> None:
    first, second = (np.random.default_rng(seed).integers(0, 256, (32, 48, 3), np.uint8) for seed in (1, 2))

    def explained(look: Any, pixels: Any) -> str:
        client = PerceptionClient(FixedEyes(look))
        parts = Parts(dict.fromkeys(("planner", "executor", "summarizer"), client), registry(), settings())
        return Assessor(parts=parts).assess(pixels).reasoning

    as_seen = explained(BLURRED, first), explained(NOISY, second)
    swapped = explained(NOISY, first), explained(BLURRED, second)

    assert as_seen[0] != as_seen[1]
    assert swapped == (as_seen[1], as_seen[0])


def test_the_embedded_backends_own_explanations_are_tied_to_their_evidence() -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (32, 48, 3), np.uint8)
    for look in (BLURRED, NOISY):
        client = PerceptionClient(FixedEyes(look))
        parts = Parts(dict.fromkeys(("planner", "executor", "summarizer"), client), registry(), settings())

        found = examine([run_full(parts, pixels, None)])

        assert found.claims >= 2
        assert found.share("tied") == 1.0
