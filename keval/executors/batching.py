"""Hands the requests of one asker over in batches, and brings each the result that it waits for.

Requests that come together make a batch. A batch is submitted once: where the answer to `create` is lost, the service's
own list says whether there is one. Its results are fetched once, and kept until they are asked for.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

import orjson

from keval.counted import counted
from keval.errors import EnvironmentLacksError
from keval.events import failure_id
from keval.executors.batch_events import ENDED, IN_PROGRESS, REFUSED, SUBMITTING, TAKEN_UP, Asker, Batch
from keval.ids import HEX_DIGITS, JsonObject
from keval.models.batches import MOST_BYTES, MOST_REQUESTS, BatchService, BatchState
from keval.models.http_statuses import is_refused
from keval.models.messages_api import ModelError

Told = TypeVar("Told")

MOST_TRIES = 5
"""How many times it is tried to create a batch."""

NEVER_MADE: JsonObject = {"type": "never made"}
"""What stands for the result of a request that no batch holds."""

CLOCKS = timedelta(minutes=10)
"""How far the clocks of this machine and of the service may differ beyond what the service tells of its own."""


class Pace(NamedTuple):
    """The waiting times, in seconds."""

    quiet_s: float = 0.25
    """When no request has come for so long, those that wait are submitted."""
    first_poll_s: float = 1.0
    longest_poll_s: float = 60.0
    """How often it is asked whether a batch has ended: ever more seldom."""
    doubt_s: float = 5.0
    """How long after a lost answer the service's list is asked, and then between two tries."""
    looks: int = 4
    """How many times it is asked, each after twice as long, before a batch counts as never made: a list may be late."""


class BatchRequest(NamedTuple):
    """One request that waits for its batch."""

    custom_id: str
    params: JsonObject
    target_id: str
    length: int
    """Bytes of it in the batch."""
    result: asyncio.Future[JsonObject]


class AskerBatches:
    """The batches of one judge, or of the agent, in one run."""

    def __init__(  # noqa: PLR0913 - what it works with, all by name
        self,
        *,
        asker: Asker,
        name: str,
        service: BatchService,
        run_id: str,
        append: Callable[[JsonObject], Awaitable[None]],
        known: Sequence[Batch],
        batch_ids: set[str],
        tell: Callable[[str], None],
        over: asyncio.Future[None],
        pace: Pace,
    ) -> None:
        self.open = [batch for batch in known if batch.asker == asker]
        self._asker, self._name, self._run_id = asker, name, run_id
        self._service, self._append, self._tell, self._pace = service, append, tell, pace
        self._batch_ids = batch_ids
        """All batches that the log knows, whoever asked; shared by all of the run."""
        self._over = over
        """Gets what goes wrong about the run."""
        self._collected: list[BatchRequest] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._followed: set[str] = set()
        self._used: set[str] = set()
        self._by_request: dict[str, Batch] = {}
        self._by_event: defaultdict[str, list[tuple[Batch, str]]] = defaultdict(list)
        """By the id of the judgment, response or failure in which something of a batch ends."""
        for batch in self.open:
            self._keep(batch)

    async def result(self, custom_id: str, params: JsonObject, target_id: str) -> JsonObject | None:
        """Return the result of a request, once its batch has ended; None for one that was asked for before.

        What a batch could not do is done without one.
        """
        if custom_id in self._used:
            return None
        self._used.add(custom_id)
        batch = self._by_request.get(custom_id)
        if batch is None:
            return await self._collect(custom_id, params, target_id)
        if batch.results is not None:
            return batch.results.pop(custom_id, {})
        waiting: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        batch.waiting[custom_id] = waiting
        if batch.event_id not in self._followed:
            self._followed.add(batch.event_id)
            self._begin(self._take_up(batch))
        found = await waiting
        return await self._collect(custom_id, params, target_id) if found is NEVER_MADE else found

    def recorded(self, event_id: str) -> Awaitable[None] | None:
        """Take note that a judgment, response or failure is in the log; return what says so of a batch that is done."""
        done = []
        for batch, target_id in self._by_event.pop(event_id, ()):
            batch.unrecorded.discard(target_id)
            if not batch.unrecorded and batch.results is not None and batch in self.open:
                self.open.remove(batch)
                done.append(batch)
        return self._end(done) if done else None

    @property
    def is_busy(self) -> bool:
        """Whether something is about to happen that does not depend on the service's time."""
        waited_for = (batch for batch in self.open if batch.waiting)
        return bool(self._collected) or any(not batch.is_seen_unfinished for batch in waited_for)

    @property
    def waiting(self) -> Iterator[str]:
        """The ids of the judgments or responses that wait for a batch."""
        return (batch.requests[custom_id] for batch in self.open for custom_id in batch.waiting)

    def close(self) -> None:
        """Stop watching: the batches themselves go on."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()

    def _collect(self, custom_id: str, params: JsonObject, target_id: str) -> asyncio.Future[JsonObject]:
        loop = asyncio.get_running_loop()
        length = len(orjson.dumps({"custom_id": custom_id, "params": params})) + 1
        request = BatchRequest(custom_id, params, target_id, length, loop.create_future())
        self._collected.append(request)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(self._pace.quiet_s, self._submit_collected)
        return request.result

    def _submit_collected(self) -> None:
        collected, self._collected = self._collected, []
        for requests in split(collected):
            targets = {each.custom_id: each.target_id for each in requests}
            event_id = secrets.token_hex(HEX_DIGITS // 2)
            batch = Batch(event_id, self._asker, targets, "", unrecorded=set(targets.values()))
            batch.waiting = {each.custom_id: each.result for each in requests}
            self.open.append(batch)
            self._keep(batch)
            self._followed.add(event_id)
            self._begin(
                self._submit(batch, [{"custom_id": each.custom_id, "params": each.params} for each in requests])
            )

    def _keep(self, batch: Batch) -> None:
        for custom_id, target_id in batch.requests.items():
            if target_id in batch.unrecorded:
                self._by_request[custom_id] = batch
        for target_id in batch.unrecorded:
            for event_id in (target_id, failure_id(target_id, self._run_id)):
                self._by_event[event_id].append((batch, target_id))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside the work itself; what goes wrong with it is about the run."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._over.done():
            self._over.set_exception(error)

    async def _submit(self, batch: Batch, requests: list[JsonObject]) -> None:
        """Make a batch, see it to its end and hand its results out."""
        batch.since = await self._write(batch, SUBMITTING)
        state = await self._made(batch, requests)
        requests.clear()
        await self._note(batch, state)
        self._tell(f"{self._name}: batch {state.batch_id}: {counted(len(batch.requests), 'request')} submitted")
        await self._follow(batch)

    async def _take_up(self, batch: Batch) -> None:
        """See a batch of an earlier command to its end and hand its results out."""
        if batch.batch_id is None:
            state = await self._found(batch)
            if state is None:
                await self._give_up(batch)
                return
            await self._note(batch, state)
        else:
            await self._write(batch, TAKEN_UP)
        self._tell(f"{self._name}: batch {batch.batch_id} of an earlier command is waited for")
        await self._follow(batch)

    async def _made(self, batch: Batch, requests: Sequence[JsonObject]) -> BatchState:
        """Return the batch that the service has made of requests: one, whatever becomes of its answers."""
        for attempt in range(MOST_TRIES):
            try:
                return await self._service.create(requests)
            except ModelError as error:
                told = error.message
                is_certain = error.status is not None and is_refused(error.status)
                if is_certain and not error.retryable:
                    await self._write(batch, REFUSED)
                    raise _no_way_on(f"{self._name}: no batch was made: {told}") from error
                wait_s = max(self._pace.doubt_s, error.retry_after_s or 0.0) * 2**attempt
            if is_certain:
                if attempt + 1 < MOST_TRIES:
                    await asyncio.sleep(min(wait_s, self._pace.longest_poll_s))
                continue
            self._tell(f"{self._name}: {told}; looking whether the batch was made")
            state = await self._found(batch)
            if state is not None:
                return state
        raise _no_way_on(f"{self._name}: no batch was made in {MOST_TRIES} tries: {told}")

    async def _found(self, batch: Batch) -> BatchState | None:
        """Return a batch of which only a mark is known, or None if the service never made it.

        The list tells when a batch was made and how many requests it has; its ids only its results tell. These may lack
        some, or have others beside them; a batch of another log may have some of them, as they are hashes of what is
        asked. So it is the one with most of ours, and with at least half of them; for one with all others are not
        waited for.
        """
        wait_s = self._pace.doubt_s
        for _ in range(self._pace.looks):
            await asyncio.sleep(wait_s)
            found = await self._listed(batch)
            if found is not None:
                return found
            wait_s *= 2
        return None

    async def _listed(self, batch: Batch) -> BatchState | None:
        found, most = None, (len(batch.requests) - 1) // 2
        for state in await self._until_answered(lambda: self._alike(batch)):
            results = await self._fetched(batch, state.batch_id)
            if (ours := len(batch.requests.keys() & results.keys())) > most:
                found, most, batch.results = state, ours, results
            if ours == len(batch.requests):
                break
        return found

    async def _alike(self, batch: Batch) -> list[BatchState]:
        since = datetime.fromisoformat(batch.since) - CLOCKS
        return [
            state
            async for state in self._service.newest(since)
            if state.requests == len(batch.requests) and state.batch_id not in self._batch_ids
        ]

    async def _follow(self, batch: Batch) -> None:
        """Wait for a batch and hand its results out."""
        if batch.results is None:
            batch.results = await self._fetched(batch, str(batch.batch_id))
        for custom_id, waiting in batch.waiting.items():
            if not waiting.done():
                waiting.set_result(batch.results.pop(custom_id, {}))
        batch.waiting.clear()

    async def _fetched(self, batch: Batch, batch_id: str) -> dict[str, JsonObject]:
        """Return the results of a batch when it has ended."""
        wait_s = self._pace.first_poll_s
        while not (state := await self._until_answered(lambda: self._service.state(batch_id))).has_ended:
            batch.is_seen_unfinished = True
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 1.5, self._pace.longest_poll_s)
        batch.is_seen_unfinished = False
        return await self._all_results(batch_id, state.requests)

    async def _all_results(self, batch_id: str, requests: int) -> dict[str, JsonObject]:
        """Return the results of a batch that has ended; what it still lacks when it was read several times is lost."""
        for attempt in range(MOST_TRIES):
            results = await self._until_answered(lambda: self._service.results(batch_id))
            if len(results) >= requests:
                break
            if attempt + 1 < MOST_TRIES:
                self._tell(f"{self._name}: batch {batch_id}: {len(results)} of {requests} results; reading them again")
                await asyncio.sleep(min(self._pace.first_poll_s * 2**attempt, self._pace.longest_poll_s))
        return results

    async def _until_answered(self, ask: Callable[[], Awaitable[Told]]) -> Told:
        """Ask the service until it answers: reading costs nothing, and a batch takes hours anyway."""
        wait_s = self._pace.first_poll_s
        while True:
            try:
                return await ask()
            except ModelError as error:
                if not error.retryable:
                    raise _no_way_on(f"{self._name}: {error.message}") from error
                if wait_s >= self._pace.longest_poll_s:
                    self._tell(f"{self._name}: {error.message}; asking again")
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, self._pace.longest_poll_s)

    async def _give_up(self, batch: Batch) -> None:
        """Let what a batch was to hold that was never made be collected anew."""
        await self._write(batch, REFUSED)
        self.open.remove(batch)
        for custom_id in batch.requests:
            self._by_request.pop(custom_id, None)
        for waiting in batch.waiting.values():
            if not waiting.done():
                waiting.set_result(NEVER_MADE)
        batch.waiting.clear()

    async def _note(self, batch: Batch, state: BatchState) -> None:
        batch.batch_id = state.batch_id
        self._batch_ids.add(state.batch_id)
        await self._write(batch, IN_PROGRESS)

    async def _end(self, batches: Sequence[Batch]) -> None:
        for batch in batches:
            await self._write(batch, ENDED)

    async def _write(self, batch: Batch, status: str) -> str:
        """Write how far a batch is; it is on disk when this returns the event's time."""
        event = batch.event(self._run_id, status)
        await self._append(event)
        return str(event["time"])


def split(requests: Sequence[BatchRequest]) -> Iterator[list[BatchRequest]]:
    """Yield the requests in batches that the service takes."""
    part: list[BatchRequest] = []
    length = 0
    for each in requests:
        if part and (len(part) >= MOST_REQUESTS or length + each.length > MOST_BYTES):
            yield part
            part, length = [], 0
        part.append(each)
        length += each.length
    if part:
        yield part


def _no_way_on(told: str) -> EnvironmentLacksError:
    """Return the error of a service that makes or gives no batch, with what the user may do then."""
    return EnvironmentLacksError(
        f"{told}; what the log says of its batches stays: the same command goes on with them, and without "
        "--batch it makes each call by itself"
    )
