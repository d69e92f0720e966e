"""Finds which metrics a user means who names the scores that pass: by metric, by judge and metric, or by judge's id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from keval.errors import UsageError
from keval.metric_names import full_name, names
from keval.nearest import near


@dataclass(frozen=True, slots=True)
class Scale:
    """A metric of a judge, and its scale."""

    judge: str
    judge_id: str
    metric: str
    min: float
    max: float

    @property
    def exact(self) -> str:
        """The name that no other metric has."""
        return full_name(self.judge_id, self.metric)

    @property
    def names(self) -> tuple[str, ...]:
        """By what a user may name it, the most exact name last."""
        return names(self.metric, self.judge, self.judge_id)


def thresholds(given: Mapping[str, float], scales: Iterable[Scale]) -> dict[str, float]:
    """Return the lowest scores that pass by the exact names of the metrics that are meant.

    Raises UsageError with all that is wrong: a name that no metric has, or that metrics with different scales have,
    and a score off the scale.
    """
    there = list(scales)
    named = {name: [scale for scale in there if name in scale.names] for name in given}
    problems = [problem for name in given if (problem := _problem(name, given[name], named[name], there))]
    if problems:
        raise UsageError(*problems)
    by_exactness = sorted(given, key=lambda name: named[name][0].names.index(name))
    return {scale.exact: given[name] for name in by_exactness for scale in named[name]}


def _problem(name: str, score: float, meant: list[Scale], there: list[Scale]) -> str | None:
    if not meant:
        known = [called for scale in there for called in scale.names[:2]]
        return f"--pass-from {name}: no such metric; {near(name, known)}"
    ranges = {(scale.min, scale.max) for scale in meant}
    if len(ranges) > 1:
        place = 1 if len({scale.judge for scale in meant}) == len(meant) else 2
        said = ", ".join(f"{scale.names[place]} ({scale.min:g} to {scale.max:g})" for scale in meant)
        return f"--pass-from {name}: several metrics with different scales are called so; name one: {said}"
    low, high = ranges.pop()
    if not low <= score <= high:
        return f"--pass-from {name}={score:g}: the scale of {name} is {low:g} to {high:g}"
    return None
