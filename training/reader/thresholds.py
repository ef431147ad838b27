"""What the thresholds of `question/read.py` do on the held-out rows, and those that keep to the bounds.

python -m training.reader.thresholds
"""

from __future__ import annotations

from collections.abc import Sequence

from agenticiqa.question.asked import Declined, YesNo
from agenticiqa.question.exact_words import normalise
from agenticiqa.question.model import Reading, read
from agenticiqa.question.read import not_about_quality, read_question
from training.questions import phrasings
from training.reader.compose import Row, held_out, written_now

# Of the questions about quality this share may be declined, of those for a yes or no this share read the other way.
DECLINED, INVERTED = 0.015, 0.005
LANGUAGES = ("en", "zh", "de", "es", "fr", "ja", "pt")
Read = tuple[Row, Reading]


def main() -> None:
    """Prints the tables, of all and by language."""
    _, held = held_out(written_now(phrasings.FOLDER / "guided"))
    rows = [(row, read(normalise(row.text))) for row in held if row.option is None]
    groups = {"all": rows} | {
        language: [each for each in rows if each[0].language == language] for language in LANGUAGES
    }
    for name, group in groups.items():
        print(f"{name}, {len(group)} questions\n  not about quality: {declining(group)}\n  polarity: {polarity(group)}")
        print(f"  as it stands: {as_it_stands(group)}", flush=True)


def declining(rows: Sequence[Read]) -> str:
    """The least threshold above which at most DECLINED of what is about quality lies, and what it declines."""
    about = sorted(not_about_quality(reading) for row, reading in rows if row.intent not in ("declined", "choose"))
    others = [not_about_quality(reading) for row, reading in rows if row.intent == "declined"]
    if not about or not others:
        return "-"
    threshold = about[-1 - int(DECLINED * len(about))]
    return f"threshold {threshold:.3f} declines {sum(p > threshold for p in others)} of {len(others)}"


def polarity(rows: Sequence[Read]) -> str:
    """The least threshold above which at most INVERTED of the yes/no questions are turned; those below it are open."""
    asked = [(row, reading) for row, reading in rows if row.yes_means]
    wrong = sorted(reading.sure("yes_means") for row, reading in asked if reading.best("yes_means") != row.yes_means)
    allowed = int(INVERTED * len(asked))
    threshold = wrong[-1 - allowed] if len(wrong) > allowed else 0.5
    left = sum(reading.sure("yes_means") <= threshold for _, reading in asked)
    return f"threshold {threshold:.3f} leaves {left} of {len(asked)} open"


def as_it_stands(rows: Sequence[Read]) -> str:
    """What the reader with its thresholds makes of them, from the text to the question."""
    asked = [(row, read_question(row.text)) for row, _ in rows]
    content = [(row, isinstance(one, Declined) and one.why == "content") for row, one in asked]
    others = [declined for row, declined in content if row.intent == "declined"]
    about = [declined for row, declined in content if row.intent != "declined"]
    yes = [(row.yes_means, one.polarity if isinstance(one, YesNo) else None) for row, one in asked if row.yes_means]
    turned = sum(said is not None and said != meant for meant, said in yes)
    return (
        f"declined {sum(others)} of {len(others)}, of those about quality {sum(about)} of {len(about)}; "
        f"yes or no turned {turned}, open {sum(said is None for _, said in yes)} of {len(yes)}"
    )


if __name__ == "__main__":
    main()
