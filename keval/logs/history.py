"""What a log already holds: the fold that resume and rejudging start from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from keval.events import now
from keval.failure_kinds import GATES
from keval.ids import JsonObject, response_id, sample_sha256
from keval.logs.costs import MeasuredCosts
from keval.logs.stream import Line, opened

PAID = ("response", "judgment", "failure")
"""Events that may have cost something."""

Fields = tuple[str, ...] | None
"""Names of fields of a sample; None for all."""

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


class Record(NamedTuple):
    """The newest record of a sample, by its place in the log."""

    sha256: str
    question_id: str
    """What the agent is given of it."""
    answered: str | None
    """The question that the sample's last response answers; None in a log without the response."""
    offset: int | None
    """Where its line begins, in bytes; None for one that this process has written since."""


class Judged(NamedTuple):
    """A judgment, as far as it matters which ones are missing."""

    id: str
    judge_id: str
    replicate: int
    fields: Fields
    """The fields of the sample that the judge was given."""


@dataclass
class _Plan:
    """The questions of a plan, as far as the log has been read."""

    parts: int
    seen: set[int] = field(default_factory=set)
    question_ids: set[str] = field(default_factory=set)


@dataclass
class History:
    """Ids of what was done, and the newest runs; memory grows with the number of ids only."""

    responses: dict[str, int] = field(default_factory=dict)
    """Response id to where its last line begins, in bytes."""
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
    costs: MeasuredCosts = field(default_factory=MeasuredCosts)
    """What answers and judgments have cost."""
    newest_records: dict[str, Record] = field(default_factory=dict)
    """The newest record of each sample, by the sample's id."""
    skipped: int = 0
    """Lines that were left out because they are no valid events."""
    today: str = field(default_factory=lambda: now()[:DATE])
    """The day whose costs are summed up: UTC, as `2026-11-20`."""
    _spent: dict[bool, Spent] = field(default_factory=lambda: {True: Spent(), False: Spent()})
    """What the day's events cost, by whether the mock made them."""
    _questions: dict[str, str] = field(default_factory=dict)
    """Response id to what it answers."""
    _texts: dict[str, int] = field(default_factory=dict)
    """Response id to a hash of its last text."""
    _judgments: dict[str, tuple[Judged, ...]] = field(default_factory=dict)
    """Response id to its judgments."""
    _judged_of: dict[str, set[str]] = field(default_factory=dict)
    """Sample id to the ids of its responses that were judged."""
    _fields: dict[Fields, Fields] = field(default_factory=dict)
    """One copy of what all judgments of a judge say."""
    _judge_ids: dict[str, str] = field(default_factory=dict)
    _plans: dict[str, _Plan] = field(default_factory=dict)
    _runs: dict[tuple[str | None, bool], tuple[JsonObject, ...]] = field(default_factory=dict)
    """By a config's name, and whether it was a mock run: its newest run, after the last one whose plan is whole."""
    _failures: dict[str, str] = field(default_factory=dict)
    """Failure id to the id of the response that was not got."""

    def add(self, line: Line) -> None:
        """Fold in one event of the log."""
        self._fold(line.event, line.offset)

    def add_written(self, event: JsonObject) -> None:
        """Fold in what a run writes before its first response: its `run` event, its plan, and samples that changed."""
        self._fold(event, None)

    def _fold(self, event: JsonObject, offset: int | None) -> None:
        if event["type"] in PAID and event["time"][:DATE] == self.today:
            self._spent[bool(event.get("mock"))].add(event)
        match event["type"]:
            case "response":
                self.costs.add(event)
                self._note_response(event)
                self._note_record(event, offset)
                self.responses[event["id"]] = offset or 0
                self._questions[event["id"]] = self.newest_records[event["sample"]["id"]].question_id
            case "sample_change":
                self._note_sample_change(event)
                self._note_record(event, offset)
            case "judgment":
                self.costs.add(event)
                self._note_judgment(event)
            case "failure" if event["stage"] == "generate" and event.get("response_id"):
                self._note_failure(event)
                self._failures[event["id"]] = event["response_id"]
            case "retraction":
                self.responses.pop(event["target"], None)
                self.judged.discard(event["target"])
                self.really_judged.discard(event["target"])
                self._note_success(self._failures.get(event["target"], ""))
            case "run" if event["conditions"]:
                self._note_run(event)
            case "plan":
                plan = self._plans.setdefault(event["plan_id"], _Plan(event["parts"]))
                plan.seen.add(event["part"])
                plan.question_ids.update(event["question_ids"])
            case _:
                pass

    def _note_run(self, event: JsonObject) -> None:
        self.newest_generate = event
        self.newest_judges = event["judges"]
        config = (event["config_name"], bool(event["mock"]))
        planned = [run for run in self._runs.get(config, ()) if self.has_plan(run["plan_id"])]
        self._runs[config] = (*planned[-1:], event)

    def _note_record(self, event: JsonObject, offset: int | None) -> None:
        sample_id = event["sample"]["id"]
        before = self.newest_records.get(sample_id)
        question = event["question_id"]
        answered = question if event["type"] == "response" else before and before.answered
        self.newest_records[sample_id] = Record(sample_sha256(event["sample"]), question, answered, offset)

    def _note_judgment(self, event: JsonObject) -> None:
        self.judged.add(event["id"])
        if not event.get("mock"):
            self.really_judged.add(event["id"])
        given = event["sample_fields"]
        fields = None if given is None else tuple(given)
        judge_id = self._judge_ids.setdefault(event["judge_id"], event["judge_id"])
        made = Judged(event["id"], judge_id, event["replicate"], self._fields.setdefault(fields, fields))
        about = event["response_id"]
        if made not in (known := self._judgments.get(about, ())):
            self._judgments[about] = (*known, made)
        self._judged_of.setdefault(event["sample_id"], set()).add(about)

    def _note_sample_change(self, event: JsonObject) -> None:
        """Take back the judgments that were given a field that changed, not to come back if its old content does."""
        changed = set(event["changed"])
        for response in self._judged_of.get(event["sample"]["id"], ()):
            known = self._judgments.get(response, ())
            kept = tuple(made for made in known if made.fields is not None and changed.isdisjoint(made.fields))
            self._outdate([made for made in known if made not in kept])
            self._judgments[response] = kept

    def _outdate(self, judgments: Sequence[Judged]) -> None:
        ids = [made.id for made in judgments]
        self.judged.difference_update(ids)
        self.really_judged.difference_update(ids)

    def _note_response(self, event: JsonObject) -> None:
        target, text = event["id"], hash(event.get("text"))
        if self._texts.setdefault(target, text) != text:
            # Another answer: what was judged before does not count for it, not even if it was the same text once.
            self._texts[target] = text
            self._outdate(self._judgments.pop(target, ()))
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

    def newest_run(self, config_name: str, *, mock: bool) -> JsonObject | None:
        """Return the newest run of a config, or its newest mock run."""
        runs = self._runs.get((config_name, mock))
        return runs[-1] if runs else None

    def has_plan(self, plan_id: str | None) -> bool:
        """Return whether the log holds all parts of a plan."""
        plan = self._plans.get(plan_id or "")
        return plan is not None and len(plan.seen) == plan.parts

    def planned(self) -> set[str]:
        """Return the responses of the log that are in the newest plan of their config; without any plan `current`."""
        plans = self._newest_plans()
        if not plans:
            return self.current()
        return {target for run in plans for target in self._planned_by(run) if target in self.responses}

    def current(self) -> set[str]:
        """Return the responses that answer the newest question of their sample, or are planned."""
        newest = {record.question_id for record in self.newest_records.values()}
        asked = {target for target in self.responses if self._questions[target] in newest}
        return asked | self.planned() if self._newest_plans() else asked

    def _planned_by(self, run: JsonObject) -> Iterator[str]:
        """Yield the ids of the responses that a run plans."""
        agent_id = (run["agent"] or {}).get("agent_id", "")
        for question in self._plans[run["plan_id"]].question_ids:
            for condition in run["conditions"].values():
                for repetition in range(1, (run["repetitions"] or 0) + 1):
                    yield response_id(question, condition["condition_id"], agent_id, repetition)

    def missing_judgments(self, response: str, judge_id: str, replicates: int, *, mock: bool) -> int:
        """Return how many judgments of a response a judge has still to make."""
        done = self.judgments_done(mock=mock)
        made = self._judgments.get(response, ())
        there = {each.replicate for each in made if each.judge_id == judge_id and each.id in done}
        return sum(replicate not in there for replicate in range(1, replicates + 1))

    def _newest_plans(self) -> list[JsonObject]:
        """Return of each config the newest run whose plan is whole; a mock run's only if there is no other."""
        found: dict[str | None, JsonObject] = {}
        for mock in (True, False):
            for (name, is_mock), runs in self._runs.items():
                if is_mock is mock and (whole := [run for run in runs if self.has_plan(run["plan_id"])]):
                    found[name] = whole[-1]
        return list(found.values())

    def spent_today(self, *, mock: bool) -> Spent:
        """Return what today's events cost: to a mock run those of the mock, to a real run the others."""
        return self._spent[mock]

    def responses_done(self, *, mock: bool) -> AbstractSet[str]:
        """Return the responses that need not be asked for again: to a real run a mock answer is none."""
        return self.responses.keys() if mock else self.responses.keys() - self.mocked

    def judgments_done(self, *, mock: bool) -> set[str]:
        """Return the judgments that need not be made again: to a real run a mock judgment is none."""
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
