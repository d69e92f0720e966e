"""What to buy next so that a comparison reaches its aim: samples, repetitions or judgments, and what that costs.

Numbers of responses and judgments are those of both conditions together; money is in US dollars.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from keval.stats.intervals import FEWEST_SAMPLES
from keval.stats.power import Aim, Components, least_that_reaches, samples_needed

MORE_SAMPLES, MISSING = "more samples", "what is missing"
"""Names of ways to reach the aim; it may be enough that of all samples there is as much as of some."""

MOST_REPETITIONS = 10
MOST_REPLICATES = 5
"""How far the cheapest design is looked for."""


@dataclass(frozen=True, slots=True)
class Design:
    """How much is measured of each of the two conditions."""

    samples: int
    repetitions: int
    replicates: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """What is there of both conditions: of one sample there may be more than of another."""

    samples: int
    repetitions: Mapping[int, int]
    """How many samples were answered so often, counted under each condition."""
    replicates: Mapping[int, int]
    """How many responses have so many judgments."""

    @property
    def is_uneven(self) -> bool:
        """Whether there is less of one sample, or response, than of another."""
        return len(self.repetitions) > 1 or len(self.replicates) > 1

    @property
    def most(self) -> Design:
        """As much as there is of any sample, or of any response."""
        return Design(self.samples, max(self.repetitions, default=0), max(self.replicates, default=1))

    def responses(self, most: int) -> int:
        """Return how many responses there are, of each sample under each condition so many at most."""
        return _sum_of(self.repetitions, most)

    def judgments(self, most: Design) -> float:
        """Return how many judgments there are, as far as a design asks for them; of all responses the mean."""
        responses = sum(self.replicates.values())
        each = _sum_of(self.replicates, most.replicates) / responses if responses else 0.0
        return self.responses(most.repetitions) * each


def _sum_of(counts: Mapping[int, int], most: int) -> int:
    return sum(min(number, most) * times for number, times in counts.items())


@dataclass(frozen=True, slots=True)
class UnitCosts:
    """What one of each costs for both conditions; None is unknown."""

    response: float | None
    """One repetition of one sample under both, with what other judges ask for it."""
    judgment: float | None
    """One more judgment of each of the two responses."""
    sample: float = 0.0
    """A sample itself: a question with its golden answer."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """One way to reach the aim."""

    name: str
    design: Design
    responses: int
    """Responses that are not there yet."""
    judgments: int
    cost_usd: float | None
    """None if a price is unknown."""


def purchases(found: Components, measured: Inventory, aim: Aim, prices: UnitCosts) -> Iterator[Purchase]:
    """Yield the ways to reach the aim that there are: more of one thing each, and the cheapest of all.

    Where it is not known what repetitions, or judgments, vary by, no other number of them is planned.
    """
    now = measured.most
    named = dict.fromkeys(
        (MISSING if design == now and measured.is_uneven else name, design)
        for name, design in _of_one_kind(found, now, aim)
    )
    ways = [_purchase(name, design, measured, prices) for name, design in named]
    repetitions = [now.repetitions] if found.responses is None else _up_to(MOST_REPETITIONS, now.repetitions)
    replicates = [now.replicates] if found.judgments is None else _up_to(MOST_REPLICATES, now.replicates)
    mixed = [_purchase("", design, measured, prices) for design in _designs(found, now, aim, repetitions, replicates)]
    yield from ways
    if ways or mixed:
        yield replace(min([*ways, *mixed], key=_price), name="cheapest")


def from_nothing(
    found: Components, aim: Aim, prices: UnitCosts, repetitions: Iterable[int], replicates: Iterable[int]
) -> list[Purchase]:
    """Return what it takes to reach the aim where nothing is measured, for each number of repetitions and judgments."""
    nothing = Inventory(0, {}, {})
    designs = _designs(found, nothing.most, aim, repetitions, replicates)
    return [_purchase("design", design, nothing, prices) for design in designs]


def _of_one_kind(found: Components, now: Design, aim: Aim) -> Iterator[tuple[str, Design]]:
    for design in _designs(found, now, aim, [now.repetitions], [now.replicates]):
        yield MORE_SAMPLES, design
    if now.samples < FEWEST_SAMPLES:
        return
    if found.responses is not None:
        number = least_that_reaches(
            lambda number: found.variance(number, now.replicates), now.samples, aim, now.repetitions
        )
        if number is not None:
            yield "more repetitions", Design(now.samples, number, now.replicates)
    if found.judgments is not None:
        number = least_that_reaches(
            lambda number: found.variance(now.repetitions, number), now.samples, aim, now.replicates
        )
        if number is not None:
            yield "more judgments", Design(now.samples, now.repetitions, number)


def _designs(
    found: Components, now: Design, aim: Aim, repetitions: Iterable[int], replicates: Iterable[int]
) -> Iterator[Design]:
    for each, judged in product(repetitions, replicates):
        needed = samples_needed(found.variance(each, judged), aim)
        if needed is not None:
            yield Design(max(needed, now.samples, FEWEST_SAMPLES), each, judged)


def _up_to(most: int, now: int) -> Iterable[int]:
    return range(1, max(most, now) + 1)


def _purchase(name: str, to: Design, there: Inventory, prices: UnitCosts) -> Purchase:
    """Return what is to be paid: what is there already is used as far as the design asks for it."""
    asked = 2 * to.samples * to.repetitions
    responses = asked - there.responses(to.repetitions)
    judgments = round(asked * to.replicates - there.judgments(to))
    cost = None
    if prices.response is not None and prices.judgment is not None:
        samples = prices.sample * (to.samples - there.samples)
        cost = samples + (responses * prices.response + judgments * prices.judgment) / 2
    return Purchase(name, to, responses, judgments, cost)


def _price(purchase: Purchase) -> tuple[float, int, int]:
    """Return by what the cheapest is the cheapest: its cost, and where that is unknown or equal, the calls it takes."""
    return purchase.cost_usd or 0.0, purchase.responses + purchase.judgments, purchase.design.samples
