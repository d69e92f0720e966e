"""Gathers what a page shows beside a report's numbers: each sample's means, scores, answers to read, and the config."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from keval.ids import JsonObject
from keval.reports.queries import ask
from keval.secrets.masking import masked

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class ConditionSamples:
    """The numbers that one metric's mean of one condition is made of."""

    judge_id: str
    metric: str
    condition_id: str
    agent_id: str
    means: tuple[tuple[str, float], ...]
    """Each sample with its mean, ascending."""
    scores: tuple[tuple[float, int], ...]
    """How many answers have each score, ascending; a failure of the agent has none."""
    failed: tuple[str, ...] = ()
    """The samples of which the agent failed an answer; it counts in their means."""


@dataclass(frozen=True, slots=True)
class SampleDifferences:
    """The numbers that one metric's difference of two conditions is made of."""

    judge_id: str
    metric: str
    condition: str
    baseline: str
    differences: tuple[tuple[str, float], ...]
    """Each sample with its difference, ascending."""


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
    cases: tuple[Case, ...] = ()
    """The samples that changed most, with their answers."""


def details(connection: DuckDBPyConnection) -> Details:
    """Return the details of a report, without answers to read."""
    (ran,) = ask(connection, "ran_with")
    versions = tuple((name, str(value)) for name, value in (_read(ran["environment"]) or {}).items() if value)
    config = None
    if ran["config"] is not None:
        config = orjson.dumps(masked(_read(ran["config"])), option=orjson.OPT_INDENT_2).decode()
    return Details(tuple(_conditions(connection)), tuple(_differences(connection)), config, versions)


def _read(json: str | None) -> Any:  # noqa: ANN401 - what JSON can be
    return None if json is None else orjson.loads(json)


def _conditions(connection: DuckDBPyConnection) -> Iterator[ConditionSamples]:
    scores: dict[tuple[object, ...], list[tuple[float, int]]] = {}
    for row in ask(connection, "scores_given"):
        scores.setdefault(_key(row), []).append((row["score"], row["answers"]))
    for row in ask(connection, "means_of_samples"):
        means = tuple(zip(row.pop("samples"), row["means"], strict=True))
        of_key = tuple(scores.get(_key(row), ()))
        yield ConditionSamples(**row | {"means": means, "scores": of_key, "failed": tuple(row["failed"])})


def _key(row: JsonObject) -> tuple[object, ...]:
    return row["judge_id"], row["metric"], row["condition_id"], row["agent_id"]


def _differences(connection: DuckDBPyConnection) -> Iterator[SampleDifferences]:
    for row in ask(connection, "differences_of_samples"):
        found = tuple(zip(row.pop("samples"), row.pop("differences"), strict=True))
        yield SampleDifferences(**row, differences=found)
