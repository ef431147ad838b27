"""Thresholds proposed from pictures somebody accepted, and others that were rejected, with what each would cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agenticiqa.errors import UsageError

FEWEST = 10
# A rule that lets so many of the bad pictures pass is no gate.
USELESS = 0.8
CONFIDENCE = 0.95
DIGITS = 4
Values = Mapping[str, Sequence[float]]
"""What was measured of each picture, by measurement."""


@dataclass(frozen=True)
class Proposal:
    """One rule, and the largest shares of pictures like these that it may reject and accept wrongly.

    `false_rejects` is of accepted pictures; `false_accepts` of rejected ones, None where none were given. Both are
    exact upper bounds, with 95 % confidence; the expected shares are means over what new pictures may show.
    """

    measurement: str
    higher_is_better: bool
    limit: float
    false_rejects: float
    false_accepts: float | None
    accepted: int
    rejected: int
    expected_false_rejects: float
    expected_false_accepts: float | None

    @property
    def rule(self) -> str:
        """The rule as `--fail-if` takes it."""
        return f"{self.measurement} {'<' if self.higher_is_better else '>'} {self.limit:.{DIGITS}g}"

    @property
    def is_useless(self) -> bool:
        return self.expected_false_accepts is not None and self.expected_false_accepts >= USELESS


def propose(
    accepted: Values, rejected: Values, higher_is_better: Mapping[str, bool], most_false_rejects: float = 0.05
) -> list[Proposal]:
    """A rule per measurement, the most useful first.

    Without rejected pictures a limit is as strict as `most_false_rejects` allows. With them it is where both kinds of
    error together are fewest, within that allowance. The allowance is on the expected share: a rule that rejects k of n
    accepted pictures rejects k + 1 of n + 1 in the mean, since the next picture is as likely to fall into any of the
    gaps between them. What is promised is the bound.
    """
    found = [
        _proposal(name, list(values), list(rejected.get(name, ())), higher_is_better[name], most_false_rejects)
        for name, values in accepted.items()
        if len(values) >= FEWEST
    ]
    if not found:
        raise UsageError(f"at least {FEWEST} accepted pictures are needed to propose a threshold; add some")
    return sorted(found, key=_order)


def _order(each: Proposal) -> tuple[float, float, bool, str]:
    """The fewest errors first; of rules that are equally good the one on the score, which sees every flaw."""
    accepts = 1.0 if each.expected_false_accepts is None else each.expected_false_accepts
    return accepts, each.expected_false_rejects, each.measurement != "score", each.rule


def _proposal(name: str, good: list[float], bad: list[float], rising: bool, allowed: float) -> Proposal:
    sign = 1.0 if rising else -1.0
    kept, refused = sorted(sign * value for value in good), [sign * value for value in bad]
    options = [
        _option(kept, refused, place) for place in range(len(kept)) if not place or kept[place] > kept[place - 1]
    ]
    affordable = [option for option in options if option.expected_rejects <= allowed] or options[:1]
    best = min(affordable, key=lambda option: (option.expected_rejects + (option.expected_accepts or 0), -option.limit))
    chosen = best if bad else affordable[-1]
    return Proposal(
        name, rising, sign * chosen.limit,
        upper_bound(chosen.failed, len(good)), upper_bound(chosen.passed, len(bad)) if bad else None,
        len(good), len(bad), chosen.expected_rejects, chosen.expected_accepts,
    )  # fmt: skip


@dataclass(frozen=True)
class _Option:
    limit: float
    failed: int
    passed: int
    expected_rejects: float
    expected_accepts: float | None


def _option(kept: list[float], refused: list[float], place: int) -> _Option:
    """A limit just under the accepted picture at this place, counted from the worst, and what it costs."""
    below = kept[place - 1] if place else min([kept[0], *(each for each in refused if each < kept[0])])
    inside = [each for each in refused if below < each < kept[place]]
    limit = (max([below, *inside]) + kept[place]) / 2 if place or inside or refused else kept[0]
    limit = _rounded_down(limit)
    passed, failed = (sum(each >= limit for each in refused), sum(each < limit for each in kept))
    accepts = (passed + 1) / (len(refused) + 1) if refused else None
    return _Option(limit, failed, passed, (failed + 1) / (len(kept) + 1), accepts)


def upper_bound(failed: int, total: int, confidence: float = CONFIDENCE) -> float:
    """The largest share that is still believable after so many failures: the exact bound of Clopper and Pearson.

    It holds for a limit put just under the worst picture too, whatever the measurement's distribution is.

    >>> round(upper_bound(0, 15), 3)
    0.181
    """
    if failed >= total:
        return 1.0
    low, high = failed / total, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        at_most = math.fsum(
            math.comb(total, count) * middle**count * (1 - middle) ** (total - count) for count in range(failed + 1)
        )
        low, high = (middle, high) if at_most > 1 - confidence else (low, middle)
    return high


def needed_for(share: float, confidence: float = CONFIDENCE) -> int:
    """How many accepted pictures, none of which fails, promise that at most this share of others does."""
    return math.ceil(math.log(1 - confidence) / math.log(1 - share))


def _rounded_down(limit: float) -> float:
    """The limit as a rule writes it, never stricter: the worst accepted picture must not fail by a digit."""
    if limit == 0.0:
        return limit
    step = 10.0 ** (math.floor(math.log10(abs(limit))) - DIGITS + 1)
    return float(f"{math.floor(limit / step + 1e-9) * step:.{DIGITS}g}")


def as_toml(proposals: Sequence[Proposal]) -> str:
    """The rules as a section of agenticiqa.toml."""
    rules = ", ".join(f'"{each.rule}"' for each in proposals)
    return f"[gate]\nfail_if = [{rules}]\n"
