"""What a question leaves out: "everything that is wrong except the exposure", "besides the noise"."""

from __future__ import annotations

import re

from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.lexicon import lexicon
from agenticiqa.question.meaning import CATEGORY_OF, Attribute
from agenticiqa.question.reader import read
from agenticiqa.question.text import plain_text
from agenticiqa.state import DistortionCategory

_EXCEPT = LatePattern(
    r",?\s*\b(?:except(?:ing)?(?: for)?|apart from|aside from|besides|other than|but for|not counting|leaving aside"
    r"|außer|ausser|abgesehen von|excepto|aparte de|salvo|à part|sauf|hormis|exceto|além d[eao])\s+"
    r"(?P<what>[^,;.?!。，？]+),?|除了?(?P<zh>[^,;.?!。，？]+?)(?:以外|之外|外|，)[，,]?",
    re.IGNORECASE,
)
# From here on what a lone name stands for is believed.
_SURE = 0.6


def split_exception(text: str) -> tuple[str, tuple[DistortionCategory, ...]]:
    """The question without what it leaves out, and the categories of that; the whole text where it leaves out none."""
    found = _EXCEPT.search(text)
    if found is None:
        return text, ()
    categories = _named(found["what"] or found["zh"])
    rest = f"{text[: found.start()]} {text[found.end() :]}".strip()
    return (re.sub(r"\s+(?=[?.!,])|\s{2,}", "", rest), categories) if categories and rest else (text, ())


def _named(text: str) -> tuple[DistortionCategory, ...]:
    """The categories a few words name."""
    named = [match.meaning.category for match in lexicon().matches(plain_text(text), "distortions")]
    if not named:
        reading = read(text)
        attribute: Attribute = reading.best("attribute")  # type: ignore[assignment]
        sure = reading.sure("attribute") >= _SURE and attribute in CATEGORY_OF
        named = [CATEGORY_OF[attribute]] if sure else []
    return tuple(dict.fromkeys(named))
