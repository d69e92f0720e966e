"""How much a judge varies when it judges one response again, and how far its scores can be relied on."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from keval.ids import JsonObject
from keval.stats.variance_intervals import variance_interval


@dataclass(frozen=True, slots=True)
class JudgeVariance:
    """A judge by one metric under one condition; as judge_variations.sql finds it."""

    responses: int
    judgments: int
    repeated: int
    """Responses with several judgments."""
    identical: int
    """Of these, responses whose judgments are all the same."""
    most_spread: float
    variance: float
    """Between judgments of one response."""
    sd: float
    variance_lower: float | None
    variance_upper: float | None
    se_of_score: float
    """Of a response's score, the mean of its judgments, for the judge's own variation."""
    reliability: float | None
    """Of one judgment: the share of the variance that is not the judge's own. None where nothing varies."""
    reliability_of_mean: float | None
    """Of the mean of a response's judgments (Spearman-Brown)."""
    ci_level: float = 0.95

    @classmethod
    def of(cls, row: JsonObject) -> JudgeVariance:
        """Return it from a row of judge_variations.sql."""
        variance, each = row["var_judgment"], row["judgments_per_response"]
        low, high = variance_interval(variance, row["df_judgment"])
        names = ("responses", "judgments", "repeated", "identical", "most_spread")
        return cls(
            **{name: row[name] for name in names},
            variance=variance,
            sd=sqrt(variance),
            variance_lower=low,
            variance_upper=high,
            se_of_score=sqrt(variance / each),
            reliability=_share(row["between_answers"], variance),
            reliability_of_mean=_share(row["between_answers"], variance / each),
        )

    @property
    def identical_share(self) -> float:
        """The share of repeated responses whose judgments are all the same."""
        return self.identical / self.repeated

    @property
    def is_deterministic(self) -> bool:
        """Whether no response was ever judged differently; a cache or a program is so, right or wrong."""
        return self.identical == self.repeated


def _share(between: float | None, within: float) -> float | None:
    return None if between is None or not between + within else between / (between + within)
