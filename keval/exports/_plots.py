"""Draws what a report's plots show: differences, means, samples, scores and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from statistics import median

from keval.exports._strips import BINS, AnswerState, Axis, Dot, Panel, Side, Strip, Tick, bar
from keval.readable import count, interval, number
from keval.reports.details import ConditionSamples, Details, SampleDifferences, SampleValues
from keval.reports.metric_tables import ConditionScore, Difference, MetricTable, statistic, within
from keval.reports.sentences import metric_name

LEAST_REACH = 0.25
"""Part of the scale that an axis of differences shows at least to each side, so that noise never fills it."""

BESIDE = 85.0
"""Percent of the width for the scale, where answers without a score stand beside it."""

_WITHOUT_SCORE = ((90.0, "×"), (95.0, "○"))
"""Where these stand, and by which signs the words tell them."""


def differences(tables: Sequence[MetricTable]) -> list[Panel]:
    """Return the differences with their intervals: a panel for two conditions, or of several one for each metric."""
    compared = [table for table in tables if table.differences]
    pairs = {(each.condition, each.baseline) for table in compared for each in table.differences}
    panels: dict[tuple[str, float], list[tuple[str, Difference]]] = {}
    by_scale: dict[float, list[Difference]] = {}
    for table in compared:
        name = metric_name(table, tables)
        for each in table.differences:
            of_pair = f"{each.condition} minus {each.baseline}"
            caption, row = (of_pair, name) if len(pairs) == 1 else (name, of_pair)
            panels.setdefault((caption, table.max - table.min), []).append((row, each))
            by_scale.setdefault(table.max - table.min, []).append(each)
    reach = {scale: _reach(scale, _ends(found)) for scale, found in by_scale.items()}
    return [
        Panel(caption, _about_zero(reach[scale], [each.baseline for _, each in rows]),
              tuple(_difference(name, each, reach[scale]) for name, each in rows), 50.0)
        for (caption, scale), rows in panels.items()
    ]  # fmt: skip


def _ends(found: Sequence[Difference]) -> list[float]:
    return [value for each in found for value in (each.difference, each.ci_lower, each.ci_upper) if value is not None]


def _reach(scale: float, values: Iterable[float]) -> float:
    """Return how far an axis reaches to each side of 0: as far as any of the values, in eighths of the scale."""
    furthest = max([LEAST_REACH * scale, *map(abs, values)])
    return ceil(round(furthest / scale * 8, 6)) / 8 * scale


def _about_zero(reach: float, baselines: Sequence[str]) -> tuple[Tick, ...]:
    """Return the ticks of an axis of differences; 0 is the baseline, where all rows have the same one."""
    zero = baselines[0] if len(set(baselines)) == 1 else "0"
    return Tick(0.0, f"{number(-reach, '+')} lower"), Tick(50.0, zero), Tick(100.0, f"higher {number(reach, '+')}")


def _difference(name: str, found: Difference, reach: float) -> Strip:
    axis, margin = Axis(-reach, reach), statistic(found, "margin")
    sides: dict[str, Side] = {"higher": "better", "lower": "worse"}
    within = interval(found.ci_lower, found.ci_upper, "+")
    if found.ci_lower is None:
        within = f"no interval: {found.reasons.get('ci_lower', 'the input does not say why')}"
    return Strip(
        name,
        f"{number(found.difference, '+')} {within}",
        found.conclusion + (f", {found.qualification}" if found.qualification else ""),
        "none" if found.qualification else sides.get(found.conclusion, "none"),
        axis.mark(found.difference),
        axis.line(found.ci_lower, found.ci_upper),
        None if margin is None else axis.line(-margin, margin),
    )


def means(tables: Sequence[MetricTable], details: Details | None) -> list[Panel]:
    """Return a panel for each metric: the mean of each condition with its interval, and the samples' means below."""
    found = {_of(each): each for each in (details.conditions if details else ())}
    return [Panel(metric_name(table, tables), _over_scale(table), tuple(_means(table, found))) for table in tables]


def _of(samples: ConditionSamples) -> tuple[str, str, str, str]:
    return samples.judge_id, samples.metric, samples.condition_id, samples.agent_id


def _over_scale(table: MetricTable, width: float = 100.0) -> tuple[Tick, ...]:
    places = (table.min, (table.min + table.max) / 2, table.max)
    return tuple(Tick(width / 2 * place, f"{value:.6g}") for place, value in enumerate(places))


def _means(table: MetricTable, samples: dict[tuple[str, str, str, str], ConditionSamples]) -> Iterator[Strip]:
    axis, baselines = Axis(table.min, table.max), {each.baseline for each in table.differences}
    keys = [(table.judge_id, table.metric, score.condition_id, score.agent_id) for score in table.scores]
    values = [samples[key].means if key in samples else SampleValues() for key in keys]
    dots = _rows_of_dots(axis, values)
    for place, (score, of_score) in enumerate(zip(table.scores, values, strict=True)):
        yield Strip(
            score.condition,
            _mean_in_words(score, table),
            mark=axis.mark(score.mean),
            line=axis.line(score.ci_lower, score.ci_upper),
            dots=() if dots is None else dots[place],
            columns=axis.columns(of_score.values) if dots is None else (),
            is_baseline=score.condition in baselines,
        )


def _rows_of_dots(axis: Axis, rows: Sequence[SampleValues], *, compared: bool = False) -> list[tuple[Dot, ...]] | None:
    """Return the dots of each row, each with the name of its sample; None where samples are too many for that."""
    if not all(row.are_all_named for row in rows):
        return None
    return axis.rows_of_dots([row.named for row in rows], compared=compared)


def _mean_in_words(score: ConditionScore, table: MetricTable) -> str:
    """Return mean, interval and number of samples."""
    if score.ci_lower is None or score.ci_upper is None:
        return f"{number(score.mean)}, n = {count(score.n_samples)}"
    return f"{number(score.mean)} {interval(*within(table, score))}, n = {count(score.n_samples)}"


def samples_compared(tables: Sequence[MetricTable], details: Details | None) -> list[Panel]:
    """Return a panel for each metric: the difference of each sample, worse to the left."""
    found = {
        (each.judge_id, each.metric, each.condition, each.baseline): each
        for each in (details.differences if details else ())
    }
    rows = [
        (table, [found[key] for each in table.differences
                 if (key := (table.judge_id, table.metric, each.condition, each.baseline)) in found])
        for table in tables
    ]  # fmt: skip
    by_scale: dict[float, list[float]] = {}
    for table, of_table in rows:
        values = [value for each in of_table for value, _ in each.differences.values]
        by_scale.setdefault(table.max - table.min, []).extend(values)
    reach = {scale: _reach(scale, values) for scale, values in by_scale.items()}
    return [
        Panel(metric_name(table, tables), _worse_to_better(reach[table.max - table.min]),
              tuple(_samples_differences(of_table, reach[table.max - table.min])), 50.0)
        for table, of_table in rows if of_table
    ]  # fmt: skip


def _worse_to_better(reach: float) -> tuple[Tick, ...]:
    return Tick(0.0, f"{number(-reach, '+')} worse"), Tick(50.0, "0"), Tick(100.0, f"better {number(reach, '+')}")


def _samples_differences(rows: Sequence[SampleDifferences], reach: float) -> Iterator[Strip]:
    axis = Axis(-reach, reach)
    dots = _rows_of_dots(axis, [found.differences for found in rows], compared=True)
    for place, found in enumerate(rows):
        yield _sample_differences(found, axis, None if dots is None else dots[place])


def _sample_differences(found: SampleDifferences, axis: Axis, dots: tuple[Dot, ...] | None) -> Strip:
    """Return the strip of two conditions, with columns where there are too many samples for dots."""
    values = found.differences.values
    better = sum(samples for value, samples in values if value > 0)
    worse = sum(samples for value, samples in values if value < 0)
    equal = sum(samples for value, samples in values if value == 0)
    return Strip(
        f"{found.condition} minus {found.baseline}",
        f"better on {count(better)}, equal on {count(equal)}, worse on {count(worse)}",
        dots=dots or (),
        columns=() if dots is not None else axis.columns(values, compared=True),
    )


def scores_given(tables: Sequence[MetricTable], details: Details | None) -> list[Panel]:
    """Return a panel for each metric: how many answers have each score, and beside the scale how many have none."""
    found = {_of(each): each for each in (details.conditions if details else ())}
    panels = []
    for table in tables:
        keys = {
            score.condition: (table.judge_id, table.metric, score.condition_id, score.agent_id)
            for score in table.scores
        }
        if any(key in found for key in keys.values()):
            are_all_there = not any(score.agent_failed or score.not_measured for score in table.scores)
            axis = Axis(table.min, table.max, 100.0 if are_all_there else BESIDE)
            strips = tuple(
                Strip(
                    score.condition,
                    _given(found[key].scores if key in found else (), score),
                    columns=(axis.columns(found[key].scores) if key in found else ())
                    + axis.beside((("failed", score.agent_failed), ("unmeasured", score.not_measured))),
                )
                for score, key in zip(table.scores, keys.values(), strict=True)
            )
            ticks = _over_scale(table, axis.width)
            ticks += () if are_all_there else tuple(Tick(x, text) for x, text in _WITHOUT_SCORE)
            panels.append(Panel(metric_name(table, tables), ticks, strips))
    return panels


def _given(scores: Sequence[tuple[float, int]], score: ConditionScore) -> str:
    """Return how many answers have which score, or of many different ones where these lie; and how many have none."""
    if len(scores) <= BINS // 2:
        said = [f"{value:g}: {count(times)}" for value, times in scores]
    else:
        middle = median(value for value, times in scores for _ in range(times))
        said = [f"{scores[0][0]:g} to {scores[-1][0]:g}, median {number(middle)}"]
    said += [f"× agent failed: {count(score.agent_failed)}"] if score.agent_failed else []
    said += [f"○ not measured: {count(score.not_measured)}"] if score.not_measured else []
    return " · ".join(said) or "none"


def completeness(tables: Sequence[MetricTable]) -> list[Panel]:
    """Return what became of all that was planned: a panel for all metrics, or where they differ one for each."""
    panels: dict[tuple[Strip, ...], list[str]] = {}
    for table in tables:
        panels.setdefault(tuple(map(_completeness, table.scores)), []).append(metric_name(table, tables))
    return [
        Panel("all metrics" if len(panels) == 1 else ", ".join(names), (), strips) for strips, names in panels.items()
    ]


def _completeness(score: ConditionScore) -> Strip:
    counts: tuple[tuple[AnswerState, int], ...] = (
        ("scored", score.scored),
        ("failed", score.agent_failed),
        ("unmeasured", score.not_measured),
        ("undone", score.not_done or 0),
    )
    words = [f"{count(score.scored)} of {count(sum(times for _, times in counts))} scored"]
    names = {"failed": "agent failed", "unmeasured": "not measured", "undone": "not scored yet"}
    words += [f"{names[kind]} {count(times)}" for kind, times in counts[1:] if times]
    words += [", ".join(f"{kind} {times}" for kind, times in score.failed.items())] if score.failed else []
    return Strip(score.condition, " · ".join(words), parts=bar(counts))
