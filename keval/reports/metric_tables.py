"""Turns aggregates into tables that say what their numbers show, and what they do not.

Pure functions of `aggregate` and `comparison` bodies. What a difference shows is the comparison's own `conclusion`
(`keval/stats/conclusions.py`); nothing is read from two intervals side by side: intervals that overlap can belong to
conditions that differ.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol, TypeVar

from keval.ids import JsonObject
from keval.metric_names import names
from keval.stats.conclusions import Conclusion, concluded, missing_share
from keval.stats.intervals import FEWEST_SAMPLES, Interval
from keval.stats.paired_statistics import PAIRED
from keval.stats.statistics import AGGREGATE
from keval.stats.stopped_run import DESCRIPTIVE

Value = TypeVar("Value")

_TOO_FEW = f"fewer than {FEWEST_SAMPLES} samples"


@dataclass(frozen=True, slots=True)
class ConditionScore:
    """One metric of one condition; fields as in the `aggregate` event."""

    condition: str
    condition_id: str
    agent_id: str
    mean: float | None
    ci_lower: float | None
    ci_upper: float | None
    ci_level: float
    ci_method: str
    n_samples: int
    n_responses: int
    n_judgments: int
    planned: int | None
    scored: int
    agent_failed: int
    not_measured: int
    not_done: int | None
    failed: Mapping[str, int]
    sd_within_sample: float | None
    sd_between_samples: float | None
    se: float | None
    mean_complete_case: float | None
    mean_lower: float | None
    mean_upper: float | None
    reasons: Mapping[str, str]
    """Why a statistic is None, by its name."""
    other_statistics: Mapping[str, float | None] = field(default_factory=dict)
    """Statistics of the event that nothing is concluded from, by name; None for one that an older event lacks."""

    @property
    def expected(self) -> int:
        """How many answers are, or could be, a number: all but those that are not applicable, or not sampled."""
        return self.scored + self.agent_failed + self.not_measured + (self.not_done or 0)

    @property
    def missing_share(self) -> float:
        """The share of those that were not measured or not done."""
        return missing_share(asdict(self))


@dataclass(frozen=True, slots=True)
class Difference:
    """A condition minus the baseline, paired by sample; fields as in the `comparison` event."""

    baseline: str
    condition: str
    difference: float | None
    ci_lower: float | None
    ci_upper: float | None
    ci_level: float
    ci_method: str
    sd_difference: float | None
    se: float | None
    n_paired: int
    n_dropped: int
    wins: int
    ties: int
    losses: int
    conclusion: Conclusion
    qualification: str | None
    """What the conclusion does not hold against."""
    reasons: Mapping[str, str]
    """Why a statistic is None, and under `conclusion` why nothing can be told."""
    until: Mapping[str, Any] | None = None
    """In a run that stops when decided: by which rule, and after how many of the samples."""
    other_statistics: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether a stopping rule did not decide it, or stopped the run for other comparisons."""
        by_rule = self.until is not None or self.reasons.get("conclusion") == DESCRIPTIVE
        return by_rule and self.conclusion == "cannot tell"


@dataclass(frozen=True, slots=True)
class MetricTable:
    """One metric of one judge, side by side for all conditions."""

    judge: str
    judge_id: str
    metric: str
    min: float
    max: float
    scores: tuple[ConditionScore, ...]
    differences: tuple[Difference, ...]
    computed: str | None = None
    """How it is computed from the metrics of judges; None for one that a judge scored."""
    can_be_asked_again: bool = True
    """Whether `keval run CONFIG` asks for what is missing: nothing does of answers that were imported."""
    is_of_config: bool = True
    """Whether it is a config's judge that scores it, and not one that `keval judge` was told."""
    asks_mock: bool = False
    """Whether a stand-in was asked last: what is missing is asked of it again, for nothing."""

    @property
    def names(self) -> tuple[str, ...]:
        """By what a user may name it, the most exact name last."""
        return names(self.metric, self.judge, self.judge_id)

    def score(self, condition: str) -> ConditionScore | None:
        """Return what a condition scored, None if it has no row."""
        return next((score for score in self.scores if score.condition == condition), None)


def metric_tables(
    bodies: Iterable[JsonObject], order: Sequence[str] = (), judge_ids: Sequence[str] = ()
) -> tuple[MetricTable, ...]:
    """Return one table per judge and metric from `aggregate` and `comparison` bodies.

    Only those that are current and of level `condition` count, and of equal ones the last.
    Conditions and judges stand in the given orders, then in that of their appearance.
    """
    scores: dict[tuple[str, str], dict[tuple[str, str, str], JsonObject]] = {}
    compared: dict[tuple[str, str], dict[tuple[str, str], JsonObject]] = {}
    for body in bodies:
        table = (body["judge_id"], body["metric"])
        if not body["current"] or body.get("by"):
            continue
        if body["type"] == "comparison":
            compared.setdefault(table, {})[body["baseline_id"], body["condition_id"]] = body
        elif body["level"] == "condition":
            condition = (body["condition"], body["condition_id"], body["agent_id"])
            scores.setdefault(table, {})[condition] = body
    return tuple(
        _table(list(scores[table].values()), list(compared.get(table, {}).values()), order)
        for table in in_order(scores, judge_ids, lambda table: table[0])
    )


def _table(scored: Sequence[JsonObject], compared: Sequence[JsonObject], order: Sequence[str]) -> MetricTable:
    scores = tuple(score(body) for body in in_order(scored, order, lambda body: body["condition"]))
    by_condition = {body["condition_id"]: body for body in scored}
    first = scored[0]
    return MetricTable(
        judge=first["judge"],
        judge_id=first["judge_id"],
        metric=first["metric"],
        computed=first.get("computed"),
        min=first["min"],
        max=first["max"],
        scores=scores,
        differences=tuple(
            difference(body, by_condition.get(body["baseline_id"]), by_condition.get(body["condition_id"]))
            for body in in_order(compared, order, lambda body: body["condition"])
        ),
    )


def in_order(items: Iterable[Value], order: Sequence[str], name: Callable[[Value], str]) -> list[Value]:
    """Return items in the order of their names; those that it does not name come last, as they came."""
    rank = {known: position for position, known in enumerate(order)}
    return sorted(items, key=lambda item: rank.get(name(item), len(rank)))


def score(body: JsonObject) -> ConditionScore:
    """Return one condition's score; an interval over too few samples is left out, with the reason."""
    lower, upper, reasons = _interval(body, body["n_samples"])
    shown = {"ci_lower": lower, "ci_upper": upper, "failed": _sorted(body["failed"]), "reasons": reasons}
    return ConditionScore(**_taken(ConditionScore, AGGREGATE, body) | shown)


def difference(body: JsonObject, baseline: JsonObject | None, condition: JsonObject | None) -> Difference:
    """Return a difference; one of an older version, which does not conclude, is concluded from by what it has.

    The bodies of both conditions tell how much was not measured.
    """
    if "conclusion" not in body:
        body = body | concluded(body, baseline, condition)
    lower, upper, reasons = _interval(body, body["n_paired"])
    return Difference(**_taken(Difference, PAIRED, body) | {"ci_lower": lower, "ci_upper": upper, "reasons": reasons})


def _taken(made: type[ConditionScore | Difference], statistics: Collection[str], body: JsonObject) -> dict[str, Any]:
    """Return the fields that are in an event's body as they are, and its other statistics."""
    names = [each.name for each in fields(made)]
    others = {name: body.get(name) for name in statistics if name not in names}
    return {name: body[name] for name in names if name in body} | {"other_statistics": others}


def statistic(found: ConditionScore | Difference, name: str) -> Any:  # noqa: ANN401 - a number, or counts by kind
    """Return a statistic by its name: a field, or one of `other_statistics`."""
    return getattr(found, name) if hasattr(found, name) else found.other_statistics.get(name)


def _interval(body: JsonObject, n: int) -> tuple[float | None, float | None, Mapping[str, str]]:
    reasons = _sorted(body["reasons"])
    lower, upper = body["ci_lower"], body["ci_upper"]
    if n < FEWEST_SAMPLES and lower is not None:
        return None, None, {**reasons, "ci_lower": _TOO_FEW, "ci_upper": _TOO_FEW}
    return lower, upper, reasons


class Scaled(Protocol):
    """What has a scale, such as a table."""

    @property
    def min(self) -> float:
        """The lowest score."""

    @property
    def max(self) -> float:
        """The highest score."""


def within(scale: Scaled, found: ConditionScore) -> Interval:
    """Return the interval of a mean as it is shown: a t interval may reach beyond the scale, where no mean can be."""
    if found.ci_lower is None or found.ci_upper is None:
        return None, None
    return max(found.ci_lower, scale.min), min(found.ci_upper, scale.max)


def _sorted(found: Mapping[str, Value]) -> dict[str, Value]:
    return dict(sorted(found.items()))
