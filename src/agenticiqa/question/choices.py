"""The options of a multiple-choice question: found in its text however written, and recognised in an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from agenticiqa.question.exact_words import normalise
from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.state import UNABLE

_CJK = r"\u3040-\u30ff\u4e00-\u9fff"
_NAME = r"[A-Ha-h]|[0-9]|iii|ii|iv|i|[甲乙丙丁アイウエ]"
_BEFORE = rf"(?:(?<=^)|(?<=[\s,;。:?!>/_\"'(\[{_CJK}]))"
_WORD = r"(?:(?:option|statement|answer|choice|choix|opción|opção|opcao|aussage|选项|選項|選択肢)\s*)?"
# A label stands before its option: "A. Noise", "(B) Blur", "c) JPEG", "D、对比度", "1 = yes", "A - sharp", "a/ crisp".
_LEADING = (
    LatePattern(
        rf"{_BEFORE}{_WORD}['\"]?[(\[]?({_NAME})(?:['\"]?[)\].、:]|['\"]?\s*(?:=|->|→|--?(?=\s)))(?!\d)\s*",
        re.IGNORECASE,
    ),
    # "(A)Noise(B)Blur" and "A.噪声B.模糊" run on without a space between the options.
    LatePattern(r"[(\[]([A-Ha-h])[)\]]\s*|(?<![A-Za-z])([A-H])[.、:]\s*"),
    LatePattern(rf"{_BEFORE}{_WORD}['\"]?([A-Ha-h]|[0-9])['\"]?/\s+"),
    LatePattern(rf"{_BEFORE}{_WORD}([A-H])(?:\s+(?=[^\W\d_])|(?=[{_CJK}]))"),
    LatePattern(rf"{_BEFORE}{_WORD}([0-9])\s+(?=[^\W\d_])(?!(?:to|bis|a|à|or|stars?|out|und|and|et?|y)\b)"),
    # "①很锐 ②尚可" with its circles made plain, and "A(可用) B(需修图)".
    LatePattern(rf"(?:(?<=^)|(?<=[\s,;:]))([0-9])(?=[{_CJK}])"),
    LatePattern(rf"{_BEFORE}([A-H])(?=\()"),
)
# Any letter may stand for an option that is said with it: "U = under, C = correct", "P for properly exposed".
_ANY_NAME = LatePattern(
    rf"{_BEFORE}['\"]?([A-Z]|-?[0-9])['\"]?\s*(?:=|:|for\b|für\b|para\b|pour\b|表示|代表|为|是)\s*(?=\S)"
)
# A label follows its option: "sharp (A) or soft (B)?", "清晰选A,模糊选B". Of bounded length: a long text is looked
# through from each of its characters.
_TRAILING = LatePattern(
    r"(?P<option>[^()\[\],;:?!.\n/]{1,300}?)\s*[(\[](?P<name>[A-Za-z]|[0-9])[)\]]"
    r"(?=\s*(?:[,;/?.!\n]|$|or\b|oder\b|ou?\b|还是|或|それとも|か))"
    r"|(?P<zh>[^,;。?:!\n]{1,16}?)(?:请?[选填回答复说输出按]{1,2})\s*[\"']?(?P<zh_name>[A-Z]|[0-9])[\"']?(?=[,;。\s?]|$)"
)
# What stands before the first option of "Would you say it is sharp or blurry?" and belongs to no option.
_LEAD_IN = LatePattern(
    r"^.*?\b(?:is|are|was|were|it's|that's|looks?|appears?|as|call (?:it|this)|either|between|whether|under|say"
    r"|than|pick|choose|which|(?:do i|i|we) (?:need|have) to|should (?:i|we|it be))\s+"
    r"(?:(?:it|this|that|they|there|(?:the|this|that|my|these|those) (?:\w+ )??\w+|your call|one)\s+)?"
    r"(?:more of (?:a|an) |a case of |either |the |really |just |more |rather )?(?=\w)"
    r"|^.*?(?:ist (?:es|das(?: \w+)?|die \w+|dieses \w+)|está|es|est(?:-elle|-ce|-il)?|é|ficou|se ve)\s+"
    r"(?:(?:la|el|a|o|esta|essa|cette|l') ?\w+ )?(?=\w)"
    r"|^.*?(?:是|属于|算)(?=\S)|^(?:这张|这|画面|照片|图片|图像|片子)+(?:的|看起来)?(?=\S)|^.*?[はが](?=\S)|^¿",
    re.IGNORECASE,
)
# Where the last option of a list ends and the next sentence begins.
_AFTER_LIST = LatePattern(
    r"[.;]\s|。|[?!]|\)\s|,\s*(?=[请請只回答选選三你]|please|letter|which)|\s+(?=番号|記号)|\s[–—-]\s"
)
_EDGES = " \t\n,;。、/|.?!:\"'“”()[]{}"
# "B", "b)", "III. Good" at the head of an answer.
_LABELLED = LatePattern(r"^[(\[（【]?\s*([A-Za-z]{1,4}|\d{1,2})\s*(?:[)\].、,，:：）】]\s*(.*)|)$", re.DOTALL)


Choices = Mapping[str, str] | Sequence[str]
"""Texts by letter, or a list of texts that are lettered in order."""


def lettered(choices: Choices) -> dict[str, str]:
    """Choices by letter, however they were given; ValueError says what is wrong with them.

    >>> lettered(["Yes", "No"])
    {'A': 'Yes', 'B': 'No'}
    """
    if isinstance(choices, Sequence) and not isinstance(choices, str) and len(choices) <= len(ascii_uppercase):
        choices = dict(zip(ascii_uppercase, choices, strict=False))
    if not isinstance(choices, Mapping) or not all(isinstance(text, str) for text in (*choices, *choices.values())):
        raise ValueError(f'must be texts by letter like {{"A": "Yes", "B": "No"}}, or a list, not {choices!r}')
    return dict(choices)


def parted(text: str, mark: str = "|") -> list[str]:
    """The choices of a text like "A. Blur | B. Noise", without letters; those of a table's cell.

    >>> parted("Yes | No")
    ['Yes', 'No']
    """
    return [re.sub(r"^\s*\(?[A-Za-z][.):]\s*", "", part).strip() for part in text.split(mark) if part.strip()]


def choices_by_letter(name: str, given: Any) -> dict[str, str]:
    """At least two different choices by letter, a plain list lettered in order; ValueError says what is wrong.

    `name` is what the message calls them. Two choices that are the same could not be told apart by any answer.
    """
    try:
        found = lettered(given)
    except ValueError as error:
        raise ValueError(f"{name} {error}") from None
    if len(found) < 2:
        raise ValueError(f"{name} must be at least two; leave them out without any")
    seen: dict[str, str] = {}
    for text in found.values():
        plain = " ".join(text.split()).casefold()
        if plain in seen:
            raise ValueError(f"{name} hold {seen[plain]!r} twice; each must differ from the others")
        seen[plain] = text
    return found


# "Option B", "Answer: B", "The answer is (B)", "B - Noise", "B is right".
_ANNOUNCED = LatePattern(
    r"^(?:(?:the\s+)?(?:correct\s+|final\s+)?(?:answer|option|choice)(?:\s+is)?\s*[:=]?\s*)?"
    r"[(\[]?([A-Za-z]|\d)[)\]]?(?:\s*(?:[-–—:]\s+|[.,;)]|is\b|$).*)?$",
    re.IGNORECASE | re.DOTALL,
)


def split_choices(text: str) -> tuple[str, dict[str, str]]:
    """The question without its labelled options, and the options by label; none when fewer than two are found."""
    text = normalise(text)
    if trailing := _trailing(text):
        return trailing
    for pattern in _LEADING:
        labels = _in_sequence(list(pattern.finditer(text)))
        if len(labels) >= 2 and (cut := _cut(text, labels)):
            return cut
    labels = list(_ANY_NAME.finditer(text))
    if _are_names([label.group(1) for label in labels]) and (cut := _cut(text, labels)):
        return cut
    return text, {}


def _are_names(names: Sequence[str]) -> bool:
    """Whether these can be labels: all different, and numbers only without gaps ("1 = good, 5 = bad" is a scale)."""
    if len(names) < 2 or len(set(names)) != len(names):
        return False
    numbers = sorted(int(name) for name in names if name.lstrip("-").isdigit())
    return not numbers or (len(numbers) == len(names) and numbers[-1] - numbers[0] == len(names) - 1)


def _trailing(text: str) -> tuple[str, dict[str, str]] | None:
    found = list(_TRAILING.finditer(text))
    names = [match["name"] or match["zh_name"] for match in found]
    if len(found) < 2 or len(set(names)) != len(names):
        return None
    if found[0].start() == 0 and re.match(r"\s*[(\[]", text):
        return None
    options = [
        _without_lead_in((match["option"] or match["zh"]), is_first=index == 0) for index, match in enumerate(found)
    ]
    stem = text[: found[0].start()].strip(_EDGES) or text
    return (stem, dict(zip((name.upper() for name in names), options, strict=True))) if all(options) else None


def _without_lead_in(option: str, *, is_first: bool) -> str:
    if is_first and (lead := _LEAD_IN.match(option)) and option[lead.end() :].strip(_EDGES):
        option = option[lead.end() :]
    option = re.sub(
        r"^\s*(?:(?:or|oder|ou?|and|as|is it|does it|is)\s+|还是|或者?|若|如果|就|か、)",
        "",
        option,
        flags=re.IGNORECASE,
    )
    return option.strip(_EDGES)


def _in_sequence(labels: list[re.Match[str]]) -> list[re.Match[str]]:
    """The longest run A, B, C … or 1, 2, 3 … or 0, 1, 2 … or i, ii, iii, so that "vitamin A." is no label."""
    best: list[re.Match[str]] = []
    for sequence in ("ABCDEFGH", "123456789", "0123456789", ("I", "II", "III", "IV"), "甲乙丙丁", "アイウエ"):
        run: list[re.Match[str]] = []
        for label in labels:
            if _name(label) == sequence[0]:
                run = []
            if len(run) < len(sequence) and _name(label) == sequence[len(run)]:
                run.append(label)
                best = max(best, list(run), key=len)
    return best


def _name(label: re.Match[str]) -> str:
    return next(group for group in label.groups() if group).upper()


def _cut(text: str, labels: Sequence[re.Match[str]]) -> tuple[str, dict[str, str]] | None:
    ends = [label.start() for label in labels[1:]] + [len(text)]
    options = {
        _name(label): _to_the_end_of_the_list(text[label.end() : end], is_last=end == len(text)).strip(_EDGES)
        for label, end in zip(labels, ends, strict=True)
    }
    options = {
        name: re.sub(r"[,;]?(?:\s+(?:or|and|oder|ou?|y|e|et|und)|还是|或)$", "", option)
        for name, option in options.items()
    }
    if not all(options.values()):
        return None
    stem = text[: labels[0].start()].strip(" \t\n,;/|(-[") or text[labels[-1].end() :].partition(".")[2].strip()
    return stem, options


def _to_the_end_of_the_list(option: str, *, is_last: bool) -> str:
    """The last option without the sentence that follows the list ("Letter only.")."""
    if not is_last:
        return option
    first_line = option.lstrip().split("\n", 1)[0]
    return _AFTER_LIST.split(first_line + " ", maxsplit=1)[0]


def match_choice(answer: str, choices: Mapping[str, str]) -> str:
    """The letter an answer means ("B", "b)", "B. Good" or "Good"); ValueError when it means none of them."""
    text = answer.strip().strip("*\"'` ")
    if text.rstrip(".").casefold() == UNABLE.casefold():
        return UNABLE
    letters = {letter.casefold(): letter for letter in choices}
    for pattern in (_LABELLED, _ANNOUNCED):
        labelled = pattern.match(text)
        if labelled and labelled.group(1).casefold() in letters:
            return letters[labelled.group(1).casefold()]
    for letter, words in choices.items():
        if _plain(words) == _plain(text):
            return letter
    raise ValueError(f"final_answer was {answer!r}; allowed: {', '.join(choices)}")


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(".。!！ ").casefold()
