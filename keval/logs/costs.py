"""What a log's events have cost: what estimates, reservations and daily budgets start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keval.ids import JsonObject
from keval.models.prices import BATCH_SHARE

PAID = ("response", "judgment", "failure")
"""Events that may have cost something."""

DATE = len("2026-11-20")
"""Characters of a time that are its date: UTC."""


@dataclass
class Spent:
    """What the events of one day cost."""

    usd: float = 0.0
    unknown: int = 0
    """Attempts whose cost nobody knows."""

    def add(self, event: JsonObject) -> None:
        """Add an event and its failed attempts."""
        for attempt in (event, *event.get("failed_attempts", ())):
            self.usd += attempt["cost_usd"] or 0.0
            self.unknown += attempt["cost_usd"] is None


@dataclass
class Cost:
    """The known costs of one kind of call, in USD."""

    number: int = 0
    total_usd: float = 0.0
    max_cost_usd: float = 0.0

    def add(self, usd: float) -> None:
        """Count a call."""
        self.number += 1
        self.total_usd += usd
        self.max_cost_usd = max(self.max_cost_usd, usd)


@dataclass
class MeasuredCosts:
    """Known costs of a log's answers by agent and condition, and of its judgments by judge; none of the mock.

    All at the usual price, also what a batch brought: all that a run records of a judge or agent whose batches it
    waited for. So what a batch could not do and was asked for by itself, at the full price, weighs double.
    """

    _by_key: dict[tuple[str, ...], Cost] = field(default_factory=dict)
    _in_batches: set[tuple[str, str]] = field(default_factory=set)
    """Runs that waited for batches, with the judge or agent whose these were."""

    def add(self, event: JsonObject) -> None:
        """Count a response or a judgment, whatever became of it later; not a judgment that nobody was asked for."""
        if event.get("mock") or event["cost_usd"] is None or _asked_nobody(event):
            return
        about = (event["agent_id"], event["condition_id"]) if event["type"] == "response" else (event["judge_id"],)
        share = BATCH_SHARE if (event["run_id"], _asker(event)) in self._in_batches else 1.0
        self._by_key.setdefault(about, Cost()).add(event["cost_usd"] / share)

    def note_batch(self, event: JsonObject) -> None:
        """Take note of a `batch` event: it comes before what the batch brought."""
        self._in_batches.add((event["run_id"], _asker(event)))

    def of_answers(self, agent_id: str, condition_id: str) -> Cost | None:
        """Return what answers of an agent under a condition cost, None when none is known."""
        return self._by_key.get((agent_id, condition_id))

    def with_former(self, former: Mapping[tuple[str, str], tuple[str, str]]) -> MeasuredCosts:
        """Return these costs, and for an agent and a condition without any those of what both were before an edit."""
        before: dict[tuple[str, ...], Cost] = {
            now: self._by_key[then] for now, then in former.items() if then in self._by_key
        }
        return MeasuredCosts({**before, **self._by_key})

    def of_judgments(self, judge_id: str) -> Cost | None:
        """Return what judgments of a judge cost, None when none is known."""
        return self._by_key.get((judge_id,))


def _asker(event: JsonObject) -> str:
    """Return the id of the judge, or the agent, that an event is about; the view of measured costs says the same."""
    judge_id: str | None = event.get("judge_id")
    return str(event["agent_id"]) if judge_id is None else judge_id


def _asked_nobody(event: JsonObject) -> bool:
    """Return whether it is a judgment that is known without asking; the view `paid` says the same."""
    if event["type"] != "judgment":
        return False
    if event.get("other_response_id") == event["response_id"]:
        return True
    is_free = event["cost_usd"] == 0 and event["usage"] is None
    return is_free and all(given["score"] is None for given in event["scores"].values())
