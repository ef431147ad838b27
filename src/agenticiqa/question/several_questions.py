"""Two questions in one sentence ("Are the lights blown out and is the skyline sharp?"), one by one."""

from __future__ import annotations

import re

from agenticiqa.question.choices import split_choices
from agenticiqa.question.late_pattern import LatePattern

_ASKING = (
    r"(?:is|are|was|were|does|do|did|has|have|can|could|should|would|will|how|what|which|where|why)"
    r"(?:n't)? (?:it|this|that|there|the|my|his|her|our|i|we|you|any|everything|everyone|they|much|many|\w+ of)\b"
)
# A second question after the first: "…, and is it …", "… and how dark is …", "…? Is it …".
_NEXT = LatePattern(
    rf"(?:,? (?:and|but)(?: also)? |[?？]\s+(?:and |also )?)(?={_ASKING}|how \w+ (?:is|are)\b)", re.IGNORECASE
)
_FIRST = LatePattern(rf"\s*(?:so |and |well,? |please tell me |tell me )?{_ASKING}", re.IGNORECASE)
# Whoever refers back asks one thing: "Is it blurry, and if so how much?", "Is it soft and what can I do about that?".
_REFERS_BACK = LatePattern(r"\bif (?:so|yes|not)\b|\bin that case\b|\bor not\b", re.IGNORECASE)
_MOST = 3


def split_questions(text: str) -> tuple[str, ...]:
    """The questions of a text, each a text of its own; the text itself where it is one question, or offers choices."""
    if not _FIRST.match(text) or _REFERS_BACK.search(text) or split_choices(text)[1]:
        return (text,)
    parts = [part.strip(" ,") for part in _NEXT.split(text)]
    if not 2 <= len(parts) <= _MOST or any(len(part.split()) < 3 for part in parts):
        return (text,)
    return tuple(part if part.endswith(("?", "？", ".")) else f"{part}?" for part in parts)
