"""House scores: one number made of several by weights that somebody chose, as the seed agent-eval-harness has them.

They are published nowhere, have no interval, and nothing is concluded from them. What is not known makes them unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.metric_names import full_name
from keval.reports.condition_trials import ConditionTrials, condition_trials
from keval.reports.model import HouseScore, HouseScores, Report
from keval.reports.queries import ask
from keval.reports.trials import alike_trials

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Parts = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to make one number of several."""

    weights: Mapping[str, float]
    meaning: str
    parts: Callable[[DuckDBPyConnection, Report, Mapping[str, float]], Iterator[tuple[str, str, Parts]]]
    """Yields conditions with what the score is about, and its parts from 0 to 1."""


def house_scores(
    name: str, connection: DuckDBPyConnection, report: Report, pass_from: Mapping[str, float]
) -> tuple[HouseScore, ...]:
    """Return the scores of a log's conditions by a strategy; `pass_from` says which scores pass, as in `verdicts`."""
    strategy = STRATEGIES[name]
    return tuple(
        HouseScore(condition, about, parts, _weighed(parts, strategy.weights))
        for condition, about, parts in strategy.parts(connection, report, pass_from)
    )


def put_together(name: str, scores: Iterable[HouseScore]) -> HouseScores:
    """Return the scores of all logs with what they are."""
    strategy = STRATEGIES[name]
    return HouseScores(name, strategy.weights, strategy.meaning, tuple(scores))


def _weighed(parts: Parts, weights: Mapping[str, float]) -> float | None:
    known = [(part, weights[name]) for name, part in parts.items() if part is not None]
    return sum(part * weight for part, weight in known) if len(known) == len(weights) else None


def _of_answers(
    connection: DuckDBPyConnection, report: Report, pass_from: Mapping[str, float]
) -> Iterator[tuple[str, str, Parts]]:
    del pass_from
    of_condition = {row["condition"]: row for row in ask(connection, "house_parts")}
    for table in report.metrics:
        for score in table.scores:
            row = of_condition.get(score.condition, {"speed": None, "undisturbed": None})
            quality = None if score.mean is None else (score.mean - table.min) / (table.max - table.min)
            parts = {"quality": quality, "latency": row["speed"], "reliability": row["undisturbed"]}
            yield score.condition, full_name(table.judge, table.metric), parts


def _of_trials(
    connection: DuckDBPyConnection, report: Report, pass_from: Mapping[str, float]
) -> Iterator[tuple[str, str, Parts]]:
    planned = {row["condition"]: row["repetitions"] or 0 for row in ask(connection, "planned_repetitions")}
    for condition in report.conditions:
        k = planned.get(condition.name, 0)
        found = next(condition_trials(alike_trials(connection, k, k, pass_from, [condition.name])), None) if k else None
        yield condition.name, f"{k} trials", _passing(found)


def _passing(found: ConditionTrials | None) -> Parts:
    """Return the chances to pass; the share of luck is how far the two are apart."""
    at, every = (None, None) if found is None else (found.pass_at_k, found.pass_every_k)
    consistency = None if at is None or every is None else 1 - max(0.0, at - every)
    return {"capability": at, "reliability": every, "consistency": consistency}


STRATEGIES: Mapping[str, Strategy] = {
    "weighted": Strategy(
        {"quality": 0.5, "latency": 0.3, "reliability": 0.2},
        "quality is the mean as a share of its scale, latency the mean of 1 / (1 + seconds), reliability the share of "
        "answers without a failed tool call",
        _of_answers,
    ),
    "trials": Strategy(
        {"capability": 0.4, "reliability": 0.4, "consistency": 0.2},
        "capability is pass@k, reliability pass^k, consistency 1 − (pass@k − pass^k)",
        _of_trials,
    ),
}
"""The strategies by name, with the weights of the seed."""
