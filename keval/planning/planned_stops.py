"""Says of a plan what it would take if the run stopped when decided, by runs drawn from the pilot's differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.planning.plan import Plan
from keval.reports.queries import ask
from keval.stats.next_spend import MISSING, MORE_SAMPLES
from keval.stats.stopping_forecast import forecast
from keval.stats.stopping_rule import Compared, StoppingRule

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

READ = ("conditions", "judge_baselines", "metrics", "paired_samples")
"""The tables and views that are asked."""

MOST_SAMPLES = 20_000
"""Runs of more samples are not drawn."""

PilotKey = tuple[str, str, str]
"""What names a comparison of a pilot: the condition's name, the judge's id, and the metric."""


@dataclass(frozen=True, slots=True)
class PilotDifferences:
    """What the samples of a pilot differ by in one comparison, and how far they could."""

    values: tuple[float, ...]
    reach: float
    why_not: str | None = None
    """Why no run may stop at it; None if one may."""


@dataclass(frozen=True, slots=True)
class PlannedStop:
    """What runs would come to if the true difference were this one."""

    difference: float
    planned: int
    """The samples of the complete run."""
    samples: float | None
    """Finished samples on average; None where no run can be drawn."""
    stopped: float | None
    """The share of the runs that stop before the end."""
    found: float | None
    """The share that finds the difference's direction."""
    cost_usd: float | None
    complete_usd: float | None
    """What the complete run costs; None if a price is unknown."""


@dataclass(frozen=True, slots=True)
class PlannedStops:
    """What runs would come to that stop when decided, or why that is not known."""

    stops: tuple[PlannedStop, ...]
    reason: str | None = None


def pilot_differences(connection: DuckDBPyConnection) -> Mapping[PilotKey, PilotDifferences]:
    """Return the differences of each comparison of a log."""
    return {
        (row["condition"], row["judge_id"], row["metric"]): PilotDifferences(
            tuple(row["differences"]), row["reach"], row["why_not"]
        )
        for row in ask(connection, "pilot_differences", "planning")
    }


def planned_stops(plan: Plan, differences: Mapping[PilotKey, PilotDifferences], samples: int | None) -> PlannedStops:
    """Return what a run would come to if the difference were the one that matters, and the pilot's own.

    `samples` is how many the complete run has; by default, as many as the plan asks for.
    """
    pilot = plan.pilot
    found = differences.get((pilot.condition, pilot.judge_id, pilot.metric))
    of_plan = (each.design.samples for each in plan.purchases if each.name in {MORE_SAMPLES, MISSING})
    planned = samples or next(of_plan, None)
    planned = planned or (pilot.now.samples if plan.reached else None)
    if found is not None and found.why_not is not None:
        return PlannedStops((), f"no run stops at it: {found.why_not}")
    if found is None or planned is None or planned > MOST_SAMPLES:
        return PlannedStops((), "the plan is out of reach, or too large to draw runs of")
    return PlannedStops(tuple(_stops(plan, found, planned)))


def _stops(plan: Plan, found: PilotDifferences, planned: int) -> Iterator[PlannedStop]:
    pilot, aim = plan.pilot, plan.aim
    rule = StoppingRule(aim.tests, alpha=aim.alpha * aim.tests)
    sign = -1 if (pilot.difference or 0) < 0 else 1
    for difference in dict.fromkeys((sign * aim.difference, pilot.difference)):
        if difference is not None:
            yield _stop(plan, found, difference, planned, rule)


def _stop(plan: Plan, found: PilotDifferences, difference: float, planned: int, rule: StoppingRule) -> PlannedStop:
    drawn = forecast(found.values, difference, rule, Compared(found.reach, planned))
    prices, now, each = plan.pilot.prices, plan.pilot.now, None
    if prices.response is not None and prices.judgment is not None:
        each = prices.sample + now.repetitions * (prices.response + now.replicates * prices.judgment)
    samples = None if drawn is None else drawn.samples
    return PlannedStop(
        difference=difference,
        planned=planned,
        samples=samples,
        stopped=None if drawn is None else drawn.stopped,
        found=None if drawn is None else drawn.found,
        cost_usd=None if each is None or samples is None else each * samples,
        complete_usd=None if each is None else each * planned,
    )
