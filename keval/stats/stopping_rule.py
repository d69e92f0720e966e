"""When a comparison is decided, so that no more needs to be asked: a rule that stays true however often one looks.

One part of alpha, `early_share`, pays for stopping early: bounds by betting (`betting.py`). The other part pays for the
complete dataset: Student's t and the sign-flip test, once, when every sample is finished. Every conclusion is read off
one interval per comparison, so a false one implies that the interval misses the true difference, and alpha bounds all
of them over the whole family. docs/stopping-early.md says what it costs and where it is weak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean, stdev
from typing import Literal

from keval.stats.betting import Bets, Growth
from keval.stats.sign_flip import counted, sign_flip
from keval.stats.student import two_sided

NAME = "bet20+t/1"
"""The rule and its version: a log that was begun by another one goes on by none."""

Target = Literal["population", "dataset"]
"""Whether the question is about samples like these, or about what the complete run would show."""

Outcome = Literal["higher", "lower", "no difference within margin", "borderline", "cannot tell"]
DECIDED: frozenset[Outcome] = frozenset({"higher", "lower", "no difference within margin"})

SLACK = 1e-6
"""What a logarithm of money may be off by, if it is added up in another order."""

CONTRADICTION = "the two halves of the rule contradict each other"
TOO_FEW = "fewer samples than the rule's min_samples"
UNDECIDED = "not decided"


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """What is decided before anything is asked."""

    comparisons: int
    """The size of the family, which shares alpha by Bonferroni: each interval has to hold together with all others."""
    alpha: float = 0.05
    early_share: float = 0.5
    """Which part of alpha pays for stopping early; more than 0. With 1 there is no ordinary test at the end."""
    min_samples: int = 10
    target: Target = "population"

    @property
    def early_tail(self) -> float:
        """What one bound by betting may be wrong with."""
        share = 1.0 if self.target == "dataset" else self.early_share
        return self.alpha * share / self.comparisons / 2

    @property
    def complete_level(self) -> float | None:
        """The level of the ordinary interval of one comparison; None if there is none."""
        if self.target == "dataset" or self.early_share >= 1:
            return None
        return 1 - self.alpha * (1 - self.early_share) / self.comparisons


@dataclass(frozen=True, slots=True)
class Difference:
    """One finished sample: the condition's mean minus the baseline's."""

    value: float | None
    """None if one of them was not measured at all."""
    lowest: float
    highest: float
    """What it would be if all that was not measured had the worst, or the best, value."""

    @classmethod
    def of(cls, value: float) -> Difference:
        """Return that of a sample of which all was measured."""
        return cls(value, value, value)


@dataclass(frozen=True, slots=True)
class Compared:
    """What is compared by one metric: its scale, the margin, and how many samples there are to be."""

    reach: float
    """The length of the scale."""
    planned: int
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """What the finished samples say of one comparison."""

    n: int
    """Finished samples, also those of which nothing was measured."""
    measured: int
    mean: float | None
    lower: float | None
    upper: float | None
    """The interval; None where its ends contradict each other."""
    p: float
    """Already multiplied by the size of the family."""
    log_up: float
    log_down: float
    """The logarithm of the most that bets on a difference above, and below, 0 ever came to."""
    outcome: Outcome
    is_small: bool = False
    """Whether it is higher or lower by less than the margin."""
    reason: str | None = None
    """Why nothing can be told."""

    @property
    def is_decided(self) -> bool:
        """Whether no more has to be asked."""
        return self.outcome in DECIDED


def look(rule: StoppingRule, compared: Compared, found: Sequence[Difference], *, is_doubtful: bool = False) -> Look:
    """Return what the finished samples, in the run's order, say of a comparison.

    `is_doubtful`: more is not measured than may be; a conclusion has to hold whatever that would have been.
    """
    series = [[each.value for each in found if each.value is not None]]
    if rule.target == "dataset":  # each sample is one of those that are asked about
        series = [[each.lowest for each in found], [each.highest for each in found]]
    elif is_doubtful:
        series += [[each.lowest for each in found], [each.highest for each in found]]
    values = [each.value for each in found if each.value is not None]
    sides = [_Side(rule, compared, differences, len(found)) for differences in series]
    lower, upper = min(side.lower() for side in sides), max(side.upper() for side in sides)
    # Series that point in opposite directions show neither: what is missing decides.
    agree = len({value > 0 for side in sides if side.above and (value := fmean(side.above))}) < 2  # noqa: PLR2004 - one
    p = max(side.p() for side in sides) if agree else 1.0
    outcome, reason = _outcome(sides, len(found), lower, upper, p)
    is_interval = reason != CONTRADICTION
    return Look(
        n=len(found),
        measured=len(values),
        mean=fmean(values) if values else None,
        lower=lower if is_interval else None,
        upper=upper if is_interval else None,
        p=p,
        log_up=min(side.log_up for side in sides),
        log_down=min(side.log_down for side in sides),
        outcome=outcome,
        is_small=outcome in {"higher", "lower"} and _is_within(sides),
        reason=reason,
    )


class Watch:
    """Tells of each sample whether it is worth a look: a look goes through all samples, and there is one after each.

    What is bet on differs: what was measured, and what it would be if all else had the worst value for a conclusion.
    """

    def __init__(self, rule: StoppingRule, compared: Compared) -> None:
        self._needed = -log(rule.early_tail) - SLACK
        self._planned = compared.planned
        bets = Bets(compared.reach, compared.planned if rule.target == "dataset" else None)
        margins = [0.0] if compared.margin is None else [0.0, compared.margin]
        candidates = [-margin for margin in margins for _ in range(2)]
        self._measured = None if rule.target == "dataset" else Growth(bets, candidates)
        self._at_worst = Growth(bets, candidates)
        self.samples = 0
        """How many were added."""

    def add(self, difference: Difference) -> None:
        """Take note of the next sample."""
        self.samples += 1
        if self._measured is not None and difference.value is not None:
            self._measured.add(self._in_both_directions(difference.value, difference.value, self._measured))
        self._at_worst.add(self._in_both_directions(difference.lowest, difference.highest, self._at_worst))

    def is_worth_a_look(self, *, is_doubtful: bool) -> bool:
        """Return whether `look` may find that no more has to be asked; where it says no, `look` says so, too."""
        if self.samples >= self._planned:
            return True
        asked = [self._measured, *([self._at_worst] if is_doubtful or self._measured is None else [])]
        return all(self._may_decide(each) for each in asked if each is not None)

    def _in_both_directions(self, low: float, high: float, growth: Growth) -> list[float]:
        return [low, -high] * (len(growth.most) // 2)

    def _may_decide(self, growth: Growth) -> bool:
        """Return whether the mean lies on one side of 0, or within the margin on both."""
        (up, down), *within = (growth.most >= self._needed).reshape(-1, 2)
        return bool(up or down or any(each.all() for each in within))


class _Side:
    """The bounds that one series of differences gives."""

    def __init__(self, rule: StoppingRule, compared: Compared, differences: Sequence[float], finished: int) -> None:
        self.rule, self.compared = rule, compared
        self.above = differences
        self.below = [-each for each in differences]
        self.is_complete = finished >= compared.planned
        self.bets = Bets(compared.reach, compared.planned if rule.target == "dataset" else None)
        self._ordinary = self._t_interval()

    @property
    def is_exact(self) -> bool:
        """Whether nothing is left to be bet on: what the complete run shows is known."""
        return self.rule.target == "dataset" and self.is_complete

    @property
    def log_up(self) -> float:
        return self.bets.most(self.above, 0)

    @property
    def log_down(self) -> float:
        return self.bets.most(self.below, 0)

    def lower(self) -> float:
        if self.is_exact:
            return fmean(self.above)
        early = self.bets.lower(self.above, self.rule.early_tail)
        return early if self._ordinary is None else max(early, self._ordinary[0])

    def upper(self) -> float:
        if self.is_exact:
            return fmean(self.above)
        early = -self.bets.lower(self.below, self.rule.early_tail)
        return early if self._ordinary is None else min(early, self._ordinary[1])

    def is_above(self, candidate: float) -> bool:
        """Return whether the interval lies above a number; asked of the bets, as its ends are rounded."""
        if self.is_exact:
            return fmean(self.above) > candidate
        early = self.bets.excludes(self.above, candidate, self.rule.early_tail)
        return early or (self._ordinary is not None and self._ordinary[0] > candidate)

    def is_below(self, candidate: float) -> bool:
        if self.is_exact:
            return fmean(self.above) < candidate
        early = self.bets.excludes(self.below, -candidate, self.rule.early_tail)
        return early or (self._ordinary is not None and self._ordinary[1] < candidate)

    def p(self) -> float:
        """Return the p of all looks up to this one, over the family."""
        if self.is_exact:
            return 0.0 if fmean(self.above) else 1.0
        early = 2 * exp(-max(self.log_up, self.log_down))
        ps = [early / (self.rule.early_tail * 2)]
        level = self.rule.complete_level
        if self.is_complete and level is not None and self.above:
            flipped = sign_flip(counted(round(each / self.compared.reach, 11) for each in self.above))
            ps.append(flipped.p / (1 - level) if level < 1 else 1.0)
        # Shares of what may be wrong: 1 is exactly alpha.
        return min(1.0, self.rule.alpha * min(ps))

    def _t_interval(self) -> tuple[float, float] | None:
        level, n = self.rule.complete_level, len(self.above)
        if not self.is_complete or level is None or n < 2:  # noqa: PLR2004 - fewer do not differ
            return None
        sd = stdev(self.above)
        if sd <= 1e-9 * self.compared.reach:
            return None
        mean, reach = fmean(self.above), two_sided(level, n - 1) * sd / sqrt(n)
        return mean - reach, mean + reach


def _outcome(sides: Sequence[_Side], n: int, lower: float, upper: float, p: float) -> tuple[Outcome, str | None]:
    """Return what is concluded, and why it is nothing."""
    rule, compared = sides[0].rule, sides[0].compared
    if n < min(rule.min_samples, compared.planned):
        return "cannot tell", TOO_FEW
    if lower > upper:
        return "cannot tell", CONTRADICTION
    is_higher = all(side.is_above(0) for side in sides)
    if is_higher or all(side.is_below(0) for side in sides):
        if p > rule.alpha * (1 + 1e-9):
            return "borderline", None
        return ("higher" if is_higher else "lower"), None
    if _is_within(sides):
        return "no difference within margin", None
    return "cannot tell", UNDECIDED


def _is_within(sides: Sequence[_Side]) -> bool:
    margin = sides[0].compared.margin
    return margin is not None and all(side.is_above(-margin) and side.is_below(margin) for side in sides)
