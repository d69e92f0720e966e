"""Puts the conditions of several logs into one report.

Each log says what it says alone: its own plan, its own failures. Their samples' means are then put side by side under
names that tell the logs apart, and the same SQL, tests and sentences do the rest. The one named first is the baseline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

from keval import projections
from keval.compare import doubts
from keval.compare.edited_records import leave_out_edited_records, records_of
from keval.compare.pair_baselines import leave_out_other_baselines, pair_baselines
from keval.compare.side import Side
from keval.compare.side_by_side import (
    leave_out_edited,
    of_shared_samples,
    pair_samples,
    put_side_by_side,
    renamed,
    score_bodies,
)
from keval.counted import first_of
from keval.errors import InputError, UsageError
from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import load
from keval.reports import mixed_answers
from keval.reports.builder import compose, evaluation_names, programs
from keval.reports.changed_scores import changed_scores
from keval.reports.house_scores import house_scores, put_together
from keval.reports.metric_tables import Difference, MetricTable, difference
from keval.reports.model import BANNER, Report
from keval.reports.queries import Queries
from keval.reports.read_with_care import read_with_care
from keval.reports.sentences import HOW_MANY_IN_ONE_LOG, headlines
from keval.stats.aggregates import comparison_bodies
from keval.stats.declared import Declared, declared
from keval.stats.stopped_run import descriptive, has_stopped

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from keval.projections.log_file import LogFile

READ = (
    "condition_means",
    "conditions",
    "facts",
    "judgment_facts",
    "metrics",
    "newest_samples",
    "planned_questions",
    "plans",
    "sample_means",
    "samples",
)
"""The tables and views of each log that are put side by side."""

NOT_COMPARED = "answers to different questions are not compared"

NOTES = (
    "Each log counts as its own report does. Samples are paired by what was asked; the first log is the baseline.",
    "Durations and costs are those of different runs: the time of day and the service's load are in them.",
)


@dataclass(frozen=True, slots=True)
class _Differing:
    """What is said of samples that are not the same in two logs."""

    text: str
    edited: tuple[str, ...] = ()
    """Those that both logs have and that are left out, because they were edited in between."""
    judges: str = ""
    """The judges whose scores of them are left out; empty for all."""


def compare(  # noqa: PLR0913 - each says of something else what is asked
    logs: Sequence[LogFile],
    same: Sequence[tuple[str, str]] = (),
    *,
    everything: bool = False,
    allow_mixed: bool = False,
    strategy: str | None = None,
    pass_from: Mapping[str, float] = MappingProxyType({}),
) -> Report:
    """Return the comparison of several logs of valid lines.

    `same` has pairs of conditions, one of an earlier and one of a later log, to be compared where their names differ.
    `strategy` adds house scores by it, for which `pass_from` says which scores pass.
    Raises InputError, with the way out, for logs that may not be compared or, unless `allow_mixed`, are of several
    agents, and UsageError for an unknown condition.
    """
    sides = [
        _side(number, log, logs, (strategy, pass_from), everything=everything, allow_mixed=allow_mixed)
        for number, log in enumerate(logs, start=1)
    ]
    doubts.check_comparable(sides)
    pairs = list(_pairs(sides, same))
    with projections.connect(logs, everything=everything, apart=True, asked=READ) as connection:
        samples = [*_samples(connection, sides)]
        put_side_by_side(connection, [side.label for side in sides], pairs)
        samples += _edited(connection, sides)
        samples += _moved(pair_samples(connection))
        tables = _tables(sides)
        shared = _compared(connection, of_shared_samples(connection, tables), sides)
        if not shared:
            raise InputError(
                "no sample has scores by the same judge under two conditions that are compared",
                *(found.text for found in samples),
            )
        report = _report(connection, sides, tables, shared, samples)
    if strategy is None:
        return report
    scores = [replace(each, condition=side.named(each.condition)) for side in sides for each in side.house_scores]
    return replace(report, house_scores=put_together(strategy, scores))


def _side(  # noqa: PLR0913 - as compare, which passes them on
    number: int,
    log: LogFile,
    logs: Sequence[LogFile],
    house: tuple[str | None, Mapping[str, float]],
    *,
    everything: bool,
    allow_mixed: bool,
) -> Side:
    names = [each.name for each in logs]
    label = log.name if names.count(log.name) == 1 else f"{log.name} ({number})"
    with projections.connect([log], everything=everything, texts=False) as connection:
        if len(several := evaluation_names(connection)) > 1:
            told = ", ".join(several)
            raise InputError(f"{label}: it has several evaluations ({told}); name the logs that it was made of")
        mixed_answers.refuse_mixed(connection, allow=allow_mixed, log=label)
        report, (strategy, pass_from) = compose(connection, logs=[log]), house
        scores = house_scores(strategy, connection, report, pass_from) if strategy else ()
        asking = {table.judge_id for table in report.metrics} - programs(Queries(connection), report.metrics)
        stopped = has_stopped(connection)
        return Side(number, label, report, declared(connection), scores, stopped, frozenset(asking))


def _pairs(sides: Sequence[Side], same: Sequence[tuple[str, str]]) -> Iterator[tuple[int, str, int, str]]:
    """Yield which conditions are compared: those of one name, and those that the user says belong together."""
    there = {name for side in sides for name in _conditions(side)}
    others: dict[str, list[str]] = {}
    for one_name, other_name in same:
        others.setdefault(one_name, []).append(other_name)
    for name in chain.from_iterable(same):
        if name not in there:
            raise UsageError(f"no condition is called {name!r}; there are: {', '.join(sorted(there))}")
    found = [
        (one.number, name, other.number, other_name)
        for one, other in combinations(sides, 2)
        for name in _conditions(one)
        for other_name in others.get(name, [name])
        if other_name in _conditions(other)
    ]
    if not found:
        each = "; ".join(f"{side.label}: {', '.join(_conditions(side)) or 'none'}" for side in sides)
        raise UsageError(f"no condition has the same name in two logs ({each}); --condition A=B says which to compare")
    yield from found


def _conditions(side: Side) -> list[str]:
    return [condition.name for condition in side.report.conditions]


def _samples(connection: DuckDBPyConnection, sides: Sequence[Side]) -> Iterator[_Differing]:
    """Yield which samples are not compared: those that only one of two logs has, or that are another question there.

    Raises InputError if no question is the same.
    """
    for one, other in combinations(sides, 2):
        query = load("compare", "questions", one=str(one.number), other=str(other.number))
        found = list(rows(connection, query))
        edited = [row["sample_id"] for row in found if not row["is_same"]]
        if edited:
            named = first_of(edited)
            problem = f"{one.label} and {other.label} asked different questions under the same id: {named}"
            if not any(row["is_same"] and row["asked_in"] is None for row in found):
                raise InputError(problem, f"{NOT_COMPARED}: keval generate CONFIG -o LOG asks what has changed")
            yield _Differing(f"{problem}; {NOT_COMPARED}, so they are left out", tuple(edited))
        if not any(row["asked_in"] is None for row in found):
            there = ", ".join(_example(side, found) for side in (one, other))
            raise InputError(
                f"{one.label} and {other.label} have no sample in common ({there})",
                "samples are paired by their ids: `id_key` of the config's dataset, or `id` of an import's mapping, "
                "says which field they are",
            )
        for side in (one, other):
            alone = [row["sample_id"] for row in found if row["asked_in"] == side.number]
            if alone:
                named = first_of(alone)
                yield _Differing(f"only {side.label} has answers to {named}; they are left out of its comparisons")


def _example(side: Side, found: Sequence[JsonObject]) -> str:
    """Return the id of a sample of a log."""
    return f"{side.label}: {next((row['sample_id'] for row in found if row['asked_in'] == side.number), 'none')}"


def _moved(samples: Sequence[str]) -> Iterator[_Differing]:
    """Yield which samples are of one cluster in one log, and of another one in another."""
    if samples:
        yield _Differing(
            f"the logs put {first_of(samples)} into different clusters: those of a sample are one here, "
            "which can make intervals wider"
        )


def _edited(connection: DuckDBPyConnection, sides: Sequence[Side]) -> Iterator[_Differing]:
    """Leave out samples that are not the same in two logs, and yield those of which judges know something else."""

    def records(number: int, names: Sequence[str]) -> Mapping[str, JsonObject]:
        return records_of(connection, f"log_{number}.samples", names)

    for one, other in combinations(sides, 2):
        leave_out_edited(connection, one.number, other.number)
        baselines = (pair_baselines(connection, f"log_{side.number}.facts") for side in (one, other))
        judges = {judge.judge_id: judge.name for side in (one, other) for judge in side.report.header.judges}
        for judge_id in leave_out_other_baselines(connection, *baselines):
            yield _Differing(
                f"{one.label} and {other.label}: judge {judges.get(judge_id, judge_id[:8])} compared answers with "
                "those of another baseline in each, be it that its prompt or its agent was edited; it is left out"
            )
        edited = leave_out_edited_records(connection, one.number, other.number, records)
        for why in dict.fromkeys(edited.values()):
            names = [name for name, its in edited.items() if its == why]
            of = ", ".join(sorted(judges.get(judge_id, judge_id[:8]) for judge_id in why.judges))
            left_out = f"scores of {of} of them are" if of else "they are"
            yield _Differing(
                f"{one.label} and {other.label} were judged by other records of {first_of(names)}, which "
                f"differ in {why.fields}; {left_out} left out. Where a judge need not be given {why.fields}, its "
                "`metadata` can leave it out in both; else keval run --no-retry-failed, with the config and agent of "
                f"{one.label} as they were and the new dataset, judges its answers anew (and asks what is new in "
                "it: --sample ID keeps to single samples)",
                tuple(names),
                of,
            )


def _tables(sides: Sequence[Side]) -> list[MetricTable]:
    """Return a table for each judge and metric, with the scores of all logs under the names that tell their logs."""
    tables: dict[tuple[str, str], MetricTable] = {}
    for side in sides:
        for table in side.report.metrics:
            first = tables.get((table.judge_id, table.metric), replace(table, scores=(), differences=()))
            tables[table.judge_id, table.metric] = replace(
                first,
                can_be_asked_again=first.can_be_asked_again and table.can_be_asked_again,
                scores=(*first.scores, *(renamed(score, side.number, side.label) for score in table.scores)),
            )
    return list(tables.values())


def _compared(
    connection: DuckDBPyConnection, tables: Sequence[MetricTable], sides: Sequence[Side]
) -> list[MetricTable]:
    """Return the tables of metrics that are compared, with their differences."""
    compared: dict[tuple[str, str], list[Difference]] = {}
    stopped = {side.named(name) for side in sides if side.has_stopped for name in _conditions(side)}
    of_all = doubts.declared_by_all(sides) or Declared()
    for body in comparison_bodies(connection, list(score_bodies(tables)), of_all):
        told = body if stopped.isdisjoint((body["baseline"], body["condition"])) else descriptive(body)
        compared.setdefault((body["judge_id"], body["metric"]), []).append(difference(told, None, None))
    return [
        replace(table, differences=tuple(compared[table.judge_id, table.metric]))
        for table in tables
        if (table.judge_id, table.metric) in compared
    ]


def _with_differences(tables: Sequence[MetricTable], compared: Sequence[MetricTable]) -> Iterator[MetricTable]:
    """Yield the tables of metrics that are compared, each with the differences of the other one of its metric."""
    differences = {(table.judge_id, table.metric): table.differences for table in compared}
    for table in tables:
        if (found := differences.get((table.judge_id, table.metric))) is not None:
            yield replace(table, differences=found)


def _report(
    connection: DuckDBPyConnection,
    sides: Sequence[Side],
    tables: Sequence[MetricTable],
    shared: Sequence[MetricTable],
    samples: Sequence[_Differing],
) -> Report:
    """Return the report: each log's own numbers of `tables`, and what is concluded from `shared` samples."""
    mock = any(side.report.mock for side in sides)
    small = tuple(doubts.small(sides, shared))
    edited: dict[str, set[str]] = {}
    for found in samples:
        edited.setdefault(found.judges, set()).update(found.edited)
    conditions = tuple(
        replace(condition, name=side.named(condition.name)) for side in sides for condition in side.report.conditions
    )
    return Report(
        mock=mock,
        banner=BANNER if mock else None,
        warnings_first=tuple(doubts.first_of_each(sides)),
        headlines=headlines(
            shared, is_incomplete=any(found.not_done for found in conditions), how_many=HOW_MANY_IN_ONE_LOG
        ),
        read_with_care=read_with_care(shared, small, {of: len(names) for of, names in edited.items()}),
        header=doubts.header(sides),
        conditions=conditions,
        metrics=tuple(_with_differences(tables, shared)),
        changed_scores=changed_scores(Queries(connection)),
        claims=(),
        failures=tuple(
            replace(group, condition=side.named(group.condition)) for side in sides for group in side.report.failures
        ),
        retractions=tuple(found for side in sides for found in side.report.retractions),
        warnings=(
            *doubts.differing(sides, [found.text for found in samples]),
            *small,
            *doubts.rest_of_each(sides),
        ),
        notes=NOTES,
    )
