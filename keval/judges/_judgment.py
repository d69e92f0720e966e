"""What a judge says of a response: scores on the scales of its metrics, or why it cannot judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from keval.errors import ItemError
from keval.failure_kinds import JudgeFailureKind
from keval.usage import Usage

MetricType = Literal["binary", "ordinal", "continuous"]
"""How the numbers of a metric are to be read: yes or no, steps in an order, or a quantity."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A named number with its scale. What stands below `max` is for readers and makes no other judge."""

    name: str
    min: float
    max: float
    type: MetricType = "ordinal"
    pass_from: float | None = None
    """The lowest score that passes; whoever reads applies it, so that another threshold needs no new judgments."""
    label: str | None = None
    """What reports call the metric; None: its name."""
    description: str | None = None
    """What the metric asks, in one sentence."""


@dataclass(frozen=True, slots=True)
class Score:
    """One metric's score in a judgment, or the reason why the metric does not apply to the response."""

    score: float | None
    reasoning: str | None = None
    passed: bool | None = None
    """For judges that decide pass or fail themselves; None for those that grade."""
    not_applicable: str | None = None
    """Why there is no score, for a metric that does not apply: it is in no mean, and it is no failure."""
    outside: bool = False
    """Whether it does not apply to the sample, whatever is answered: failures to answer do not count for it either."""

    def __post_init__(self) -> None:
        """Raise ValueError unless there is either a score or a reason why there is none."""
        if (self.score is None) != bool(self.not_applicable and self.not_applicable.strip()):
            raise ValueError(f"a score is a number or not applicable for a reason, found {self!r}")
        if self.score is None and self.passed is not None:
            raise ValueError(f"what is not applicable neither passes nor fails, found {self!r}")
        if self.outside and self.score is not None:
            raise ValueError(f"what has a score applies to the sample, found {self!r}")


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a judge says of one response, or of one pair of them."""

    scores: Mapping[str, Score]
    unverified_claims: tuple[str, ...] = ()
    outcome: Mapping[str, Any] | None = None
    """Anything else that the judge found and wants kept beside the scores."""
    usage: Usage | None = None
    """Tokens that were not used through the context, which adds its own."""
    cost_usd: float | None = 0.0
    """What was paid elsewhere than through the context, which adds its own; None: unknown."""

    @classmethod
    def outside(cls, metrics: Iterable[Metric], why: str) -> Judgment:
        """Return a judgment of any answer to a sample that the judge is not for: no metric applies, and why."""
        none = Score(None, not_applicable=why, outside=True)
        return cls({metric.name: none for metric in metrics})


class JudgeError(ItemError):
    """The judge could not judge one response; the response itself is untouched."""

    def __init__(  # noqa: PLR0913 - what the runner decides by, all by name
        self,
        kind: JudgeFailureKind,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        overloaded: bool = False,
        usage: Usage | None = None,
        cost_usd: float | None = None,
    ) -> None:
        super().__init__(kind, message, retryable=retryable, retry_after_s=retry_after_s, overloaded=overloaded)
        self.usage = usage
        self.cost_usd = cost_usd


def check_scores(scores: Mapping[str, Score], metrics: Sequence[Metric]) -> None:
    """Raise JudgeError unless there is exactly one score per metric, within its scale or not applicable."""
    scales = {metric.name: metric for metric in metrics}
    if scores.keys() != scales.keys():
        raise JudgeError("judge_invalid", f"expected the metrics {sorted(scales)}, found {sorted(scores)}")
    for name, given in scores.items():
        scale = scales[name]
        if given.score is not None and not scale.min <= given.score <= scale.max:
            raise JudgeError("judge_invalid", f"{name}: {given.score!r} is outside {scale.min:g} to {scale.max:g}")
