"""One ledger over everything that costs money: agent, judges and every failed attempt.

An item is begun only if what was spent, what the items in flight may still cost and what it may
cost itself fit into the budget. So a run never spends more than the budget plus the error of the
estimates of what was in flight, and the same command goes on where it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from keval.errors import BudgetReachedError, UsageError


@dataclass
class Ledger:
    """What a run has spent and reserved, in USD; without a limit it only counts."""

    limit_usd: float | None = None
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    refused: int = 0
    """Items that were not begun because they did not fit."""
    dearest: dict[str, float] = field(default_factory=dict)
    """By kind of item (a condition, a judge): the highest cost seen so far, else the assumed one."""

    def assume(self, kind: str, cost_usd: float | None) -> None:
        """Say what an item of a kind may cost before any was paid.

        Raises UsageError for an unknown price under a limit: such a limit would hold nothing.
        """
        if cost_usd is not None:
            self.dearest.setdefault(kind, cost_usd)
        elif self.limit_usd is not None:
            raise UsageError(
                f"budget_usd is set, and what {kind!r} costs is unknown (no price for its model): "
                "name a model with a known price or remove budget_usd"
            )

    def reserve(self, kind: str) -> float | None:
        """Set aside what an item may cost and return it, or None when it does not fit any more."""
        cost = self.dearest.get(kind, 0.0)
        if self.limit_usd is not None and self.spent_usd + self.reserved_usd + cost > self.limit_usd:
            self.refused += 1
            return None
        self.reserved_usd += cost
        return cost

    def settle(self, kind: str, reserved: float, cost_usd: float | None) -> None:
        """Book what an item really cost; an unknown cost is booked as what was set aside for it."""
        self.reserved_usd -= reserved
        self.spent_usd += reserved if cost_usd is None else cost_usd
        if cost_usd is not None:
            self.dearest[kind] = max(self.dearest.get(kind, 0.0), cost_usd)

    def check(self) -> None:
        """Raise BudgetReachedError if an item was refused."""
        if self.refused:
            raise BudgetReachedError(
                f"budget_usd {self.limit_usd:g} is reached: ${self.spent_usd:.4f} spent; "
                "raise it and run the same command again: it does what is missing"
            )


def total_usd(event_cost: float | None, failed_attempts: list[dict[str, object]]) -> float | None:
    """Return what an item cost with all its attempts, or None when any of them is unknown."""
    costs = [event_cost, *(attempt["cost_usd"] for attempt in failed_attempts)]
    known = [cost for cost in costs if isinstance(cost, int | float)]
    return float(sum(known)) if len(known) == len(costs) else None
