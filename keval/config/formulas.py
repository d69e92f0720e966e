"""Says what a computed metric is: a formula over the judges' scores, with its scale.

A `run` event holds each formula with the identities of the judges whose scores are in it, and the views compute the
numbers (`keval/projections/computed_scores.sql`). So another formula asks no judge again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Literal

from keval import ids
from keval.metric_names import full_name

if TYPE_CHECKING:
    from keval.ids import JsonObject
    from keval.judges import Metric

COMPUTED = "computed"
"""What stands in the place of a judge's name; the views know it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A metric of a judge, as a formula has it."""

    judge: str
    judge_id: str
    metric: Metric
    weight: float
    """Its weight in a mean, or its exponent in a product."""

    @property
    def name(self) -> str:
        """What the config calls it."""
        return full_name(self.judge, self.metric.name)

    def described(self) -> JsonObject:
        """Return the part as a `run` event holds it."""
        return {"judge": self.judge, "judge_id": self.judge_id, "metric": self.metric.name, "weight": self.weight}


@dataclass(frozen=True, slots=True)
class ComputedMetric:
    """A mean of metrics, or a product of powers of metrics, divided by a power of the agent's tokens."""

    name: str
    type: Literal["weighted", "combined"]
    parts: tuple[Part, ...]
    pass_above: float | None = None
    tokens_exponent: float | None = None
    per_tokens: float | None = None
    """Both None for a mean: no tokens are in it."""

    @property
    def min(self) -> float:
        """The worst score: with ever more tokens a product comes ever nearer to 0."""
        return 0.0 if self.tokens_exponent else self._of([part.metric.min for part in self.parts])

    @property
    def max(self) -> float:
        """The best score: that of the best parts, at a single token."""
        at_one_token = (self.per_tokens or 1.0) ** (self.tokens_exponent or 0.0)
        return self._of([part.metric.max for part in self.parts]) * float(at_one_token)

    def _of(self, scores: Sequence[float]) -> float:
        weights = [part.weight for part in self.parts]
        if self.type == "combined":
            return prod(float(score**weight) for score, weight in zip(scores, weights, strict=True))
        return sum(score * weight for score, weight in zip(scores, weights, strict=True)) / sum(weights)

    @property
    def formula(self) -> str:
        """The formula, for people."""
        if self.type == "combined":
            product = " · ".join(f"{part.name}^{part.weight:g}" for part in self.parts)
            return f"{product} / (tokens / {self.per_tokens:g})^{self.tokens_exponent:g}"
        terms = " + ".join(f"{part.weight:g} · {part.name}" for part in self.parts)
        return f"({terms}) / {sum(part.weight for part in self.parts):g}"

    def described(self) -> JsonObject:
        """Return the metric as a `run` event holds it."""
        formula = {
            "parts": [part.described() for part in self.parts],
            "tokens_exponent": self.tokens_exponent,
            "per_tokens": self.per_tokens,
        }
        scores = [[part.judge_id, part.metric.name, part.weight] for part in self.parts]
        return {
            "name": self.name,
            "type": self.type,
            "judge_id": ids.judge_id(COMPUTED, None, formula | {"type": self.type, "parts": scores}),
            **formula,
            "min": self.min,
            "max": self.max,
            "pass_above": self.pass_above,
            "formula": self.formula,
        }
