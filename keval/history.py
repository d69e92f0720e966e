"""What a log already holds: the fold that resume and rejudging start from."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from keval.ids import JsonObject
from keval.stream import Line, read

GATES = ("mcp_unused", "mcp_all_failed")
"""Failures by which a condition refuses an answer: to ask again until one passes would be a bias."""


@dataclass
class History:
    """Ids of what was done, and the newest runs; memory grows with the number of ids only."""

    responses: dict[str, int] = field(default_factory=dict)
    """Response id to the number of its last line."""
    mocked: set[str] = field(default_factory=set)
    """Ids of the responses whose last event came from the mock."""
    judged: set[str] = field(default_factory=set)
    """Ids of all judgments."""
    really_judged: set[str] = field(default_factory=set)
    """Ids of the judgments that did not come from the mock."""
    failed: set[str] = field(default_factory=set)
    """Ids of the responses that a `generate` failed to get, and never got since."""
    gated: set[str] = field(default_factory=set)
    """Those of `failed` whose answer was there and did not meet a gate of its condition."""
    newest_generate: JsonObject | None = None
    """The newest `run` event that has conditions."""
    newest_judges: list[JsonObject] = field(default_factory=list)
    """The judges of the newest `run` event of a config."""

    def add(self, line: Line) -> None:
        """Fold in one event."""
        event = line.event
        match event["type"]:
            case "response":
                self.responses[event["id"]] = line.number
                self.failed.discard(event["id"])
                self.gated.discard(event["id"])
                (self.mocked.add if event.get("mock") else self.mocked.discard)(event["id"])
            case "judgment":
                self.judged.add(event["id"])
                if not event.get("mock"):
                    self.really_judged.add(event["id"])
            case "failure" if event["stage"] == "generate" and event.get("response_id"):
                self._note_failure(event["response_id"], event["kind"])
            case "retraction":
                self.responses.pop(event["target"], None)
                self.judged.discard(event["target"])
                self.really_judged.discard(event["target"])
            case "run" if event["conditions"]:
                self.newest_generate = event
                self.newest_judges = event["judges"]
            case _:
                pass

    def _note_failure(self, target: str, kind: str) -> None:
        if target not in self.responses:
            self.failed.add(target)
            (self.gated.add if kind in GATES else self.gated.discard)(target)

    def responses_done(self, *, mock: bool) -> AbstractSet[str]:
        """Return the responses that need not be asked for again: to a real run a mock answer is none."""
        return self.responses.keys() if mock else self.responses.keys() - self.mocked

    def judgments_done(self, *, mock: bool) -> set[str]:
        """Return the judgments that need not be made again: to a real run a mock verdict is none."""
        return self.judged if mock else self.really_judged


def of_log(path: Path, warn: Callable[[str], None], *, skip_invalid: bool = False) -> History:
    """Return the history of a log; of a log that does not exist yet, an empty one."""
    history = History()
    if path.exists():
        for line in read(path, warn, skip_invalid=skip_invalid):
            history.add(line)
    return history
