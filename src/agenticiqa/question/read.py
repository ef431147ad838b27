"""Reading a question once: from its text and choices to one of the kinds of `asked.py`.

The learned reader says what each part means; exact grammar finds labelled choices, numbers, tools and colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, cast

from agenticiqa.question.asked import (
    DEFAULT_QUERY,
    Advice,
    Allowed,
    Choose,
    Compare,
    Conditions,
    Declined,
    Degree,
    Fact,
    Flaw,
    JsonReply,
    Measure,
    Open,
    OptionMeaning,
    Question,
    Reply,
    Score,
    Tint,
    Topic,
    Use,
    Where,
    YesNo,
)
from agenticiqa.question.choices import Choices, lettered, split_choices
from agenticiqa.question.exact_words import (
    AMOUNTS,
    asks_for_absent,
    categories_made_plain,
    grey_or_colour,
    json_key,
    left_out,
    named_tool,
    names_pixels,
    normalise,
    per_inch,
    print_inches,
    tints_in,
    unmeasured_in,
    written_language,
)
from agenticiqa.question.model import Reading, read
from agenticiqa.question.object_words import object_called, place_named, sides_in, subject_of, things_in
from agenticiqa.question.scales import Scale, ScaleEnd, ends_said, scale_in
from agenticiqa.state import AgenticIQAState, DistortionCategory, canonical_category
from agenticiqa.values import CATEGORY_OF, Attribute, Language, Polarity

# Chosen on held-out rows by `training.reader.thresholds`: of 240 yes/no questions 7 are read the other way round and 36
# left open; of what is about quality .6 % is declined, of what is not 71 %.
SURE_POLARITY = 0.95
LIKELY_NOT_ABOUT_QUALITY = 0.12
SURELY = 0.97
SURE_INTENT = 0.4
SURELY_NAMED = 0.8
SURE_PRAISE = 0.8
LIKELY_PRAISE = 0.6
SURE_OPTION = 0.5
SURELY_JOINED, FAINTLY = 0.9, 0.2
# Of a question with choices one is right, so it takes more to decline it.
SURELY_NO_CHOICE = 0.7

_KINDS: dict[str, tuple[Attribute, str]] = {
    "defocus": ("blur", "defocus_blur"), "motion": ("blur", "motion_blur"), "chroma_noise": ("noise", "chroma_noise"),
    "blocks": ("compression", "jpeg"), "banding": ("compression", "banding"), "flat": ("contrast", "contrast_down"),
    "haze": ("contrast", "contrast_down"), "harsh": ("contrast", "contrast_up"), "cast": ("colour", "color_cast"),
    "oversaturated": ("colour", "saturation_up"), "dull": ("colour", "saturation_down"),
}  # fmt: skip
_READINGS: dict[Attribute, tuple[str, ...]] = {
    "blur": ("blur radius",), "noise": ("noise sigma",), "compression": ("JPEG quality",),
    "dark": ("mean brightness", "clipped shadows"), "bright": ("clipped highlights", "mean brightness"),
    "exposure": ("mean brightness",), "contrast": ("contrast",), "colour": ("saturation",),
}  # fmt: skip
_LEVELS = {"excellent": 5.0, "good": 4.0, "fair": 3.0, "poor": 2.0, "bad": 1.0}
_SEVERITIES = {"none": 0.0, "slight": 1.0, "moderate": 2.0, "severe": 3.0, "extreme": 4.0}
_PRAISE = ("fine", "good", "excellent", "none", "none_of_these")
_ENDS: dict[Attribute, tuple[ScaleEnd, ScaleEnd]] = {
    "exposure": ("dark", "bright"), "dark": ("dark", "bright"), "bright": ("dark", "bright"),
    "contrast": ("contrast_down", "contrast_up"), "colour": ("saturation_down", "saturation_up"),
    "blur": ("blur", "oversharp"), "oversharp": ("blur", "oversharp"),
}  # fmt: skip
_OF_EVERYTHING = ("open", "advice", "yesno", "score")
_ASKED_TOGETHER = ("yesno", "degree", "open", "where", "advice", "measure")
# Where a second question begins: after a question mark, or after "and" before a verb.
_NEXT = re.compile(r"(?<=[?？])\s*|,? (?:and|but)(?: also)? (?=(?:is|are|was|were|does|do|has|have|how|what|where) )")
_OR_NOT = re.compile(
    r"\bor (?:is it |are they |isn't it |rather )?not\b|\boder nicht\b|\bo no\b|\bou (?:non|pas|não)\b"
    r"|还是不|还是没有?|かどうか|否か",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？]$|^(?:is|are|was|were|does|has|have|how|what|where|why) ", re.IGNORECASE)


def question_of(state: AgenticIQAState, tools: Iterable[str] = ()) -> Question:
    """The question of a run: the one the state holds, else the one its query and choices ask."""
    known: Question | None = state.get("question")
    return read_question(state["query"], state.get("choices"), tools) if known is None else known


def read_question(query: str, choices: Choices | None = None, tools: Iterable[str] = ()) -> Question:
    """The question in a text; choices given as data win over those written in it, tools are names it may speak of."""
    if query == DEFAULT_QUERY and not choices:
        return Score(Topic(), Reply(form="number"))  # of whoever asks nothing no word is read
    text = normalise(query)
    stem, written = split_choices(text)
    labelled = {label: normalise(option) for label, option in (lettered(choices) if choices else written).items()}
    if not labelled and (parts := _asked_together(text)):
        named = [part.topic.scope for part in parts]
        scope = tuple(dict.fromkeys(name for names in named for name in names)) if all(named) else ()
        return Open(Topic(scope=scope, reference=parts[0].topic.reference), Reply(parts[0].reply.language), parts)
    return _Asked(text, stem if labelled else text, labelled, tools).value()


def _asked_together(text: str) -> tuple[Question, ...]:
    """The questions of a text that asks several things, each of which is understood; none for a single one."""
    texts = [part.strip(" ,") for part in _NEXT.split(text) if part.strip(" ,")]
    if not 2 <= len(texts) <= 3 or not all(
        _ASKS.search(part) and (len(part.split()) > 2 or len(part) > 7) for part in texts
    ):
        return ()
    readings = [read(part) for part in texts]
    if any(each.best("intent") not in _ASKED_TOGETHER or each.sure("intent") < 0.7 for each in readings):
        return ()
    asked = tuple(_Asked(part, part, {}, ()).value() for part in texts)
    different = {(type(each), each.topic.flaw.attribute, each.topic.scope) for each in asked}
    return asked if len(different) == len(asked) and not any(isinstance(each, Declined) for each in asked) else ()


class _Asked:
    """One question while it is put together from what was read."""

    def __init__(self, text: str, stem: str, labelled: dict[str, str], tools: Iterable[str]) -> None:
        rest, without = (stem, None) if labelled else left_out(text)
        self.text, self.stem, self.labelled = text, stem, labelled
        self.reading = read(categories_made_plain(text))
        self.excepted: tuple[DistortionCategory, ...] = ()
        if without and (excepted := _categories(read(without, option=True))):
            self.reading, self.excepted = read(rest), excepted
        self.tool = named_tool(stem, tools, may_be_unknown=self.reading.best("intent") != "yesno")
        self.language = written_language(text, cast(Language, self.reading.best("language")))
        self.attributes = ("overall",) if self.excepted else _attributes(self.reading)

    def value(self) -> Question:
        """The question as one of the kinds."""
        options = self.labelled
        # "True or false: …" and "… or not?" offer no alternatives but a yes and a no.
        no_choice = {"true", "agree"} & set(self.reading.several("flags")) or _OR_NOT.search(self.text)
        offers = self.reading.best("intent") in ("choose", "compare")
        if not options and not no_choice and offers:
            offered = self.reading.offered
            options = {option: option for option in offered} if len(offered) > 1 else {}
        meanings = {label: read_option(text, self.attributes[0]) for label, text in options.items()}
        if not self.labelled and all(meaning.truth is not None for meaning in meanings.values()):
            options, meanings = {}, {}
        # "Which is sharper, the face or the background?" asks for one of two places.
        things = [name for text in options.values() for name in things_in(text)]
        if options and not self.labelled and all(place_named(name) or object_called(name) for name in things):
            if not set(things) <= {"left", "right"}:
                topic = replace(self._topic("where"), scope=tuple(things))
                return self._where(topic, self._reply("where", labelled=False))
            options = {}
        if not self.labelled and self.reading.best("intent") == "compare":
            options = {}
        intent = self._intent(has_options=bool(options))
        topic, polarity = self._topic(intent), self._polarity()
        reply = self._reply(intent, labelled=bool(self.labelled))
        match intent:
            case "yesno" if topic.flaw.attribute in ("resolution", "overall") and names_pixels(self.stem):
                return Measure(topic, replace(reply, form="sentence"), fact="size")
            case "yesno":
                return self._yes_or_no(topic, reply)
            case "choose":
                meanings = _in_their_light(meanings, options)
                if topic.reference == "refused" and any(meaning.relation for meaning in meanings.values()):
                    # Who offers "better" and "worse" wants to know than what.
                    topic = replace(topic, reference="wanted")
                of_truths = any(meaning.truth is not None for meaning in meanings.values())
                # One of the choices has to be named: the likelier meaning of a yes decides.
                stance = cast(Polarity, read(self.stem).best("yes_means")) if of_truths else polarity
                absent = self.reading.best("which") == "absent" or asks_for_absent(self.stem)
                return Choose(topic, reply, stance, meanings, self._allowed(), absent)
            case "degree":
                return Degree(topic, reply, polarity, self._scale())
            case "score":
                scale = self._scale()
                return Score(topic, reply, self._high_means(scale) or polarity, scale)
            case "compare":
                return self._compare(topic, reply, polarity)
            case "where":
                return self._where(topic, reply)
            case "measure":
                return self._measure(topic, reply)
            case "advice":
                return Advice(topic, reply)
            case "declined" | "unclear":
                told: Literal["content", "unclear"] = "content" if intent == "declined" else "unclear"
                return Declined(topic, reply, told, doubts=() if intent == "declined" else ("intent",))
            case _:
                return Open(topic, reply)

    def _intent(self, *, has_options: bool) -> str:
        likely = dict(self.reading.probabilities["intent"])
        if has_options:
            return "declined" if likely["declined"] > SURELY_NO_CHOICE else "choose"
        if self.tool:
            return "score" if likely["score"] >= likely["measure"] else "measure"
        # A thing may be sharp itself or in its picture: where both are likely it is the picture that is asked about.
        about_else = max(likely, key=likely.__getitem__) == "declined" and not self.excepted
        if about_else and not_about_quality(self.reading) > LIKELY_NOT_ABOUT_QUALITY:
            return "declined"
        rest = {intent: p for intent, p in likely.items() if intent not in ("declined", "choose")}
        best = max(rest, key=rest.__getitem__)
        return best if rest[best] >= SURE_INTENT * sum(rest.values()) else "unclear"

    def _topic(self, intent: str) -> Topic:
        if intent in ("declined", "unclear"):
            return Topic(Flaw("none" if intent == "declined" else self.attributes[0]))
        light = self.attributes[0] in ("dark", "bright", "exposure")
        names = [name for words in self.reading.named for name in things_in(words)]
        plain = subject_of(self.stem)
        names = [*plain, *(name for name in names if not any(name in each or each in name for each in plain))]
        # "Which image is sharper, left or right?" speaks of two pictures.
        of_places = intent == "where" or (intent == "compare" and self.reading.best("which") == "-")
        if of_places and len(sides := sides_in(self.stem)) > 1 and len(names) < 2:
            names = list(sides)
        # Shadows and highlights are no things that could be located.
        scope = () if light and self._kind() in ("clipped", "crushed") else tuple(dict.fromkeys(names))
        reference = self.reading.best("reference")
        return Topic(
            flaw=self._flaw(self.attributes[0]),
            scope=scope,
            excepted=self.excepted,
            tool=self.tool,
            reference=cast('Literal["wanted", "refused"]', reference) if reference != "-" else None,
            as_fault="fault" in self.reading.several("flags"),
            use=self._use(),
        )

    def _flaw(self, attribute: Attribute) -> Flaw:
        of, kind = _KINDS.get(self._kind(), (None, None))
        if attribute == "colour" and kind in (None, "color_cast"):
            # The color of a thing that is named is none of a cast.
            rest = self.stem
            for name in self.reading.named:
                rest = rest.replace(name, " ")
            tints = cast("tuple[Tint, ...]", tints_in(rest))
            return Flaw(attribute, "color_cast" if tints else kind, tints)
        return Flaw(attribute, kind if of == attribute else None)

    def _kind(self) -> str:
        return self.reading.best("kind") if self.reading.sure("kind") > 0.5 else "-"

    def _use(self) -> Use | None:
        use = self.reading.best("use")
        if use == "-":
            return None
        if use in ("web", "passport"):
            return Use(cast('Literal["web", "passport"]', use))
        return Use("print", print_inches(self.text), per_inch(self.text))

    def _reply(self, intent: str, *, labelled: bool) -> Reply:
        flags, which = self.reading.several("flags"), self.reading.best("which")
        is_json = "json" in self.text.lower()
        forms = {"yesno": "yesno", "score": "number", "choose": "letter" if labelled else "word"}
        form = forms.get(intent, "sentence")
        if intent == "degree" and self._scale():
            form = "number"
        if intent == "compare" and self.reading.best("by") != "what":
            form = "word" if which != "-" else "yesno"
        return Reply(
            language=self.language,
            form=cast(Any, "json" if is_json else form),
            words="agree" if "agree" in flags else "true" if "true" in flags and not is_json else "yes",
            bare="bare" in flags,
            json=JsonReply(json_key(self.text), "true" in flags or "bool" in self.text.lower()) if is_json else None,
            which=cast('Literal["any", "most", "least"]', which) if which in ("any", "most", "least") else None,
            choices=self.labelled if labelled else {},
        )

    def _yes_or_no(self, topic: Topic, reply: Reply) -> YesNo:
        likely = self.reading.probabilities["yes_means"]
        joined, conditions = self.reading.best("joined"), None
        if joined not in ("one", "except") and len(self.attributes) > 1:
            conditions = Conditions(cast(Any, joined), tuple(self._flaw(name) for name in self.attributes))
        part = self.reading.best("part") if topic.flaw.attribute == "blur" else "-"
        if part != "-":
            # "Everything" and "any part" are the whole picture.
            topic = replace(
                topic, scope=tuple(name for name in topic.scope if place_named(name) or object_called(name))
            )
            part = "-" if topic.scope else part
        return YesNo(
            topic,
            reply,
            self._yes_means(self.reading),
            self._allowed(),
            cast('Literal["all", "any"]', part) if part != "-" else None,
            self._limit(topic),
            max(likely.values()),
            conditions,
        )

    def _yes_means(self, reading: Reading) -> Polarity | None:
        return cast(Polarity, reading.best("yes_means")) if reading.sure("yes_means") >= SURE_POLARITY else None

    def _allowed(self) -> Allowed:
        return cast(Allowed, self.reading.best("limit"))

    def _limit(self, topic: Topic) -> str | float | None:
        """What is measured to decide a yes or no: a share of clipped pixels, or the pixels of a print."""
        if topic.flaw.attribute in ("dark", "bright", "exposure") and self._kind() in ("clipped", "crushed"):
            return "clipped shadows" if self._kind() == "crushed" else "clipped highlights"
        if topic.use is not None and topic.use.purpose == "print" and topic.flaw.attribute in ("overall", "blur"):
            return topic.use.inches
        return None

    def _polarity(self) -> Polarity | None:
        """What more of it says; of the quality as a whole more is better unless that is sure to be meant otherwise."""
        high, sure = self.reading.best("high_means"), self.reading.sure("high_means")
        if self.attributes[0] == "overall" and sure < SURELY:
            return "fine"
        return None if high == "centred" else cast(Polarity, high)

    def _scale(self) -> Scale | None:
        scale = scale_in(self.text)
        if scale is None:
            return None
        if (scale.low < 0 < scale.high or self.reading.best("high_means") == "centred") and (
            ends := _ENDS.get(self.attributes[0])
        ):
            low, _ = (
                _attributes(read(words, option=True))[0] if words else None for words in ends_said(self.text, scale)
            )
            tints = tints_in(self.stem)
            if self.attributes[0] == "colour" and len(tints) >= 2:
                ends = cast(
                    "tuple[ScaleEnd, ScaleEnd]", ("cold", "warm") if {"cold", "warm"} <= set(tints) else tints[:2]
                )
            return replace(scale, ends=(ends[1], ends[0]) if low == "bright" else ends)
        return scale

    def _high_means(self, scale: Scale | None) -> Polarity | None:
        """What a high number says, where the ends of the scale are called something good and something bad."""
        if scale is None or scale.ends:
            return None
        low, high = (_praise(words) for words in ends_said(self.text, scale))
        if low == high or (low is None and high is None):
            return None
        return high or ("flaw" if low == "fine" else "fine")

    def _compare(self, topic: Topic, reply: Reply, polarity: Polarity | None) -> Question:
        by, which = (self.reading.best(head) for head in ("by", "which"))
        if len(topic.scope) >= 2 and topic.reference != "wanted":
            if which != "-":
                return self._where(topic, reply)
            return Compare(topic, reply, polarity, "more", (topic.scope[0], topic.scope[1]))
        topic = replace(topic, reference=topic.reference or "wanted")
        is_asked = self.reading.probabilities["beside"]["reference"] > SURELY
        between: Literal["test", "reference"] = "reference" if is_asked else "test"
        return Compare(topic, reply, polarity, cast(Any, by if by != "-" else "more"), between, which != "-")

    def _where(self, topic: Topic, reply: Reply) -> Where:
        """ "Which side is sharper?" and "Where is it sharp?" want the place with the least of a flaw."""
        praises = self.reading.probabilities["high_means"]["fine"] > SURE_PRAISE
        least = praises or self.reading.best("which") == "least"
        return Where(topic, replace(reply, which="least") if least and reply.which else reply, least)

    def _measure(self, topic: Topic, reply: Reply) -> Question:
        fact = self.reading.best("fact")
        if fact == "-" and self.attributes[0] == "colour" and self.reading.sure("fact") < SURELY:
            fact = "tint"  # what is wanted of a color is seldom a number
        if self.tool:
            return Measure(topic, reply, "fine")
        if fact == "unmeasured":
            return Declined(Topic(), reply, "unmeasured", unmeasured_in(self.text))
        if fact != "-":
            polarity = {"grey": "flaw", "colour": "fine"}.get(grey_or_colour(self.text) if fact == "grey" else "")
            return Measure(topic, reply, cast("Polarity | None", polarity), fact=cast(Fact, fact))
        # A number is measured of something, however faintly it is named.
        likeliest = cast(Attribute, self.reading.best("attributes"))
        named = self.attributes if self.attributes[0] in _READINGS else (likeliest,)
        names = [(CATEGORY_OF[each], name) for each in named for name in _READINGS.get(each, ())]
        if self._kind() in ("clipped", "crushed"):
            names.sort(key=lambda each: not each[1].startswith("clipped"))
        return Measure(topic, reply, readings=tuple(names))


def not_about_quality(reading: Reading) -> float:
    """How likely a question is about something else: the surer a flaw or the quality as a whole is named, the less."""
    return reading.probabilities["intent"]["declined"] * (1.0 - max(reading.probabilities["attributes"].values()))


def _attributes(reading: Reading) -> tuple[Attribute, ...]:
    """What a text is about: all that is likelier than not, else the likeliest; of everything where nothing is named."""
    likeliest = reading.best("attributes") if reading.best("intent") in ("yesno", "degree") else "overall"
    if reading.best("joined") not in ("one", "except") and reading.sure("joined") > SURELY_JOINED:
        # Several things are asked about, though some of them may be heard faintly.
        likely = {
            name: p for name, p in reading.probabilities["attributes"].items() if name != "overall" and p > FAINTLY
        }
        if len(likely) > 1:
            return cast("tuple[Attribute, ...]", tuple(sorted(likely, key=likely.__getitem__, reverse=True)))
    return cast("tuple[Attribute, ...]", reading.several("attributes") or (likeliest,))


def _categories(reading: Reading) -> tuple[DistortionCategory, ...]:
    """The categories that a few words name for certain."""
    if reading.best("option") in ("place", "other"):
        return ()
    return tuple(dict.fromkeys(CATEGORY_OF[name] for name in reading.several("attributes") if name in CATEGORY_OF))


def _praise(words: str | None) -> Polarity | None:
    """Whether words at the end of a scale speak of something good or bad."""
    sure = words is not None and read(words, option=True).sure("option") >= SURE_PRAISE
    meaning = read_option(words) if words and sure else OptionMeaning()
    if meaning.level is not None and meaning.level != 3:
        return "fine" if meaning.level > 3 else "flaw"
    if meaning.severity is not None:
        return "fine" if meaning.severity < 1 else "flaw"
    return meaning.says


_JOINED = re.compile(
    r"\s*(?:,|;|\b(?:and|but|with|und|aber|y|pero|et|mais|e|mas)\b|&|\+|但是?|而且|且|又|和|でも|が、)\s*"
)


def read_option(text: str, asked: Attribute = "overall") -> OptionMeaning:
    """What an option says by itself; grades ("good", "slight", "low") are of what the question asks about."""
    plain = text.strip(" .。,;!?\"'")
    if re.fullmatch(r"[1-5](?:\.\d)?", plain):
        return OptionMeaning(level=float(plain))
    if plain.lower() in AMOUNTS:
        amount = AMOUNTS[plain.lower()]
        return (
            OptionMeaning(nothing=True, severity=0.0) if amount == "none" else OptionMeaning(amount=cast(Any, amount))
        )
    if place := place_named(plain):
        return OptionMeaning(place=place)
    tints = cast("tuple[Tint, ...]", tints_in(plain))
    if asked == "colour" and tints and len(plain.split()) <= 3:
        return OptionMeaning(attribute="colour", says="flaw", kind="color_cast", tints=tints)
    # "No, too dark" is a no that says why.
    head, comma, rest = plain.partition(",")
    if comma and rest.strip() and (truth := read_option(head, asked).truth) is not None:
        return replace(read_option(rest, asked), truth=truth)
    reading = read(categories_made_plain(plain or text), option=True)
    said = reading.best("option")
    likely = reading.probabilities["attributes"]
    named = [name for name in reading.several("attributes") if name in CATEGORY_OF and likely[name] > SURELY_NAMED]
    if reading.sure("option") < SURE_OPTION:
        # A plain word of praise, whatever it praises: "fine".
        praise = sum(reading.probabilities["option"][word] for word in _PRAISE)
        return OptionMeaning(level=4.0) if praise > LIKELY_PRAISE and not named else OptionMeaning()
    if said in ("flaw", "fine") or (named and said in ("all", "same", "other")):
        stances = reading.probabilities["option"]
        claims = _claim(plain, "flaw" if stances["flaw"] >= stances["fine"] else "fine", reading)
        # Words that name no flaw speak of what is asked about.
        of_asked = claims.says is None and asked in CATEGORY_OF and said in ("flaw", "fine")
        return OptionMeaning(attribute=asked, says=cast(Polarity, said)) if of_asked else claims
    attribute = named[0] if named else None
    if said in _SEVERITIES:
        says = ("fine" if said == "none" else "flaw") if attribute else None
        return OptionMeaning(attribute=attribute, says=cast(Any, says), severity=_SEVERITIES[said])
    if said in _LEVELS:
        says = ("fine" if _LEVELS[said] >= 3.5 else "flaw" if _LEVELS[said] <= 2.5 else None) if attribute else None
        return OptionMeaning(attribute=attribute if says else None, says=cast(Any, says), level=_LEVELS[said])
    match said:
        case "yes" | "no":
            return OptionMeaning(truth=said == "yes")
        case "none_of_these":
            return OptionMeaning(nothing=True, severity=0.0)
        case "all":
            return OptionMeaning(all_of_them=True)
        case "first" | "edited":
            return OptionMeaning(side="test")
        case "second" | "reference":
            return OptionMeaning(side="reference")
        case "same" | "better" | "worse":
            return OptionMeaning(relation=cast(Any, said))
        case "low" | "medium" | "high":
            return OptionMeaning(amount=cast(Any, said))
        case "place":
            return OptionMeaning(place=place_named(plain) or plain)
        case _:
            return OptionMeaning()


def _claim(text: str, said: str, reading: Reading) -> OptionMeaning:
    """An option that claims a flaw, or its absence; "sharp but noisy" claims both."""
    parts = [part for part in _JOINED.split(text) if part.strip()]
    each = [read(part, option=True) for part in parts] if len(parts) > 1 else []
    claims = tuple(
        dict.fromkeys(
            (_attributes(one)[0], cast(Polarity, one.best("option")))
            for one in each
            if one.best("option") in ("flaw", "fine") and _attributes(one)[0] in CATEGORY_OF
        )
    )
    if len({attribute for attribute, _ in claims}) > 1:
        return OptionMeaning(attribute=claims[0][0], says=claims[0][1], attributes=claims)
    named = _attributes(reading)
    attribute: Attribute = "exposure" if {"dark", "bright"} <= set(named) else named[0]
    if attribute not in CATEGORY_OF and attribute != "resolution":
        return OptionMeaning(level=4.0 if said == "fine" else 2.0)
    of, kind = _KINDS.get(reading.best("kind"), (None, None))
    kind = kind if of == attribute and said == "flaw" and reading.sure("kind") > 0.5 else None
    attribute = "blur" if attribute == "resolution" else attribute
    return OptionMeaning(attribute=attribute, says=cast(Polarity, said), kind=kind)


def _in_their_light(meanings: Mapping[str, OptionMeaning], texts: Mapping[str, str]) -> dict[str, OptionMeaning]:
    """The options in view of each other: "fine" beside flaws denies them, and a lone "correct" is praise."""
    found = dict(meanings)
    truths = [label for label, meaning in found.items() if meaning.truth is not None]
    if len(truths) == 1:
        praised = found[truths[0]].truth
        found[truths[0]] = OptionMeaning(level=4.0) if praised else OptionMeaning(nothing=True, severity=0.0)
    if any(meaning.says == "flaw" or meaning.amount in ("low", "high") for meaning in found.values()):
        for label, meaning in found.items():
            praised = meaning.says == "fine" or (meaning.level or 0.0) >= 3.5
            if praised and max(read(texts[label], option=True).probabilities["attributes"].values()) < SURELY_NAMED:
                found[label] = OptionMeaning(nothing=True, severity=0.0)
    # "Sharpness" beside "Blurs" is the category of too much of it.
    for label, meaning in found.items():
        blurs = any(each.attribute == "blur" for other, each in found.items() if other != label)
        if meaning.attribute == "blur" and blurs and canonical_category(texts[label]) == "Sharpness":
            found[label] = OptionMeaning(attribute="oversharp", says="flaw")
    return found
