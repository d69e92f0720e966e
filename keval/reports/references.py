"""Says which references of a dataset the judges do not accept, from the log that holds them as answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import load
from keval.reports.verdicts import READ as READ_FOR_VERDICTS
from keval.reports.verdicts import undecided, verdicts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


READ = (*READ_FOR_VERDICTS, "failure_facts", "scores")
"""The tables and views that are asked."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one judge says of a reference by one metric, or why it could not judge it."""

    sample_id: str
    judge: str
    metric: str | None
    score: float | None
    pass_from: float | None
    passed: bool | None
    """None: nobody says from which score on the metric passes, or it is not applicable."""
    reason: str | None
    """The judge's reasoning, or what went wrong."""
    failure: str | None
    """The kind of failure of a judge that could not judge."""

    def as_json(self) -> JsonObject:
        """Return the verdict as one JSON object; `pass` is what other tools call it."""
        return {
            "id": self.sample_id,
            "judge": self.judge,
            "metric": self.metric,
            "pass": self.passed,
            "score": self.score,
            "pass_from": self.pass_from,
            "reasoning": self.reason,
            "failure": self.failure,
        }


@dataclass(frozen=True, slots=True)
class References:
    """What the judges say of all references."""

    verdicts: tuple[Verdict, ...]
    undecided: tuple[str, ...]
    """Metrics that were scored and by which nothing passes or fails."""

    @property
    def refused(self) -> list[Verdict]:
        """Return what failed."""
        return [verdict for verdict in self.verdicts if verdict.passed is False]

    @property
    def unjudged(self) -> dict[str, Verdict]:
        """Return by sample of which references no judge says anything, each with one reason why."""
        judged = {verdict.sample_id for verdict in self.verdicts if verdict.score is not None or verdict.failure}
        return {verdict.sample_id: verdict for verdict in self.verdicts if verdict.sample_id not in judged}

    @property
    def number(self) -> int:
        """How many references were judged, or were to be."""
        return len({verdict.sample_id for verdict in self.verdicts})


def references(connection: DuckDBPyConnection, pass_from: Mapping[str, float]) -> References:
    """Return what the judges say of the references that a log holds as answers."""
    found = rows(connection, load("reports", "references", verdicts=verdicts(connection, pass_from)))
    return References(tuple(map(_verdict, found)), tuple(undecided(connection, pass_from)))


def _verdict(row: JsonObject) -> Verdict:
    return Verdict(
        sample_id=row["sample_id"],
        judge=row["judge"],
        metric=row["metric"],
        score=row["score"],
        pass_from=row["pass_from"],
        passed=row["passed"],
        reason=row["not_applicable"] or row["reasoning"],
        failure=row["failure"],
    )
