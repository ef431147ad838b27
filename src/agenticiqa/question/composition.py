"""The polarity of a yes/no question composed from its words: the sign of its head, turned by each negation in scope."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from importlib import resources
from typing import Literal

import yaml

from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.text import Language, plain_text

_CLAUSE = LatePattern(r"[.?!;:。,\n]|(?<!anything)(?<!all) but | - ")
# "Is the dog blurry?" is about the picture, whatever the dog does.
_ONLY_PICTURES = LatePattern(
    r"\bblur\w*|\bout of focus|\bin focus|\bgrainy|\bover-?expos\w*|\bunder-?expos\w*|\bpixelat\w*|\bjpe?g\b"
    r"|模糊|噪点|过曝|欠曝|对焦|失焦|unscharf|verrauscht|belichtet|borros\w|desenfoc\w|\bfloue?s?\b|desfocad|ぼけ|ボケ|ノイズ"
)
# The side of a picture, not what is correct: "the right side", "bottom right", "on the right".
_RIGHT_SIDE = LatePattern(
    r"\bright(?=[- ](?:(?:hand|side|half|part|edge|corner|border|margin|third|quarter|quadrant|region|area|portion|end"
    r"|section|top|bottom|upper|lower|eye|ear|arm|leg|foot|shoulder|cheek)s?|of (?:the|this|it|him|her|them|my))\b)"
    r"|(?P<before>\b(?:top|upper|lower|bottom|far|from the)[- ])right\b"
    r"|(?P<on>\b(?:on|to|at|in) the )right(?= *(?:[?.,;:!)]|$|(?:is|are|too|so|looks?|and|or)\b))",
    re.IGNORECASE,
)
# "糊不糊" asks what "糊" asks.
_A_NOT_A = LatePattern(r"(.{1,2})不\1")


class _Words:
    """The groups of words of one language, each compiled when it is first looked for."""

    def __init__(self, language: Language, groups: dict[str, dict[str, str]]) -> None:
        self._language = language
        self._groups = groups
        self._whole = "(?:{})" if language in ("zh", "ja") else r"(?<![\w'])(?:{})(?!\w)"

    @cached_property
    def flaw(self) -> re.Pattern[str]:
        return self._pattern("flaw", self._language, self._whole, inflected=True)

    @cached_property
    def fine(self) -> re.Pattern[str]:
        return self._pattern("fine", self._language, self._whole, inflected=True)

    @cached_property
    def negation(self) -> re.Pattern[str]:
        return self._pattern("negations", self._language, self._whole)

    @cached_property
    def no_denial(self) -> re.Pattern[str]:
        return self._pattern("not_denials", self._language)

    @cached_property
    def turning(self) -> re.Pattern[str]:
        return self._pattern("turning", "any")

    @cached_property
    def tag(self) -> re.Pattern[str]:
        return self._pattern("tags", "any")

    @cached_property
    def aside(self) -> re.Pattern[str]:
        return self._pattern("asides", "any")

    @cached_property
    def subject(self) -> re.Pattern[str]:
        return self._pattern("subjects", self._language, self._whole)

    @cached_property
    def generality(self) -> re.Pattern[str]:
        return self._pattern("generalities", self._language, self._whole)

    def _pattern(self, group: str, language: str, form: str = "{}", *, inflected: bool = False) -> re.Pattern[str]:
        words = self._groups[group][language].replace("| ", "|")
        if inflected and language in _INFLECTED:
            plain, endings = _INFLECTED[language]
            words = "|".join(plain.sub(endings, word) for word in words.split("|"))
        return re.compile(form.format(words), re.IGNORECASE)


# Where a listed word may end otherwise: Spanish and Portuguese by gender and number, German before a noun.
_INFLECTED = {
    "es": (LatePattern(r"^([^()\[\]?*\\]{3,})(?:[ao]|\[(?:ao|oa)\])$"), r"\1[ao]s?"),
    "pt": (LatePattern(r"^([^()\[\]?*\\]{3,})(?:[ao]|\[(?:ao|oa)\])$"), r"\1[ao]s?"),
    "de": (LatePattern(r"^([^()\[\]?*\\]{3,}[^e()\[\]?*\\])$"), r"\1(?:e[mnrs]?)?"),
}


def composed_polarity(text: str, language: Language) -> float:
    """1 when "yes" means that the flaw is there, -1 when it means that all is well, 0 when nothing tells.

    Half of that where the clauses of the text disagree.
    """
    words = _words(language)
    plain = plain_text(with_other_side(text))
    if language == "zh":
        plain = _A_NOT_A.sub(r"\1", plain)
    plain = words.no_denial.sub(" ", plain)
    clauses = [clause for clause in _CLAUSE.split(plain) if not words.tag.fullmatch(clause.strip(" '\""))]
    votes = [vote for clause in clauses if (vote := _vote(clause, words))]
    if not votes:
        return 0.0
    # Where clauses disagree the last one is the question.
    sign = -votes[-1] if words.turning.search(plain) else votes[-1]
    return float(sign) if len(set(votes)) == 1 else sign / 2


def with_other_side(text: str) -> str:
    """The text with the right side called the left one: a side that sounds like praise turns no question."""
    return _RIGHT_SIDE.sub(lambda side: f"{side['before'] or side['on'] or ''}left", text)


# A sentence that judges what another one says: "Am I wrong?", "Agree?", "Is she right?".
_JUDGES = LatePattern(
    r"\b(?:wrong|right|true|false|agree\w*|disagree\w*|correct|mistaken|lie|lying|lied|yes|say no|if|imagin\w+|object"
    r"|deny|doubt|sign|is (?:it|she|he|that|this|there)|does|do you|would you|can you|recht|falsch|wahr|stimm\w+"
    r"|raz[oó]n|equivoc\w+|verdad|raison|tort|vrai|faux|certo|errado|verdade|concord\w+)\b"
    r"|[对错是否]|同意|属实|认同|正し|間違|合って|同意|本当|です"
)


def asking_part(text: str, language: Language) -> str:
    """The text without the sentences around the question that neither name quality nor judge what is said."""
    words = _words(language)
    sentences = re.findall(r"[^.?!。\n]+[.?!。\n]*", plain_text(text))
    about = [
        bool(words.flaw.search(each) or words.subject.search(each) or words.fine.search(each)) for each in sentences
    ]
    if len(sentences) < 2 or not any(about):
        return text
    kept = [each for each, is_about in zip(sentences, about, strict=True) if is_about or _JUDGES.search(each)]
    return "".join(kept).strip()


# Parts of a text, each with the sign that ends it; a capital may begin a sentence after a forgotten full stop.
_PART = LatePattern(r"[^.?!。,;:\n]+(?:[.?!。,;:\n]+|$)")
_NEW_SENTENCE = LatePattern(
    r"(?<=[\w)\"'%*]) (?=(?:Do not|Don't|No|Not|Never|Nothing|Without|I|I'm|I've|We)\b"
    r"|(?:(?:do not|don'?t|no|without) (?:any |further )?(?:expla[in]\w+|comments?|other text|reasons?|justif\w+))\b)"
)
_TAG = LatePattern(
    r"(?:would|do|does|did|is|are|was|can|could|have|has|will|am) (?:not'? )?(?:you|it|they|i|he|she|we|there)\W*"
)
_LINKED = LatePattern(r"^(?:but|so|and|therefore)\b,? *", re.IGNORECASE)
_ASIDE_NEGATED = LatePattern(
    r"\b(?:not|no|never|nothing|nobody|without|cannot|keine?|nicht|nichts|ohne|sin|ni|sans|pas|sem|não|nem)\b"
    r"|[不没无無別别]|ない|ません|しないで|素人"
)


def without_asides(text: str) -> str:
    """The text without remarks that deny something beside the question ("I'm no expert, but …", "Do not explain.").

    A part is such a remark if it asks nothing, denies something, is worded like one and names nothing of quality:
    what it denies can then never turn the question's answer.
    """
    parts = [part for line in _NEW_SENTENCE.split(text) for part in _PART.findall(line)]
    kept = [part for part in parts if not _is_aside(part)]
    if len(kept) == len(parts) or not _asks_something(" ".join(kept)):
        return text
    first = kept[0].strip()
    kept[0] = first if parts[0] == kept[0] else _LINKED.sub("", first, count=1)
    return " ".join(part.strip() for part in kept).rstrip(",;: ")


def _asks_something(text: str) -> bool:
    """Whether a text is more than a tag such as "would you?"."""
    return bool(text.strip()) and not _TAG.fullmatch(plain_text(text))


def _is_aside(part: str) -> bool:
    plain = plain_text(part).rstrip(".!,;:\n ")
    if "?" in plain or not _words("en").aside.fullmatch(plain) or not _ASIDE_NEGATED.search(plain):
        return False
    return not (_names_quality(plain) or _JUDGES.search(plain))


def _names_quality(plain: str) -> bool:
    words = _words("en")
    return bool(words.flaw.search(plain) or words.subject.search(plain) or words.fine.search(plain))


def topic_of(text: str, language: Language) -> Literal["flaw", "quality", "picture", "other"]:
    """Whether a text names a flaw only pictures have, something of quality, at least a picture, or none of these."""
    words, plain = _words(language), plain_text(text)
    if _ONLY_PICTURES.search(plain):
        return "flaw"
    if words.subject.search(plain) or words.flaw.search(plain):
        return "quality"
    return "picture" if words.generality.search(plain) or words.fine.search(plain) else "other"


def _vote(clause: str, words: _Words) -> int:
    """The sign of a clause's last head word, turned once for each negation beside it; 0 without a head."""
    heads = [(*match.span(), 1) for match in words.flaw.finditer(clause)]
    heads += [(*match.span(), -1) for match in words.fine.finditer(clause)]
    heads = _outermost(heads)
    if not heads:
        return 0
    inside = [match for match in words.negation.finditer(clause) if any(s <= match.start() < e for s, e, _ in heads)]
    negations = len(list(words.negation.finditer(clause))) - len(inside)
    sign = heads[-1][2]
    return -sign if negations % 2 else sign


def _outermost(heads: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The heads in their order, without those that a longer one holds, as "not sharp" holds "sharp"."""
    found, farthest = [], (-1, 0)
    for start, end, sign in sorted(heads, key=lambda head: (head[0], -head[1], head[2])):
        if (end, -start) >= farthest:
            found.append((start, end, sign))
        farthest = max(farthest, (end, -start))
    return found


@lru_cache(maxsize=8)
def _words(language: Language) -> _Words:
    file = resources.files("agenticiqa.question").joinpath("composition.yaml")
    data = yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return _Words(language, data)
