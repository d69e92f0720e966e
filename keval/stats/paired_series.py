"""The differences of finished samples, one after the other, as the stopping rule looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum

from keval.stats.conclusions import MOST_MISSING
from keval.stats.recorded_rule import Member, RecordedRule
from keval.stats.stopping_rule import Difference, Look, is_decided, look

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


def measured(values: Sequence[float], missing: int, minimum: float, maximum: float) -> Measured:
    """Return a sample of whose repetitions some have values, some were not measured, and others do not count."""
    expected = len(values) + missing
    total = fsum(values)
    if not expected:  # the metric does not apply: nobody will ever know, so it may be anything
        return Measured(None, minimum, maximum, 0, 0)
    mean = total / len(values) if values else None
    return Measured(
        mean, (total + missing * minimum) / expected, (total + missing * maximum) / expected, expected, missing
    )


@dataclass(slots=True)
class Series:
    """One comparison's finished samples, in the run's order."""

    rule: RecordedRule
    member: Member
    found: list[Difference] = field(default_factory=list)
    _expected: list[int] = field(default_factory=lambda: [0, 0])
    _missing: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, condition: Measured, baseline: Measured) -> None:
        """Take note of the next sample."""
        reach = self.member.max - self.member.min
        value = None
        if condition.mean is not None and baseline.mean is not None:
            value = _without_noise(condition.mean - baseline.mean, reach)
        lowest = _without_noise(condition.lowest - baseline.highest, reach)
        highest = _without_noise(condition.highest - baseline.lowest, reach)
        self.found.append(Difference(value, lowest, highest))
        for place, each in enumerate((condition, baseline)):
            self._expected[place] += each.expected
            self._missing[place] += each.missing

    @property
    def is_doubtful(self) -> bool:
        """Whether of one of the conditions more was not measured than may be."""
        return any(
            missing > MOST_MISSING * expected for missing, expected in zip(self._missing, self._expected, strict=True)
        )

    @property
    def is_decided(self) -> bool:
        """Whether no more has to be asked for it."""
        compared = self.rule.compared(self.member)
        return is_decided(self.rule.rule, compared, self.found, is_doubtful=self.is_doubtful)

    def look(self) -> Look:
        """Return what its samples say."""
        compared = self.rule.compared(self.member)
        return look(self.rule.rule, compared, self.found, is_doubtful=self.is_doubtful)


def _without_noise(difference: float, reach: float) -> float:
    return round(difference / reach, DIGITS) * reach
