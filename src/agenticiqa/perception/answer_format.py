"""What a question says about the form of its answer, taken out before its meaning is read."""

from __future__ import annotations

import re

_QUOTE = "['\"]?"
_YES_OR_NO = re.compile(
    r"[(\[]?\s*(?:please )?(?:(?:just |only |simply )?(?:answer|reply|respond|say|tell me)"
    r"(?: (?:only|just|simply|with|by|in|using|either|a|simple|me))*:? )?"
    rf"{_QUOTE}\b(?:yes|true|y){_QUOTE}\s*(?:/|\||,? or)\s*{_QUOTE}(?:no|false|n)\b{_QUOTE}"
    r"(?:,? (?:only|please))*[)\]]?"
    r"|[(\[]?(?:请?(?:只|仅)?(?:用|以)?(?:回答|答|选择?)?[:]?)?"
    rf"{_QUOTE}(?:是|有|对){_QUOTE}(?:或者?|还是|/){_QUOTE}(?:否|不是|没有|无|不对|错){_QUOTE}(?:来?(?:回答|作答))?[)\]]?"
)
# "If yes, answer No." and "Say no." tell what to answer; the evidence does.
_DICTATED = re.compile(
    r"\bif (?:so|not|yes|no|true|it is|it does)\b,? (?:then |please |just )*"
    r"(?:answer|say|reply|respond|write|output|return|print|choose)\b[^.?!]*[.?!]?"
    rf"|\b(?:answer|reply|respond|say)(?: (?:only|just|simply|with))* {_QUOTE}(?:yes|no){_QUOTE}(?: only)?(?=[.!?,]|$)"
    rf"|如果(?:是|不是|有|没有),?(?:请|就)?(?:回答|答|说|输出|选)[^。.?!]*|(?:请|就)?(?:回答|答){_QUOTE}(?:是|否|不是){_QUOTE}(?=[。.!?,]|$)"
)
# "模糊不模糊", "清不清晰", "有没有": the verb, its denial, and again the verb ask whether.
_A_NOT_A = re.compile(r"([\u4e00-\u9fff]{1,2})[不没]\1")


def without_answer_format(text: str) -> tuple[str, bool]:
    """The question alone, from normalised lower-case text, and whether a yes or a no was asked for."""
    plain, formats = _YES_OR_NO.subn(" ", text)
    plain, denials = _A_NOT_A.subn(r"\1", _DICTATED.sub(" ", plain))
    return re.sub(r"\s+", " ", plain).strip(" ,;:"), bool(formats or denials)
