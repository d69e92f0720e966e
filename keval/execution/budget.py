"""One ledger over everything that costs money: agent, judges and every failed attempt.

An attempt at an item is begun only if what was spent, what the attempts in flight may still cost
and what it may cost itself fit into the budget. So a run never spends more than the budget plus the error of the
estimates of what was in flight, and the same command goes on where it stopped. A daily budget is
the same with what the log's events of today cost already.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from math import inf

from keval.errors import BudgetReachedError, UsageError

NOISE_USD = 1e-9
"""What sums of floats may be off: an item that fits to the cent is not refused for it."""


@dataclass
class Ledger:
    """What a run has spent and reserved, in USD; without a limit it only counts."""

    limit_usd: float | None = None
    """The most that this command may spend."""
    daily_usd: float | None = None
    """The most that this command may spend together with `earlier_usd`."""
    earlier_usd: float = 0.0
    """What the log says was spent today before."""
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    in_flight: int = 0
    """Attempts for which something is set aside."""
    refused: int = 0
    """Attempts that were not begun because they did not fit."""
    refused_usd: float = 0.0
    """What the dearest of them might have cost."""
    dearest: dict[str, float] = field(default_factory=dict)
    """By kind of item (a condition, a judge): the highest cost seen so far, at least the assumed one."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    """Held by the first of those who wait."""
    _settled: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Set, and replaced by a new one, when something that was set aside is free again."""

    def assume(self, kind: str, cost_usd: float | None) -> None:
        """Say what an item of a kind may cost before any was paid.

        Raises UsageError for an unknown price under a limit: such a limit would hold nothing.
        """
        if cost_usd is not None:
            self.dearest.setdefault(kind, cost_usd)
        elif self.limit_usd is not None or self.daily_usd is not None:
            name = "daily_budget_usd" if self.limit_usd is None else "budget_usd"
            raise UsageError(
                f"{name} is set, and what {kind!r} costs is unknown (no price for its model): "
                f"give its price under `prices`, name a model with a known price, or remove {name}"
            )

    def reserve(self, kind: str) -> float | None:
        """Set aside what an attempt may cost and return it, or None when it does not fit now."""
        cost = self.dearest.get(kind, 0.0)
        if not self._fits(cost):
            return None
        self._set_aside(cost)
        return cost

    async def reserve_in_time(self, kind: str, stop: asyncio.Event) -> float | None:
        """Set aside what an attempt may cost as soon as it fits, and return it.

        What is in flight may cost less than was set aside for it. When the attempt does not fit
        although nothing is in flight, `stop` is set. None when `stop` is set. First come, first
        served: a condition whose attempts cost less does not overtake the others.
        """
        async with self._turn:
            while not stop.is_set():
                reserved = self.reserve(kind)
                if reserved is not None:
                    return reserved
                if self.in_flight:
                    await self._settled.wait()
                else:
                    self.refuse(kind)
                    stop.set()
        return None

    def renew(self, kind: str, reserved: float, cost_usd: float | None) -> float | None:
        """Book an attempt that failed, set aside what the next one may cost and return it.

        None when that does not fit any more; then nothing is booked.
        """
        paid = reserved if cost_usd is None else cost_usd
        cost = max(self.dearest.get(kind, 0.0), cost_usd or 0.0)
        if not self._fits(paid - reserved + cost):
            self.refuse(kind)
            return None
        self.settle(kind, reserved, cost_usd)
        self._set_aside(cost)
        return cost

    def refuse(self, kind: str) -> None:
        """Count an attempt that is not made because it does not fit."""
        self.refused += 1
        self.refused_usd = max(self.refused_usd, self.dearest.get(kind, 0.0))

    def _set_aside(self, cost: float) -> None:
        self.reserved_usd += cost
        self.in_flight += 1

    def _fits(self, more_usd: float) -> bool:
        return self.spent_usd + self.reserved_usd + more_usd <= self._most_usd() + NOISE_USD

    def _most_usd(self) -> float:
        """Return the most that this command may spend by both budgets."""
        limit = inf if self.limit_usd is None else self.limit_usd
        return min(limit, inf if self.daily_usd is None else max(self.daily_usd - self.earlier_usd, 0.0))

    def settle(self, kind: str, reserved: float, cost_usd: float | None) -> None:
        """Book what an attempt really cost; an unknown cost is booked as what was set aside for it."""
        self.release(reserved)
        self.spent_usd += reserved if cost_usd is None else cost_usd
        if cost_usd is not None:
            self.dearest[kind] = max(self.dearest.get(kind, 0.0), cost_usd)

    def release(self, reserved: float) -> None:
        """Give back what was set aside for an attempt that is not made."""
        self.reserved_usd -= reserved
        self.in_flight -= 1
        self._settled.set()
        self._settled = asyncio.Event()

    def check(self) -> None:
        """Raise BudgetReachedError if an item was refused."""
        if not self.refused:
            return
        spent = f"${self.spent_usd:.4f} spent, and the next item may cost ${self.refused_usd:.4f}"
        if self.limit_usd is not None and self._most_usd() == self.limit_usd:
            told, then = f"budget_usd {self.limit_usd:g} is reached: {spent}", "raise it and"
        else:
            told = f"daily_budget_usd {self.daily_usd:g} is reached: {spent}, after ${self.earlier_usd:.4f} today (UTC)"
            then = "tomorrow, or when it is raised,"
        raise BudgetReachedError(f"{told}; {then} run the same command again: it does what is missing")


def total_usd(event_cost: float | None, failed_attempts: list[dict[str, object]]) -> float | None:
    """Return what an item cost with all its attempts, or None when any of them is unknown."""
    costs = [event_cost, *(attempt["cost_usd"] for attempt in failed_attempts)]
    known = [cost for cost in costs if isinstance(cost, int | float)]
    return float(sum(known)) if len(known) == len(costs) else None
