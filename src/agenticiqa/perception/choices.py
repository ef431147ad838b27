"""The options of a multiple-choice question, found in its text."""

from __future__ import annotations

import re

from agenticiqa.perception.lexicon import normalise

# "A. Noise", "(B) Blur", "c) JPEG", "D、对比度", "1: yes"; a letter is a label only before one of these signs.
_LABEL = re.compile(r"(?:(?<=^)|(?<=[\s,;。，；:：?？!！]))[(\[（【]?([A-Ha-h]|[1-8])[)\].、,，:：）】](?!\d)\s*")
# "(A)Noise(B)Blur" and "A.噪声B.模糊" run on without a space between the options.
_RUN_ON_LABEL = re.compile(r"[(（【\[]([A-Ha-h])[)）】\]]\s*|(?<![A-Za-z])([A-H])[.、:：]\s*")
_SEPARATORS = " \t\n,;，；。、/|"


def split_choices(text: str) -> tuple[str, dict[str, str]]:
    """The question without its options, and the options by label; none when fewer than two are found."""
    text = normalise(text)
    for pattern in (_LABEL, _RUN_ON_LABEL):
        labels = _in_sequence(list(pattern.finditer(text)))
        if len(labels) >= 2:
            return _cut(text, labels)
    return text, {}


def _in_sequence(labels: list[re.Match[str]]) -> list[re.Match[str]]:
    """The longest run A, B, C … or 1, 2, 3 …, so that "vitamin A." is no label."""
    best: list[re.Match[str]] = []
    for first in ("A", "1"):
        run: list[re.Match[str]] = []
        for label in labels:
            if _name(label) == first:
                run = []
            if _name(label) == chr(ord(first) + len(run)):
                run.append(label)
                best = max(best, list(run), key=len)
    return best


def _name(label: re.Match[str]) -> str:
    return next(group for group in label.groups() if group).upper()


def _cut(text: str, labels: list[re.Match[str]]) -> tuple[str, dict[str, str]]:
    ends = [label.start() for label in labels[1:]] + [len(text)]
    options = {
        _name(label): text[label.end() : end].strip(_SEPARATORS).rstrip(".")
        for label, end in zip(labels, ends, strict=True)
    }
    stem = text[: labels[0].start()].strip(_SEPARATORS + "(")
    return (stem, options) if all(options.values()) else (text, {})
