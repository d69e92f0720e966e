"""Draws what people are asked about: verdicts, failures first of all, or answers at random, to be scored.

Only what is said of answers that were drawn at random says what a condition's mean really is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from keval.errors import UsageError
from keval.ids import JsonObject, answer_sha256
from keval.logs.line_at import event_at, record_at
from keval.metric_names import names
from keval.projections import rows, rows_of
from keval.projections.sql_file import json_path, literal, load
from keval.questions import as_text
from keval.reports.chosen_metrics import check_chosen
from keval.reports.grouping import check_known
from keval.reports.verdicts import undecided, verdicts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be drawn."""

    number: int = 10
    """Failures; and as many passes, if these are wanted. Of answers that are to be scored: answers."""
    passes: bool = False
    by: tuple[str, ...] = ()
    """Fields of the sample by which the verdicts are divided, beside condition, judge and metric."""
    seed: int = 0
    pass_from: Mapping[str, float] = field(default_factory=dict)
    """The lowest score that passes, of metrics for which the user says it."""
    scores: bool = False
    """Answers at random from all that were judged, to be scored, and not verdicts."""
    metrics: tuple[str, ...] = ()
    """Those that people are asked about, each as METRIC, JUDGE/METRIC or JUDGE_ID/METRIC; none: all."""

    def __post_init__(self) -> None:
        """Raise UsageError for a draw at random of a part of the answers only: it would say nothing of all."""
        if self.scores and (self.passes or self.by):
            raise UsageError("--scores draws from all answers of a condition: without --include-passes and --by")

    def is_about(self, metric: str, judge: str, judge_id: str) -> bool:
        """Return whether people are asked about a metric."""
        return not self.metrics or not set(self.metrics).isdisjoint(names(metric, judge, judge_id))

    @property
    def draw(self) -> JsonObject:
        """How what is drawn comes to be labelled, as labels say it."""
        return {"method": "random" if self.scores else "by_verdict", "seed": self.seed}

    def strata(self, connection: DuckDBPyConnection) -> str:
        """Return the query for all verdicts with their strata. Raises UsageError for a field that no sample has."""
        if self.by:
            check_known(connection, self.by)
        fields = [f"coalesce(s.sample ->> {literal(json_path(field))}, '(none)')" for field in self.by]
        return load(
            "labels",
            "strata",
            verdicts=verdicts(connection, self.pass_from),
            by=f"concat_ws(', ', {', '.join(fields)})" if fields else "''",
            seed=f"'{self.seed}'",
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One verdict, or one answer and metric, that a person is asked about; the condition is not told."""

    response_id: str
    judge_id: str
    judge: str
    metric: str
    passed: bool | None
    """None: nobody says from which score the metric passes."""
    score: float
    min: float
    max: float
    pass_from: float | None
    reasoning: str | None
    question: str
    golden_answer: str | None
    answer: str
    tools: tuple[str, ...]
    """The names of the tools that the agent called, in order."""
    draw: JsonObject
    """How it was drawn, as labels say it."""
    asks: str | None = None
    """What the metric asks, as its judge says it; None where the judge does not, or nobody is to score."""
    is_continuous: bool = False
    """Whether the metric's scores may lie between whole numbers, as its judge says it."""
    judgment: str | None = None
    """The id and the time of the newest judgment behind the verdict; None where nobody is asked about one."""
    also: tuple[str, ...] = ()
    """The other judges with a metric of this name and scale: a person's score is for all of them."""

    @property
    def is_blind(self) -> bool:
        """Whether the person is not told what the judge says, nor which tools were called: the score is their own."""
        return bool(self.draw["method"] == "random")

    @property
    def answer_sha256(self) -> str:
        """The hash of the answer's text: what is said of it is not said of another answer to the same task."""
        return answer_sha256(self.answer)


def draw(connection: DuckDBPyConnection, log: Path, wanted: Wanted) -> list[Entry]:
    """Return what is drawn; `log` is the file that the connection's views are of. Raises UsageError."""
    check_metrics(connection, wanted)
    query = _at_random(connection, wanted) if wanted.scores else _by_verdict(connection, wanted)
    found: Iterable[JsonObject] = () if query is None else rows(connection, query)
    if wanted.scores:
        found = _asked_once(row for row in found if _is_asked_about(row, wanted))
    metrics = _metrics(connection, log) if wanted.scores else {}
    return [_entry(row, log, wanted.draw, metrics.get((row["judge_id"], row["metric"]), {})) for row in found]


def check_metrics(connection: DuckDBPyConnection, wanted: Wanted) -> None:
    """Raise UsageError for a metric that nobody scored."""
    if wanted.metrics:
        there = rows_of(connection, "metrics")
        check_chosen(wanted.metrics, ((row["metric"], row["judge"], row["judge_id"]) for row in there))


def without_verdicts(connection: DuckDBPyConnection, wanted: Wanted) -> Iterator[str]:
    """Yield a sentence for each metric that is wanted and has no verdict, with what gives it one."""
    for name in undecided(connection, wanted.pass_from, wanted.is_about):
        yield f"{name}: nothing says which score passes, so there is no verdict; --pass-from {name}=SCORE does"


def _is_asked_about(row: JsonObject, wanted: Wanted) -> bool:
    return wanted.is_about(row["metric"], row["judge"], row["judge_id"])


def _at_random(connection: DuckDBPyConnection, wanted: Wanted) -> str | None:
    judged = load("labels", "judged", verdicts=verdicts(connection, wanted.pass_from), seed=f"'{wanted.seed}'")
    conditions = list(rows(connection, load("labels", "counted_answers", judged=judged)))
    shares = spread([row["answers"] for row in conditions], wanted.number)
    quotas = [
        f"({literal(row['condition_id'])}, {literal(row['agent_id'])}, {share})"
        for row, share in zip(conditions, shares, strict=True)
    ]
    return load("labels", "drawn_answers", judged=judged, quotas=", ".join(quotas)) if quotas else None


def _asked_once(found: Iterable[JsonObject]) -> Iterable[JsonObject]:
    """Return one row per answer, metric and scale: that of the first judge, with the ids of the others."""
    by_scale: dict[tuple[object, ...], JsonObject] = {}
    for row in found:
        first = by_scale.setdefault(tuple(row[name] for name in ("response_id", "metric", "min", "max")), row)
        if first is not row:
            first["also"] = (*first.get("also", ()), row["judge_id"])
    return by_scale.values()


def _metrics(connection: DuckDBPyConnection, log: Path) -> Mapping[tuple[str, str], JsonObject]:
    """Return what the newest run says of each metric of a judge, by the judge's id and its name."""
    runs = (event_at(log, row["line_offset"]) for row in rows(connection, load("labels", "judges_of_runs")))
    return {
        (judge["judge_id"], metric["name"]): metric
        for run in runs
        for judge in run["judges"]
        for metric in judge["metrics"]
    }


def _by_verdict(connection: DuckDBPyConnection, wanted: Wanted) -> str | None:
    strata = wanted.strata(connection)
    quotas: list[str] = []
    for passed in (False, True) if wanted.passes else (False,):
        sizes = [row for row in _sizes(connection, strata) if row["passed"] is passed and _is_asked_about(row, wanted)]
        shares = spread([row["verdicts"] for row in sizes], wanted.number)
        quotas += [_quota(row, share) for row, share in zip(sizes, shares, strict=True) if share]
    return load("labels", "drawn", strata=strata, quotas=", ".join(quotas)) if quotas else None


def spread(sizes: Sequence[int], number: int) -> list[int]:
    """Return how many to draw of each stratum, `number` altogether: as evenly as their sizes allow."""
    shares = [0] * len(sizes)
    left = min(number, sum(sizes))
    while left:
        for place, size in enumerate(sizes):
            if left and shares[place] < size:
                shares[place] += 1
                left -= 1
    return shares


def _sizes(connection: DuckDBPyConnection, strata: str) -> list[JsonObject]:
    return list(rows(connection, load("labels", "counted", strata=strata)))


def _quota(row: JsonObject, share: int) -> str:
    ids = f"{literal(row['condition_id'])}, {literal(row['agent_id'])}"
    return f"({ids}, {row['series']}, {row['passed']}, {literal(row['by'])}, {share})"


def _entry(row: JsonObject, log: Path, drawn: JsonObject, metric: JsonObject) -> Entry:
    response = event_at(log, row["line_offset"])
    newest = record_at(log, row["record_offset"])
    # A corrected golden answer is that of all answers to the question, also of those before it.
    sample = newest if newest["question"] == response["sample"]["question"] else response["sample"]
    names = ("response_id", "judge_id", "judge", "metric", "passed", "score", "min", "max", "pass_from", "reasoning")
    return Entry(
        **{name: row[name] for name in names},
        question=as_text(sample["question"]),
        golden_answer=sample["answer"],
        answer=response["text"],
        tools=tuple(turn["name"] for turn in response["turns"] if turn["type"] == "tool_call"),
        draw=drawn,
        asks=metric.get("description"),
        is_continuous=metric.get("type") == "continuous",
        judgment=row.get("judgment"),
        also=row.get("also", ()),
    )
