"""What a log already holds: the fold that resume and rejudging start from."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from keval.events import now
from keval.failure_kinds import GATES
from keval.ids import JsonObject
from keval.logs.stream import Line, opened

PAID = ("response", "judgment", "failure")
"""Events that may have cost something."""

DATE = len("2026-11-20")
"""Characters of a time that are its date."""


@dataclass
class Spent:
    """What one day's events cost; each event counts once, however often a merged log holds it."""

    usd: float = 0.0
    unknown: int = 0
    """Attempts whose cost nobody knows."""
    _counted: set[tuple[str, str, str]] = field(default_factory=set, repr=False)

    def add(self, event: JsonObject) -> None:
        """Add an event and its failed attempts."""
        identity = (event["id"], event["run_id"], event["time"])
        if identity in self._counted:
            return
        self._counted.add(identity)
        for attempt in (event, *event.get("failed_attempts", ())):
            self.usd += attempt["cost_usd"] or 0.0
            self.unknown += attempt["cost_usd"] is None


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
    gated: dict[str, str] = field(default_factory=dict)
    """Those of `failed` whose answer was there and did not meet a gate, with the id of the condition."""
    newest_generate: JsonObject | None = None
    """The newest `run` event that has conditions."""
    newest_judges: list[JsonObject] = field(default_factory=list)
    """The judges of the newest `run` event of a config."""
    skipped: int = 0
    """Lines that were left out because they are no valid events."""
    today: str = field(default_factory=lambda: now()[:DATE])
    """The day whose costs are summed up: UTC, as `2026-11-20`."""
    _spent: dict[bool, Spent] = field(default_factory=lambda: {True: Spent(), False: Spent()})
    """What the day's events cost, by whether the mock made them."""
    _texts: dict[str, int] = field(default_factory=dict)
    """Response id to a hash of its last text."""
    _verdicts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Response id to the ids of its judgments."""
    _failures: dict[str, str] = field(default_factory=dict)
    """Failure id to the id of the response that was not got."""

    def add(self, line: Line) -> None:
        """Fold in one event."""
        event = line.event
        if event["type"] in PAID and event["time"][:DATE] == self.today:
            self._spent[bool(event.get("mock"))].add(event)
        match event["type"]:
            case "response":
                self._note_response(event)
                self.responses[event["id"]] = line.number
            case "judgment":
                self.judged.add(event["id"])
                about = event.get("response_id", "")
                self._verdicts[about] = (*self._verdicts.get(about, ()), event["id"])
                if not event.get("mock"):
                    self.really_judged.add(event["id"])
            case "failure" if event["stage"] == "generate" and event.get("response_id"):
                self._note_failure(event)
                self._failures[event["id"]] = event["response_id"]
            case "retraction":
                self.responses.pop(event["target"], None)
                self.judged.discard(event["target"])
                self.really_judged.discard(event["target"])
                self._note_success(self._failures.get(event["target"], ""))
            case "run" if event["conditions"]:
                self.newest_generate = event
                self.newest_judges = event["judges"]
            case _:
                pass

    def _note_response(self, event: JsonObject) -> None:
        target, text = event["id"], hash(event.get("text"))
        if self._texts.setdefault(target, text) != text:
            # Another answer: what was judged before does not count for it, not even if it was the same text once.
            self._texts[target] = text
            outdated = self._verdicts.pop(target, ())
            self.judged.difference_update(outdated)
            self.really_judged.difference_update(outdated)
        self._note_success(target)
        (self.mocked.add if event.get("mock") else self.mocked.discard)(target)

    def _note_success(self, target: str) -> None:
        self.failed.discard(target)
        self.gated.pop(target, None)

    def _note_failure(self, event: JsonObject) -> None:
        target = event["response_id"]
        if target not in self.responses:
            self._note_success(target)
            self.failed.add(target)
            if event["kind"] in GATES:
                self.gated[target] = event["condition_id"]

    def spent_today(self, *, mock: bool) -> Spent:
        """Return what today's events cost: to a rehearsal those of the mock, to a real run the others."""
        return self._spent[mock]

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
        with opened(path, warn, skip_invalid=skip_invalid) as reader:
            for line in reader:
                history.add(line)
        history.skipped = reader.skipped
    return history
