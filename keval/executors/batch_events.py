"""The `batch` events of a log: what was handed over, and what of it has come back and was recorded.

All events of one batch have one id. The first is written before the batch is made, so that a command that is killed in
between leaves a mark: from then on nothing of it is asked for anew until it is known what became of it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

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
TAKEN_UP = "taken_up"
"""A later command waits for it: what fails there is what became of it."""
ENDED = "ended"
"""Its results were fetched, and all that it answered is recorded."""


class Asker(NamedTuple):
    """Whose calls a batch holds: a judge, or the agent."""

    asker_id: str
    is_agent: bool = False

    @property
    def field(self) -> JsonObject:
        """What events say of it."""
        return {"judge_id": None, "agent_id": self.asker_id} if self.is_agent else {"judge_id": self.asker_id}

    @classmethod
    def of(cls, event: JsonObject) -> Asker:
        """Return whose calls an event is about: a `batch`, a judgment, a response, or a failure of one of them."""
        judge_id = event.get("judge_id")
        return cls(event["agent_id"], is_agent=True) if judge_id is None else cls(judge_id)


@dataclass(slots=True, eq=False)
class Batch:
    """One batch: what it asks for, and what is known of it."""

    event_id: str
    asker: Asker
    requests: Mapping[str, str]
    """The ids of the judgments or responses that the requests are for, by custom_id."""
    since: str
    """When it was about to be made."""
    batch_id: str | None = None
    """The service's id for it, None until that is known."""
    unrecorded: set[str] = field(default_factory=set)
    """Those of them that are not in the log yet, neither made nor failed."""
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
            batch_id=self.batch_id, **self.asker.field, requests=requests, status=status,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class KnownBatches:
    """The batches of a log."""

    open: list[Batch]
    """Those whose results are not all recorded."""
    batch_ids: frozenset[str] = frozenset()
    """What the service called all batches of the log."""

    def waiting(self, asker_ids: Container[str], target_ids: Iterable[str]) -> int:
        """Return how many of some judgments or responses of these askers an open batch holds.

        What it holds beside them is wanted by nobody, as the judgments of a golden answer that was corrected since;
        should that be taken back, they are collected after all.
        """
        held = self.held(asker_ids)
        return len(held.intersection(target_ids)) if held else 0  # to find out what is wanted may take a while

    def held(self, asker_ids: Container[str]) -> set[str]:
        """Return the judgments or responses of these askers that open batches hold."""
        return _held(self.open, asker_ids)

    def paid(self, asker_ids: Container[str]) -> set[str]:
        """Return what `held` returns, of batches that the service has made: of some only the mark is known."""
        return _held((batch for batch in self.open if batch.batch_id is not None), asker_ids)


def _held(batches: Iterable[Batch], asker_ids: Container[str]) -> set[str]:
    return {target for batch in batches if batch.asker.asker_id in asker_ids for target in batch.unrecorded}


NO_BATCHES = KnownBatches([])


def known_batches(past: Past) -> KnownBatches:
    """Return the batches of real runs in a log: those of a mock are gone with it."""
    by_id: defaultdict[str, list[JsonObject]] = defaultdict(list)
    begun: dict[str, int] = {}
    runs: defaultdict[str, set[str]] = defaultdict(set)
    batch_ids = set()
    for line, mock, position in list(past.rows(load("executors", "batch_lines"))):
        if mock:
            continue
        each = event_at(past.log, line)
        if each["status"] in (REFUSED, ENDED):  # what it asked for need not be in memory
            del by_id[each["id"]][1:]
        by_id[each["id"]].append(each)
        begun.setdefault(each["id"], position)
        runs[each["id"]].add(each["run_id"])
        batch_ids.add(each["batch_id"])
    unfinished = [_batch(told) for told in by_id.values() if told[-1]["status"] not in (REFUSED, ENDED)]
    outcomes = {batch.event_id: _outcomes(batch, runs[batch.event_id]) for batch in unfinished}
    since = min((begun[batch.event_id] for batch in unfinished), default=0)
    recorded = _recorded(outcomes.values(), since, past) if unfinished else {}
    for batch in unfinished:
        batch.unrecorded = {
            target
            for target, ids in outcomes[batch.event_id].items()
            if all(recorded.get(known, -1) < begun[batch.event_id] for known in ids)
        }
    return KnownBatches([batch for batch in unfinished if batch.unrecorded], frozenset(batch_ids - {None}))


def _outcomes(batch: Batch, runs: Iterable[str]) -> dict[str, list[str]]:
    """Return the ids of the events in which each of its requests may have ended.

    What failed in a run that did not wait for the batch was asked by itself, and is none of its results.
    """
    together = list(runs)
    return {target: [target, *(failure_id(target, run) for run in together)] for target in batch.requests.values()}


def _recorded(outcomes: Iterable[Mapping[str, Sequence[str]]], since: int, past: Past) -> dict[str, int]:
    """Return where each of these events stands last, of those from a place on: there the first of the batches began."""
    wanted = {known for each in outcomes for ids in each.values() for known in ids}
    rows = past.rows(load("executors", "recorded_since", position=str(since)))
    return {known: position for position, known in rows if known in wanted}


def _batch(told: Sequence[JsonObject]) -> Batch:
    """Return a batch as its events tell of it, in their order."""
    named = [each["batch_id"] for each in told if each["batch_id"] is not None]
    requests = next((each["requests"] for each in told if isinstance(each["requests"], dict)), {})
    return Batch(told[0]["id"], Asker.of(told[0]), requests, told[0]["time"], named[-1] if named else None)
