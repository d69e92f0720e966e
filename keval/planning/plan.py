"""Says of a pilot how far it reaches, and what to buy next so that it reaches an aim."""

from __future__ import annotations

from dataclasses import dataclass, replace

from keval.planning.pilots import Pilot
from keval.stats.next_spend import Purchase, purchases
from keval.stats.power import (
    Aim,
    Components,
    best_judgments,
    best_repetitions,
    power,
    reach_of_variance,
    samples_needed,
    smallest_difference,
)

SURE = 0.8
"""How surely the samples of `samples_if_unlucky` are enough."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a comparison can find now, and what it takes to reach the aim."""

    pilot: Pilot
    aim: Aim
    power: float | None
    """How often the difference is found with what is there."""
    smallest_difference: float | None
    """What is found with what is there, as often as the aim says."""
    samples_if_unlucky: int | None
    """The samples it takes if the pilot's variance is as much too small as chance makes it in one of five pilots."""
    best_repetitions: float | None
    best_judgments: float | None
    purchases: tuple[Purchase, ...]
    """What reaches the aim; the cheapest is the last one."""

    @property
    def reached(self) -> bool:
        """Whether what is there reaches the aim."""
        return self.power is not None and self.power >= self.aim.power


def plan(pilot: Pilot, aim: Aim) -> Plan:
    """Return what a pilot says of the aim."""
    found, now = pilot.components, pilot.now
    if found is None or pilot.variance is None:
        return Plan(pilot, aim, None, None, None, None, None, ())
    planned = found.variance(now.repetitions, now.replicates)
    clustered = replace(aim, cluster_size=now.samples / pilot.independent)
    repetitions, judgments = _best(pilot, found)
    bought = purchases(found, pilot.measured, clustered, pilot.prices)
    return Plan(
        pilot=pilot,
        aim=aim,
        power=power(aim.difference, pilot.variance, now.samples, aim.alpha, pilot.independent),
        smallest_difference=smallest_difference(pilot.variance, now.samples, clustered),
        samples_if_unlucky=samples_needed(planned * reach_of_variance(pilot.independent, SURE), clustered),
        best_repetitions=repetitions,
        best_judgments=judgments,
        purchases=tuple(bought),
    )


def _best(pilot: Pilot, found: Components) -> tuple[float | None, float | None]:
    """Return the repetitions, and the judgments per response, that find most for their price; None where unknown."""
    response, judgment = pilot.prices.response, pilot.prices.judgment
    if response is None or judgment is None or found.responses is None:
        return None, None
    replicates = pilot.now.replicates
    repetitions = best_repetitions(found, replicates, pilot.prices.sample, response + replicates * judgment)
    return repetitions, None if found.judgments is None else best_judgments(found, response, judgment)
