"""What labels say of a judge that passes and fails: how often it is right, and what the pass rate really is.

The labelled failures, and the labelled passes, are random draws of all failures and all passes of one condition. So
each share is estimated among its own, and the corrected pass rate weighs them by how many there are: a stratified
estimate, as in Rogan and Gladen 1978 but without their assumption that the error rates came from elsewhere. Its
interval is put together from Wilson's intervals of both shares (Zou and Donner 2008).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

from keval.stats.intervals import Interval
from keval.stats.proportions import wilson


@dataclass(frozen=True, slots=True)
class Labelled:
    """All verdicts of one kind, passes or failures, and what people said of those that they looked at."""

    verdicts: int = 0
    right: int = 0
    wrong: int = 0
    ambiguous: int = 0

    def with_label(self, right: bool | None) -> Labelled:
        """Return this with one more label: the judge is right, wrong, or nobody can tell."""
        if right is None:
            return replace(self, ambiguous=self.ambiguous + 1)
        return replace(self, right=self.right + 1) if right else replace(self, wrong=self.wrong + 1)

    @property
    def decided(self) -> int:
        """Labels that say something."""
        return self.right + self.wrong

    @property
    def is_complete(self) -> bool:
        """Whether all verdicts are labelled, so that it does not matter how they were drawn."""
        return self.decided + self.ambiguous == self.verdicts

    @property
    def share_right(self) -> float | None:
        """The predictive value: among those that were decided, the share in which the judge is right."""
        return self.right / self.decided if self.decided else None

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval of the predictive value."""
        return wilson(self.right / self.decided, self.decided) if self.decided else (None, None)

    @property
    def wrong_bounds(self) -> Interval:
        """The share of wrong verdicts if no ambiguous one were wrong, and if all were."""
        labels = self.decided + self.ambiguous
        return (self.wrong / labels, (self.wrong + self.ambiguous) / labels) if labels else (None, None)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The verdicts of one judge by one metric under one condition."""

    passes: Labelled
    failures: Labelled
    redrawn: bool = False
    """Whether some labels were drawn as passes and are of failures by now, or the other way round."""

    @property
    def pass_rate(self) -> float | None:
        """The share of passes as the judge has it."""
        return self.passes.verdicts / self._number if self._number else None

    @property
    def why_unknown(self) -> str | None:
        """Why there is no corrected pass rate; None if there is one."""
        if not self._number:
            return "there is no verdict"
        if self.failures.verdicts and not self.failures.decided:
            return "no label decides about a failure"
        if self.redrawn and not (self.passes.is_complete and self.failures.is_complete):
            return "the labels were drawn from what passed and what failed by another threshold"
        return None if self.failures.decided or self.passes.decided else "no label decides about a verdict"

    @property
    def assumes_passes(self) -> bool:
        """Whether no label decides about a pass, so that all passes are taken for right."""
        return bool(self.passes.verdicts) and not self.passes.decided

    @property
    def corrected(self) -> float | None:
        """The share of responses that really pass."""
        if self.why_unknown:
            return None
        return self._pass_share * self._right_passes + self._fail_share * self._wrong_failures

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the corrected pass rate; of passes that are taken for right nothing is added."""
        if self.corrected is None:
            return None, None
        below = above = 0.0
        for weight, share, (low, high) in (
            (self._pass_share, self._right_passes, self.passes.interval),
            (self._fail_share, self._wrong_failures, _mirrored(self.failures.interval)),
        ):
            if low is not None and high is not None:
                below += (weight * (share - low)) ** 2
                above += (weight * (high - share)) ** 2
        return max(0.0, self.corrected - sqrt(below)), min(1.0, self.corrected + sqrt(above))

    @property
    def sensitivity(self) -> float | None:
        """Of the responses that really pass, the share that the judge passes; null unless passes were labelled."""
        if self.corrected is None or self.assumes_passes or not self.corrected:
            return None
        return min(1.0, self._pass_share * self._right_passes / self.corrected)

    @property
    def specificity(self) -> float | None:
        """Of the responses that really fail, the share that the judge fails; null unless passes were labelled."""
        if self.corrected is None or self.assumes_passes or self.corrected >= 1:
            return None
        return min(1.0, self._fail_share * (1 - self._wrong_failures) / (1 - self.corrected))

    @property
    def _number(self) -> int:
        return self.passes.verdicts + self.failures.verdicts

    @property
    def _pass_share(self) -> float:
        return self.passes.verdicts / self._number

    @property
    def _fail_share(self) -> float:
        return self.failures.verdicts / self._number

    @property
    def _right_passes(self) -> float:
        found = self.passes.share_right
        return 1.0 if found is None else found

    @property
    def _wrong_failures(self) -> float:
        found = self.failures.share_right
        return 0.0 if found is None else 1 - found


def _mirrored(interval: Interval) -> Interval:
    low, high = interval
    return (None, None) if low is None or high is None else (1 - high, 1 - low)
