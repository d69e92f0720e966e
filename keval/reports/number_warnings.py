"""Warns of what the numbers themselves show: how little they rest on, and that failures turn their order around."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from keval.counted import counted
from keval.metric_names import full_name
from keval.readable import number
from keval.reports.metric_tables import ConditionScore, Difference, MetricTable, statistic
from keval.reports.model import ReportWarning
from keval.stats.intervals import FEWEST_SAMPLES

FEW_SAMPLES = 30
"""With fewer samples an interval is wide and approximate."""

FEW_CLUSTERS = 10
"""With fewer clusters their standard error is unreliable."""

UNRELIABLE_CLUSTERS = (
    f"fewer than {FEW_CLUSTERS} clusters: their standard error, and intervals that rest on it, are unreliable"
)
"""What is said where there are few."""


def reversals(tables: Iterable[MetricTable]) -> Iterator[ReportWarning]:
    """Yield a sentence for each two compared conditions that the treatment of failures ranks differently."""
    found: dict[tuple[str, str], list[str]] = {}
    for table in tables:
        for one, other in _compared(table):
            with_failures = _gap(one.mean, other.mean)
            without = _gap(one.mean_complete_case, other.mean_complete_case)
            if with_failures * without < 0:
                high, low = (one, other) if with_failures > 0 else (other, one)
                not_done = (one.not_done or 0) + (other.not_done or 0)
                found.setdefault((high.condition, low.condition), []).append(
                    f"{full_name(table.judge, table.metric)} {number(high.mean)} and {number(low.mean)}, "
                    f"of completed answers {number(high.mean_complete_case)} and {number(low.mean_complete_case)}"
                    + (f"; of {not_done:,} there is no score yet, and failures count already" if not_done else "")
                )
    for (high_name, low_name), numbers in found.items():
        yield ReportWarning(
            "ranking_depends_on_failures",
            f"The order depends on how failures count: with them {high_name} is above {low_name}, among completed "
            f"answers {low_name} is above {high_name} ({'; '.join(numbers)}).",
        )


def _compared(table: MetricTable) -> Iterator[tuple[ConditionScore, ConditionScore]]:
    """Yield the scores of each two conditions whose difference the table has."""
    scores = {score.condition: score for score in table.scores}
    for each in table.differences:
        if each.condition in scores and each.baseline in scores:
            yield scores[each.baseline], scores[each.condition]


def _gap(one: float | None, other: float | None) -> float:
    """Return how far apart two means are; 0 where no reader would see it."""
    return 0.0 if one is None or other is None or number(one) == number(other) else one - other


def _clustered_se(score: ConditionScore) -> float:
    """Return the standard error by clusters, infinite where it is not known; 0 is that of clusters that are alike."""
    found: float | None = statistic(score, "se_clustered")
    return math.inf if found is None else found


@dataclass(frozen=True, slots=True)
class _Small:
    """A number that is too small, where it is, and what that leaves unsaid."""

    code: str
    text: str
    is_so: Callable[[ConditionScore], bool]
    where: Callable[[MetricTable, ConditionScore], str]
    pairs: range = range(0)
    """How many pairs of samples a difference has of which the same is said, where its conditions have more samples."""
    of_models: bool = False
    """Whether it is said of judges that ask a model only: a program says the same each time."""


_SMALL = (
    _Small(
        "fewest_samples",
        f"fewer than {FEWEST_SAMPLES} samples: no interval shown; descriptive only",
        lambda score: 0 < score.n_samples < FEWEST_SAMPLES,
        lambda _, score: f"{score.condition}, {counted(score.n_samples, 'sample')}",
        pairs=range(1, FEWEST_SAMPLES),
    ),
    _Small(
        "few_samples",
        f"fewer than {FEW_SAMPLES} samples: intervals are wide, approximate",
        lambda score: FEWEST_SAMPLES <= score.n_samples < FEW_SAMPLES,
        lambda _, score: f"{score.condition}, {counted(score.n_samples, 'sample')}",
        pairs=range(FEWEST_SAMPLES, FEW_SAMPLES),
    ),
    _Small(
        "few_clusters",
        UNRELIABLE_CLUSTERS,
        lambda score: 0 < (statistic(score, "n_clusters") or 0) < FEW_CLUSTERS,
        lambda _, score: f"{score.condition}, {counted(statistic(score, 'n_clusters'), 'cluster')}",
    ),
    _Small(
        "clusters_vary_less",
        "negative within-cluster correlation observed: samples of one cluster differ more than those of several; "
        "intervals rest on the standard error over samples",
        lambda score: _clustered_se(score) < (score.se or 0),
        lambda _, score: score.condition,
    ),
    _Small(
        "one_repetition",
        "no sample has two scored repetitions: run-to-run variation not measured",
        lambda score: score.n_samples > 0 and score.sd_within_sample is None,
        lambda _, score: score.condition,
    ),
    _Small(
        "one_judgment",
        "one judgment per answer: judge variation not measured",
        lambda score: 0 < score.n_judgments <= score.n_responses,
        lambda table, _: table.judge,
        of_models=True,
    ),
)

SMALL_NUMBERS = frozenset(small.code for small in _SMALL)
"""The codes of warnings of small numbers."""


def small_numbers(tables: Sequence[MetricTable], programs: Collection[str] = ()) -> Iterator[ReportWarning]:
    """Yield what too few samples, repetitions or judgments leave unsaid, each once for all tables.

    `programs` are the ids of judges that ask no model.
    """
    for small in _SMALL:
        where = dict.fromkeys(
            small.where(table, score)
            for table in tables
            if not (small.of_models and table.judge_id in programs)
            for score in table.scores
            if small.is_so(score)
        )
        where |= dict.fromkeys(
            f"{found.condition} minus {found.baseline}, {counted(found.n_paired, 'sample')}"
            for table in tables
            for found in table.differences
            if found.n_paired in small.pairs and found.n_paired < _fewest_of(table, found)
        )
        if where:
            yield ReportWarning(small.code, f"{small.text} ({'; '.join(where)})")


def _fewest_of(table: MetricTable, found: Difference) -> int:
    """Return how many samples the condition has that has the fewer ones of the two of a difference."""
    scores = (table.score(name) for name in (found.condition, found.baseline))
    return min((score.n_samples for score in scores if score is not None), default=0)
