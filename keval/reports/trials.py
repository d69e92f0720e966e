"""Says of each sample how often it passed: pass@k, pass^k and how flaky it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.line_text import events_of
from keval.projections.log_file import ChangedError, LogFile
from keval.projections.sql_file import literals, load
from keval.reports.verdicts import READ as READ_FOR_VERDICTS
from keval.reports.verdicts import verdicts
from keval.stats.pass_k import pass_at_k, pass_at_k_plugin, pass_every_k, pass_every_k_plugin

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

READ = (
    *READ_FOR_VERDICTS,
    "failure_facts",
    "failure_kinds",
    "judge_baselines",
    "newest_samples",
    "not_for",
    "repeated",
    "sampling",
    "series",
    "shared_tasks",
    "tasks",
)
"""The tables and views that are asked."""

TURN = ("type", "text", "id", "name", "server", "input", "result", "error", "duration_ms")
"""The fields that each turn of a trajectory has, null if it is of another type."""


@dataclass(frozen=True)
class TrialCounts:
    """How the trials of a sample under one condition went, or those of several samples that went alike."""

    condition: str
    planned_samples: int | None
    """Of how many samples the condition is to have trials; None if no run says it."""
    k: int
    planned: int
    """How many trials each sample is to have, without those that no judge is to judge, as it judges a share."""
    done: int
    """How many of them there are."""
    passes: int
    failures: int
    """How many did not pass."""
    reasons: Sequence[str]
    """Why of the others nobody knows it."""
    is_sampled: bool
    """Whether one of the planned trials is in the share of a judge, be it that it was not tried yet."""
    is_outside: bool
    """Whether no judge is for the sample."""
    cluster: str | None
    """What it has in common with the samples that belong to it; None if it has nothing, or nobody asks."""
    is_clustered: bool
    """Whether the config names a field for that."""
    samples: int
    """How many samples went so."""

    @property
    def is_judged(self) -> bool:
        """Whether any judge is for the sample, and has one of the trials in its share."""
        return self.is_sampled and not self.is_outside

    @property
    def lacks_cluster(self) -> bool:
        """Whether nobody knows which samples belong to it, though the config names a field for that."""
        return self.cluster is None and self.is_clustered

    @property
    def why_unknown(self) -> str | None:
        """Why nothing can be said: a trial that was not measured is no trial that failed. None if all is known."""
        if not self.is_judged:
            return "no judge is for it" if self.is_sampled else "in the share of no judge"
        unknown = self.done - self.passes - self.failures
        if unknown:
            return f"{unknown} of {self.planned} trials not measured ({', '.join(self.reasons)})"
        if self.done < self.planned:
            return f"{self.planned - self.done} of {self.planned} trials not done"
        return None if self.k <= self.planned else f"k exceeds trials ({self.k} of {self.planned})"

    @property
    def pass_at_k(self) -> float | None:
        """The chance that at least one of k trials passes; unbiased."""
        return None if self.why_unknown else pass_at_k(self.passes, self.planned, self.k)

    @property
    def pass_every_k(self) -> float | None:
        """The chance that all of k trials pass; unbiased."""
        return None if self.why_unknown else pass_every_k(self.passes, self.planned, self.k)

    @property
    def flakiness(self) -> float | None:
        """How far the two are apart: 0 for a sample that always passes or never."""
        at, every = self.pass_at_k, self.pass_every_k
        return None if at is None or every is None else max(0.0, at - every)


@dataclass(frozen=True)
class SampleTrials:
    """One sample under one condition with what was asked and answered in each trial."""

    sample: JsonObject
    rows: Sequence[JsonObject]
    """The trials, as `trials.sql` has them."""
    counts: TrialCounts

    def as_json(self) -> JsonObject:
        """Return the sample's trials as one JSON object, with the names that agent-eval-harness gives them."""
        counts = self.counts
        known = counts.why_unknown is None
        rest = {name: value for name, value in self.sample.items() if name not in {"id", "question", "answer"}}
        return {
            "id": self.sample["id"],
            "input": self.sample["question"],
            "hint": self.sample["answer"],
            "condition": counts.condition,
            "k": counts.k,
            "n": counts.planned,
            "passes": counts.passes,
            "passRate": counts.passes / counts.planned if known else None,
            "passAtK": counts.pass_at_k,
            "passExpK": counts.pass_every_k,
            "passAtKPlugin": pass_at_k_plugin(counts.passes, counts.planned, counts.k) if known else None,
            "passExpKPlugin": pass_every_k_plugin(counts.passes, counts.planned, counts.k) if known else None,
            "flakiness": counts.flakiness,
            "reason": counts.why_unknown,
            "trials": list(map(_trial, self.rows)),
            "metadata": rest,
        }


def sample_trials(  # noqa: PLR0913 - what alike_trials is given, and the logs that have the texts
    connection: DuckDBPyConnection,
    logs: Sequence[LogFile],
    k: int,
    planned: int,
    *,
    pass_from: Mapping[str, float],
    conditions: Sequence[str],
) -> Iterator[SampleTrials]:
    """Yield the first `planned` trials of each condition's samples, with what was asked and answered.

    `conditions` are those of the config by name: the log may hold others, and more trials of another config.
    """
    trials = _verdicts(connection, planned, pass_from, conditions)
    counts = load("reports", "trial_counts", trials="from trial", planned=str(planned))
    counted = load("reports", "counted_trials", trials=trials, counts=counts)
    found = rows(connection, load("reports", "trials", trials=counted))
    for _, of_sample in groupby(with_texts(logs, found), key=itemgetter("place", "sample_id")):
        trial, *others = of_sample
        # Of a sample that the agent always failed, a log of an older version has no record.
        unknown = {"id": trial["sample_id"], "question": None, "answer": None}
        yield SampleTrials(trial["sample"] or unknown, [trial, *others], _counts(trial, k))


def alike_trials(
    connection: DuckDBPyConnection,
    k: int,
    planned: int,
    pass_from: Mapping[str, float],
    conditions: Sequence[str],
) -> Iterator[TrialCounts]:
    """Yield the same counts without any text, condition by condition: one for all samples whose trials went alike."""
    trials = _verdicts(connection, planned, pass_from, conditions)
    counts = load("reports", "trial_counts", trials=trials, planned=str(planned))
    return (_counts(row, k) for row in rows(connection, load("reports", "alike_trials", counts=counts)))


def _verdicts(
    connection: DuckDBPyConnection, planned: int, pass_from: Mapping[str, float], conditions: Sequence[str]
) -> str:
    only = f"c.condition in {literals(conditions)} and t.repetition <= {planned}"
    return load("reports", "trial_verdicts", verdicts=verdicts(connection, pass_from), only=only)


def with_texts(logs: Sequence[LogFile], trials: Iterator[JsonObject]) -> Iterator[JsonObject]:
    """Yield trials as trials.sql has them, with `sample`, `text` and `turns`, which the lines of logs say.

    Raises ChangedError where another event stands by now.
    """
    with events_of(logs) as event_at:

        def told(file: int | None, offset: int, *fields: str) -> JsonObject:
            if file is None:
                return dict.fromkeys(fields)
            event = event_at(file, offset)
            if not event.keys() >= set(fields):
                raise ChangedError(logs[file - 1].name)
            return {name: event[name] for name in fields}

        for row in trials:
            asked = told(row["sample_file"], row["sample_offset"], "sample")
            yield row | asked | told(row["answer_file"], row["answer_offset"], "text", "turns")


def _counts(row: JsonObject, k: int) -> TrialCounts:
    return TrialCounts(
        condition=row["condition"],
        planned_samples=row["planned_samples"],
        k=k,
        planned=row["planned"],
        done=row["done"],
        passes=row["passes"],
        failures=row["failures"],
        reasons=row["reasons"],
        is_sampled=row["is_sampled"],
        is_outside=row["is_outside"],
        cluster=row["cluster"],
        is_clustered=row["is_clustered"],
        samples=row["samples"],
    )


def _trial(row: JsonObject) -> JsonObject:
    scores = row["scores"]
    return {
        "trialNum": row["repetition"],
        "output": row["text"],
        "trajectory": row["turns"] and [{name: turn.get(name) for name in TURN} for turn in row["turns"]],
        "duration": row["duration_ms"],
        "pass": row["passed"],
        "score": scores[0]["score"] if len(scores) == 1 else None,
        "scores": {f"{each['judge']}/{each['metric']}": each["score"] for each in scores},
        "reason": row["why"],
    }
