"""Gathers what a log says of one task, out of the few lines that tell of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.passing import passes
from keval.projections import rows_of
from keval.projections.line_text import events_of
from keval.projections.log_file import ChangedError, LogFile
from keval.transcripts.selection import Selection, check_found, check_metrics, lines, lines_of_sample

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


Thresholds = Mapping[tuple[str, str], float]
"""From which score a judge's metric passes, by the judge's id and the metric's name, where its run says so."""


@dataclass
class Transcript:
    """One task: the events about it as the log has them."""

    condition: str
    """The newest name of its condition; events have the name that it had then."""
    sample: JsonObject | None = None
    """The newest record of the sample; None where the agent always failed, so that the log has none."""
    response: JsonObject | None = None
    failure: JsonObject | None = None
    judgments: list[JsonObject] = field(default_factory=list)
    judge_failures: list[JsonObject] = field(default_factory=list)
    labels: list[JsonObject] = field(default_factory=list)
    thresholds: Thresholds = field(default_factory=dict)

    @property
    def outcome(self) -> JsonObject:
        """The event that says what the task is: its answer or failure; of an answer that the log lacks a judgment."""
        return self.response or self.failure or self.judgments[0]

    @property
    def sample_id(self) -> str:
        """The id of the sample."""
        found = self.outcome
        return str(found["sample"]["id"] if "sample" in found else found["sample_id"])

    def passed(self, judgment: JsonObject, metric: str) -> bool | None:
        """Return whether a score passes: by what the judge says, else by the threshold; None where neither tells."""
        given = judgment["scores"][metric]
        threshold = self.thresholds.get((judgment["judge_id"], metric))
        if given.get("passed") is not None or given["score"] is None or threshold is None:
            return given.get("passed")  # type: ignore[no-any-return]  # the schema says that it is true, false or null
        return passes(given["score"], threshold)

    def as_json(self) -> JsonObject:
        """Return it as one object, events unchanged."""
        return {
            "sample_id": self.sample_id,
            "condition": self.condition,
            "repetition": self.outcome["repetition"],
            "sample": self.sample,
            "response": self.response,
            "failure": self.failure,
            "judgments": self.judgments,
            "judge_failures": self.judge_failures,
            "labels": self.labels,
        }


def transcripts(connection: DuckDBPyConnection, logs: Sequence[LogFile], selection: Selection) -> Iterator[Transcript]:
    """Yield the chosen tasks; only the lines that tell of them are read from the logs, one task at a time.

    Raises UsageError for an id or a name that the logs do not have.
    """
    check_metrics(connection, selection)
    passing = _thresholds(connection)
    found = _read(logs, lines(connection, selection), passing)
    first = next(found, None)
    if first is None:
        check_found(connection, selection)
        return
    yield first
    yield from found


def of_sample(
    connection: DuckDBPyConnection, logs: Sequence[LogFile], sample_id: str, event_id: str | None = None
) -> Iterator[Transcript]:
    """Yield the current tasks of one sample, or what has an id among all of that sample, whether it is current or not.

    Conditions are in the order of the config. It is found fast in a large log, too.
    """
    passing = _thresholds(connection)
    yield from _read(logs, lines_of_sample(connection, sample_id, event_id), passing)


def _thresholds(connection: DuckDBPyConnection) -> Thresholds:
    known = rows_of(connection, "thresholds")
    return {(row["judge_id"], row["metric"]): row["pass_from"] for row in known if row["pass_from"] is not None}


def _read(logs: Sequence[LogFile], lines: Iterator[JsonObject], passing: Thresholds) -> Iterator[Transcript]:
    """Yield tasks, of which the lines stand together."""
    with events_of(logs) as event_at:
        for _, found in groupby(lines, lambda row: row["place"]):
            told = list(found)
            made = Transcript(told[0]["condition"], thresholds=passing)
            for row in told:
                event = event_at(row["file"], row["line_offset"])
                if not _is_of(event, row):
                    raise ChangedError(logs[row["file"] - 1].name)
                _add(made, row["kind"], event)
            yield made


def _is_of(event: JsonObject, row: JsonObject) -> bool:
    """Return whether an event is about what a row says: it brings a record, or is of the answer, or is the answer."""
    if row["kind"] == "sample":
        return "sample" in event
    return row["response_id"] in [event.get("id"), event.get("response_id")]  # of another file they may be anything


def _add(transcript: Transcript, kind: str, event: JsonObject) -> None:
    if kind == "sample":
        transcript.sample = event["sample"]
    elif kind in {"response", "failure"}:
        setattr(transcript, kind, event)
    else:
        getattr(transcript, f"{kind}s").append(event)
