"""What a log already holds: the fold that resume and rejudging start from."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from keval.events import now
from keval.failure_kinds import GATES
from keval.ids import JsonObject, answer_sha256, sample_sha256
from keval.logs.costs import MeasuredCosts
from keval.logs.stream import Line, opened

PAID = ("response", "judgment", "failure")
"""Events that may have cost something."""

Value = TypeVar("Value")

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
    """A judgment, as far as it matters whether it still is one of what stands in the log now."""

    response_id: str
    judge_id: str
    replicate: int
    fields: Fields
    """The fields of the sample that the judge was given."""
    sample_sha256: str
    """The record by which was judged."""
    answer_sha256: str
    mock: bool


class Version(NamedTuple):
    """A record that the samples of one question had in the course of the log."""

    sample_sha256: str
    changed: frozenset[str] | None
    """The fields that differ from the version before; None where nobody said."""


@dataclass
class _Plan:
    """Which parts of a plan the log holds, as far as it has been read."""

    parts: int
    seen: set[int] = field(default_factory=set)


@dataclass
class History:
    """Ids of what was done, and the newest runs; memory grows with the number of ids only."""

    responses: dict[str, int] = field(default_factory=dict)
    """Response id to where its last line begins, in bytes."""
    mocked: set[str] = field(default_factory=set)
    """Ids of the responses whose last event came from the mock."""
    failed: set[str] = field(default_factory=set)
    """Ids of the responses that a `generate` failed to get, and never got since."""
    failed_in_mock: set[str] = field(default_factory=set)
    """Those of `failed` that only a mock run failed to get."""
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
    records: dict[str, Record] = field(default_factory=dict)
    """The newest record that asks a question, by the question's id."""
    lines: int = 0
    """Events of the log, as far as it was read."""
    skipped: int = 0
    """Lines that were left out because they are no valid events."""
    today: str = field(default_factory=lambda: now()[:DATE])
    """The day whose costs are summed up: UTC, as `2026-11-20`."""
    _spent: dict[bool, Spent] = field(default_factory=lambda: {True: Spent(), False: Spent()})
    """What the day's events cost, by whether the mock made them."""
    _questions: dict[str, str] = field(default_factory=dict)
    """Response id to what it answers."""
    _answers: dict[str, str] = field(default_factory=dict)
    """Response id to the hash of its last text."""
    judgments: dict[str, Judged] = field(default_factory=dict)
    """Judgment id to what was judged."""
    _judgments_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Response id to the ids of its judgments."""
    _versions: dict[str, list[Version]] = field(default_factory=dict)
    """Question id to the records that its samples had, in order."""
    _same: dict[object, object] = field(default_factory=dict)
    """One copy of what many judgments say: fields, ids, hashes."""
    _plans: dict[str, _Plan] = field(default_factory=dict)
    _runs: dict[tuple[str | None, bool], JsonObject] = field(default_factory=dict)
    """By a config's name, and whether it was a mock run: its newest run."""
    _failures: dict[str, str] = field(default_factory=dict)
    """Failure id to the id of the response that was not got."""

    def add(self, line: Line) -> None:
        """Fold in one event of the log."""
        self._fold(line.event, line.offset)
        self.lines += 1

    def add_written(self, event: JsonObject) -> None:
        """Fold in what a run writes before its first response: its `run` event, its plan, and samples that changed."""
        self._fold(event, None)

    def note_answer(self, response: JsonObject) -> None:
        """Take note of a new answer to a task that had one: what is judged is the text that is there now."""
        if response["id"] in self._answers:
            self._answers[response["id"]] = answer_sha256(response["text"])

    def _fold(self, event: JsonObject, offset: int | None) -> None:
        if event["type"] in PAID and event["time"][:DATE] == self.today:
            self._spent[bool(event.get("mock"))].add(event)
        match event["type"]:
            case "response" if event.get("mock") and self._is_real(event["id"]):
                pass  # what the mock made takes the place of nothing that is real
            case "response":
                self.costs.add(event)
                self._note_response(event)
                self._note_record(event, offset)
                self.responses[event["id"]] = offset or 0
                self._questions[event["id"]] = self.newest_records[event["sample"]["id"]].question_id
            case "sample_change":
                self._note_record(event, offset)
            case "judgment":
                self.costs.add(event)
                self._note_judgment(event)
            case "failure" if event["stage"] == "generate" and event.get("response_id"):
                self._note_failure(event)
                self._failures[event["id"]] = event["response_id"]
            case "retraction":
                self.responses.pop(event["target"], None)
                self.judgments.pop(event["target"], None)
                self._note_success(self._failures.get(event["target"], ""))
            case "run" if event["conditions"]:
                self._note_run(event)
            case "plan":
                plan = self._plans.setdefault(event["plan_id"], _Plan(event["parts"]))
                plan.seen.add(event["part"])
            case _:
                pass

    def _is_real(self, response: str) -> bool:
        """Return whether the log has an answer that the mock did not make."""
        return response in self.responses and response not in self.mocked

    def _note_run(self, event: JsonObject) -> None:
        self.newest_generate = event
        self.newest_judges = event["judges"]
        self._runs[event["config_name"], bool(event["mock"])] = event

    def _note_record(self, event: JsonObject, offset: int | None) -> None:
        sample_id = event["sample"]["id"]
        before = self.newest_records.get(sample_id)
        question = event["question_id"]
        answered = question if event["type"] == "response" else before and before.answered
        record = Record(sample_sha256(event["sample"]), question, answered, offset)
        self.newest_records[sample_id] = self.records[question] = record
        versions = self._versions.setdefault(question, [])
        if event["type"] == "sample_change":
            versions.append(Version(event["sample_sha256"], frozenset(event["changed"])))
        elif not versions or versions[-1].sample_sha256 != event["sample_sha256"]:
            versions.append(Version(event["sample_sha256"], None))

    def _note_judgment(self, event: JsonObject) -> None:
        known, about = self.judgments.get(event["id"]), event["response_id"]
        given = event["sample_fields"]
        self.judgments[event["id"]] = Judged(
            about,
            self._one(event["judge_id"]),
            event["replicate"],
            self._one(None if given is None else tuple(given)),
            self._one(event["sample_sha256"]),
            event["answer_sha256"],
            bool(event.get("mock")) and (known is None or known.mock),
        )
        if known is None:
            self._judgments_of[about] = (*self._judgments_of.get(about, ()), event["id"])

    def _one(self, value: Value) -> Value:
        """Return the copy of a value that is kept for all."""
        return cast("Value", self._same.setdefault(value, value))

    def _note_response(self, event: JsonObject) -> None:
        target = event["id"]
        self._answers[target] = answer_sha256(event["text"])
        self._note_success(target)
        (self.mocked.add if event.get("mock") else self.mocked.discard)(target)

    def _note_success(self, target: str) -> None:
        self.failed.discard(target)
        self.failed_in_mock.discard(target)
        self.gated.pop(target, None)

    def _note_failure(self, event: JsonObject) -> None:
        target = event["response_id"]
        if target not in self.responses:
            is_mock = bool(event.get("mock")) and (target not in self.failed or target in self.failed_in_mock)
            self._note_success(target)
            self.failed.add(target)
            (self.failed_in_mock.add if is_mock else self.failed_in_mock.discard)(target)
            if event["kind"] in GATES:
                self.gated[target] = event["condition_id"]

    def newest_run(self, config_name: str, *, mock: bool) -> JsonObject | None:
        """Return the newest run of a config, or its newest mock run."""
        return self._runs.get((config_name, mock))

    def has_plan(self, plan_id: str | None) -> bool:
        """Return whether the log holds all parts of a plan."""
        plan = self._plans.get(plan_id or "")
        return plan is not None and len(plan.seen) == plan.parts

    def missing_judgments(self, response: str, judge_id: str, replicates: int, *, mock: bool) -> int:
        """Return how many judgments of a response a judge has still to make."""
        there = {
            self.judgments[target].replicate
            for target in self._judgments_of.get(response, ())
            if self.is_judged(target, mock=mock) and self.judgments[target].judge_id == judge_id
        }
        return sum(replicate not in there for replicate in range(1, replicates + 1))

    def is_judged(self, judgment_id: str, *, mock: bool) -> bool:
        """Return whether a judgment is there, of what the log holds now; to a real run one of the mock is none."""
        made = self.judgments.get(judgment_id)
        if made is None or (made.mock and not mock):
            return False
        return self._answers.get(made.response_id, made.answer_sha256) == made.answer_sha256 and self._is_given(made)

    def _is_given(self, made: Judged) -> bool:
        """Return whether nothing that the judge was given of the sample has changed since it had that record."""
        versions = self._versions.get(self._questions.get(made.response_id, ""), [])
        for version in reversed(versions):
            if version.sample_sha256 == made.sample_sha256:
                return True
            if made.fields is None or version.changed is None or not version.changed.isdisjoint(made.fields):
                return all(each.sample_sha256 != made.sample_sha256 for each in versions)
        return True

    def spent_today(self, *, mock: bool) -> Spent:
        """Return what today's events cost: to a mock run those of the mock, to a real run the others."""
        return self._spent[mock]

    def responses_done(self, *, mock: bool) -> AbstractSet[str]:
        """Return the responses that need not be asked for again: to a real run a mock answer is none."""
        return self.responses.keys() if mock else self.responses.keys() - self.mocked

    def judgments_done(self, *, mock: bool) -> Done:
        """Return the judgments that need not be made again, to be asked of one by one."""
        return Done(self, mock)


class Done:
    """The ids of the judgments that need not be made again; it grows with the history."""

    def __init__(self, past: History, mock: bool) -> None:
        self._past = past
        self._mock = mock

    def __contains__(self, judgment_id: object) -> bool:
        return isinstance(judgment_id, str) and self._past.is_judged(judgment_id, mock=self._mock)


def of_log(path: Path, warn: Callable[[str], None], *, skip_invalid: bool = False) -> History:
    """Return the history of a log; of a log that does not exist yet, an empty one."""
    history = History()
    if path.exists():
        with opened(path, warn, skip_invalid=skip_invalid) as reader:
            for line in reader:
                history.add(line)
        history.skipped = reader.skipped
    return history
