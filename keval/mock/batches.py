"""Message Batches of the mock: each is kept, and its requests are answered when it ends."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import orjson

from keval.ids import JsonObject
from keval.mock import conversation
from keval.mock.faults import OF_REQUESTS, Faults
from keval.mock.filling import SchemaError

MOST_REQUESTS = 100_000
MOST_BYTES = 256 * 1024 * 1024
"""What the service takes as one batch."""

MOST_LISTED = 1000
"""Batches that the service lists at once."""

CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

Respond = Callable[[JsonObject], JsonObject]
"""Makes the message that answers a request."""


@dataclass(slots=True)
class Batch:
    """One batch, and once it has ended its results."""

    batch_id: str
    requests: list[JsonObject]
    created: datetime
    ended: datetime | None = None
    results: list[JsonObject] = field(default_factory=list)

    def described(self, base_url: str) -> JsonObject:
        """Return the batch as the service describes it: until it ends, its requests count as processing."""
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        counts["processing"] = 0 if self.ended else len(self.requests)
        for row in self.results:
            counts[row["result"]["type"]] += 1
        return {
            "id": self.batch_id,
            "type": "message_batch",
            "processing_status": "ended" if self.ended else "in_progress",
            "request_counts": counts,
            "created_at": _written(self.created),
            "expires_at": _written(self.created + timedelta(hours=24)),
            "ended_at": _written(self.ended) if self.ended else None,
            "cancel_initiated_at": None,
            "archived_at": None,
            "results_url": f"{base_url}v1/messages/batches/{self.batch_id}/results" if self.ended else None,
        }

    def lines(self) -> list[bytes]:
        """Return the results as lines; as in the service, they are in no order that one may rely on."""
        return [orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in reversed(self.results)]


@dataclass(slots=True)
class Batches:
    """All batches, oldest first."""

    faults: Faults
    held: threading.Event = field(default_factory=threading.Event)
    """While it is set, no batch ends."""
    made: dict[str, Batch] = field(default_factory=dict)

    def add(self, requests: list[JsonObject]) -> Batch:
        """Keep a new batch."""
        batch_id = f"msgbatch_{len(self.made) + 1:04}"
        batch = Batch(batch_id, requests, datetime.now(UTC))
        self.made[batch_id] = batch
        return batch

    def settle(self, batch: Batch, respond: Respond) -> None:
        """End a batch, which takes no time, unless it is held."""
        if batch.ended or self.held.is_set():
            return
        batch.results = [
            {"custom_id": each["custom_id"], "result": self._result(each["params"], respond)} for each in batch.requests
        ]
        batch.ended = datetime.now(UTC)

    def newest(self, limit: int, after_id: str | None) -> tuple[list[Batch], bool]:
        """Return the newest batches, those before `after_id` if it is given, and whether there are more."""
        batches = list(reversed(self.made.values()))
        if after_id in self.made:
            batches = batches[batches.index(self.made[after_id]) + 1 :]
        return batches[:limit], len(batches) > limit

    def _result(self, params: JsonObject, respond: Respond) -> JsonObject:
        problem = conversation.problem(params)
        if problem:
            return _errored("invalid_request_error", problem)
        fault = self.faults.draw(OF_REQUESTS)
        if fault == "errored":
            return _errored("api_error", "Internal server error")
        if fault:
            return {"type": fault}
        try:
            return {"type": "succeeded", "message": respond(params)}
        except SchemaError as error:
            return _errored("invalid_request_error", str(error))


def problem(body: JsonObject, length: int) -> tuple[str, str] | None:
    """Return why the service makes no batch of a request, as the name of an error and its message, or None."""
    requests = body.get("requests")
    if not isinstance(requests, list) or not requests:
        return "400", "requests: List should have at least 1 item"
    if len(requests) > MOST_REQUESTS or length > MOST_BYTES:
        return "413", "The batch is larger than allowed."
    place = next((place for place, each in enumerate(requests) if not _is_request(each)), None)
    if place is not None:
        return "400", f"requests.{place}.params: Field required"
    ids = [str(each.get("custom_id", "")) for each in requests]
    if len(set(ids)) < len(ids):
        return "400", "requests: custom_id must be unique within a batch"
    wrong = next((each for each in ids if not CUSTOM_ID.fullmatch(each)), None)
    return None if wrong is None else ("400", f"requests: custom_id: {wrong!r} does not match ^[a-zA-Z0-9_-]{{1,64}}$")


def limit(asked: str) -> int | None:
    """Return how many batches are to be listed; None where the service takes no such number."""
    number = int(asked) if re.fullmatch("[0-9]{1,4}", asked) else 0
    return number if 1 <= number <= MOST_LISTED else None


def _is_request(each: object) -> bool:
    return isinstance(each, dict) and isinstance(each.get("params"), dict)


def _errored(kind: str, message: str) -> JsonObject:
    return {"type": "errored", "error": {"type": "error", "error": {"type": kind, "message": message}}}


def _written(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
