"""Turns what came of an item into a line of the log: without the values of secrets, checked, and on disk.

Who decides and who does the work never write; all that is written passes here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from keval import schema
from keval.agents import Answer
from keval.events import EncodedEvent, written
from keval.executors.specs import Known, Outcome
from keval.ids import JsonObject
from keval.logs.redaction import redacted
from keval.logs.sinks import Sink, UntilSafe
from keval.retry import Failed
from keval.secrets.variables import Secrets
from keval.usage import Usage


@dataclass(frozen=True, kw_only=True)
class Recorder:
    """Where one run of one stage writes, and what its events have in common."""

    run_id: str
    sink: Sink
    mock: bool
    secrets: Secrets
    """What must be in no event."""
    problem_of: Callable[[JsonObject], str | None] = schema.event_problem
    """Asks the schemas about an event."""

    def encoded(self, unredacted: JsonObject) -> EncodedEvent:
        """Return an event without the values of secrets, and its line; raises InvalidEventError."""
        event, line = written(redacted(unredacted, self.secrets), self.problem_of)
        return EncodedEvent(event, line, unredacted)

    def write(self, encoded: EncodedEvent) -> Awaitable[UntilSafe]:
        """Write an event: then it survives the process."""
        return self.sink.write(encoded.line)


def attempts_field(outcomes: Sequence[Outcome[Known]]) -> JsonObject:
    """Return what an event says of all attempts at its item; the event itself is about the last of them."""
    return {
        "attempts": len(outcomes),
        "failed_attempts": [_attempt_record(each, each.failed) for each in outcomes[:-1] if each.failed is not None],
    }


def _attempt_record(outcome: Outcome[Known], failed: Failed) -> JsonObject:
    return {
        "kind": failed.kind,
        "message": failed.message,
        "cost_usd": outcome.known.cost_usd,
        "usage": usage_field(outcome.known.usage),
        "duration_ms": outcome.duration_ms,
        **orphans_field(outcome.known.orphaned_processes if isinstance(outcome.known, Answer) else ()),
    }


def orphans_field(orphans: Sequence[str]) -> JsonObject:
    """Return the names of processes that were left behind as records hold them: without any, not at all."""
    return {"orphaned_processes": list(orphans)} if orphans else {}


def usage_field(usage: Usage | None) -> JsonObject | None:
    """Return token counts as events hold them."""
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens,
    }
