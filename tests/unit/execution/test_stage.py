from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from keval.errors import ItemError
from keval.execution.budget import Ledger
from keval.execution.progress import Progress
from keval.execution.stage import Stage, Work
from keval.ids import JsonObject
from keval.retry import Retry
from keval.secrets.variables import Secrets
from tests.builders import Kept, failure_event, response_event


@dataclass(frozen=True, kw_only=True)
class Scripted(Stage[str]):
    """A stage that does what a function of the item and the number of the attempt says."""

    script: Callable[[str, int], float]

    def kind(self, item: str) -> str:
        return item[0]

    async def attempt(self, work: Work[str]) -> JsonObject:
        await asyncio.sleep(0)
        return response_event(work.item, cost_usd=self.script(work.item, len(work.failed) + 1))

    def failed_attempt(self, work: Work[str], error: ItemError) -> JsonObject:  # noqa: ARG002 - the base's signature
        return {"kind": error.kind, "message": error.message, "cost_usd": 0.25, "usage": None, "duration_ms": 1}

    def failure(self, work: Work[str], error: ItemError) -> JsonObject:
        about = {"message": error.message, "attempts": len(work.failed) + 1, "failed_attempts": work.failed}
        return failure_event(response_event(work.item), error.kind, cost_usd=0.25, **about)

    def invalid(self, event: JsonObject, message: str) -> ItemError:  # noqa: ARG002 - the base's signature
        return ItemError("agent_error", message)

    def keep_cost(self, work: Work[str], error: ItemError, *, usage: bool) -> None:
        pass


def scripted(script: Callable[[str, int], float], ledger: Ledger | None = None) -> Scripted:
    """Return a stage that does one item at a time."""
    return Scripted(
        run_id="run", sink=Kept(), mock=True, progress=Progress("generate"), ledger=ledger or Ledger(),
        stop=asyncio.Event(), retry=Retry(3, 0, 1), max_concurrent=1, secrets=Secrets({}), script=script,
    )  # fmt: skip


def events(stage: Scripted) -> list[JsonObject]:
    """Return what a stage has written."""
    assert isinstance(stage.sink, Kept)
    return stage.sink.events


def busy(_item: str, attempt: int) -> float:
    """Fail with an error that may pass, but for the third attempt."""
    if attempt < 3:
        raise ItemError("infra_error", "busy", retryable=True)
    return 0.5


def test_each_item_has_one_event_and_one_place_in_the_count() -> None:
    """Whether it was done at once, after failures, or not at all; what failed was paid too."""

    def script(item: str, attempt: int) -> float:
        if item == "c1":
            raise ItemError("agent_error", "no")
        return busy(item, attempt) if item == "b1" else 0.5

    stage = scripted(script)
    asyncio.run(stage.work_off(["a1", "b1", "c1"]))
    assert sorted(event["type"] for event in events(stage)) == ["failure", "response", "response"]
    counts = {
        row: (count.done, count.failed, count.in_flight, count.cost_usd) for row, count in stage.progress.rows.items()
    }
    assert counts == {"a": (1, 0, 0, 0.5), "b": (1, 0, 0, 1.0), "c": (0, 1, 0, 0.25)}
    assert stage.ledger.spent_usd == 1.75


def test_a_run_that_is_stopped_tries_nothing_again() -> None:
    """What is in flight is finished; what fails then is a failure of its own kind, for the next run to try."""

    def script(item: str, attempt: int) -> float:
        stage.stop.set()
        return busy(item, attempt)

    stage = scripted(script)
    asyncio.run(stage.work_off(["a1", "a2", "a3"]))
    assert [(event["kind"], event["attempts"]) for event in events(stage)] == [("infra_error", 1)]
    assert (stage.ledger.spent_usd, stage.ledger.reserved_usd, stage.ledger.in_flight) == (0.25, 0.0, 0)


def test_a_run_that_is_stopped_while_an_item_waits_to_be_tried_again_pays_what_was_tried() -> None:
    """The failure is that of the last attempt, without the wait in its time, and is booked once."""

    class StoppedWhenPaid(Ledger):
        def renew(self, kind: str, reserved: float, cost_usd: float | None) -> float | None:
            stage.stop.set()
            return super().renew(kind, reserved, cost_usd)

    stage = replace(scripted(busy, StoppedWhenPaid()), retry=Retry(3, 60, 1))
    stage.ledger.assume("a", 0.125)
    asyncio.run(stage.work_off(["a1"]))
    (event,) = events(stage)
    assert (event["kind"], event["attempts"], event["failed_attempts"]) == ("infra_error", 1, [])
    assert (stage.ledger.spent_usd, stage.ledger.reserved_usd, stage.ledger.in_flight) == (0.25, 0.0, 0)
    assert stage.progress.rows["a"].cost_usd == 0.25


def test_the_time_of_an_attempt_ends_with_it() -> None:
    """What an item waits afterwards is no part of its duration."""
    work = Work("a", 0.0)
    work.begin()
    work.end()
    took = work.duration_ms
    time.sleep(0.01)
    assert work.duration_ms == took


def test_an_attempt_that_the_budget_does_not_allow_is_not_made() -> None:
    """The item fails with the kind `budget`, and what it failed of is in its message and its record."""
    ledger = Ledger(limit_usd=0.6)
    ledger.assume("a", 0.25)
    stage = scripted(busy, ledger)
    asyncio.run(stage.work_off(["a1"]))
    (event,) = events(stage)
    assert (event["kind"], event["attempts"], len(event["failed_attempts"])) == ("budget", 2, 1)
    assert event["message"] == "the budget does not allow another attempt after infra_error: busy"
    assert (ledger.spent_usd, ledger.reserved_usd) == (0.5, 0.0)
    assert ledger.refused
