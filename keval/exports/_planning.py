"""Draws plans: as lines for people, and as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Protocol

import orjson

from keval.counted import counted
from keval.ids import JsonObject
from keval.planning.pilots import Pilot
from keval.planning.plan import SURE, Plan
from keval.planning.planned_stops import PlannedStops
from keval.printable import printable_json
from keval.readable import NOTHING, count, dollars, number
from keval.reports.model import BANNER
from keval.reports.number_warnings import FEW_SAMPLES
from keval.stats.next_spend import Purchase, UnitCosts, from_nothing
from keval.stats.power import Aim, Components

REPETITIONS = (1, 3, 5, 10)
REPLICATES = (1, 3)
"""The designs that are shown where there is no pilot."""

HEAD = ("to reach it", "samples", "repetitions", "replicates", "responses to add", "judgments to add", "cost")


class Planned(Protocol):
    """What can be shown of a plan."""

    def as_text(self) -> Iterator[str]:
        """Yield the lines for people."""

    def as_json(self) -> bytes:
        """Return one JSON object."""


@dataclass(frozen=True, slots=True)
class Plans:
    """Plans from a pilot, which all have one aim."""

    plans: Sequence[Plan]
    stops: Mapping[int, PlannedStops] = field(default_factory=dict)
    """What each plan would come to if the run stopped when decided, by its place; empty if nobody asked."""

    def as_text(self) -> Iterator[str]:
        """Yield the lines for people."""
        if any(plan.pilot.mock for plan in self.plans):
            yield BANNER
            yield ""
        yield _aim(self.plans[0].aim)
        for place, plan in enumerate(self.plans):
            yield ""
            yield from _plan(plan)
            yield from _stops(self.stops.get(place))
        cautions = dict.fromkeys(caution for plan in self.plans for caution in _cautions(plan))
        if cautions:
            yield ""
        for caution in cautions:
            yield f"note: {caution}"

    def as_json(self) -> bytes:
        """Return one JSON object."""
        return _json({
            "mock": any(plan.pilot.mock for plan in self.plans),
            "aim": _aimed_at(self.plans[0].aim),
            "plans": [
                _as_object(plan)
                | (_stops_as_object(self.stops[place]) if place in self.stops else {})
                for place, plan in enumerate(self.plans)
            ],
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Designs:
    """What an aim takes from nothing, by given variances."""

    components: Components
    aim: Aim
    prices: UnitCosts

    @property
    def _purchases(self) -> list[Purchase]:
        replicates = REPLICATES if self.components.judgments else REPLICATES[:1]
        return from_nothing(self.components, self.aim, self.prices, REPETITIONS, replicates)

    def as_text(self) -> Iterator[str]:
        """Yield the lines for people."""
        yield _aim(self.aim)
        yield ""
        yield from _table(self._purchases)

    def as_json(self) -> bytes:
        """Return one JSON object."""
        return _json({
            "aim": _aimed_at(self.aim),
            "components": asdict(self.components),
            "prices": asdict(self.prices),
            "designs": [asdict(each) for each in self._purchases],
        })  # fmt: skip


def _aim(aim: Aim) -> str:
    shared = f"; alpha {aim.alpha * aim.tests:g} over {aim.tests} comparisons (Holm)" if aim.tests > 1 else ""
    return (
        f"To find a difference of {aim.difference:g} with power {100 * aim.power:.6g}% at alpha {aim.alpha:.3g}{shared}"
    )


def _plan(plan: Plan) -> Iterator[str]:
    pilot, now = plan.pilot, plan.pilot.now
    yield f"{pilot.condition} minus {pilot.baseline}: {pilot.metric}, judge {pilot.judge}"
    yield (
        f"  pilot      {_samples(pilot)}, {_range(pilot.measured.repetitions, 'repetition')}, "
        f"{_range(pilot.measured.replicates, 'judgment')} each; difference {number(pilot.difference, '+')}"
    )
    if pilot.components is None:
        yield f"  unknown    nothing can be planned: {pilot.reason}"
        return
    yield f"  varies by  {_variances(pilot)}"
    yield f"  now        power {plan.power:.0%}; finds differences from {number(plan.smallest_difference)} on"
    if plan.reached:
        yield "  reached    what is there finds it; nothing is to be bought"
    else:
        for line in _table(plan.purchases):
            yield f"  {line}"
    if pilot.independent < FEW_SAMPLES and plan.samples_if_unlucky is not None and not plan.reached:
        yield (
            f"  caution    {_samples(pilot)} tell little of the variance; to be {SURE:.0%} sure, take "
            f"{count(plan.samples_if_unlucky)} with {counted(now.repetitions, 'repetition')}"
        )


def _range(numbers: Collection[int], noun: str) -> str:
    """Return how many there are of each, from the fewest to the most."""
    fewest, most = min(numbers, default=0), max(numbers, default=0)
    return counted(most, noun) if fewest == most else f"{fewest:,} to {counted(most, noun)}"


def _samples(pilot: Pilot) -> str:
    clusters = "" if pilot.clusters is None else f" in {counted(pilot.clusters, 'cluster')}"
    return f"{counted(pilot.now.samples, 'sample')}{clusters}"


def _stops(found: PlannedStops | None) -> Iterator[str]:
    """Yield what a run would take that stops when decided, for each true difference that there may be."""
    if found is None:
        return
    if found.reason is not None:
        yield f"  until decided  not known: {found.reason}"
    for each in found.stops:
        if each.samples is None or each.found is None:
            told = "no run can be drawn from the pilot's differences: none lies beyond it"
        else:
            usd = ""
            if each.cost_usd is not None:
                usd = f", {dollars(each.cost_usd)} instead of {dollars(each.complete_usd)}"
            told = f"{each.samples:,.0f} of {each.planned:,} samples on average{usd}; found in {each.found:.0%} of runs"
        yield f"  until decided  if the difference is {number(each.difference, '+')}: {told}"


def _variances(pilot: Pilot) -> str:
    found = pilot.components
    if found is None:
        return NOTHING
    if found.responses is None:
        return f"samples and repetitions {number(found.samples)} together"
    judged = " (judgments in them)" if found.judgments is None else f", judgments {number(found.judgments)}"
    return f"samples {number(found.samples)}, repetitions {number(found.responses)}{judged}"


def _cautions(plan: Plan) -> Iterator[str]:
    """Yield what the numbers do not say, in words that are the same for all plans."""
    found, unpriced = plan.pilot.components, plan.pilot.unpriced
    if found is None:
        return
    if found.responses is None:
        yield "one repetition: what more of them would add is not known"
    elif found.judgments is None:
        yield "one judgment per response: what more of them would add is not known"
    if found.responses is not None and not found.samples:
        yield (
            "samples 0.00: less than what repetitions put into the differences, so that 0 is taken; what is there may "
            "find smaller differences than said"
        )
    if plan.reached:
        return
    if plan.pilot.clusters:
        size = plan.pilot.now.samples / plan.pilot.clusters
        yield f"more samples are more clusters, each as large as those of the pilot: {size:.3g} samples on average"
    if unpriced:
        options = [
            f"--cost-{what}"
            for what in ("response", "judgment")
            if any(each.startswith(f"a {what}") for each in unpriced)
        ]
        yield (
            f"the log does not say what {' or '.join(unpriced)} costs, so the cheapest is what takes the fewest calls; "
            f"{' and '.join(options)} {'say' if len(options) > 1 else 'says'} it"
        )
    elif not plan.pilot.prices.sample:
        yield "a question is taken to cost nothing to write, so samples come first; --cost-sample says what one costs"


def _table(purchases: Sequence[Purchase]) -> Iterator[str]:
    """Yield a line per purchase, columns below each other."""
    if not purchases:
        yield "out of reach: no number of samples that anybody asks finds it"
        return
    rows = [HEAD, *(_row(purchase) for purchase in purchases)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        yield "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])


def _row(purchase: Purchase) -> tuple[str, ...]:
    to = purchase.design
    numbers = (to.samples, to.repetitions, to.replicates, purchase.responses, purchase.judgments)
    return (purchase.name, *map(count, numbers), dollars(purchase.cost_usd))


def _stops_as_object(found: PlannedStops) -> JsonObject:
    return {"until_decided": list(map(asdict, found.stops)), "why_until_unknown": found.reason}


def _as_object(plan: Plan) -> JsonObject:
    pilot = asdict(plan.pilot)
    del pilot["measured"]
    return {
        **pilot,
        "now": asdict(plan.pilot.now),
        "responses": plan.pilot.measured.responses(plan.pilot.now.repetitions),
        "power": plan.power,
        "smallest_difference": plan.smallest_difference,
        "reached": plan.reached,
        "samples_if_unlucky": plan.samples_if_unlucky,
        "best_repetitions": plan.best_repetitions,
        "best_judgments": plan.best_judgments,
        "purchases": [asdict(each) for each in plan.purchases],
    }


def _aimed_at(aim: Aim) -> JsonObject:
    """Return what all comparisons are to reach; how large its clusters are, each says itself."""
    return {name: value for name, value in asdict(aim).items() if name != "cluster_size"}


def _json(value: JsonObject) -> bytes:
    return printable_json(orjson.dumps(value, option=orjson.OPT_INDENT_2))
