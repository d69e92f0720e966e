from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import ClassVar

import pytest

from keval.agents import Answer
from keval.errors import EnvironmentLacksError, ItemError
from keval.events import EncodedEvent
from keval.execution.budget import Ledger
from keval.execution.progress import Progress
from keval.execution.recording import Recorder, attempts_field
from keval.execution.stage import ROOM, WORKSPACE, Stage
from keval.executors.in_process import InProcess
from keval.executors.judge_calls import JudgeCaller
from keval.executors.specs import Outcome
from keval.ids import JsonObject
from keval.models import prices
from keval.retry import Failed, Retry
from keval.secrets.variables import Secrets
from keval.usage import Usage
from tests import virtual_time
from tests.builders import Kept, failure_event, response_event

FOLDER = Path("workspace")


class Releasing(InProcess):
    """Notes which folders it is told to release."""

    def __init__(self) -> None:
        super().__init__(None, JudgeCaller(judges={}, env={}, program_env={}, prices=prices.load()))
        self.released: list[Path] = []

    def release(self, workspace: Path) -> None:
        self.released.append(workspace)


@dataclass(frozen=True, kw_only=True)
class Scripted(Stage[str, Answer]):
    """A stage that does what a function of the item and the number of the attempt says."""

    script: Callable[[str, int], Answer]
    tried: dict[str, int] = field(default_factory=dict)
    gate: asyncio.Event | None = None
    """What every attempt waits for."""
    folder: Path | None = FOLDER
    broken: ClassVar[str] = "agent_error"

    def row(self, item: str) -> str:
        return item[0]

    def account(self, item: str) -> str:
        return item[0]

    async def perform(self, item: str) -> Outcome[Answer]:
        if self.gate is not None:
            await self.gate.wait()
        self.tried[item] = self.tried.get(item, 0) + 1
        try:
            return Outcome(self.script(item, self.tried[item]), 1, workspace=self.folder)
        except ItemError as error:
            return Outcome(Answer("empty", "", cost_usd=0.25), 1, Failed.of(error), self.folder)

    def examined(self, item: str, outcome: Outcome[Answer]) -> Outcome[Answer]:  # noqa: ARG002 - the base's signature
        return outcome

    def event(self, item: str, outcomes: Sequence[Outcome[Answer]]) -> JsonObject:
        last, attempts = outcomes[-1], attempts_field(outcomes)
        usage = last.known.usage and {"input_tokens": last.known.usage.input_tokens}
        known = {"cost_usd": last.known.cost_usd, "usage": usage, **attempts}
        response = response_event(item, text=last.known.text)
        if last.failed is None:
            return response | known
        return failure_event(response, last.failed.kind, message=last.failed.message) | known

    def reduced(self, known: Answer, *, cost: bool, usage: bool) -> Answer:
        return Answer("empty", "", cost_usd=known.cost_usd if cost else None, usage=known.usage if usage else None)


def scripted(script: Callable[[str, int], Answer], ledger: Ledger | None = None) -> Scripted:
    """Return a stage that does one item at a time."""
    recorder = Recorder(run_id="run", sink=Kept(), mock=True, secrets=Secrets({}))
    return Scripted(
        executor=Releasing(), recorder=recorder, progress=Progress("generate"), ledger=ledger or Ledger(),
        stop=asyncio.Event(), retry=Retry(3, 0, 1), max_concurrent=1, script=script,
    )  # fmt: skip


def events(stage: Scripted) -> list[JsonObject]:
    """Return what a stage has written."""
    assert isinstance(stage.recorder.sink, Kept)
    return stage.recorder.sink.events


def released(stage: Scripted) -> list[Path]:
    """Return the folders that a stage has released."""
    assert isinstance(stage.executor, Releasing)
    return stage.executor.released


def answer(cost_usd: float | None = 0.5, usage: Usage | None = None) -> Answer:
    return Answer("answered", "yes", cost_usd=cost_usd, usage=usage)


def busy(_item: str, attempt: int) -> Answer:
    """Fail with an error that may pass, but for the third attempt."""
    if attempt < 3:
        raise ItemError("infra_error", "busy", retryable=True)
    return answer()


def test_each_item_has_one_event_and_one_place_in_the_count() -> None:
    """Whether it was done at once, after failures, or not at all; what failed was paid too."""

    def script(item: str, attempt: int) -> Answer:
        if item == "c1":
            raise ItemError("agent_error", "no")
        return busy(item, attempt) if item == "b1" else answer()

    stage = scripted(script)
    asyncio.run(stage.work_off(["a1", "b1", "c1"]))
    assert sorted(event["type"] for event in events(stage)) == ["failure", "response", "response"]
    counts = {
        row: (count.done, count.failed, count.in_flight, count.cost_usd) for row, count in stage.progress.rows.items()
    }
    assert counts == {"a": (1, 0, 0, 0.5), "b": (1, 0, 0, 1.0), "c": (0, 1, 0, 0.25)}
    assert stage.ledger.spent_usd == 1.75


def test_tries_are_bounded_and_only_of_what_may_pass() -> None:
    """With three attempts the third error is the item's; a permanent error costs one attempt."""

    def script(item: str, _: int) -> Answer:
        raise ItemError("infra_error", "no", retryable=item == "a1")

    stage = scripted(script)
    asyncio.run(stage.work_off(["a1", "b1"]))
    assert stage.tried == {"a1": 3, "b1": 1}
    assert {event["attempts"]: len(event["failed_attempts"]) for event in events(stage)} == {3: 2, 1: 0}


def test_each_folder_is_released_once_its_event_is_safe() -> None:
    """Those of failed attempts too, before the next one begins."""
    stage = scripted(busy)
    asyncio.run(stage.work_off(["a1"]))
    assert released(stage) == [FOLDER] * 3


class SlowDisk(Kept):
    """Has each event at once, and makes them safe when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.safe = asyncio.Event()

    async def write(self, line: bytes) -> Awaitable[None]:
        await super().write(line)
        return self._wait()

    async def _wait(self) -> None:
        await self.safe.wait()


async def test_the_next_item_is_done_while_the_disk_is_slow_and_none_counts_before_it_is_safe() -> None:
    """Nor is anybody told."""
    told: list[str] = []
    sink = SlowDisk()
    stage = scripted(lambda *_: answer())
    stage = replace(
        stage,
        recorder=replace(stage.recorder, sink=sink),
        on_written=lambda encoded: told.append(encoded.event["id"]),
        folder=None,
    )
    working = asyncio.create_task(stage.work_off(["a1", "a2", "a3"]))
    await until(lambda: len(sink.events) == 3, working)
    assert (told, stage.progress.rows["a"].done) == ([], 0)
    sink.safe.set()
    await working
    assert told == [event["id"] for event in sink.events]
    assert stage.progress.rows["a"].done == 3


@pytest.mark.parametrize(("folder", "room"), [(None, ROOM), (FOLDER, 0)])
async def test_no_more_wait_for_a_slow_disk_than_there_is_room_for(folder: Path | None, room: int) -> None:
    """What an end of the machine may lose is bounded, whatever the disk does; who has a folder waits with it."""
    sink = SlowDisk()
    stage = scripted(lambda *_: answer())
    stage = replace(stage, recorder=replace(stage.recorder, sink=sink), folder=folder)
    items = [f"a{number}" for number in range(room + 2)]
    working = asyncio.create_task(stage.work_off(items))
    await until(lambda: len(sink.events) > room, working)
    for _ in range(20):
        await asyncio.sleep(0)
    assert (len(sink.events), released(stage)) == (room + 1, [])
    sink.safe.set()
    await working
    assert len(sink.events) == len(items)


async def test_another_item_runs_while_one_waits_to_be_tried_again() -> None:
    """A wait holds neither the slot nor money."""

    def script(item: str, attempt: int) -> Answer:
        if item == "a1" and attempt == 1:
            raise ItemError("infra_error", "busy", retryable=True, retry_after_s=60)
        return answer()

    stage = scripted(script, Ledger(limit_usd=0.75))
    stage.ledger.assume("b", 0.5, "b")
    working = asyncio.create_task(stage.work_off(["a1", "b1"]))
    while not events(stage):
        assert not working.done()
        await asyncio.sleep(0.001)
    assert [event["id"] for event in events(stage)] == [response_event("b1")["id"]]
    stage.stop.set()
    await working


@pytest.mark.parametrize("items", [["a1"], ["a1", "b1"]])
async def test_progress_says_that_a_busy_service_is_waited_for(items: list[str]) -> None:
    """Else a run that stands still for a minute looks as if it hung; when it is over, nothing is waited for."""

    def script(item: str, attempt: int) -> Answer:
        if item == "a1" and attempt == 1:
            raise ItemError("infra_error", "busy", retryable=True, retry_after_s=60, overloaded=True)
        return answer()

    stage = scripted(script)
    working = asyncio.create_task(stage.work_off(items))
    while "failed" not in stage.progress.remark:
        assert not working.done()
        await asyncio.sleep(0.001)
    said = "too many at once, goes on in 60 s · 1 attempt failed, to be tried again"
    assert stage.progress.line().endswith(f" · {said}")
    stage.stop.set()
    await working
    assert stage.progress.remark == ""


async def test_progress_says_of_what_failed_that_it_is_tried_again() -> None:
    """A wait of a minute after an error that may pass is none of the run's hanging."""

    def script(_item: str, _attempt: int) -> Answer:
        raise ItemError("infra_error", "gone", retryable=True, retry_after_s=60)

    stage = scripted(script)
    working = asyncio.create_task(stage.work_off(["a1", "b1"]))
    while stage.progress.remark != "2 attempts failed, to be tried again":
        assert not working.done()
        await asyncio.sleep(0.001)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert stage.progress.remark == ""


async def test_other_items_are_done_while_somebody_is_told_of_one() -> None:
    """A judge who has no room yet for an answer holds up no question, as long as there is room for answers."""
    room = asyncio.Event()

    async def on_written(_: EncodedEvent) -> None:
        await room.wait()

    stage = replace(scripted(lambda *_: answer()), on_written=on_written)
    working = asyncio.create_task(stage.work_off(["a1", "b1", "c1"]))
    await until(lambda: "c" in stage.progress.rows and stage.progress.rows["c"].done == 1, working)
    room.set()
    await working
    assert len(events(stage)) == 3


def test_a_run_that_is_stopped_tries_nothing_again() -> None:
    """What is in flight is finished; what fails then is a failure of its own kind, for the next run to try."""

    def script(item: str, attempt: int) -> Answer:
        stage.stop.set()
        return busy(item, attempt)

    stage = scripted(script)
    asyncio.run(stage.work_off(["a1", "a2", "a3"]))
    assert [(event["kind"], event["attempts"]) for event in events(stage)] == [("infra_error", 1)]
    assert (stage.ledger.spent_usd, stage.ledger.reserved_usd, stage.ledger.in_flight) == (0.25, 0.0, 0)


async def test_a_run_that_is_stopped_while_an_item_waits_to_be_tried_again_pays_what_was_tried() -> None:
    """The failure is that of the last attempt, and is booked once."""
    stage = replace(scripted(busy), retry=Retry(3, 60, 1))
    stage.ledger.assume("a", 0.125, "a")
    working = asyncio.create_task(stage.work_off(["a1"]))
    while not stage.ledger.spent_usd:
        assert not working.done()
        await asyncio.sleep(0.001)
    stage.stop.set()
    await working
    (event,) = events(stage)
    assert (event["kind"], event["attempts"], event["failed_attempts"]) == ("infra_error", 1, [])
    assert (stage.ledger.spent_usd, stage.ledger.reserved_usd, stage.ledger.in_flight) == (0.25, 0.0, 0)
    assert stage.progress.rows["a"].cost_usd == 0.25


async def test_a_failed_attempt_is_recorded_when_its_item_is_cancelled_while_it_waits() -> None:
    """What it has cost is not lost with a second Ctrl-C."""
    stage = replace(scripted(busy), retry=Retry(3, 60, 1))
    working = asyncio.create_task(stage.work_off(["a1"]))
    await until(lambda: bool(stage.ledger.spent_usd), working)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    (event,) = events(stage)
    assert (event["kind"], event["attempts"], event["cost_usd"]) == ("infra_error", 1, 0.25)
    assert released(stage) == [FOLDER]


async def test_a_failed_attempt_is_recorded_when_another_item_ends_the_run() -> None:
    """An error about the run cancels the items that wait; what they have cost stays."""

    def script(item: str, attempt: int) -> Answer:
        if item == "b1":
            raise EnvironmentLacksError("no more")
        return busy(item, attempt)

    stage = replace(scripted(script), retry=Retry(3, 60, 1))
    with pytest.raises(ExceptionGroup) as caught:
        await stage.work_off(["a1", "b1"])
    assert caught.group_contains(EnvironmentLacksError, match="no more")
    (event,) = events(stage)
    assert (event["kind"], event["cost_usd"]) == ("infra_error", 0.25)


class Keeping(Scripted):
    """A stage that keeps all folders, of which its events tell."""

    def place(self, item: str, outcome: Outcome[Answer]) -> Path:  # noqa: ARG002 - the base's signature
        return Path("kept", item)

    def event(self, item: str, outcomes: Sequence[Outcome[Answer]]) -> JsonObject:
        place = {} if outcomes[-1].workspace is None else {WORKSPACE: str(self.place(item, outcomes[-1]))}
        return super().event(item, outcomes) | place


async def test_an_event_names_no_folder_that_was_removed_for_an_attempt_that_is_cancelled() -> None:
    """The failure that stays is that of the attempt before, whose folder is gone."""
    gate = asyncio.Event()
    gate.set()

    def script(item: str, attempt: int) -> Answer:
        gate.clear()
        return busy(item, attempt)

    stage = scripted(script)
    stage = Keeping(**{each.name: getattr(stage, each.name) for each in fields(stage)} | {"gate": gate})
    working = asyncio.create_task(stage.work_off(["a1"]))
    await until(lambda: bool(released(stage)), working)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    (event,) = events(stage)
    assert (event["kind"], event["attempts"], WORKSPACE in event) == ("infra_error", 1, False)


async def test_a_response_whose_write_is_cancelled_is_written_once() -> None:
    """Its line is on its way already."""

    class Slow(Kept):
        async def write(self, line: bytes) -> None:
            await super().write(line)
            await asyncio.Event().wait()

    stage = scripted(lambda *_: answer())
    stage = replace(stage, recorder=replace(stage.recorder, sink=Slow()))
    working = asyncio.create_task(stage.work_off(["a1"]))
    await until(lambda: bool(events(stage)), working)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert [event["type"] for event in events(stage)] == ["response"]


async def until(holds: Callable[[], bool], working: asyncio.Task[None]) -> None:
    """Wait until something holds that work in the background brings about."""
    while not holds():
        assert not working.done()
        await asyncio.sleep(0.001)


def test_an_attempt_that_the_budget_does_not_allow_is_not_made() -> None:
    """The item fails with the kind `budget`, and what it failed of is in its message and its record."""
    ledger = Ledger(limit_usd=0.6)
    ledger.assume("a", 0.25, "a")
    stage = scripted(busy, ledger)
    asyncio.run(stage.work_off(["a1"]))
    (event,) = events(stage)
    assert (event["kind"], event["attempts"], len(event["failed_attempts"])) == ("budget", 2, 1)
    assert event["message"] == "the budget does not allow another attempt after infra_error: busy"
    assert (ledger.spent_usd, ledger.reserved_usd) == (0.5, 0.0)
    assert ledger.refused


def test_a_budget_that_is_reached_ends_the_wait_of_what_costs() -> None:
    """Also where what is free goes on: nobody waits for a retry that will not be made."""
    ledger = Ledger(limit_usd=0.6, enough=asyncio.Event())
    ledger.assume("a", 0.25, "a")
    ledger.assume("b", 1.0, "b")
    stage = replace(scripted(busy, ledger), retry=Retry(3, 100, 1))

    async def waited() -> float:
        began_s = asyncio.get_running_loop().time()
        await stage.work_off(["a1", "b1"])
        return asyncio.get_running_loop().time() - began_s

    assert virtual_time.run(waited()) < 1
    (event,) = events(stage)
    assert (event["kind"], stage.stop.is_set()) == ("budget", False)


def test_what_was_called_free_and_cost_something_ends_when_the_budget_is_reached() -> None:
    """Its failed attempt was paid: it has its event, and nobody waits for another attempt that is never made."""
    ledger = Ledger(limit_usd=0.2, enough=asyncio.Event(), free={"a"})
    stage = replace(scripted(busy, ledger), retry=Retry(3, 100, 1))
    virtual_time.run(asyncio.wait_for(stage.work_off(["a1"]), 1_000))
    (event,) = events(stage)
    assert (event["kind"], event["attempts"], ledger.spent_usd) == ("budget", 1, 0.25)


async def test_a_stop_while_an_item_waits_for_its_slot_leaves_it_to_the_next_run() -> None:
    """It is not begun, and nothing is written or booked for it."""
    gate = asyncio.Event()
    stage = replace(scripted(lambda *_: answer()), gate=gate)
    working = asyncio.create_task(stage.work_off(["a1", "a2"]))
    while not stage.progress.rows:
        assert not working.done()
        await asyncio.sleep(0.001)
    stage.stop.set()
    gate.set()
    await working
    assert list(stage.tried) == ["a1"]
    assert len(events(stage)) == 1
    assert (stage.ledger.spent_usd, stage.ledger.in_flight) == (0.5, 0)


def test_what_no_log_can_hold_is_a_failure_that_keeps_the_cost() -> None:
    """As much is kept as the log can hold: tokens that no schema takes are left out, the cost stays."""
    stage = scripted(lambda *_: answer(0.5, Usage(input_tokens=-1)))
    asyncio.run(stage.work_off(["a1"]))
    (event,) = events(stage)
    assert (event["type"], event["kind"], event["cost_usd"], event["usage"]) == ("failure", "agent_error", 0.5, None)
    assert event["message"].startswith("what came back cannot be logged: ")
    assert stage.ledger.spent_usd == 0.5
