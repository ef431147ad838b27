"""The question of whoever asks none: its words, and what they mean, so that nothing has to be read to know it."""

from __future__ import annotations

from agenticiqa.question.meaning import Draft

DEFAULT_QUERY = "Rate the perceptual quality of this image."
DEFAULT_QUESTION = Draft(
    text=DEFAULT_QUERY,
    stem=DEFAULT_QUERY,
    language="en",
    intent="score",
    attribute="overall",
    yes_means="fine",
    form="number",
)
