from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, ClassVar

import pytest

from keval.errors import EnvironmentLacksError
from keval.executors.batch_events import Asker, Batch
from keval.executors.batching import AskerBatches, BatchRequest, Pace, split
from keval.ids import JsonObject
from keval.mock import Mock
from keval.models.batches import MOST_BYTES, MOST_REQUESTS, BatchService, BatchState, batch_reply
from keval.models.messages_api import Model, ModelError
from tests import virtual_time

MODEL = Model(name="claude-opus-5", max_tokens=100)
FAST = Pace(quiet_s=0.01, first_poll_s=0.01, longest_poll_s=0.02, doubt_s=0.01)


def params(text: str = "What?") -> JsonObject:
    return MODEL.batch_params(system="Answer.", messages=[{"role": "user", "content": text}])


class Line:
    """The batches of one judge at a mock, and what they write and tell."""

    def __init__(
        self,
        mock: Mock,
        known: Sequence[Batch] = (),
        batch_ids: Sequence[str] = (),
        service: BatchService | None = None,
    ) -> None:
        self.events: list[JsonObject] = []
        self.told: list[str] = []
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.batches = AskerBatches(
            asker=Asker("a1" * 12), name="judge rubric", run_id="run1",
            service=service or BatchService(MODEL.service, mock.env),
            append=self._append, known=known, batch_ids=set(batch_ids), tell=self.told.append, over=self.over,
            pace=FAST,
        )  # fmt: skip

    async def _append(self, event: JsonObject) -> None:
        self.events.append(event)

    async def ask(self, *custom_ids: str) -> list[JsonObject | None]:
        """Wait for results, one judgment each, or for the error that ends the run."""
        asked: asyncio.Future[list[JsonObject | None]] = asyncio.gather(
            *(self.batches.result(each, params(), f"j-{each}") for each in custom_ids)
        )
        waited_for: set[asyncio.Future[Any]] = {asked, self.over}
        await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
        if self.over.done():
            asked.cancel()
            with suppress(asyncio.CancelledError):
                await asked
            self.over.result()
        return await asked

    @property
    def statuses(self) -> list[str]:
        return [event["status"] for event in self.events]


def at_mock(test: Callable[[Mock], Awaitable[None]], errors: str = "", seed: int = 0) -> dict[str, int]:
    """Run a test against a mock and return how often each of the mock's addresses was called."""

    async def main() -> None:
        await test(mock)

    with Mock(errors=errors, seed=seed) as mock:
        asyncio.run(main())
        return {path.removeprefix("/v1/messages/"): number for path, number in mock.requests.by_path.items()}


CREATE, LIST = "POST /v1/messages/batches", "GET /v1/messages/batches"
RESULTS = "GET /v1/messages/batches/{id}/results"


def test_requests_that_come_together_are_one_batch_at_half_the_price() -> None:
    """What is in the log before the batch is made names every request; its results are fetched once."""

    async def test(mock: Mock) -> None:
        line = Line(mock)
        results = await line.ask("a", "b", "c")
        reply = batch_reply(results[0] or {})
        assert reply.cost_usd is not None
        assert reply.price_share == 0.5
        single = await MODEL.ask(mock.env, system="Answer.", messages=[{"role": "user", "content": "What?"}])
        assert single.cost_usd is not None
        assert reply.cost_usd == single.cost_usd / 2
        assert line.statuses == ["submitting", "in_progress"]
        assert [each["batch_id"] for each in line.events] == [None, "msgbatch_0001"]
        assert line.events[0]["requests"] == {each: f"j-{each}" for each in "abc"}
        assert len({each["id"] for each in line.events}) == 1

    called = at_mock(test)
    assert (called[CREATE], called[RESULTS]) == (1, 1)


def test_a_batch_has_ended_when_each_of_its_judgments_is_recorded() -> None:
    """A judgment counts under its own id, or under that of its failure in this run."""

    async def test(mock: Mock) -> None:
        from keval.events import failure_id

        line = Line(mock)
        await line.ask("a", "b")
        assert line.batches.recorded("j-a") is None
        ended = line.batches.recorded(failure_id("j-b", "run1"))
        assert ended is not None
        await ended
        assert line.statuses == ["submitting", "in_progress", "ended"]
        assert line.batches.recorded("j-b") is None

    at_mock(test)


@pytest.mark.parametrize("fault", ["batch_500", "batch_cut"])
def test_a_batch_whose_answer_is_lost_is_found_and_not_made_again(fault: str) -> None:
    """The service makes a batch whether or not its answer arrives: the list of batches tells, then the results."""

    async def test(mock: Mock) -> None:
        line = Line(mock)
        assert [batch_reply(each or {}).price_share for each in await line.ask("a", "b")] == [0.5, 0.5]
        assert line.events[-1]["batch_id"] == "msgbatch_0001"
        assert "looking whether the batch was made" in line.told[0]

    called = at_mock(test, f"{fault}:1")
    assert (called[CREATE], called[RESULTS]) == (1, 1)


class Inexact(BatchService):
    """A service that leaves out a result, and has one that nobody asked for."""

    async def results(self, batch_id: str) -> dict[str, JsonObject]:
        """Return the results as they are there, but for these two."""
        found = await super().results(batch_id)
        return {"foreign": found.pop("a"), **found}


def test_a_batch_is_ours_whatever_its_results_lack() -> None:
    """It is not made and paid again for a row that is missing: that request alone has no result."""

    async def test(mock: Mock) -> None:
        line = Line(mock, service=Inexact(MODEL.service, mock.env))
        missing, there = await line.ask("a", "b")
        assert missing == {}
        assert batch_reply(there or {}).price_share == 0.5
        assert line.events[-1]["batch_id"] == "msgbatch_0001"

    assert at_mock(test, "batch_500:1")[CREATE] == 1


class Late(BatchService):
    """A service whose list has a batch only when it is asked for the third time."""

    looks: ClassVar[int] = 0

    async def newest(self, since: datetime) -> AsyncIterator[BatchState]:
        """Yield nothing twice, and then what is there."""
        Late.looks += 1
        async for state in super().newest(since):
            if Late.looks > 2:
                yield state


def test_a_batch_that_the_list_has_late_is_not_made_again() -> None:
    """It is paid for once: what is not in the list at once may be there in a minute."""

    async def test(mock: Mock) -> None:
        Late.looks = 0
        line = Line(mock, service=Late(MODEL.service, mock.env))
        await line.ask("a")
        assert line.events[-1]["batch_id"] == "msgbatch_0001"

    assert at_mock(test, "batch_500:1")[CREATE] == 1


class Short(BatchService):
    """A service that gives all results only when it is asked for the third time; or never, if they are lost."""

    reads: ClassVar[int] = 0

    async def results(self, batch_id: str) -> dict[str, JsonObject]:
        """Return one result, and later all."""
        Short.reads += 1
        found = await super().results(batch_id)
        return found if Short.reads > 2 else dict([*found.items()][:1])


@pytest.mark.parametrize("are_there", [True, False])
def test_results_that_are_not_all_there_are_read_again(*, are_there: bool) -> None:
    """What is lacking would be asked, and paid, once more; to read it costs nothing. After some tries it is lost."""

    async def test(mock: Mock) -> None:
        line = Line(mock, service=Short(MODEL.service, mock.env))
        found = await line.ask("a", "b", "c")
        brought = [batch_reply(each).price_share for each in found if each]
        assert brought == [0.5] * (3 if are_there else 1)
        assert "judge rubric: batch msgbatch_0001: 1 of 3 results; reading them again" in line.told

    Short.reads = 0 if are_there else -100
    called = at_mock(test)
    assert (called[CREATE], called[RESULTS]) == (1, 3 if are_there else 5)


class Busy(BatchService):
    """A service at which another log makes a batch, too, with some of the same requests."""

    async def create(self, requests: Sequence[JsonObject]) -> BatchState:
        """Make both, and answer with an error."""
        try:
            return await super().create(requests)
        except ModelError:
            with suppress(ModelError):
                await super().create([{"custom_id": each, "params": params()} for each in ("a", "b", "x")])
            raise


class BusyBefore(BatchService):
    """A service at which another log has made a batch just before, with some of the same requests."""

    async def create(self, requests: Sequence[JsonObject]) -> BatchState:
        """Make both, the second one with an error."""
        with suppress(ModelError):
            await super().create([{"custom_id": each, "params": params()} for each in ("a", "b", "x")])
        return await super().create(requests)


def test_once_all_of_ours_are_found_no_other_batch_is_waited_for() -> None:
    """A batch of another log may take a day to end."""

    async def test(mock: Mock) -> None:
        line = Line(mock, service=BusyBefore(MODEL.service, mock.env))
        assert [batch_reply(each or {}).price_share for each in await line.ask("a", "b", "c")] == [0.5] * 3
        assert line.events[-1]["batch_id"] == "msgbatch_0002"

    called = at_mock(test, "batch_500:1")
    assert (called[CREATE], called[RESULTS]) == (2, 1)


def test_of_several_batches_the_one_with_most_of_ours_is_ours() -> None:
    """Two logs of one config ask for some of the same: what was paid for this one is collected whole."""

    async def test(mock: Mock) -> None:
        line = Line(mock, service=Busy(MODEL.service, mock.env))
        assert [batch_reply(each or {}).price_share for each in await line.ask("a", "b", "c")] == [0.5] * 3
        assert line.events[-1]["batch_id"] == "msgbatch_0001"

    assert at_mock(test, "batch_500:1")[CREATE] == 2


def test_a_batch_of_somebody_else_is_not_taken_for_ours() -> None:
    """One that has as many requests and was made at the same time has other ids in its results."""

    async def test(mock: Mock) -> None:
        service = BatchService(MODEL.service, mock.env)
        line = Line(mock)
        with pytest.raises(ModelError):  # made all the same: by another program with the same key
            await service.create([{"custom_id": "foreign", "params": params()}])
        assert [batch_reply(each or {}).price_share for each in await line.ask("a")] == [0.5]
        assert line.events[-1]["batch_id"] == "msgbatch_0002"

    assert at_mock(test, "batch_500:1")[CREATE] == 2


def test_a_batch_that_was_not_made_is_made_again() -> None:
    """An error 500 after which the list has no such batch: nothing is lost, and nothing is paid twice."""

    async def test(mock: Mock) -> None:
        line = Line(mock)
        await line.ask("a")
        assert line.events[-1]["batch_id"] == "msgbatch_0001"

    assert at_mock(test, "batch_lost:0.5", seed=1)[CREATE] > 1


def test_a_service_that_never_makes_a_batch_ends_the_run() -> None:
    """After some tries the user is told; the mark in the log stays, for what the service may still say."""

    async def test(mock: Mock) -> None:
        line = Line(mock)
        with pytest.raises(EnvironmentLacksError, match="no batch was made in 5 tries"):
            await line.ask("a")
        assert line.statuses == ["submitting"]

    assert at_mock(test, "batch_lost:1")[CREATE] == 5


def test_nobody_waits_after_the_last_refusal() -> None:
    """There is a wait before each further try, and none before the user is told that there was no use."""
    at_s: list[float] = []

    class Full(BatchService):
        async def create(self, requests: Sequence[JsonObject]) -> BatchState:
            at_s.append(asyncio.get_running_loop().time())
            raise ModelError(f"no room for {len(requests)}", retryable=True, status=429)

    async def main() -> None:
        line = Line(mock, service=Full(MODEL.service, mock.env))
        with pytest.raises(EnvironmentLacksError, match="no batch was made in 5 tries: no room for 1"):
            await line.ask("a")
        at_s.append(asyncio.get_running_loop().time())

    with Mock() as mock:
        virtual_time.run(main())
    assert [later > earlier for earlier, later in itertools.pairwise(at_s)] == [True] * 4 + [False]


def test_a_refused_batch_ends_the_run_and_is_marked_as_refused() -> None:
    """A batch that the service refuses was not made: nobody has to look for it later."""

    async def test(mock: Mock) -> None:
        line = Line(mock)
        with pytest.raises(EnvironmentLacksError, match="no batch was made: the service refused the call"):
            await line.ask("no id that the service takes")
        assert line.statuses == ["submitting", "refused"]

    assert at_mock(test)[CREATE] == 1


def test_results_that_break_off_are_read_again() -> None:
    """A broken connection is no reason to lose what was paid for."""

    async def test(mock: Mock) -> None:
        line = Line(mock)
        assert None not in await line.ask("a", "b")

    assert at_mock(test, "results_cut:0.7", seed=3)[RESULTS] > 1


@pytest.mark.parametrize("fault", ["expired", "errored", "canceled"])
def test_what_a_batch_could_not_do_is_asked_in_no_other_batch(fault: str) -> None:
    """The first answer is an error that is worth another attempt; for the second there is no batch."""

    async def test(mock: Mock) -> None:
        line = Line(mock)
        (result,) = await line.ask("a")
        with pytest.raises(ModelError) as raised:
            batch_reply(result or {})
        assert raised.value.retryable
        assert await line.ask("a") == [None]

    assert at_mock(test, f"{fault}:1")[CREATE] == 1


def test_a_request_that_the_service_does_not_take_fails_for_good() -> None:
    """It is no better by itself."""
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}
    with pytest.raises(ModelError, match="invalid_request_error: too long") as raised:
        batch_reply({"type": "errored", "error": error})
    assert not raised.value.retryable


async def _made(mock: Mock, *custom_ids: str) -> str:
    service = BatchService(MODEL.service, mock.env)
    return (await service.create([{"custom_id": each, "params": params()} for each in custom_ids])).batch_id


def known(batch_id: str | None, *custom_ids: str) -> Batch:
    requests = {each: f"j-{each}" for each in custom_ids}
    return Batch(
        "e" * 24, Asker("a1" * 12), requests, "2026-01-01T00:00:00.000Z", batch_id, unrecorded=set(requests.values())
    )


def test_a_known_batch_is_waited_for_and_nothing_of_it_is_asked_anew() -> None:
    """What an earlier command submitted is collected; a request that it lacks is a batch of its own."""

    async def test(mock: Mock) -> None:
        line = Line(mock, [known(await _made(mock, "a", "b"), "a", "b")], ["msgbatch_0001"])
        assert None not in await line.ask("a")
        assert None not in await line.ask("b", "c")
        assert line.statuses[:2] == ["taken_up", "submitting"]
        assert line.events[1]["requests"] == {"c": "j-c"}

    called = at_mock(test)
    assert (called[CREATE], called[RESULTS]) == (2, 2)


def test_a_mark_without_a_batch_id_is_cleared_up() -> None:
    """A command that was killed while it made a batch leaves a mark: the service's list tells what became of it."""

    async def test(mock: Mock) -> None:
        await _made(mock, "a", "b")
        line = Line(mock, [known(None, "a", "b")])
        assert None not in await line.ask("a", "b")
        assert line.statuses == ["in_progress"]

    assert at_mock(test)[CREATE] == 1


def test_what_was_marked_and_never_made_is_submitted() -> None:
    """A command that was killed before the service got its batch has cost nothing."""

    async def test(mock: Mock) -> None:
        line = Line(mock, [known(None, "a", "b")])
        assert None not in await line.ask("a", "b")
        assert line.statuses == ["refused", "submitting", "in_progress"]

    assert at_mock(test)[CREATE] == 1


def test_a_batch_that_the_service_does_not_know_ends_the_run() -> None:
    """Another key, or another service: to ask all of it again would be paid twice."""

    async def test(mock: Mock) -> None:
        line = Line(mock, [known("msgbatch_elsewhere", "a")])
        with pytest.raises(EnvironmentLacksError, match="HTTP 404"):
            await line.ask("a")

    assert CREATE not in at_mock(test)


def test_no_batch_is_larger_than_the_service_takes() -> None:
    """Requests are divided by their number and by their bytes; one that is too large goes alone."""

    def lengths(*sizes: int) -> list[list[int]]:
        loop = asyncio.new_event_loop()
        requests = [BatchRequest("c", {}, "j", size, loop.create_future()) for size in sizes]
        loop.close()
        return [[each.length for each in part] for part in split(requests)]

    assert [len(part) for part in lengths(*[1] * (MOST_REQUESTS + 1))] == [MOST_REQUESTS, 1]
    assert lengths(MOST_BYTES - 1, 1, 1) == [[MOST_BYTES - 1, 1], [1]]
    assert lengths(1, MOST_BYTES + 1, 1) == [[1], [MOST_BYTES + 1], [1]]
    assert lengths() == []
