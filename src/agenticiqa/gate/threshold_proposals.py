"""Thresholds proposed from pictures somebody accepted, and others that were rejected, with what each would cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agenticiqa.errors import UsageError

FEWEST = 10
# A rule that lets so many of the bad pictures pass is no gate.
USELESS = 0.8
DIGITS = 4
Values = Mapping[str, Sequence[float]]
"""What was measured of each picture, by measurement."""


@dataclass(frozen=True)
class Proposal:
    """One rule, and the shares of pictures like these that it would reject and accept wrongly.

    `false_rejects` is of accepted pictures; `false_accepts` of rejected ones, None where none were given.
    """

    measurement: str
    higher_is_better: bool
    limit: float
    false_rejects: float
    false_accepts: float | None
    accepted: int
    rejected: int

    @property
    def rule(self) -> str:
        """The rule as `--fail-if` takes it."""
        return f"{self.measurement} {'<' if self.higher_is_better else '>'} {self.limit:.{DIGITS}g}"

    @property
    def is_useless(self) -> bool:
        """Whether it lets most of the rejected pictures pass."""
        return self.false_accepts is not None and self.false_accepts >= USELESS


def propose(
    accepted: Values, rejected: Values, higher_is_better: Mapping[str, bool], most_false_rejects: float = 0.05
) -> list[Proposal]:
    """A rule per measurement, the most useful first.

    Without rejected pictures a limit is as strict as `most_false_rejects` allows. With them it is where both kinds of
    error together are fewest, within that allowance. Shares are what new pictures reach at most in the mean, not what
    these do: a rule that rejects k of n accepted ones rejects up to (k + 1) of n + 1, since the next picture is as
    likely to fall into any of the gaps between them.
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
    accepts = 1.0 if each.false_accepts is None else each.false_accepts
    return accepts, each.false_rejects, each.measurement != "score", each.rule


def _proposal(name: str, good: list[float], bad: list[float], rising: bool, allowed: float) -> Proposal:
    sign = 1.0 if rising else -1.0
    kept, refused = sorted(sign * value for value in good), [sign * value for value in bad]
    options = [
        _option(kept, refused, place) for place in range(len(kept)) if not place or kept[place] > kept[place - 1]
    ]
    affordable = [option for option in options if option[1] <= allowed] or options[:1]
    limit, rejects, accepts = min(affordable, key=lambda option: (option[1] + (option[2] or 0.0), -option[0]))
    if not bad:
        limit, rejects, accepts = affordable[-1]
    return Proposal(name, rising, sign * limit, rejects, accepts if bad else None, len(good), len(bad))


def _option(kept: list[float], refused: list[float], place: int) -> tuple[float, float, float | None]:
    """A limit just under the accepted picture at this place, counted from the worst, and what it costs."""
    below = kept[place - 1] if place else min([kept[0], *(each for each in refused if each < kept[0])])
    inside = [each for each in refused if below < each < kept[place]]
    limit = (max([below, *inside]) + kept[place]) / 2 if place or inside or refused else kept[0]
    limit = _rounded_down(limit)
    passed, failed = (sum(each >= limit for each in refused), sum(each < limit for each in kept))
    accepts = (passed + 1) / (len(refused) + 1) if refused else None
    return limit, (failed + 1) / (len(kept) + 1), accepts


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
