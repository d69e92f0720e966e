"""The file `evaluation.json`: per question hit rate, MRR, a judge's score, tokens and what combines them.

One file per condition, since the file knows of none. What has no number is null: a failure of the agent counts as keval
counts it, as the lowest score, and what was not measured is in no mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from keval.errors import UsageError
from keval.formats import Format, Source, part_of_path
from keval.ids import JsonObject
from keval.metric_names import full_name
from keval.nearest import near
from keval.plugins import option
from keval.projections import rows
from keval.projections.sql_file import literal, load
from keval.reports.metric_tables import MetricTable
from keval.reports.model import ConditionSummary

_COLUMNS = ("hit_rate", "mrr", "judge_score", "combined_score")
_USUAL = {
    "hit_rate": ("retrieved_hit_rate", "hit_rate"),
    "mrr": ("retrieved_mrr", "mrr"),
    "judge_score": ("overall_score",),
    "combined_score": ("combined",),
}
"""The metrics that a column is of where nobody says which: the first that is there."""


@dataclass(frozen=True, kw_only=True)
class EvaluationJson(Format):
    """Writes CONDITION/evaluation.json: a summary, and a row for each question, the best combined score first."""

    hit_rate: str | None = field(
        default=None, metadata=option("METRIC or JUDGE/METRIC; else retrieved_hit_rate or hit_rate.")
    )
    mrr: str | None = field(default=None, metadata=option("METRIC or JUDGE/METRIC; else retrieved_mrr or mrr."))
    judge_score: str | None = field(
        default=None, metadata=option("METRIC or JUDGE/METRIC; else overall_score, or the only metric.")
    )
    combined_score: str | None = field(
        default=None, metadata=option("METRIC or JUDGE/METRIC; else combined, if it is there.")
    )
    search_mode: str | None = field(default=None, metadata=option("What to say of how it was searched."))

    def write(self, source: Source, folder: Path) -> Iterator[Path]:
        """Write the file of each condition; raises UsageError where no column has a metric."""
        found = {column: self._table(column, source.report.metrics) for column in _COLUMNS}
        if source.report.metrics and not any(found.values()):
            known = near("", [full_name(table.judge, table.metric) for table in source.report.metrics])
            raise UsageError(f"no metric for any column; name them as in -O judge_score=METRIC; {known}")
        for condition in source.report.conditions:
            place = folder / part_of_path(condition.name)
            if place.exists():  # of two names that are one as a part of a path
                place = folder / f"{place.name}-{condition.condition_id}"
            place.mkdir(parents=True)
            path = place / "evaluation.json"
            path.write_bytes(orjson.dumps(self._record(source, condition, found), option=orjson.OPT_INDENT_2) + b"\n")
            yield path

    def _table(self, column: str, tables: tuple[MetricTable, ...]) -> MetricTable | None:
        """Return the metric of a column; raises UsageError for a name that none has, or several have."""
        given: str | None = getattr(self, column)
        for asked in (given,) if given else _USUAL[column]:
            found = [table for table in tables if asked in table.names]
            if found:
                break
        if len(found) > 1:
            known = ", ".join(full_name(table.judge, table.metric) for table in found)
            raise UsageError(f"-O {column}={asked}: several judges have that metric: {known}")
        if given and not found:
            known = near(asked, [full_name(table.judge, table.metric) for table in tables])
            raise UsageError(f"-O {column}={asked}: no such metric; {known}")
        if not found and column == "judge_score" and len(tables) == 1:
            return tables[0]
        return found[0] if found else None

    def _record(self, source: Source, condition: ConditionSummary, found: dict[str, MetricTable | None]) -> JsonObject:
        chosen = {column: _condition(table) for column, table in found.items()}
        ids = {"condition_id": literal(condition.condition_id), "agent_id": literal(condition.agent_id)}
        query = load("formats", "evaluation_rows", **ids, **chosen)
        (means,) = rows(source.connection, load("formats", "evaluation_summary", rows=query))
        header, judged = source.report.header, found["judge_score"]
        judges = [judge for judge in header.judges if judged is not None and judge.judge_id == judged.judge_id]
        return {
            "timestamp": header.last_time,
            "num_questions": means.pop("num_questions"),
            "summary": means,
            "metadata": {
                "ground_truth_file": None if header.dataset is None else header.dataset.path,
                "search_mode": self.search_mode,
                "judge_model": judges[0].model if judges else None,
                "condition": condition.name,
                "mock": source.report.mock,
            },
            "results": list(rows(source.connection, query)),
        }


def _condition(table: MetricTable | None) -> str:
    """Return the SQL that is true of the scores of a metric."""
    if table is None:
        return "false"
    return f"judge_id = {literal(table.judge_id)} and metric = {literal(table.metric)}"
