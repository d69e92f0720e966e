"""Gathers what a page shows beside a report's numbers: each sample's means, scores, answers to read, and the config."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from keval.ids import JsonObject
from keval.projections.sql_file import literal, literals
from keval.reports.metric_tables import MetricTable
from keval.reports.queries import ask
from keval.secrets.masking import masked

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


MOST_SAMPLES = 200
"""Samples that are shown by name at most; of a condition with no more than these all are known by name."""


@dataclass(frozen=True, slots=True)
class SampleValues:
    """One number of each of some samples."""

    values: tuple[tuple[float, int], ...] = ()
    """How many samples have each number, ascending."""
    named: tuple[tuple[str, float], ...] = ()
    """Samples with their numbers, ascending: all of `MOST_SAMPLES` at most; of more, those that are shown of means, and
    none of differences."""

    @property
    def are_all_named(self) -> bool:
        """Whether the name of each sample is known."""
        return len(self.named) == sum(samples for _, samples in self.values)


@dataclass(frozen=True, slots=True)
class ConditionSamples:
    """The numbers that one metric's mean of one condition is made of."""

    judge_id: str
    metric: str
    condition_id: str
    agent_id: str
    means: SampleValues
    scores: tuple[tuple[float, int], ...]
    """How many answers have each score, ascending; a failure of the agent has none."""
    failed: tuple[str, ...] = ()
    """The samples by name of which the agent failed an answer; it counts in their means."""


@dataclass(frozen=True, slots=True)
class SampleDifferences:
    """The numbers that one metric's difference of two conditions is made of."""

    judge_id: str
    metric: str
    condition: str
    baseline: str
    differences: SampleValues


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """One answer, or failure, as a person reads it: texts under titles, the long ones shortened."""

    condition: str
    repetition: int
    about: str
    """What became of it, in one line."""
    texts: tuple[tuple[str, str], ...]
    steps: tuple[tuple[str, str], ...]
    """What the agent did before it answered."""


@dataclass(frozen=True, slots=True)
class Case:
    """One sample with all answers under two conditions."""

    sample_id: str
    condition: str
    baseline: str
    question: tuple[tuple[str, str], ...]
    """The question and the golden answer, under titles."""
    answers: tuple[ShownAnswer, ...]


@dataclass(frozen=True, slots=True)
class Details:
    """What a page shows beside the numbers of a report."""

    conditions: tuple[ConditionSamples, ...]
    differences: tuple[SampleDifferences, ...]
    config: str | None
    """The config of the newest run as keval understood it, as JSON; what may be a secret is left out."""
    versions: tuple[tuple[str, str], ...]
    """What the newest run ran with: keval, Python and others, with their versions."""
    samples: tuple[str, ...]
    """The samples that are shown by name, those first that got worst against the baseline."""
    left_out: int
    """How many others there are."""
    cases: tuple[Case, ...] = ()
    """The samples that changed most, with their answers."""


def details(connection: DuckDBPyConnection, tables: Sequence[MetricTable]) -> Details:
    """Return the details of a report of these metrics, without answers to read."""
    (ran,) = ask(connection, "ran_with")
    versions = tuple((name, str(value)) for name, value in (_read(ran["environment"]) or {}).items() if value)
    config = None
    if ran["config"] is not None:
        config = orjson.dumps(masked(_read(ran["config"])), option=orjson.OPT_INDENT_2).decode()
    shown, left_out = _shown(connection, tables)
    conditions, differences = tuple(_conditions(connection, shown)), tuple(_differences(connection))
    return Details(conditions, differences, config, versions, shown, left_out)


def _read(json: str | None) -> Any:  # noqa: ANN401 - what JSON can be
    return None if json is None else orjson.loads(json)


def _shown(connection: DuckDBPyConnection, tables: Sequence[MetricTable]) -> tuple[tuple[str, ...], int]:
    """Return the samples that are shown by name, and how many others these metrics have."""
    series = [
        f"({', '.join(map(literal, (table.judge_id, table.metric, score.condition_id, score.agent_id)))})"
        for table in tables
        for score in table.scores
    ]
    if not series:
        return (), 0
    found = list(ask(connection, "shown_samples", series=", ".join(series), most=str(MOST_SAMPLES)))
    return tuple(row["sample_id"] for row in found), next((row["samples"] for row in found), 0) - len(found)


def _conditions(connection: DuckDBPyConnection, shown: Sequence[str]) -> Iterator[ConditionSamples]:
    scores: dict[tuple[str, str, str, str], list[tuple[float, int]]] = {}
    for row in ask(connection, "scores_given"):
        scores.setdefault(_key(row), []).append((row["score"], row["answers"]))
    for row in ask(connection, "means_of_samples", shown=literals(shown), most=str(MOST_SAMPLES)):
        means = _values(row["means"], row["samples"], row["names"], row["named_means"])
        yield ConditionSamples(*_key(row), means, tuple(scores.get(_key(row), ())), tuple(row["failed"]))


def _key(row: JsonObject) -> tuple[str, str, str, str]:
    return row["judge_id"], row["metric"], row["condition_id"], row["agent_id"]


def _differences(connection: DuckDBPyConnection) -> Iterator[SampleDifferences]:
    for row in ask(connection, "differences_of_samples", most=str(MOST_SAMPLES)):
        differences = _values(row["differences"], row["samples"], row["names"], row["named_differences"])
        yield SampleDifferences(row["judge_id"], row["metric"], row["condition"], row["baseline"], differences)


def _values(
    values: Sequence[float], samples: Sequence[int], names: Sequence[str], named: Sequence[float]
) -> SampleValues:
    return SampleValues(tuple(zip(values, samples, strict=True)), tuple(zip(names, named, strict=True)))
