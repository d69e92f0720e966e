"""Lays out scores: one table over all metrics, and below it what is to be known of each.

What all metrics share is said once: the judge, the scale, how much was scored. A count that is 0 everywhere is left
out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from keval.counted import counted
from keval.exports._blocks import Cell, Fitted, Lines, Section, Table
from keval.exports._side_by_side import of
from keval.readable import NOTHING, count, interval, kinds, number, probability
from keval.reports.metric_tables import ConditionScore, Difference, MetricTable, statistic, within
from keval.reports.sentences import judge_name, metric_name
from keval.stats.paired_statistics import PAIRED
from keval.stats.statistics import AGGREGATE, Statistic


def scores(tables: Sequence[MetricTable]) -> Iterator[Section]:
    """Yield the table over all metrics, then the details."""
    if tables:
        yield _overview(tables)
        yield from _details(tables)


def _conditions(tables: Sequence[MetricTable]) -> list[str]:
    return list(dict.fromkeys(score.condition for table in tables for score in table.scores))


def _unscored(tables: Sequence[MetricTable]) -> dict[str, str]:
    """Return the conditions that no metric has a score of, and why."""
    found = {}
    for condition in _conditions(tables):
        of_condition = [score for table in tables if (score := table.score(condition)) is not None]
        if all(score.mean is None and not score.scored for score in of_condition):
            first = of_condition[0]
            why = [f"{kind} {times}" for kind, times in first.failed.items()]
            why += [f"{count(first.not_done)} not scored yet"] if first.not_done else []
            found[condition] = f"nothing was scored ({', '.join(why)})" if why else "nothing was scored"
    return found


def _overview(tables: Sequence[MetricTable]) -> Section:
    conditions = _conditions(tables)
    samples = {name: _samples(tables, name) for name in conditions}
    by, scale = {_by(table, tables) for table in tables}, {_scale(table) for table in tables}
    shared = [*(by if len(by) == 1 else ()), *(scale if len(scale) == 1 else ())]
    columns: list[Cell] = ["metric"]
    for name in conditions:
        columns.append(_heading(name, samples[name]))
        columns += [
            Fitted(f"{name} minus {baseline}", (f"{name} minus", baseline)) for baseline in _baselines(tables, name)
        ]
    rows = []
    for table in tables:
        extra = [*([_by(table, tables)] if len(by) > 1 else []), *([_scale(table)] if len(scale) > 1 else [])]
        cells: list[Cell] = [_stacked(table.metric, *extra)]
        for name in conditions:
            cells.append(_mean(table.score(name), table, with_samples=samples[name] is None))
            cells += [_difference(_found(table, name, baseline), table) for baseline in _baselines(tables, name)]
        rows.append(tuple(cells))
    drawn = Table(tuple(columns), tuple(rows), splits=True)
    lines = tuple((line,) for line in _unknown(tables))
    return Section(", ".join(["Scores", *shared]), (drawn, Lines(lines)) if lines else (drawn,))


def _heading(condition: str, samples: int | None) -> Cell:
    if samples is None:
        return condition
    return Fitted(f"{condition}, n = {count(samples)}", (condition, counted(samples, "sample")))


def _stacked(first: str, *others: str) -> Cell:
    return Fitted(", ".join((first, *others)) if others else first, (first, *others)) if others else first


def _samples(tables: Sequence[MetricTable], condition: str) -> int | None:
    """Return how many samples each metric has of a condition; None where they have not all as many."""
    numbers = {score.n_samples for table in tables if (score := table.score(condition)) is not None}
    return numbers.pop() if len(numbers) == 1 else None


def _baselines(tables: Sequence[MetricTable], condition: str) -> list[str]:
    return list(
        dict.fromkeys(found.baseline for table in tables for found in table.differences if found.condition == condition)
    )


def _found(table: MetricTable, condition: str, baseline: str) -> Difference | None:
    each = (found for found in table.differences if (found.condition, found.baseline) == (condition, baseline))
    return next(each, None)


def _by(table: MetricTable, tables: Sequence[MetricTable]) -> str:
    if table.computed is not None:
        return f"computed ({table.computed})"
    return f"judge {judge_name(table, tables)}"


def _scale(table: MetricTable) -> str:
    return f"scale {table.min:g} to {table.max:g}"


def _mean(score: ConditionScore | None, table: MetricTable, *, with_samples: bool) -> Cell:
    if score is None or score.mean is None:
        return NOTHING
    parts = [number(score.mean)]
    if score.ci_lower is not None and score.ci_upper is not None:
        parts.append(interval(*within(table, score)))  # `json` and `csv` have it whole
    if with_samples:
        parts.append(counted(score.n_samples, "sample"))
    return Fitted(" ".join(parts), tuple(parts))


def _difference(found: Difference | None, table: MetricTable) -> Cell:
    """Show a difference, with its samples if the means beside it are of more, as of several logs with edited ones."""
    if found is None:
        return NOTHING
    beside = [score.n_samples for name in (found.condition, found.baseline) if (score := table.score(name)) is not None]
    parts = [] if found.difference is None else [number(found.difference, "+")]
    if found.ci_lower is not None and found.ci_upper is not None:
        parts.append(interval(found.ci_lower, found.ci_upper, "+"))
    if found.n_paired < min(beside, default=0):
        parts.append(f"of {counted(found.n_paired, 'sample')}")
    parts.append(found.conclusion)
    return Fitted(" ".join(parts), tuple(parts))


def _unknown(tables: Sequence[MetricTable]) -> Iterator[str]:
    """Yield why there are means or intervals that are not known, each reason once."""
    unscored = _unscored(tables)
    for condition, reason in unscored.items():
        yield f"{condition}: {reason}"
    yield from _reasons(tables, ("mean", "ci_lower"), set(unscored))


def _reasons(tables: Sequence[MetricTable], names: Sequence[str], told: set[str]) -> Iterator[str]:
    """Yield why statistics are not known, each reason once, but of the conditions that it was `told` of."""
    conditions = [name for name in _conditions(tables) if name not in told]
    where: dict[tuple[str, str], dict[str, list[str]]] = {}
    for table in tables:
        for score in (score for score in table.scores if score.condition not in told):
            for name in names:
                if AGGREGATE[name].of_combined and table.computed != "combined":
                    continue
                if statistic(score, name) is None and not (name == "ci_lower" and score.mean is None):
                    reason = score.reasons.get(name, "the input does not say why")
                    in_metrics = where.setdefault((AGGREGATE[name].label, reason), {})
                    in_metrics.setdefault(metric_name(table, tables), []).append(score.condition)
    for (label, reason), metrics in where.items():
        same: dict[tuple[str, ...], list[str]] = {}
        for metric, those in metrics.items():
            same.setdefault(tuple(dict.fromkeys(those)), []).append(metric)
        for where_not, which in same.items():
            metrics_named = "" if len(which) == len(tables) else f" of {', '.join(which)}"
            yield f"{label}{metrics_named}{of(where_not, len(conditions))}: {reason}"


Shown = tuple[str, ...]
"""The cells of a row, one for each condition."""


@dataclass(frozen=True, slots=True)
class _Detail:
    """A statistic that has a row below the table of means, and how it is shown."""

    name: str
    show: Callable[[ConditionScore], str]
    says_something: Callable[[ConditionScore], bool] = lambda _: True
    """If it is so of no condition, the row is left out."""


_DETAILS = (
    _Detail("planned", lambda s: f"{count(s.scored)} / {count(s.planned)}"),
    _Detail("agent_failed", lambda s: count(s.agent_failed), lambda s: s.agent_failed > 0),
    _Detail("not_measured", lambda s: count(s.not_measured), lambda s: s.not_measured > 0),
    _Detail("not_done", lambda s: count(s.not_done), lambda s: s.not_done != 0),
    _Detail("failed", lambda s: kinds(s.failed), lambda s: bool(s.failed)),
    _Detail("sd_within_sample", lambda s: number(s.sd_within_sample)),
    _Detail("sd_between_samples", lambda s: number(s.sd_between_samples)),
    _Detail(
        "mean_complete_case", lambda s: number(s.mean_complete_case), lambda s: s.mean_complete_case != s.mean
    ),
    _Detail(
        "mean_lower",
        lambda s: interval(s.mean_lower, s.mean_upper),
        lambda s: s.mean is not None and (s.mean_lower, s.mean_upper) != (s.mean, s.mean),
    ),
)  # fmt: skip


def _details(tables: Sequence[MetricTable]) -> Iterator[Section]:
    conditions = _conditions(tables)
    unscored = set(_unscored(tables))
    rows = [dict(_rows(table, conditions)) for table in tables]
    shared = {label: cells for label, cells in rows[0].items() if all(found.get(label) == cells for found in rows)}
    by_rest: dict[tuple[tuple[str, Shown], ...], list[str]] = {}
    for table, found in zip(tables, rows, strict=True):
        rest = tuple((label, cells) for label, cells in found.items() if label not in shared)
        by_rest.setdefault(rest, []).append(metric_name(table, tables))
    heading = "all metrics" if len(tables) > 1 else ""
    groups = [(heading, tuple(shared.items())), *((", ".join(names), rest) for rest, names in by_rest.items())]
    drawn = [
        Table((title, *conditions), tuple((label, *cells) for label, cells in found), by_condition=True)
        for title, found in groups
        if found
    ]
    shown = dict.fromkeys(detail.name for table in tables for detail in _shown_of(table))
    lines = tuple((line,) for line in _reasons(tables, tuple(shown), unscored))
    compared = tuple(_compared(tables))
    if drawn or compared:
        yield Section("Details of the scores", (*drawn, *((Lines(lines),) if lines else ()), *compared))


def _rows(table: MetricTable, conditions: Sequence[str]) -> Iterator[tuple[str, Shown]]:
    """Yield the rows of one metric by their labels."""
    for detail in _shown_of(table):
        found = (table.score(condition) for condition in conditions)
        yield AGGREGATE[detail.name].label, tuple(NOTHING if each is None else detail.show(each) for each in found)


def _shown_of(table: MetricTable) -> list[_Detail]:
    """Return what is to be told of a metric: rows of nothing but zeros are not."""
    return [
        *(detail for detail in _DETAILS if any(map(detail.says_something, table.scores))),
        *(_Detail(name, _showing(name)) for name in _others(table.scores, AGGREGATE)),
    ]


def _showing(name: str) -> Callable[[ConditionScore], str]:
    return lambda score: _shown(AGGREGATE[name], score.other_statistics.get(name))


def _shown(statistic: Statistic, value: float | None) -> str:
    if statistic.unit == "p":
        return probability(value)
    return count(value) if statistic.kind in {"total", "total_or_null"} else number(value)


def _others(found: Sequence[ConditionScore | Difference], statistics: Mapping[str, Statistic]) -> list[str]:
    """Return the names of the statistics without a row of their own that say something: a count of 0 does not."""
    silent = {name: (None, 0) if each.kind == "total" else (None,) for name, each in statistics.items() if each.shown}
    return [
        name
        for name, nothing in silent.items()
        if any(each.other_statistics.get(name) not in nothing for each in found)
    ]


def _compared(tables: Sequence[MetricTable]) -> Iterator[Table]:
    """Yield for each two conditions what their differences rest on, a row for each metric."""
    pairs = dict.fromkeys((found.condition, found.baseline) for table in tables for found in table.differences)
    for condition, baseline in pairs:
        found = [
            (metric_name(table, tables), difference)
            for table in tables
            if (difference := _found(table, condition, baseline)) is not None and difference.n_paired
        ]
        if found:
            others = _others([difference for _, difference in found], PAIRED)
            bounded = any(difference.other_statistics.get("difference_lower") is not None for _, difference in found)
            labels = ("n_paired", "wins", *others, *(("difference_lower",) if bounded else ()))
            titles = [PAIRED[name].label for name in labels]
            rows = tuple((metric, *_numbers(difference, others, bounded=bounded)) for metric, difference in found)
            yield Table((f"{condition} minus {baseline}", *titles), rows, by_condition=True)


def _numbers(found: Difference, others: Sequence[str], *, bounded: bool) -> Iterator[str]:
    yield count(found.n_paired) + (f" ({count(found.n_dropped)} dropped)" if found.n_dropped else "")
    yield f"{found.wins} / {found.ties} / {found.losses}"
    for name in others:
        yield _shown(PAIRED[name], found.other_statistics.get(name))
    if bounded:
        lower, upper = (found.other_statistics.get(f"difference_{end}") for end in ("lower", "upper"))
        yield interval(lower, upper, "+")
