"""The `batch` events of a log: what was handed over, and what of it has come back and was recorded.

All events of one batch have one id. The first is written before the batch is made, so that a command that is killed in
between leaves a mark: from then on nothing of it is asked for anew until it is known what became of it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from keval.events import event, failure_id
from keval.ids import JsonObject
from keval.logs.line_at import event_at
from keval.logs.past import Past
from keval.projections.sql_file import load

SUBMITTING = "submitting"
"""It is about to be made."""
IN_PROGRESS = "in_progress"
"""It was made."""
REFUSED = "refused"
"""It was not made."""
ENDED = "ended"
"""Its results were fetched, and every judgment of it is recorded."""


@dataclass(slots=True, eq=False)
class Batch:
    """One batch: what it asks for, and what is known of it."""

    event_id: str
    judge_id: str
    requests: Mapping[str, str]
    """The ids of the judgments that the requests are for, by custom_id."""
    since: str
    """When it was about to be made."""
    batch_id: str | None = None
    """The service's id for it, None until that is known."""
    unrecorded: set[str] = field(default_factory=set)
    """The judgments that are not in the log yet, neither made nor failed."""
    results: dict[str, JsonObject] | None = None
    """What was fetched and not asked for yet, by custom_id; None until it was fetched."""
    waiting: dict[str, asyncio.Future[JsonObject]] = field(default_factory=dict)
    """Those who wait for a result, by custom_id."""
    is_seen_unfinished: bool = False
    """Whether the service said that it goes on."""

    def event(self, run_id: str, status: str) -> JsonObject:
        """Return the event that says how far it is."""
        requests = dict(self.requests) if status in (SUBMITTING, IN_PROGRESS) else []
        return event(
            "batch", self.event_id, run_id,
            batch_id=self.batch_id, judge_id=self.judge_id, requests=requests, status=status,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class KnownBatches:
    """The batches of a log."""

    open: list[Batch]
    """Those whose results are not all recorded."""
    batch_ids: frozenset[str] = frozenset()
    """What the service called all batches of the log."""
    judges: frozenset[str] = frozenset()
    """The ids of the judges that have batches."""


def known_batches(past: Past) -> KnownBatches:
    """Return the batches of real runs in a log: those of a mock are gone with it."""
    events = [event_at(past.log, line) for line, mock in past.rows(load("execution", "batch_lines")) if not mock]
    by_id: defaultdict[str, list[JsonObject]] = defaultdict(list)
    for each in events:
        by_id[each["id"]].append(each)
    unfinished = [_batch(told) for told in by_id.values() if told[-1]["status"] not in (REFUSED, ENDED)]
    recorded = _recorded(past, {target for batch in unfinished for target in batch.requests.values()})
    for batch in unfinished:
        batch.unrecorded = set(batch.requests.values()) - recorded
    return KnownBatches(
        [batch for batch in unfinished if batch.unrecorded],
        frozenset(each["batch_id"] for each in events if each["batch_id"] is not None),
        frozenset(each["judge_id"] for each in events),
    )


def _batch(told: Sequence[JsonObject]) -> Batch:
    """Return a batch as its events tell of it, in their order."""
    named = [each["batch_id"] for each in told if each["batch_id"] is not None]
    requests = next((each["requests"] for each in told if isinstance(each["requests"], dict)), {})
    return Batch(told[0]["id"], told[0]["judge_id"], requests, told[0]["time"], named[-1] if named else None)


def _recorded(past: Past, targets: set[str]) -> set[str]:
    """Return which of these judgments are in the log, or have failed since they were asked for."""
    if not targets:
        return set()
    there = {target for (target,) in past.rows("select id from events where type = 'judgment'")}
    failures = dict(past.rows("select id, run_id from events where type = 'failure' and stage = 'judge'"))
    runs = set(failures.values())
    failed = {target for target in targets if any(failure_id(target, run) in failures for run in runs)}
    return (targets & there) | failed
