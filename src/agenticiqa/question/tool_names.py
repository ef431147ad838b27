"""The IQA tool a question asks for by name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agenticiqa.question.lexicon import Lexicon, lexicon

_REFUSED = re.compile(r"(?:not|n't|never|without|不要?|别)\s*(?:use|using|使用|用)?\s*(?:the\s+)?$", re.IGNORECASE)
_LIKE_A_TOOL = re.compile(r"[A-Z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*[A-Z0-9][A-Za-z0-9]*")
_SUFFIXED = re.compile(r"_(?:FR|NR)$")


def named_tool(text: str, available: Iterable[str] = ()) -> str | None:
    """The tool named in the question, in the spelling of the available ones; unknown names come back as written."""
    words = lexicon()
    names = list(dict.fromkeys([*available, *words.tools]))
    letters = _letters(text)
    for name in sorted(names, key=len, reverse=True):
        # A pattern takes a millisecond to compile, and hardly any question names a tool.
        if _letters(name) not in letters:
            continue
        for match in _spellings(name).finditer(text):
            if _is_meant(name, match, text, words):
                return name
    return _shortened(text, names, words) or _unknown(text, words)


def _is_meant(name: str, match: re.Match[str], text: str, words: Lexicon) -> bool:
    before = text[: match.start()]
    if _REFUSED.search(before):
        return False
    if _is_a_distortion(name, words):
        return match.group() == name or "_" in match.group()
    if name not in words.tools_that_are_words:
        return True
    return match.group() == name or bool(words.tool_requests.search(before))


def _is_a_distortion(name: str, words: Lexicon) -> bool:
    """Whether the name is also what people call a distortion: "how is the contrast?" asks for no tool CONTRAST."""
    return bool(words.matches(name.lower().replace("_", " "), "distortions"))


def _letters(text: str) -> str:
    """The text without what may stand between the letters of a name, in one case."""
    return re.sub(r"[-_ ]", "", text).casefold()


def _spellings(name: str) -> re.Pattern[str]:
    """The name with hyphens, underscores or a space where people put them: "MS-SSIM", "Q-Align", "topiq fr"."""
    letters = [re.escape(letter) for letter in re.sub(r"[_-]", "", name)]
    gaps = [i for i, letter in enumerate(re.sub(r"-", "_", name)) if letter == "_"]
    spaced = {position - shift for shift, position in enumerate(gaps)}
    pattern = "".join(("[-_ ]?" if i in spaced else "[-_]?" if i else "") + letter for i, letter in enumerate(letters))
    return re.compile(f"(?<![A-Za-z0-9_-]){pattern}(?![A-Za-z0-9])(?![-_][A-Za-z0-9])", re.IGNORECASE)


def _shortened(text: str, names: list[str], words: Lexicon) -> str | None:
    """ "TOPIQ" for TOPIQ_FR: the first of the two that the list has."""
    for name in names:
        short = _SUFFIXED.sub("", name)
        if short != name and short != "AIQA" and _letters(short) in _letters(text):
            for match in _spellings(short).finditer(text):
                if _is_meant(short, match, text, words):
                    return name
    return None


def _unknown(text: str, words: Lexicon) -> str | None:
    for match in _LIKE_A_TOOL.finditer(text):
        before = text[: match.start()]
        if words.tool_requests.search(before) and not _REFUSED.search(before) and match.group() not in words.not_tools:
            return match.group()
    return None
