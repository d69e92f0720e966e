"""Reads what a log says as the pilot of a next run: what its comparisons vary by, and what their parts cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.metric_names import names
from keval.reports.queries import ask
from keval.stats.aggregates import rounded
from keval.stats.declared import declared
from keval.stats.next_spend import Design, Inventory, UnitCosts
from keval.stats.power import Components
from keval.stats.reasons import no_t_of_pairs
from keval.usage import known_sum

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


READ = (
    "comparisons",
    "computed_scores",
    "condition_scores",
    "conditions",
    "cost_sums",
    "current_judges",
    "newest_config",
    "paired_samples",
    "repeated",
    "score_facts",
)
"""The tables and views that are asked."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """One comparison of a log, as a pilot of the next run."""

    baseline: str
    condition: str
    judge: str
    judge_id: str
    metric: str
    is_primary: bool
    """Whether the comparison is one of those that share alpha in a report."""
    mock: bool
    measured: Inventory
    difference: float | None
    variance: float | None
    """The variance of its differences, whatever each sample was repeated; None where that is not known."""
    components: Components | None
    """What they vary by; None where that is not known."""
    reason: str | None
    """Why nothing is known of the variance."""
    clusters: int | None
    """How many clusters its samples are in; None where each is one of its own."""
    prices: UnitCosts
    unpriced: tuple[str, ...]
    """What has a part in its cost and no known price: `a response`, and judges as `a judgment by NAME`."""

    @property
    def now(self) -> Design:
        """As much as is measured of any sample: what others lack of it is yet to be paid."""
        return self.measured.most

    @property
    def independent(self) -> int:
        """How many of its differences are independent: its clusters, or samples."""
        return self.now.samples if self.clusters is None else self.clusters


def pilots(connection: DuckDBPyConnection, given: UnitCosts) -> Iterator[Pilot]:
    """Yield each comparison of a log with what it varies by and what its parts cost.

    Prices are those that the log paid; one that is given takes its place, that of a judgment for all judges.
    """
    paid, compared = list(ask(connection, "prices_paid", "planning")), list(ask(connection, "pilot", "planning"))
    primary = declared(connection).primary_of(compared)
    for row in compared:
        components = _components(row)
        prices, unpriced = _prices(paid, row, given)
        yield Pilot(
            baseline=row["baseline"],
            condition=row["condition"],
            judge=row["judge"],
            judge_id=row["judge_id"],
            metric=row["metric"],
            is_primary=any(row is each for each in primary),
            mock=row["mock"],
            measured=Inventory(
                row["n_paired"],
                Counter(row["repetitions"]) + Counter(row["baseline_repetitions"]),
                Counter(row["replicates"]) + Counter(row["baseline_replicates"]),
            ),
            difference=rounded(row["difference"]),  # as in the report: half a cent is rounded alike
            variance=None if components is None else max(row["var_difference"], row["noise"] or 0.0),
            components=components,
            reason=None if components else no_t_of_pairs(row),
            clusters=row["n_clusters"],
            prices=prices,
            unpriced=unpriced,
        )


def _components(row: JsonObject) -> Components | None:
    """Take the variance of the differences apart; statistics: what is less than 0 is not distinguishable from it.

    The variance of a difference has each condition's repetitions in it, divided by their number, and these have the
    judgments in them. What was not repeated cannot be told from what it belongs to.
    """
    total, within = row["var_difference"], row["var_within"]
    if not total:
        return None
    if within is None:
        return Components(total, None, None)
    samples = max(0.0, total - row["noise"])
    if row["var_judgments"] is None:
        return Components(samples, within, None)
    return Components(samples, max(0.0, within - row["judging"]), row["var_judgments"])


def _prices(paid: Sequence[JsonObject], row: JsonObject, given: UnitCosts) -> tuple[UnitCosts, tuple[str, ...]]:
    """Return what both conditions of a comparison cost, and what has no known price: it makes the sum unknown."""
    conditions = {row["condition_id"], row["baseline_id"]}
    concerned = [
        each | {"usd": _usd(each, given)}
        for each in paid
        if each["condition_id"] in conditions and each["agent_id"] == row["agent_id"]
    ]
    asked = {each["condition_id"]: each["calls"] for each in concerned if each["stage"] == "generate"}
    if set(asked) != conditions:
        unknown = {"a response": given.response, "a judgment": given.judgment}
        return given, tuple(what for what, price in unknown.items() if price is None)
    own = [each for each in concerned if each["judge_id"] == row["judge_id"]]
    others = [each for each in concerned if each["judge_id"] != row["judge_id"] and each["is_asked"]]
    # Another judge of the config is asked for each response as often as it was until now.
    response = [_times(each["usd"], each["calls"] / asked[each["condition_id"]]) for each in others]
    in_order = sorted([*own, *others], key=lambda each: (each["stage"], each["judge"] or ""))
    unpriced = dict.fromkeys(_priced(each) for each in in_order if each["usd"] is None)
    return UnitCosts(known_sum(response), known_sum([each["usd"] for each in own]), given.sample), tuple(unpriced)


def _usd(each: JsonObject, given: UnitCosts) -> float | None:
    """Return what a call under one condition costs; a price that is given is of both."""
    of_both = given.response if each["stage"] == "generate" else given.judgment
    paid: float | None = each["usd"]
    return paid if of_both is None else of_both / 2


def _priced(each: JsonObject) -> str:
    return "a response" if each["stage"] == "generate" else f"a judgment by {each['judge']}"


def _times(price: float | None, number: float) -> float | None:
    return None if price is None else price * number


def named(found: Iterable[Pilot], metric: str) -> list[Pilot]:
    """Return the pilots of a metric, named alone, after its judge, or after its judge's id."""
    return [pilot for pilot in found if metric in names(pilot.metric, pilot.judge, pilot.judge_id)]
