"""One ledger over everything that costs money: agent, judges and every failed attempt.

An attempt at an item is begun only if what was spent, what the attempts in flight may still cost
and what it may cost itself fit into the budget. So a run never spends more than the budget plus the error of the
estimates of what was in flight, and the same command goes on where it stopped. A daily budget is
the same with what the log's events of today cost already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Self

from keval.config.model import Execution
from keval.counted import counted
from keval.errors import BudgetReachedError, UsageError, Warn
from keval.logs.costs import Spent
from keval.preparation.estimate import Estimate

NOISE_USD = 1e-9
"""What sums of floats may be off: an item that fits to the cent is not refused for it."""

_AGAIN = "run the same command again: it does what is missing"


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
    """With what was set aside for attempts of unknown cost."""
    unknown: int = 0
    """Attempts of unknown cost."""
    unknown_usd: float = 0.0
    """What was set aside for them."""
    spent_on_usd: dict[str, float] = field(default_factory=dict)
    """What of that was spent on each account."""
    reserved_usd: float = 0.0
    in_flight: int = 0
    """Attempts for which something is set aside."""
    refused: int = 0
    """Attempts that were not begun because they did not fit."""
    largest_refused_usd: float = 0.0
    """The most that one of them might have cost."""
    refused_untold: bool = False
    """Whether one of them says only afterwards what it costs."""
    max_cost_usd: dict[str, float] = field(default_factory=dict)
    """By account (the id of a condition, of a judge): the highest cost seen so far, at least the assumed one."""
    free: set[str] = field(default_factory=set)
    """Accounts on which nothing is spent, as far as anybody knew at first."""
    untold: set[str] = field(default_factory=set)
    """Accounts of which nobody knows what they cost until one of their attempts says it."""
    enough: asyncio.Event | None = None
    """Set when the budget is reached; None: the event that stops all work is. With it, what is free goes on."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    """Held by the first of those who wait."""
    _settled: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Set when something that was set aside is free again; the first of those who wait clears it before."""

    def assume(self, account: str, cost_usd: float | None, name: str) -> None:
        """Say what an attempt on an account may cost before any was paid; `name` is what messages call it.

        Raises UsageError for an unknown price under a limit: such a limit would hold nothing.
        """
        if cost_usd is not None:
            self.max_cost_usd[account] = max(self.max_cost_usd.get(account, 0.0), cost_usd)
        elif not self._is_unlimited:
            limit = "daily_budget_usd" if self.limit_usd is None else "budget_usd"
            raise UsageError(
                f"{limit} is set, and what {name!r} costs is unknown (no price for its model): "
                f"give its price under `prices`, name a model with a known price, or remove {limit}"
            )

    async def reserve(self, account: str, stop: asyncio.Event, times: float = 1) -> Reservation | None:
        """Set aside what an attempt may cost, `times` the highest cost on the account, as soon as it fits.

        What is in flight may cost less than was set aside for it. When the attempt does not fit
        although nothing is in flight, the budget is reached. None then, and when `stop` is set. First come, first
        served: a condition whose attempts cost less does not overtake the others. What is free waits for nobody.
        """
        if not self.holds(account) or (self._is_unlimited and not self.refused):
            return None if stop.is_set() else Reservation(self, account, self._may_cost(account, times), times)
        async with self._turn:
            while not stop.is_set() and not self.refused:
                cost = self._may_cost(account, times)
                if self._fits(account, cost):
                    return Reservation(self, account, cost, times)
                if self.in_flight:
                    self._settled.clear()
                    await self._settled.wait()
                else:
                    self.refused += 1
                    self.largest_refused_usd = max(self.largest_refused_usd, cost)
                    self.refused_untold |= account in self.untold
                    (self.enough or stop).set()
        await asyncio.sleep(0)  # all that is left may be refused in a row, and a user must be able to end that
        return None

    def holds(self, account: str) -> bool:
        """Return whether an account is held to the budget: one that is free is, once it has cost something."""
        return account not in self.free or self._may_cost(account, 1) > 0

    def _may_cost(self, account: str, times: float) -> float:
        return self.max_cost_usd.get(account, 0.0) * times

    def go_on_after(self, before: Ledger) -> None:
        """Count what another ledger of the same command has spent as well, and what it has refused."""
        self.refused = before.refused
        self.spent_usd, self.unknown, self.unknown_usd = before.spent_usd, before.unknown, before.unknown_usd
        self.spent_on_usd = dict(before.spent_on_usd)
        for account, cost in before.max_cost_usd.items():
            self.max_cost_usd[account] = max(self.max_cost_usd.get(account, 0.0), cost)

    def changed(self) -> None:
        """Let the first of those who wait look whether its attempt fits now."""
        self._settled.set()

    @property
    def _is_unlimited(self) -> bool:
        return self.limit_usd is None and self.daily_usd is None

    def _fits(self, account: str, more_usd: float) -> bool:
        spent = self.spent_usd + self.reserved_usd
        if account in self.untold and not more_usd:  # what is left may be enough; nothing is not
            return spent < self._most_usd() - NOISE_USD
        return spent + more_usd <= self._most_usd() + NOISE_USD

    def _most_usd(self) -> float:
        """Return the most that this command may spend by both budgets."""
        limit = inf if self.limit_usd is None else self.limit_usd
        return min(limit, inf if self.daily_usd is None else max(self.daily_usd - self.earlier_usd, 0.0))

    def check(self) -> None:
        """Raise BudgetReachedError if an item was refused."""
        if not self.refused:
            return
        next_item = f"may cost ${self.largest_refused_usd:.4f}"
        if self.refused_untold and not self.largest_refused_usd:
            next_item = "says only afterwards what it costs"
        spent = f"{self._told_spent()}, and the next item {next_item}"
        if self.limit_usd is not None and self._most_usd() == self.limit_usd:
            told = f"budget_usd {self.limit_usd:g} is reached: {spent}"
            then = f"{self._to_raise('budget_usd')}{_AGAIN}, and may spend as much once more"
        else:
            told = f"daily_budget_usd {self.daily_usd:g} is reached: {spent}, after ${self.earlier_usd:.4f} today (UTC)"
            # Where one item costs more than a day, tomorrow is as today.
            later = "" if self._is_too_low(self.daily_usd) else "tomorrow, or when daily_budget_usd is raised, "
            then = f"{self._to_raise('daily_budget_usd')}{later}{_AGAIN}"
        raise BudgetReachedError(f"{told}; {then}")

    def _to_raise(self, reached: str) -> str:
        """Return what has to be raised first, as a budget into which the next item never fits; empty for nothing."""
        budgets = {"budget_usd": self.limit_usd, "daily_budget_usd": self.daily_usd}
        too_low = [name for name, usd in budgets.items() if self._is_too_low(usd)]
        if not too_low:
            return ""
        return f"raise {'it' if too_low == [reached] else ' and '.join(too_low)} and "

    def _is_too_low(self, budget_usd: float | None) -> bool:
        return budget_usd is not None and self.largest_refused_usd > budget_usd + NOISE_USD

    def _told_spent(self) -> str:
        """Return what was spent, and what is assumed of that which nobody tells."""
        known = f"${self.spent_usd - self.unknown_usd:.4f} spent"
        if not self.unknown:
            return known
        return f"{known}, ${self.unknown_usd:.4f} assumed for {counted(self.unknown, 'attempt')} of unknown cost"


class Reservation:
    """Money set aside for one attempt, for as long as this is entered; what was not settled is given back."""

    __slots__ = ("_account", "_ledger", "_times", "usd")

    def __init__(self, ledger: Ledger, account: str, usd: float, times: float = 1) -> None:
        self.usd = usd
        self._ledger = ledger
        self._account = account
        self._times = times
        ledger.reserved_usd += usd
        ledger.in_flight += 1

    def settle(self, cost_usd: float | None) -> None:
        """Book what the attempt really cost; an unknown cost is booked as what was set aside for it."""
        ledger, account = self._ledger, self._account
        booked = self.usd if cost_usd is None else cost_usd
        ledger.spent_usd += booked
        if cost_usd is None:
            ledger.unknown += 1
            ledger.unknown_usd += self.usd
        ledger.spent_on_usd[account] = ledger.spent_on_usd.get(account, 0.0) + booked
        if cost_usd is not None:
            ledger.untold.discard(account)
            ledger.max_cost_usd[account] = max(ledger.max_cost_usd.get(account, 0.0), cost_usd / self._times)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        ledger = self._ledger
        ledger.reserved_usd -= self.usd
        ledger.in_flight -= 1
        ledger.changed()


def ledger(items: Iterable[Estimate], execution: Execution, today: Spent, warn: Warn) -> Ledger:
    """Return a ledger that holds both budgets, with what each kind of item may cost.

    `today` is what the log's events of today cost already. Raises UsageError when a budget is set and a price unknown;
    `warn` is told of agents whose answers say themselves what they cost.
    """
    if execution.daily_budget_usd is not None and today.unknown:
        warn(f"daily_budget_usd: what {today.unknown} of today's attempts cost is unknown; they count as nothing")
    made = Ledger(execution.budget_usd, execution.daily_budget_usd, today.usd)
    own: list[str] = []
    for item in items:
        made.assume(item.account, item.max_cost_usd, item.name)
        if item.free:
            made.free.add(item.account)
        if item.each_usd is None and item.max_cost_usd is not None:
            made.untold.add(item.account)
            own.append(item.name)
    limit = "budget_usd" if execution.budget_usd is not None else "daily_budget_usd"
    if own and (execution.budget_usd, execution.daily_budget_usd) != (None, None):
        warn(
            f"{limit}: what an answer costs is known only once the agent says it ({', '.join(own)}); "
            "those in flight may go beyond the budget, and one that says no cost counts as much as the dearest so far"
        )
    return made
