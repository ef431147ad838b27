"""Whether everything is in focus is told by the softest part that has something to be in focus."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from agenticiqa.assessor import assess
from agenticiqa.embedded.regions.focus_parts import focus_parts
from agenticiqa.embedded.regions.sharpness import find_edges
from tests.support.photos import photo

Pixels = npt.NDArray[np.uint8]


def street() -> Pixels:
    """A sharp photograph with detail everywhere."""
    return np.ascontiguousarray(photo("motorcycle_left")[:480, :640])


def soft_on_the_right(sigma: float = 4.0) -> Pixels:
    picture = street().copy()
    picture[:, 400:] = cv2.GaussianBlur(picture, (0, 0), sigma)[:, 400:]
    return picture


@pytest.mark.parametrize(
    "query",
    [
        "Is everything in focus?",
        "Is the whole picture sharp from front to back?",
        "Is it sharp edge to edge?",
        "Is the focus even across the frame?",
        "Ist alles scharf?",
        "全部清晰吗？",
    ],
)
def test_everything_is_in_focus_only_where_no_part_is_soft(query: str) -> None:
    sharp, mixed = assess(street(), query).answer, assess(soft_on_the_right(), query).answer

    assert sharp.startswith(("Yes", "Ja", "是"))
    assert mixed.startswith(("No", "Nein", "否"))


def test_the_answer_says_where_it_is_soft_and_where_sharp() -> None:
    answer = assess(soft_on_the_right(), "Is everything in focus?").answer

    assert "softest in the" in answer
    assert "right" in answer.split(";")[0]
    assert "right" not in answer.split(";")[1]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("Is anything out of focus?", "Yes"),
        ("Is any part of the picture blurry?", "Yes"),
        ("Is the whole picture blurry?", "No"),
        ("Is anything in focus?", "Yes"),
        ("Is nothing blurry?", "No"),
    ],
)
def test_any_and_all_and_sharp_and_soft_are_kept_apart(query: str, answer: str) -> None:
    assert assess(soft_on_the_right(), query).answer.startswith(answer)


def test_a_part_without_detail_is_neither_sharp_nor_soft() -> None:
    picture = street().copy()
    shade = np.linspace(140, 200, 200)[:, None, None]
    picture[:200] = np.broadcast_to(shade, (200, 640, 3)).astype(np.uint8)

    answer = assess(picture, "Is everything in focus?").answer

    assert answer.startswith("Yes")
    assert "of 16 parts that have detail" in answer


def test_a_picture_without_any_detail_has_no_parts() -> None:
    grey = np.full((300, 400, 3), 127, np.uint8)

    assert focus_parts(find_edges(grey), 400, 300) is None
