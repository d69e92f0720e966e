"""Says what the trials of a condition's samples come to: pass@k and pass^k, each with an interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from keval.reports.trials import TrialCounts
from keval.stats.condition_passes import NOTHING, Alike, Estimate, estimate, why_no_interval
from keval.stats.intervals import Interval
from keval.stats.pass_k import pass_at_k, pass_every_k


@dataclass(frozen=True)
class Chances:
    """What the samples of one condition come to, with intervals."""

    at_k: Estimate
    every_k: Estimate


@dataclass(frozen=True)
class ConditionTrials:
    """The trials of all samples of one condition that a judge judges.

    A number is null as soon as one of them is not known: the lucky ones are no fair choice.
    """

    condition: str
    samples: int
    not_judged: int
    """Samples beside these: no judge is for them, or they are in the share of none."""
    flaky: int
    unknown: int
    """Samples of which nothing can be said."""
    pass_at_k: float | None
    pass_at_k_interval: Interval
    pass_every_k: float | None
    pass_every_k_interval: Interval
    why_no_interval: str | None = None
    """Why numbers that are known have none."""
    worst: Chances | None = None
    """If every trial of which nothing is known had failed; None where all is known, and where that does not help."""
    best: Chances | None = None
    """If it had passed."""


NOTHING_KNOWN = Chances(NOTHING, NOTHING)


def condition_trials(counted: Iterable[TrialCounts]) -> Iterator[ConditionTrials]:
    """Yield what the samples of each condition come to."""
    for condition, found in groupby(counted, key=lambda trials: trials.condition):
        tried = list(found)
        judged = [trials for trials in tried if trials.is_judged]
        untried = max(0, (tried[0].planned_samples or 0) - _samples(tried))
        unknown = _samples(trials for trials in judged if trials.why_unknown is not None) + untried
        known = NOTHING_KNOWN if unknown or not judged else _chances(judged, 0, best=False)
        yield ConditionTrials(
            condition=condition,
            samples=_samples(judged) + untried,
            not_judged=_samples(tried) - _samples(judged),
            flaky=_samples(each for each in judged if each.why_unknown is None and 0 < each.passes < each.done),
            unknown=unknown,
            pass_at_k=known.at_k[0],
            pass_at_k_interval=known.at_k[1],
            pass_every_k=known.every_k[0],
            pass_every_k_interval=known.every_k[1],
            why_no_interval=None if known is NOTHING_KNOWN or known.at_k[1][0] is not None else _why_not(judged),
            worst=_chances(judged, untried, best=False) if unknown and _may_be_bounded(judged, untried) else None,
            best=_chances(judged, untried, best=True) if unknown and _may_be_bounded(judged, untried) else None,
        )


def _samples(found: Iterable[TrialCounts]) -> int:
    return sum(trials.samples for trials in found)


def _may_be_bounded(judged: Sequence[TrialCounts], untried: int) -> bool:
    """Return whether only scores are unknown: not how many trials there are, nor what a sample belongs to."""
    if not judged or any(trials.k > trials.planned for trials in judged):
        return False
    return not untried or not judged[0].is_clustered


def _chances(judged: Sequence[TrialCounts], untried: int, *, best: bool) -> Chances:
    """Return pass@k and pass^k, as `aggregate` estimates them; `best`: all that is unknown passed, else it failed.

    `untried` samples were never tried.
    """
    k, planned = judged[0].k, max(trials.planned for trials in judged)
    groups = _groups(judged, best=best)
    if untried:
        groups.append(Alike(planned, planned if best else 0, untried))
    found = (
        estimate(groups, lambda passed, n: pass_at_k(passed, n, k)),
        estimate(groups, lambda passed, n: pass_every_k(passed, n, k)),
    )
    if any(trials.lacks_cluster for trials in judged):
        return Chances(*((share, (None, None), method) for share, _, method in found))
    return Chances(*found)


def _groups(judged: Sequence[TrialCounts], *, best: bool) -> list[Alike]:
    return [
        Alike(each.planned, each.planned - each.failures if best else each.passes, each.samples, each.cluster)
        for each in judged
    ]


def _why_not(judged: Sequence[TrialCounts]) -> str:
    return why_no_interval(_groups(judged, best=False), _samples(trials for trials in judged if trials.lacks_cluster))
