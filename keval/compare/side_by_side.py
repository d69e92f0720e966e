"""Puts the samples' means of several logs into one database, so that the SQL of one log compares their conditions.

Each log has a schema of its own, `log_1`, `log_2` and so on. What is made of them has names and ids that tell the log,
and no agent: conditions of two agents are compared here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from keval.compare.joined_clusters import joined
from keval.errors import InputError
from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import literal, load
from keval.projections.views import definition, made
from keval.reports.metric_tables import ConditionScore, MetricTable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Pair = tuple[int, str, int, str]
"""The number of a log and its condition, which is the baseline; then those that are compared with it."""


def put_side_by_side(connection: DuckDBPyConnection, labels: Sequence[str], pairs: Iterable[Pair]) -> None:
    """Make the tables that `pair_samples` compares, over all logs, in the place of those of one log.

    `labels` are what the logs are called, in the order of their numbers. Raises InputError for logs that count failures
    by two rules: what differs then may be the rule alone.
    """
    numbered = list(enumerate(labels, start=1))

    def of_each(name: str) -> str:
        parts = (
            load("compare", name, number=str(number), log=literal(str(number)), label=literal(label))
            for number, label in numbered
        )
        return "\nunion all by name\n".join(f"from ({part})" for part in parts)

    metrics = "\nunion all by name\n".join(f"from log_{number}.metrics" for number, _ in numbered)
    values = ", ".join(f"({one}, {literal(name)}, {other}, {literal(its)})" for one, name, other, its in pairs)
    connection.execute(made("TABLE", "conditions", of_each("conditions")))
    connection.execute(made("TABLE", "metrics", load("compare", "metrics", metrics=metrics)))
    connection.execute(made("TABLE", "sample_means", of_each("sample_means")))
    if len(list(rows(connection, load("compare", "failures")))) > 1:
        raise InputError(
            f"{', '.join(labels)}: the agent's failures count as the minimum in one of them, and not at all in another",
            "write the same `failures` into both configs; keval generate CONFIG -o LOG records it",
        )
    connection.execute(made("TABLE", "sample_clusters", of_each("sample_clusters")))
    connection.execute(
        made("OR REPLACE VIEW", "compared_series", load("compare", "compared_series", pairs=f"values {values}"))
    )
    connection.execute(made("TABLE", "untried_samples", of_each("untried_samples")))
    connection.execute(made("TABLE", "known_questions", of_each("known_questions")))
    connection.execute(made("TABLE", "planned_samples", of_each("planned_samples")))


def pair_samples(connection: DuckDBPyConnection) -> list[str]:
    """Make the views of comparisons, once the samples that tell nothing are left out: these join no clusters.

    Returns the samples that belong to one cluster by one log, and to another by another log, in order.
    """
    moved = list(rows(connection, load("compare", "moved")))
    parts = joined(row["clusters"] for row in moved)
    connection.execute("CREATE TABLE joined_clusters (cluster VARCHAR, joined VARCHAR)")
    connection.execute("INSERT INTO joined_clusters SELECT unnest(?), unnest(?)", [list(parts), list(parts.values())])
    connection.execute(made("OR REPLACE TABLE", "newest_samples", load("compare", "newest_samples")))
    connection.execute(made("OR REPLACE VIEW", "paired_samples", definition("paired_samples")))
    bounds = load("projections", "pair_bounds", untried="untried_samples", planned="from planned_samples")
    connection.execute(made("OR REPLACE VIEW", "pair_bounds", bounds))
    connection.execute(made("OR REPLACE VIEW", "comparisons", definition("comparisons")))
    return [row["sample_id"] for row in moved]


def leave_out_edited(connection: DuckDBPyConnection, one: int, other: int) -> None:
    """Leave out of all means the samples that are another question in each of two logs, named by their numbers."""
    questions = load("compare", "questions", one=str(one), other=str(other))
    connection.execute(load("compare", "leave_out_edited", questions=questions))


def renamed(score: ConditionScore, number: int, label: str) -> ConditionScore:
    """Return a score under the name and the ids that its condition has beside those of other logs."""
    return replace(
        score, condition=f"{score.condition} in {label}", condition_id=f"{number}:{score.condition_id}", agent_id=""
    )


def of_shared_samples(connection: DuckDBPyConnection, tables: Iterable[MetricTable]) -> list[MetricTable]:
    """Return metrics, their conditions renamed, with what became of the samples that another log tried, too.

    These alone are compared: whatever else a log asked would dilute what is missing of them. Of three logs, those count
    that any other one tried.
    """
    counts = {
        (row.pop("condition_id"), row.pop("judge_id"), row.pop("metric")): row
        for row in rows(connection, load("compare", "counts"))
    }

    def shared(table: MetricTable, score: ConditionScore) -> ConditionScore:
        found = dict(counts.get((score.condition_id, table.judge_id, table.metric), {}))
        elsewhere = found.pop("not_done_elsewhere", 0)
        others = {**score.other_statistics, "not_applicable": found.pop("not_applicable", None)}
        not_done = None if score.not_done is None else score.not_done - elsewhere
        return replace(score, not_done=not_done, other_statistics=others, **found)

    return [replace(table, scores=tuple(shared(table, score) for score in table.scores)) for table in tables]


def score_bodies(tables: Iterable[MetricTable]) -> Iterator[JsonObject]:
    """Yield what `aggregate` events say of the scores of metrics."""
    for table in tables:
        for score in table.scores:
            yield asdict(score) | {"judge_id": table.judge_id, "metric": table.metric}
