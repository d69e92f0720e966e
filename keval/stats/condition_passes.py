"""pass@k, pass^k and G-Pass@k of a condition: the mean over samples of what each sample's trials say, and its interval.

Null as soon as one sample has fewer than k trials, or a trial of which nothing is known: the lucky samples are no fair
choice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import fsum
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import load
from keval.stats.intervals import FEWEST_SAMPLES, Interval
from keval.stats.pass_k import g_pass_at_k, mg_pass_at_k, pass_at_k, pass_every_k
from keval.stats.proportions import Share, clopper_pearson, effective_number, wilson
from keval.stats.reasons import TOO_FEW, few_clusters
from keval.stats.statistic import ScoreKey

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TAUS = (0.5, 0.75)
"""The shares of k trials for G-Pass@k; with 1 it is pass^k."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Samples of one cluster with the same number of trials and of passes."""

    trials: int
    passes: int
    samples: int
    cluster: str | None = None


@dataclass(slots=True)
class Passes:
    """The trials of all samples that were tried, of one condition by one metric."""

    groups: list[Alike] = field(default_factory=list)
    unknown: int = 0
    decides: bool = False
    unclustered: int = 0
    """Samples without a cluster, where the config names a field for it: then nobody knows which belong together."""

    def why_none(self, untried: int) -> str | None:
        """Return why nothing is known of any k; `untried` samples were never tried. None if all is known."""
        if not self.decides:
            return "no metric says which score passes" if self.groups else "no judgments"
        if self.unknown:
            return f"trials not measured or not done: {self.unknown}"
        return f"samples never tried: {untried}" if untried else None


def passes(connection: DuckDBPyConnection, verdicts: str | None) -> Mapping[ScoreKey, Passes]:
    """Return the trials of each condition by each metric; `verdicts` as in `Asked`."""
    query = "from pass_counts"
    if verdicts is not None:
        decided = load("projections", "decided", verdicts=verdicts)
        query = load("projections", "pass_counts", samples=f"({decided})")
    found: dict[ScoreKey, Passes] = defaultdict(Passes)
    for row in rows(connection, query):
        of = found[row["condition_id"], row["agent_id"], row["judge_id"], row["metric"]]
        of.groups.append(Alike(row["trials"], row["passes"], row["samples"], row["cluster"]))
        of.unknown += row["unknown"]
        of.unclustered += row["samples"] if row["is_clustered"] and row["cluster"] is None else 0
        of.decides |= row["decides"]
    return found


def pass_k(found: Passes, ks: Sequence[int], untried: int, *, exact: bool = False) -> list[JsonObject] | None:
    """Return the chances for each k as an event holds them; None where nothing says what passes.

    With no k given these are 1 and the number of trials that every sample has at least. `exact` as in `Asked`.
    """
    if not found.decides:
        return None
    fewest = min(group.trials for group in found.groups)
    reason = found.why_none(untried)
    chances = [chance for k in (ks or sorted({1, fewest})) for chance in _chances(k)]
    return [_number(found, chance, reason, exact=exact) for chance in chances]


@dataclass(frozen=True, slots=True)
class Chance:
    """A chance for one k: its name, its share of k trials, and how it follows from a sample's passes and trials."""

    k: int
    statistic: str
    of: Callable[[int, int], float | None]
    tau: float | None = None


def _chances(k: int) -> Iterator[Chance]:
    yield Chance(k, "pass@k", lambda passed, n: pass_at_k(passed, n, k))
    yield Chance(k, "pass^k", lambda passed, n: pass_every_k(passed, n, k))
    if k > 1:
        for tau in TAUS:
            yield Chance(k, "g_pass@k", partial(_g_pass, k, tau), tau)
        yield Chance(k, "mg_pass@k", lambda passed, n: mg_pass_at_k(passed, n, k))


def _g_pass(k: int, tau: float, passed: int, n: int) -> float | None:
    return g_pass_at_k(passed, n, k, tau)


def _number(found: Passes, chance: Chance, reason: str | None, *, exact: bool) -> JsonObject:
    fewest = min(group.trials for group in found.groups)
    if reason is None and fewest < chance.k:
        reason = f"k exceeds trials ({chance.k} of {fewest})"
    share, (lower, upper), method = NOTHING if reason else estimate(found.groups, chance.of, exact=exact)
    if found.unclustered:
        lower, upper = None, None
    return {
        "k": chance.k, "statistic": chance.statistic, "tau": chance.tau, "value": share,
        "ci_lower": lower, "ci_upper": upper, "ci_method": method,
        "reason": why_no_interval(found.groups, found.unclustered) if reason is None and lower is None else reason,
    }  # fmt: skip


def why_no_interval(groups: Sequence[Alike], unclustered: int) -> str:
    """Return why samples that are all known have no interval; `unclustered` of them lack a cluster."""
    are_enough = sum(group.samples for group in groups) >= FEWEST_SAMPLES
    is_one_cluster = are_enough and any(group.cluster is not None for group in groups)
    return few_clusters({"unclustered": unclustered}) if unclustered or is_one_cluster else TOO_FEW


Estimate = tuple[float | None, Interval, str]
NOTHING: Estimate = (None, (None, None), "wilson")


def estimate(groups: Sequence[Alike], chance: Callable[[int, int], float | None], *, exact: bool = False) -> Estimate:
    """Return the mean of the samples' chances, its interval, and how that is computed.

    `chance` follows from a sample's passes and trials, of which every sample must have enough. `exact` as in `Asked`.
    No interval if some samples have a cluster and some have none, or if all have the same one.
    """
    shares = [Share(float(chance(group.passes, group.trials) or 0.0), group.samples, group.cluster) for group in groups]
    n = sum(group.samples for group in groups)
    mean = fsum(share.value * share.samples for share in shares) / n
    clusters = {group.cluster for group in groups}
    clustered = clusters != {None}
    has_shares = any(0 < share.value < 1 for share in shares)
    interval, method = (clopper_pearson, "clopper_pearson") if exact else (wilson, "wilson")
    method += "_clustered" if clustered else "_effective_n" if has_shares else ""
    if n < FEWEST_SAMPLES or (clustered and (None in clusters or len(clusters) == 1)):
        return mean, (None, None), method
    trials = sum(group.trials * group.samples for group in groups)
    return mean, interval(mean, effective_number(shares, trials)), method
