"""Puts what is known of groups of samples beside each other: they explore, and nothing is concluded from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from keval.ids import JsonObject
from keval.reports.metric_tables import ConditionScore, Difference, difference, score


@dataclass(frozen=True, slots=True)
class GroupScore:
    """One condition's score in one group, and its difference to the baseline there."""

    by: Mapping[str, str]
    """What the samples of the group have in common: the value of each field."""
    score: ConditionScore
    difference: Difference | None
    """None for the baseline, and where nothing is compared."""


@dataclass(frozen=True, slots=True)
class GroupedMetric:
    """One metric of one judge, by groups of samples."""

    fields: tuple[str, ...]
    judge: str
    judge_id: str
    metric: str
    min: float
    max: float
    comparisons: int
    """How many comparisons of groups their p is adjusted for, those of other metrics included; 0: of none."""
    scores: tuple[GroupScore, ...]


GroupKey = tuple[object, ...]


def grouped_metrics(bodies: Iterable[JsonObject]) -> tuple[GroupedMetric, ...]:
    """Return one table per metric and fields from `aggregate` and `comparison` bodies of groups, in their order."""
    scored: dict[GroupKey, dict[GroupKey, JsonObject]] = {}
    compared: dict[GroupKey, dict[GroupKey, JsonObject]] = {}
    for body in bodies:
        if body.get("by") and body["current"]:
            table = (tuple(body["by"]), body["judge_id"], body["metric"])
            row = (tuple(body["by"].values()), body["condition_id"], body["agent_id"])
            (compared if body["type"] == "comparison" else scored).setdefault(table, {})[row] = body
    return tuple(_grouped(list(found.values()), compared.get(table, {})) for table, found in scored.items())


def _grouped(scored: list[JsonObject], compared: Mapping[GroupKey, JsonObject]) -> GroupedMetric:
    first = scored[0]
    by_row = {(tuple(body["by"].values()), body["condition_id"], body["agent_id"]): body for body in scored}
    return GroupedMetric(
        fields=tuple(first["by"]),
        judge=first["judge"],
        judge_id=first["judge_id"],
        metric=first["metric"],
        min=first["min"],
        max=first["max"],
        comparisons=max((body["family_size"] for body in compared.values()), default=0),
        scores=tuple(
            GroupScore(body["by"], score(body), difference(compared[row], None, None) if row in compared else None)
            for row, body in sorted(by_row.items(), key=lambda item: item[0][0])
        ),
    )
