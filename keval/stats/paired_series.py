"""The differences of finished samples, one after the other, as the stopping rule looks at them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import fsum, sqrt
from statistics import StatisticsError, correlation, fmean, stdev, variance

from keval.ids import JsonObject
from keval.stats.conclusions import MOST_MISSING
from keval.stats.reasons import NOTHING_SCORED
from keval.stats.recorded_rule import Member, RecordedRule
from keval.stats.stopping_rule import Difference, Look, Watch, look

DIGITS = 11
"""Decimals of a difference as a share of the scale: what differs beyond them is float noise."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One sample under one condition, by one metric."""

    mean: float | None
    """None if none of its repetitions has a value."""
    lowest: float
    highest: float
    """The mean if all that was not measured had the least, or the greatest, score."""
    expected: int
    """Repetitions that have, or could have, a value."""
    missing: int
    """Those of them that were not measured."""
    scored: int
    """Those of them that a judge has scored; the others with a value are the agent's failures."""
    failure_rate: float | None = None
    """The share that the agent failed of what it answered or failed; nobody asks for it while a run goes on."""
    tells_of_failures: bool = False
    """Whether it failed, or answered what the metric applies to."""


def measured(values: Sequence[float], missing: int, minimum: float, maximum: float, failed: int = 0) -> Measured:
    """Return a sample of whose repetitions some have values, some were not measured, and others do not count.

    `failed` of the values are the minimum, which a failure of the agent counts as.
    """
    expected = len(values) + missing
    total = fsum(values)
    if not expected:  # the metric does not apply: nobody will ever know, so it may be anything
        return Measured(None, minimum, maximum, 0, 0, 0)
    mean = total / len(values) if values else None
    lowest, highest = ((total + missing * end) / expected for end in (minimum, maximum))
    return Measured(mean, lowest, highest, expected, missing, len(values) - failed)


@dataclass(slots=True)
class Series:
    """One comparison's finished samples, in the run's order."""

    rule: RecordedRule
    member: Member
    found: list[Difference] = field(default_factory=list)
    pairs: list[tuple[Measured, Measured]] = field(default_factory=list)
    """Each sample under the condition, and under the baseline."""
    _expected: list[int] = field(default_factory=lambda: [0, 0])
    _missing: list[int] = field(default_factory=lambda: [0, 0])
    _scored: list[int] = field(default_factory=lambda: [0, 0])
    _watch: Watch | None = None
    """Made when it is asked for the first time whether all is decided: a report only looks."""

    def add(self, condition: Measured, baseline: Measured) -> None:
        """Take note of the next sample."""
        reach = self.member.max - self.member.min
        value = None
        if condition.mean is not None and baseline.mean is not None:
            value = _without_noise(condition.mean - baseline.mean, reach)
        lowest = _without_noise(condition.lowest - baseline.highest, reach)
        highest = _without_noise(condition.highest - baseline.lowest, reach)
        self.found.append(Difference(value, lowest, highest))
        self.pairs.append((condition, baseline))
        for place, each in enumerate((condition, baseline)):
            self._expected[place] += each.expected
            self._missing[place] += each.missing
            self._scored[place] += each.scored

    @property
    def is_doubtful(self) -> bool:
        """Whether of one of the conditions more was not measured than may be."""
        return any(
            missing > MOST_MISSING * expected for missing, expected in zip(self._missing, self._expected, strict=True)
        )

    @property
    def is_decided(self) -> bool:
        """Whether no more has to be asked for it."""
        if self._watch is None:
            self._watch = Watch(self.rule.rule, self.rule.compared(self.member))
        for difference in self.found[self._watch.samples :]:
            self._watch.add(difference)
        return self._watch.is_worth_a_look(is_doubtful=self.is_doubtful) and self.look().is_decided

    def look(self) -> Look:
        """Return what its samples say; of a condition that nothing is known of but failures, not that it is alike."""
        compared = self.rule.compared(self.member)
        found = look(self.rule.rule, compared, self.found, is_doubtful=self.is_doubtful)
        if all(self._scored) or found.outcome in {"higher", "lower"}:
            return found
        return replace(found, lower=None, upper=None, outcome="cannot tell", reason=NOTHING_SCORED)

    def as_row(self) -> JsonObject:
        """Return the columns of the view `comparisons` that describe differences, of these samples alone."""
        values = [each.value for each in self.found if each.value is not None]
        means = [(a.mean, b.mean) for a, b in self.pairs if a.mean is not None and b.mean is not None]
        several = len(values) > 1
        rates = [(a.failure_rate, b.failure_rate) for a, b in self.pairs if a.tells_of_failures or b.tells_of_failures]
        failures = [a - b for a, b in rates if a is not None and b is not None]
        wins, losses = (sum(sign * value > 0 for value in values) for sign in (1, -1))
        sd = stdev(values) if several else None
        return {
            "n_paired": len(values),
            "difference": fmean(values) if values else None,
            "sd_difference": sd,
            "wins": wins, "ties": len(values) - wins - losses, "losses": losses,
            "differences": Counter(values),
            "flipped": Counter(values),
            "correlation": _correlation(means) if several else None,
            "se_unpaired": sqrt(sum(map(variance, zip(*means, strict=True))) / len(means)) if several else None,
            "failure_rate_difference": fmean(failures) if failures else None,
        }  # fmt: skip


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return Pearson's; None where one of the two does not vary."""
    try:
        return correlation(*zip(*pairs, strict=True))
    except StatisticsError:
        return None


def _without_noise(difference: float, reach: float) -> float:
    return round(difference / reach, DIGITS) * reach
