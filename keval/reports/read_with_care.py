"""Says in one line what makes the conclusions of a report doubtful: few samples, nothing repeated, much unscored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from keval.counted import counted
from keval.reports.metric_tables import ConditionScore, MetricTable, statistic
from keval.reports.model import ReportWarning
from keval.reports.number_warnings import FEW_CLUSTERS
from keval.reports.sentences import metric_name
from keval.stats.conclusions import MOST_MISSING

CARE = {
    "fewest_samples": "{samples}, so no interval is shown{there}.",
    "few_samples": "{samples}, so intervals are wide{there}.",
    "few_clusters": f"Fewer than {FEW_CLUSTERS} clusters, so intervals are unreliable.",
    "one_repetition": "No sample has two scored repetitions: run-to-run variation is not measured.",
    "one_judgment": "One judgment per answer: the judge's own variation is not measured.",
}
"""What makes all conclusions doubtful, by the code of its warning."""


def read_with_care(
    tables: Sequence[MetricTable], warnings: Sequence[ReportWarning], edited: Mapping[str, int] = MappingProxyType({})
) -> str | None:
    """Return what makes the conclusions doubtful in one line, None for nothing.

    `warnings` are of small numbers. `edited` says how many samples were edited between two logs and are left out, by
    the judges whose scores these are; without a name for those of all.
    """
    codes = [found.code for found in warnings if found.code in CARE]
    if "fewest_samples" in codes and "few_samples" in codes:
        codes.remove("few_samples")  # of the smallest number only one is true
    if "few_clusters" in codes and not any(_has_unreliable_interval(table) for table in tables):
        codes.remove("few_clusters")
    of_all = {"one_repetition": _unrepeated, "one_judgment": _judged_once}
    parts = [of_all[code](tables) if code in of_all else CARE[code].format(**_fewest_samples(tables)) for code in codes]
    parts += [text for text in (_most_unscored(tables), _unequally_applicable(tables)) if text]
    parts += [_edited(number, judges) for judges, number in edited.items() if number]
    return f"Read with care: {' '.join(parts)}" if parts else None


def _edited(number: int, judges: str) -> str:
    was, them = ("was", "it") if number == 1 else ("were", "them")
    left_out = f": scores of {judges} of {them} are" if judges else " and is" if number == 1 else " and are"
    return f"{counted(number, 'sample')} {was} edited between the logs{left_out} left out."


def _has_unreliable_interval(table: MetricTable) -> bool:
    """Return whether an interval of some mean rests on few clusters."""
    return any(
        score.ci_lower is not None and (statistic(score, "n_clusters") or FEW_CLUSTERS) < FEW_CLUSTERS
        for score in table.scores
    )


def _fewest_samples(tables: Sequence[MetricTable]) -> dict[str, str]:
    """Return how few samples a mean or a difference is of, with the metric where those of another are of more."""
    fewest: dict[int, list[MetricTable]] = {}
    for table in tables:
        of_scores = (score.n_samples for score in table.scores if score.n_samples)
        of_pairs = (found.n_paired for found in table.differences if found.n_paired)
        if number := min((*of_scores, *of_pairs), default=0):
            fewest.setdefault(number, []).append(table)
    samples = min(fewest, default=0)
    where = f" on {metric_name(fewest[samples][0], tables)}" if len(fewest) > 1 else ""
    return {"samples": f"{counted(samples, 'sample')}{where}", "there": " there" if where else ""}


def _unrepeated(tables: Sequence[MetricTable]) -> str:
    """Return that run-to-run variation is not measured, and of which conditions, where it is of others."""
    scores = [score for table in tables for score in table.scores if score.n_samples]
    measured = {score.condition for score in scores if score.sd_within_sample is not None}
    if not measured:
        return CARE["one_repetition"]
    names = [name for name in dict.fromkeys(score.condition for score in scores) if name not in measured]
    of = f"Of {', '.join(names)}" if names else "On some metrics"
    return f"{of} no sample has two scored repetitions: run-to-run variation is not measured there."


def _judged_once(tables: Sequence[MetricTable]) -> str:
    """Return that the variation of judges is not measured, or that it is not of some, where it is of others."""
    if any(score.n_judgments > score.n_responses for table in tables for score in table.scores):
        return "Some judges judged each answer once: their own variation is not measured."
    return CARE["one_judgment"]


def _most_unscored(tables: Sequence[MetricTable]) -> str | None:
    """Return how much was not scored on the metric of which most was not; which one, if others differ."""
    if not tables:
        return None
    counts = [_unscored(table) for table in tables]
    unscored, planned, failed = most = max(counts)
    table = tables[counts.index(most)]
    where = f" on {metric_name(table, tables)}" if len(set(counts)) > 1 else ""
    by_agent = f", of which the agent failed {failed}" if failed else ""
    return f"{unscored} of {planned} not scored{where}{by_agent}." if unscored and planned else None


def _unequally_applicable(tables: Sequence[MetricTable]) -> str | None:
    """Return which metric applies to unequal shares of two compared conditions' tasks, None if none does.

    Only samples to which it applies under both are compared, so a condition may have chosen them. Of several metrics
    and conditions the widest gap is told; one that is no wider than what may be missing without a word is not.
    """
    gap, told = max(_gaps_between_shares(tables), default=(0.0, ""))
    return told if gap > MOST_MISSING else None


def _gaps_between_shares(tables: Sequence[MetricTable]) -> Iterator[tuple[float, str]]:
    """Yield the gap between the shares of tasks to which a metric applies, and its sentence, of each difference.

    Where one condition tried fewer tasks, shares differ by what was not tried, and say nothing.
    """
    for table in tables:
        metric = metric_name(table, tables)
        for found in table.differences:
            one, other = table.score(found.baseline), table.score(found.condition)
            if one is None or other is None or one.not_done or other.not_done:
                continue
            tried = _tried(one)
            if tried and tried == _tried(other):
                shares = " and ".join(
                    f"to {score.expected:,} of {tried:,} tasks of {score.condition}" for score in (one, other)
                )
                told = f"{metric} applies {shares}: only samples to which it applies under both are compared."
                yield abs(one.expected - other.expected) / tried, told


def _tried(score: ConditionScore) -> int:
    """Return how many tasks were tried, whether or not the metric applies to them."""
    number: int = statistic(score, "not_applicable") or 0
    return score.expected + number


def _unscored(table: MetricTable) -> tuple[int, int, int]:
    """Return how much was not scored, of how many expected scores, and how much of it the agent failed.

    Of what is known to be planned.
    """
    known = [score for score in table.scores if score.planned is not None]
    failed = sum(score.agent_failed for score in known)
    unscored = failed + sum(score.not_measured + (score.not_done or 0) for score in known)
    return unscored, sum(score.expected for score in known), failed
