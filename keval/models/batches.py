"""Message Batches of the Messages API: many requests handed over at once, at half the price, answered within a day.

The service knows no idempotency: each `create` that it gets makes a batch, whether or not its answer arrives. So
nothing here is tried twice. Results are fetched from the service's own address: a batch names one too, which might be
another's.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import orjson

from keval.ids import JsonObject
from keval.models.messages_api import ModelError, Reply, client_of, error_in_good_order, model_error, reply_of
from keval.models.prices import BATCH_SHARE
from keval.models.services import Service

if TYPE_CHECKING:
    import httpx2

PATH = "/v1/messages/batches"

MOST_REQUESTS = 10_000
MOST_BYTES = 64 * 1024 * 1024
"""What one batch holds: the service takes 100,000 requests or 256 MB, which would all be in memory twice."""

TIMEOUT_S = 600.0
"""How long one call may take: a batch of that size has to be sent."""

SECONDS = len("2026-11-23T12:00:00")
"""How much of a time is compared: the service writes more digits than keval, and both write UTC."""

UNANSWERED = {"expired": "was not processed in time", "canceled": "was canceled"}
"""What became of requests that the service did not answer, and takes no money for."""

UNREADABLE: JsonObject = {"type": "unreadable"}
"""What stands for a result that cannot be read."""

SUCCEEDED = "succeeded"
"""The type of a result with a message in it."""

PAGE = 100
"""Batches that are listed at once."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """What the service says of a batch."""

    batch_id: str
    has_ended: bool
    requests: int
    created: str
    """When it was made, RFC 3339."""


@dataclass(frozen=True, slots=True)
class BatchService:
    """One service that takes batches, as an environment has it."""

    service: Service
    env: Mapping[str, str] = field(repr=False)

    async def create(self, requests: Sequence[JsonObject]) -> BatchState:
        """Make a batch. Raises ModelError; unless its status is 4xx, the batch may have been made all the same."""
        return _state(await self._called("post", PATH, body={"requests": list(requests)}))

    async def state(self, batch_id: str) -> BatchState:
        """Return how far a batch is. Raises ModelError."""
        return _state(await self._called("get", f"{PATH}/{batch_id}"))

    async def newest(self, since: datetime) -> AsyncIterator[BatchState]:
        """Yield the batches that were made from a moment on, the newest first. Raises ModelError.

        The moment is one of this machine's clock; the service's may be another.
        """
        after: dict[str, str] = {}
        while True:
            answer = await self._answered("get", PATH, params={"limit": PAGE, **after})
            found, first = _parsed(answer.content), _by_its_clock(since, answer.headers.get("date")).isoformat()
            for described in found.get("data") or []:
                state = _described(described)
                if state.created[:SECONDS] < first[:SECONDS]:
                    return
                yield state
            if not found.get("has_more") or not found.get("last_id"):
                return
            after = {"after_id": str(found["last_id"])}

    async def results(self, batch_id: str) -> dict[str, JsonObject]:
        """Return the results of a batch that has ended, by custom_id. Raises ModelError where they are cut off.

        Of several results of one request it is one that succeeded, if any did.
        """
        body = await self._called("get", f"{PATH}/{batch_id}/results")
        rows = [_row(line) for line in body.split(b"\n") if line.strip()]
        if rows and rows[-1] is None:
            raise ModelError("the results of the batch are cut off", retryable=True)
        found = [(str(row.get("custom_id")), _object(row.get("result"))) for row in rows if row is not None]
        return dict(sorted(found, key=lambda each: each[1].get("type") == SUCCEEDED))

    async def _called(self, method: str, path: str, body: object = None) -> bytes:
        return (await self._answered(method, path, body)).content

    async def _answered(
        self, method: str, path: str, body: object = None, params: Mapping[str, object] | None = None
    ) -> httpx2.Response:
        import anthropic
        import httpx2

        client = await client_of(self.service, self.env)
        options: Any = {"timeout": TIMEOUT_S, "params": dict(params or {})}
        try:
            if method == "post":
                return await client.post(path, cast_to=httpx2.Response, body=body, options=options)
            return await client.get(path, cast_to=httpx2.Response, options=options)
        except anthropic.AnthropicError as error:
            raise model_error(error) from error
        except httpx2.RequestError as error:
            raise ModelError(f"the connection broke: {error}", retryable=True) from error


def batch_reply(result: Mapping[str, Any]) -> Reply:
    """Return the reply to one request of a batch, at its price. Raises ModelError where there is none."""
    kind = result.get("type")
    if kind == SUCCEEDED:
        return reply_of(result.get("message"), BATCH_SHARE)
    if kind == "errored":
        error = error_in_good_order(_object(result.get("error")))
        error.is_free = True
        raise error
    told = UNANSWERED.get(str(kind))
    lost = "has a result that cannot be read" if result == UNREADABLE else "has no result"
    raise ModelError(f"the request {told or lost} in its batch", retryable=True, is_free=told is not None)


def _by_its_clock(moment: datetime, told: str | None) -> datetime:
    """Return a moment as the clock of a service has it that has just told its time; as it is if it told none."""
    try:
        its_time = parsedate_to_datetime(told or "")
    except ValueError:
        return moment
    return moment + (its_time.replace(tzinfo=its_time.tzinfo or UTC) - datetime.now(UTC))


def _state(body: bytes) -> BatchState:
    return _described(_parsed(body))


def _described(described: Mapping[str, Any]) -> BatchState:
    counts = described.get("request_counts")
    if not isinstance(described.get("id"), str) or not isinstance(counts, dict):
        raise ModelError("the reply describes no batch", retryable=True)
    requests = sum(count for count in counts.values() if isinstance(count, int))
    has_ended = described.get("processing_status") == "ended"
    return BatchState(described["id"], has_ended, requests, str(described.get("created_at")))


def _row(line: bytes) -> JsonObject | None:
    """Return a row of results, with an unreadable result if keval reads none such; None for what is no JSON at all.

    One such row, as with half of a surrogate pair, must not keep the others from being read.
    """
    try:
        return _object(orjson.loads(line))
    except ValueError:
        pass
    try:
        loosely = _object(json.loads(line.decode(errors="replace")))
    except (ValueError, RecursionError):
        return None
    return {"custom_id": loosely.get("custom_id"), "result": UNREADABLE}


def _parsed(body: bytes) -> JsonObject:
    try:
        return _object(orjson.loads(body))
    except ValueError as error:
        raise ModelError("the reply is not JSON, or is cut off", retryable=True) from error


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
