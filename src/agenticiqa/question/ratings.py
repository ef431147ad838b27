"""Requests for a rating: plain ones are read exactly, and more is better unless the question says otherwise."""

from __future__ import annotations

from dataclasses import replace

from agenticiqa.question.composition import composed_polarity
from agenticiqa.question.late_pattern import LatePattern
from agenticiqa.question.meaning import Draft
from agenticiqa.question.scales import scale_in
from agenticiqa.question.text import plain_text

_RATE = (
    r"rates?|rating|scores?|scoring|grades?|marks?|assess(?:ment)?|evaluat(?:e|ion)|quality"
    r"|bewerte|bewertung|benote|note|punktzahl|qualität|bildqualität"
    r"|califica|calificación|puntúa|puntuación|valora|nota|calidad"
    r"|notez|évalue[rz]?|qualité|classifi(?:que|ca)|avali[ea]|pontue|pontuação|qualidade"
)
# Words beside the request that add nothing to it: the picture, the scale, politeness.
_BESIDE = (
    r"please|pls|kindly|can|could|would|you|give|tell|show|me|us|a|an|the|this|that|it|its|my|your|of|on|in|for|as|at"
    r"|and|is|are|what|what's|how|to|from|between|out|scale|range|number|numeric\w*|points?|overall|total|visual"
    r"|technical|perceptual|whole|just|only|stars?|percent|image|images?|picture|pictures|photo|photos|photograph|pic"
    r"|pics|shot|frame|snapshot|scan"
    r"|bitte|gib|mir|eine?[nrms]?|das|dies(?:e[ms]?)?|die|der|dem|den|bild(?:e?s)?|foto|fotos|aufnahme|von|bis|auf"
    r"|skala|mit|für|zu|punkten?|sterne|insgesamt"
    r"|por|favor|da|dale|dame|una?|la|el|esta|este|de|del|a|al|sobre|imagen|foto|fotografía|escala|puntos|entre|y"
    r"|s'il|te|vous|plaît|donne|donnez|moi|une|un|cette|ce|l'image|image|le|les|sur|à|et|échelle|points"
    r"|me|dê|uma|um|o|esta|essa|desta|dessa|imagem|até|em|pontos|e|zero|one|ten|hundred"
)
# What a picture has whether it is good or bad: rated without another word, more of the scale is better.
_NEUTRAL = LatePattern(
    r"colou?rs?|contrast|exposure|brightness|lighting|light|white|balance|saturation|sharpness|focus|clarity|details?|tones?"
    r"|reproduction|rendition|rendering|accuracy|farben?|kontrast|belichtung|helligkeit|schärfe|colores|contraste|exposición"
    r"|brillo|nitidez|couleurs?|exposition|luminosité|netteté|cor|cores|exposição|brilho"
)
_CHINESE_NEUTRAL = LatePattern(r"颜色|色彩|对比度|曝光|亮度|清晰度|锐度|色|コントラスト|明るさ|鮮明さ|露出")
# "How is the quality?" and "Is it a quality photo?" are no requests for a number.
_OTHERWISE_UNDERSTOOD = ("yesno", "degree", "open", "advice", "where", "compare", "measure")
_WORD = LatePattern(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_RATING_WORD, _BESIDE_WORD = LatePattern(rf"(?:{_RATE})"), LatePattern(rf"(?:{_BESIDE})")
_IS_IT = LatePattern(r"(?:is|are|does|do)\b")
_CHINESE_RATE = LatePattern(r"打几?分|评几?分|評分|得几?分|多少分|几分|评价|画质|质量|採点|点数|評価")
_CHINESE_BESIDE = LatePattern(
    r"请|麻烦|帮我?|给我?|为|对|用|按|以|从|到|至|在|分|满分|制|之间|内|一个|个|下|这张|这幅|这|该|此|那张|张|幅|的|是|吗|呢|吧"
    r"|图片|图像|照片|相片|画面|图|片子|整体|总体|一下|零|一|五|十|百|你|能|可以|数字"
    r"|この|写真|画像|を|で|から|まで|の|に|して|ください|点|段階|満点|何"
)


def with_rating_direction(question: Draft) -> Draft:
    """The question as a rating of quality where it plainly asks for one; more is better where no word says otherwise.

    A reader that learnt from phrasings guesses which end of a scale is the good one; a request that names no flaw
    leaves nothing to guess.
    """
    if question.intent == "choose":
        return question
    understood = question.intent in _OTHERWISE_UNDERSTOOD and question.scale is None
    if not understood and is_plain_request(question.stem):
        return replace(
            question, intent="score", attribute="overall", yes_means="fine", form="number", doubts=(), kind=None,
            scale=scale_in(question.text), confidence=1.0,
        )  # fmt: skip
    rates = question.intent == "score" or (question.intent == "unclear" and question.doubts == ("polarity",))
    of_all = question.attribute == "overall" and question.scale and not _names_a_side(question)
    if rates and (of_all or _rates_something_neutral(question.stem)):
        return replace(question, intent="score", yes_means="fine", doubts=())
    return question


def is_plain_request(text: str) -> bool:
    """Whether a text asks for a rating of the picture and says nothing else: "Rate it out of 100", "score?"."""
    asks, rest = _request_in(plain_text(text))
    return asks and not rest


def _rates_something_neutral(text: str) -> bool:
    """Whether a text asks for a rating of something neither good nor bad, and says nothing else: "Rate the colors"."""
    plain = plain_text(text)
    asks, rest = _request_in(_CHINESE_NEUTRAL.sub(" ", plain))
    named = bool(rest) or bool(_CHINESE_NEUTRAL.search(plain))
    return asks and named and all(_NEUTRAL.fullmatch(word) for word in rest)


def _request_in(plain: str) -> tuple[bool, list[str]]:
    """Whether a text asks for a rating, and its words that are neither for that nor beside it."""
    words = _WORD.findall(_without_chinese(plain))
    asks = any(_RATING_WORD.fullmatch(word) for word in words) or bool(_CHINESE_RATE.search(plain))
    rest = [word for word in words if not _RATING_WORD.fullmatch(word) and not _BESIDE_WORD.fullmatch(word)]
    return asks and not _IS_IT.match(plain), rest


def _without_chinese(plain: str) -> str:
    """The text without the Chinese and Japanese words of a plain request; a space is left in their place."""
    if plain.isascii():
        return plain
    return _CHINESE_BESIDE.sub(" ", _CHINESE_RATE.sub(" ", plain))


def _names_a_side(question: Draft) -> bool:
    """Whether some word of the question is for a flaw, so that more of it may be worse."""
    return composed_polarity(question.stem, question.language) > 0
