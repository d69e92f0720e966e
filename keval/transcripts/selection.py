"""Says which tasks a person wants to see, and finds the lines that tell of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.errors import UsageError
from keval.ids import JsonObject
from keval.projections import rows, rows_of
from keval.projections.patterns import fitting
from keval.projections.sql_file import literal, literals, load
from keval.reports.chosen_metrics import check_chosen

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


_REGRESSED = ("condition_id", "agent_id", "sample_id")
_KEYS = {"regressed": _REGRESSED, "worst": (*_REGRESSED, "repetition")}
"""What rows of these files are of."""

READ = (
    "conditions",
    "current_lines",
    "events",
    "facts",
    "failure_facts",
    "judgment_facts",
    "label_facts",
    "metrics",
    "newest_samples",
    "standing",
    "thresholds",
)
"""The tables and views that are asked, whatever is selected."""

JUDGMENTS_HERE = "(from here where type = 'judgment')"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tasks are shown; nothing means all that are current."""

    id: str | None = None
    """The beginning of the id of an answer, a failure, a judgment or a label."""
    samples: tuple[str, ...] = ()
    """Ids of samples, which may be patterns with `*`, `?` and `[…]`."""
    conditions: tuple[str, ...] = ()
    """Names of conditions, or patterns."""
    repetition: int | None = None
    failed: bool = False
    """Only what the agent or a judge failed."""
    answered: bool = False
    """Only what the agent answered."""
    unverified: bool = False
    """Only answers in which a judge found claims that it could not verify."""
    regressed: bool = False
    """Only samples that scored lower than under the baseline, with its answers; the largest loss first."""
    worst: int | None = None
    """Only so many tasks, those with the lowest scores."""
    metrics: tuple[str, ...] = ()
    """By which scores these two go, each as METRIC, JUDGE/METRIC or JUDGE_ID/METRIC; none: by all."""

    @property
    def read(self) -> Iterator[str]:
        """The tables and views that are asked for it."""
        yield from READ
        if self.worst is not None:
            yield "outcomes"
        if self.regressed:
            yield "paired_samples"

    def query(self, facts: str = "facts", judgments: str = "judgment_facts") -> str:
        """Return the query for the tasks, in the order in which they are shown, from what counts or a part of it."""
        return load(
            "transcripts",
            "chosen",
            answers=_answers(self.samples, facts, judgments),
            id=_given(self.id),
            conditions=literals(self.conditions),
            condition_patterns=fitting(self.conditions),
            repetition=_given(self.repetition),
            failed=str(self.failed).lower(),
            answered=str(self.answered).lower(),
            unverified=str(self.unverified).lower(),
            most=_given(self.worst),
            place=self._place(),
            joined=self._joined(),
        )

    def _place(self) -> str:
        """Return the SQL of what tasks are ordered by before all else, null for nothing."""
        if self.worst is not None:
            return "{score: worst.score, answered: a.type <> 'failure'}"
        return "-regressed.loss" if self.regressed else "null"

    def _joined(self) -> str:
        """Return the SQL of the joins that leave only tasks with a score, or with a loss."""
        ranked = {"worst": self.worst is not None, "regressed": self.regressed}
        metrics = literals(self.metrics)
        given = {"metrics": metrics, "meant": load("transcripts", "meant", metrics=metrics)}
        return "\n".join(
            f"join ({load('transcripts', name, **given)}) as {name} using ({', '.join(_KEYS[name])})"
            for name, is_asked in ranked.items()
            if is_asked
        )


def lines(connection: DuckDBPyConnection, selection: Selection) -> Iterator[JsonObject]:
    """Yield where the lines of the chosen tasks stand, task by task; see lines.sql."""
    if selection.id is not None or not selection.samples:
        told = load(
            "transcripts", "told", newest="newest_samples", judgments="judgment_facts", failures="failure_facts"
        )
        return rows(connection, load("transcripts", "lines", here="", chosen=selection.query(), told=told))
    fits = _fits(selection.samples)
    here = f"here as materialized ({load('transcripts', 'here', fits=fits)}),"
    chosen = selection.query("here", JUDGMENTS_HERE)
    return rows(connection, load("transcripts", "lines", here=here, chosen=chosen, told=_told_here(fits)))


def lines_of_sample(connection: DuckDBPyConnection, sample_id: str, event_id: str | None) -> Iterator[JsonObject]:
    """Yield where the lines of a sample's tasks stand, or of one answer or failure of it; see of_sample.sql."""
    fits = f"sample_id = {literal(sample_id)}"
    here = load("transcripts", "here", fits=fits)
    return rows(connection, load("transcripts", "of_sample", here=here, id=_given(event_id), told=_told_here(fits)))


def _told_here(fits: str) -> str:
    """Return what tells of chosen tasks, of which `here` has the lines, by what their samples' ids have to fit."""
    return load(
        "transcripts",
        "told",
        newest=f"(from newest_samples where {fits})",
        judgments=JUDGMENTS_HERE,
        failures="(from here where type = 'failure')",
    )


def has_pairs(connection: DuckDBPyConnection) -> bool:
    """Return whether any sample has a difference to the baseline."""
    return connection.execute("from paired_samples where difference is not null limit 1").fetchone() is not None


def check_metrics(connection: DuckDBPyConnection, selection: Selection) -> None:
    """Raise UsageError for the name of a metric that the logs do not have."""
    if selection.metrics:
        there = rows_of(connection, "metrics")
        check_chosen(selection.metrics, ((row["metric"], row["judge"], row["judge_id"]) for row in there))


def check_found(connection: DuckDBPyConnection, selection: Selection) -> None:
    """Raise UsageError for an id, or for names that no task has: what is meant instead may be near."""
    if selection.id is not None:
        raise UsageError(f"nothing in the log has an id that begins with {selection.id!r}; it may be retracted")
    for name in selection.samples:
        _check_known(connection, "sample_id", name, Selection(samples=(name,)))
    for name in selection.conditions:
        _check_known(connection, "condition", name, Selection(conditions=(name,)))


def _check_known(connection: DuckDBPyConnection, column: str, name: str, alone: Selection) -> None:
    if connection.execute(alone.query()).fetchall():
        return
    answers = _answers()
    found = connection.execute(
        load("transcripts", "near", answers=answers, column=column, name=literal(name))
    ).fetchall()
    hint = f"; did you mean {found[0][0]!r}?" if found else "; the log has no answers"
    raise UsageError(f"no answer or failure of {column.removesuffix('_id')} {name!r}{hint}")


def _answers(samples: Sequence[str] = (), facts: str = "facts", judgments: str = "judgment_facts") -> str:
    return load("transcripts", "answers", facts=facts, judgments=judgments, fits=_fits(samples))


def _fits(samples: Sequence[str]) -> str:
    """Return the condition that a sample's id is one of these or fits one of them; all do if there are none."""
    if not samples:
        return "true"
    return f"(sample_id in {literals(samples)} or coalesce(regexp_full_match(sample_id, {fitting(samples)}), false))"


def _given(value: str | int | None) -> str:
    return "null" if value is None else literal(value) if isinstance(value, str) else str(value)
