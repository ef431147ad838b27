"""What to do with each picture of an audit: keep it, look at it again, or leave it out, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

Decision = Literal["keep", "maybe", "reject"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)
# Nothing can be seen in these, whatever the score.
_USELESS = ("corrupt", "truncated", "low_information")
# A picture may be so on purpose.
_PROPERTIES = ("odd_aspect_ratio", "odd_size", "grayscale")
# A flaw scored below this share of its threshold is so strong that nobody has to look again.
_STRONG = 0.5


def decide(rows: Iterable[dict[str, Any]], thresholds: Mapping[str, float]) -> None:
    """Gives each row of an audit a `decision` and its `reasons`; of pictures in one group one is left.

    Rejected are pictures that cannot be used, strong flaws and spare copies; to be looked at again are weaker flaws
    and unusual shapes.
    """
    groups: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        row["decision"], row["reasons"] = _alone(row, thresholds)
        if row["group"] is not None:
            groups[row["group"]].append(row)
    for members in groups.values():
        first, *copies = sorted(members, key=_order)
        for row in copies:
            row["decision"], row["reasons"] = "reject", [*row["reasons"], f"a copy of {first['name']}"]


def _alone(row: Mapping[str, Any], thresholds: Mapping[str, float]) -> tuple[Decision, list[str]]:
    flagged = [name for name in thresholds if row[f"is_{name}_issue"] and not name.endswith("_duplicates")]
    reasons = [name.replace("_", " ") for name in flagged]
    if any(_is_reason_enough(row, name, thresholds[name]) for name in flagged):
        return "reject", reasons
    return ("maybe" if flagged else "keep"), reasons


def _is_reason_enough(row: Mapping[str, Any], issue: str, threshold: float) -> bool:
    if issue in _PROPERTIES:
        return False
    return issue in _USELESS or bool(row[f"{issue}_score"] < _STRONG * threshold)


def _order(row: Mapping[str, Any]) -> tuple[int, bool, int, str]:
    """The least flawed first, then the one the group suggests, then the largest."""
    return DECISIONS.index(row["decision"]), not row["keep"], -(row["width"] * row["height"]), row["name"]


def decided(rows: Sequence[Mapping[str, Any]]) -> dict[Decision, list[str]]:
    """The paths of the pictures under each decision."""
    return {each: [row["path"] for row in rows if row["decision"] == each] for each in DECISIONS}
