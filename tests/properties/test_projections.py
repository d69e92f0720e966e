"""Properties of the views over any log: they are a fold of its lines, and logs merge by `cat`."""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keval import projections
from keval.ids import JsonObject, answer_sha256
from keval.preparation.plan_events import plan_id
from keval.preparation.tasks import question_id
from keval.stats.aggregates import aggregate
from tests.builders import (
    failure_event,
    judge_failure_event,
    judgment_event,
    plan_event,
    response_event,
    retraction_event,
    run_event,
    sample,
    sample_change_event,
    write_log,
)

CONDITIONS = ("baseline", "with_docs")
AGENT_FAILED = {"timeout", "mcp_unused"}

Key = tuple[str, str, int]
"""Condition, sample and repetition."""

ASKED = ("Why?", "How?")
QUESTIONS = [question_id(sample(name, question)) for name in ("q1", "q2") for question in ASKED]
NOT_APPLICABLE = {"score": None, "reasoning": "", "min": 1, "max": 5, "passed": None, "not_applicable": "no key"}

responses = st.builds(
    response_event,
    st.sampled_from(["q1", "q2"]),
    st.sampled_from(CONDITIONS),
    st.integers(1, 2),
    text=st.sampled_from(["one", "two"]),
    question=st.sampled_from(ASKED),
)
judgments = st.builds(
    judgment_event,
    responses,
    st.sampled_from([1.0, 2.5, 5.0]),
    replicate=st.integers(1, 2),
    sample_fields=st.sampled_from([["question", "answer"], ["question"], None]),
)
not_applicable = judgments.map(lambda judgment: judgment | {"scores": {"completeness": NOT_APPLICABLE}})
failures = st.builds(failure_event, responses, st.sampled_from(["timeout", "mcp_unused", "infra_error"]))
judge_failures = st.builds(judge_failure_event, responses, st.sampled_from(["judge_error", "code_refused"]))
changes = st.builds(
    sample_change_event,
    st.sampled_from(["q1", "q2"]).map(sample),
    st.sampled_from(["answer", "question", "source"]),
)
judged = responses.map(lambda response: [response, judgment_event(response)])
"""Most of what happens is about answers that are there."""
corrected = st.builds(
    lambda response, change: [response, judgment_event(response), change],
    responses,
    changes.filter(lambda change: bool(change["sample"]["id"] == "q1")),
)
events = st.one_of(
    judged, judged, corrected,
    st.one_of(responses, judgments, not_applicable, failures, judge_failures, changes).map(lambda event: [event]),
)  # fmt: skip


@st.composite
def plans(draw: st.DrawFn) -> list[JsonObject]:
    """Return a run that plans some questions, conditions and repetitions, and its plan, which may lack a part."""
    questions = draw(st.lists(st.sampled_from(QUESTIONS), min_size=1, unique=True))
    conditions = draw(st.lists(st.sampled_from(CONDITIONS), min_size=1, unique=True))
    known_as = plan_id(questions)
    half = len(questions) // 2
    parts = [questions[:half], questions[half:]] if half else [questions]
    listed = [
        plan_event(part, part=number, parts=len(parts), plan_id=known_as) for number, part in enumerate(parts, start=1)
    ]
    run = run_event(
        conditions,
        samples=len(questions),
        repetitions=draw(st.integers(1, 2)),
        plan_id=known_as,
        seed=draw(st.integers(0, 9)),
    )
    return [run, *draw(st.sampled_from([listed, listed, listed[1:]]))]


@st.composite
def logs(draw: st.DrawFn) -> list[JsonObject]:
    """Return a log in any order, with retractions of what stands anywhere in it, with plans or without."""
    drawn = list(itertools.chain(*draw(st.lists(events, max_size=9))))
    planned = draw(st.lists(plans(), max_size=2))
    retracted = draw(st.lists(st.sampled_from(drawn), max_size=3)) if drawn else []
    again = draw(st.lists(st.sampled_from(drawn), max_size=3)) if drawn else []
    lines = [
        run_event(CONDITIONS, repetitions=2), *itertools.chain(*planned), *drawn, *map(retraction_event, retracted),
        *again,
    ]  # fmt: skip
    return draw(st.permutations(lines))


class Fold:
    """What the views must say of a log, computed line by line in plain Python."""

    def __init__(self, log: Sequence[JsonObject], *, everything: bool = False) -> None:
        self.everything = everything
        self.live: dict[str, tuple[int, JsonObject]] = {}
        self.retracted: set[str] = set()
        self.rewritten: dict[str, int] = {}
        self.answered: dict[str, int] = {}
        """Where the last response of an id stands, be it retracted: what failed before it has been done since."""
        self.records: dict[str, list[JsonObject]] = {}
        """By question, the lines that hold a record, in order."""
        texts: dict[str, str] = {}
        for position, event in enumerate(log):
            if event["type"] == "retraction":
                self.retracted.add(event["target"])
                self.live.pop(event["target"], None)
                continue
            if event["type"] == "response":
                self.answered[event["id"]] = position
            if event["type"] in {"response", "sample_change"}:
                self.records.setdefault(event["question_id"], []).append(event)
            if event["type"] == "response" and texts.setdefault(event["id"], event["text"]) != event["text"]:
                self.rewritten[event["id"]] = position
                texts[event["id"]] = event["text"]
            self.live[event["id"]] = (position, event)
        self.questions, self.run = self._newest_plan()
        asked: dict[str, tuple[bool, int, str]] = {}
        for at, event in self.live.values():
            if event["type"] == "response" or event.get("stage") == "generate":
                known = (self._lists(event), at, event["question_id"])
                name = _key(event)[1]
                asked[name] = max(asked.get(name, known), known)
        self.newest = {name: question for name, (_, _, question) in asked.items()}

    def _newest_plan(self) -> tuple[set[str], JsonObject | None]:
        """Return the questions of the newest run whose plan is there whole, and the run."""
        listed: dict[str, dict[int, JsonObject]] = {}
        for _, event in self.live.values():
            if event["type"] == "plan":
                listed.setdefault(event["plan_id"], {})[event["part"]] = event
        for _, run in sorted(self._events("run"), key=lambda found: found[0], reverse=True):
            parts = listed.get(run["plan_id"], {})
            if parts and len(parts) == next(iter(parts.values()))["parts"]:
                return {each for part in parts.values() for each in part["question_ids"]}, run
        return set(), None

    def _has(self, event: JsonObject) -> bool:
        """Return whether the newest plan has an event's condition and repetition."""
        run = self.run
        return run is None or (event["condition"] in run["conditions"] and event["repetition"] <= run["repetitions"])

    def _lists(self, event: JsonObject) -> bool:
        run = self.run
        return run is None or (event["condition"] in run["conditions"] and event["question_id"] in self.questions)

    def planned(self, condition: str) -> int | None:
        """Return how many tasks of a condition the newest plan has."""
        if self.run is None or condition not in self.run["conditions"]:
            return None
        return len(self.questions) * int(self.run["repetitions"])

    def outcomes(self) -> dict[Key, tuple[str, float | None]]:
        """Return state and value of each task that was tried."""
        states: dict[Key, tuple[str, float | None]] = {}
        judge_failed = {_key(event): event["kind"] for event in self._of_judge("failure")}
        given: dict[Key, dict[str, list[float]]] = {}
        for event in self._of_judge("judgment"):
            of_response = given.setdefault(_key(event), {}).setdefault(event["response_id"], [])
            score = event["scores"]["completeness"]["score"]
            of_response += [] if score is None else [score]
        failed = {
            _key(event): event["kind"]
            for event in self._current("failure", "generate")
            if self.live[event["id"]][0] > self.answered.get(event["response_id"], -1)
        }
        answered = {_key(event) for event in self._current("response")} | given.keys() | judge_failed.keys()
        for key in failed.keys() | answered:
            kind = judge_failed.get(key) if key in answered else failed[key]
            if key in given:
                scores = [fmean(of_response) for of_response in given[key].values() if of_response]
                states[key] = ("scored", fmean(scores)) if scores else ("not_applicable", None)
            elif kind in AGENT_FAILED:
                states[key] = ("agent_failed", 1.0)
            else:
                states[key] = ("not_measured" if kind else "not_done", None)
        return states

    def _events(self, event_type: str, stage: str | None = None) -> list[tuple[int, JsonObject]]:
        found = [(at, event) for at, event in self.live.values() if event["type"] == event_type]
        return sorted((each for each in found if each[1].get("stage") == stage), key=lambda each: each[0])

    def _current(self, event_type: str, stage: str | None = None) -> list[JsonObject]:
        return [
            event
            for _, event in self._events(event_type, stage)
            if self._is_asked(event) and (self.everything or (self._lists(event) and self._has(event)))
        ]

    def _is_asked(self, event: JsonObject) -> bool:
        """Return whether the plan has an event's question, or it is the one that counts of its sample."""
        is_newest = event["question_id"] == self.newest[_key(event)[1]]
        return is_newest or (self.run is not None and self._lists(event))

    def _of_judge(self, event_type: str) -> list[JsonObject]:
        """Return judgments, or failures to judge, of the present texts of responses that count."""
        current = {event["id"] for event in self._current("response")}
        return [
            event
            for at, event in self._events(event_type, "judge" if event_type == "failure" else None)
            if (event_type == "judgment" or at >= self.rewritten.get(event["response_id"], 0))
            and (
                event["response_id"] in current
                or (
                    event["response_id"] not in self.live
                    and event["response_id"] not in self.retracted
                    and (self.everything or self._has(event))
                )
            )
            and not (event_type == "judgment" and self._outdated(event))
        ]

    def _outdated(self, judgment: JsonObject) -> bool:
        """Return whether another text was judged, or something that the judge was given has changed since."""
        if judgment["response_id"] not in self.live:
            return False
        _, response = self.live[judgment["response_id"]]
        if answer_sha256(response["text"]) != judgment["answer_sha256"]:
            return True
        told = self.records[response["question_id"]]
        last = max(
            (n for n, each in enumerate(told) if each["sample_sha256"] == judgment["sample_sha256"]), default=None
        )
        if last is None:
            return False
        later = zip(told[last + 1 :], told[last:], strict=False)
        return any(self._changes(each, before, judgment["sample_fields"]) for each, before in later)

    def _changes(self, event: JsonObject, before: JsonObject, fields: list[str] | None) -> bool:
        """Return whether a line brings another record, as far as a judge is concerned that is given these fields."""
        if event["type"] == "response":
            return bool(event["sample_sha256"] != before["sample_sha256"])
        return fields is None or bool(set(fields) & set(event["changed"]))


def _key(event: JsonObject) -> Key:
    sample_id = event["sample"]["id"] if "sample" in event else event["sample_id"]
    return event["condition"], sample_id, event["repetition"]


COSTS = """
    select condition_id, agent_id, stage, judge_id, sum(n), sum(cost_usd), sum(unknown), sum(failed_attempts),
        sum(input_tokens)
    from costs group by all order by all
"""


def computed(*files: Sequence[JsonObject]) -> list[object]:
    """Return all aggregates and costs of logs, given as the events of each file."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [write_log(Path(folder) / f"{number}.jsonl", file) for number, file in enumerate(files)]
        with projections.connect(paths) as connection:
            bodies = list(aggregate(connection, levels=["condition", "sample"]))
            return [*bodies, *connection.execute(COSTS).fetchall()]


OUTCOMES = "select o.*, c.condition from outcomes as o join conditions as c using (condition_id, agent_id)"


ANSWER = response_event("q1", "baseline", 1)


@settings(max_examples=25)
@given(logs(), st.booleans())
@example(
    log=[run_event(CONDITIONS), failure_event(ANSWER, "timeout"), ANSWER, retraction_event(ANSWER)], everything=False
)
@pytest.mark.slow
def test_the_state_of_each_task_is_a_fold_of_the_lines(log: list[JsonObject], everything: bool) -> None:
    """Whatever was repeated, edited, planned, failed or retracted in any order, SQL and a plain loop agree."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_log(Path(folder) / "log.jsonl", log)
        with projections.connect([path], everything=everything) as connection:
            found = list(projections.rows(connection, OUTCOMES))
            counts = list(projections.rows_of(connection, "missing"))
            bodies = list(aggregate(connection, levels=["condition"]))
    fold = Fold(log, everything=everything)
    states = {(row["condition"], row["sample_id"], row["repetition"]): (row["state"], row["value"]) for row in found}
    assert states == fold.outcomes()
    assert len(states) == len(found)
    for row in counts:
        tried = row["completed"] + row["failed"]
        planned = fold.planned(row["condition"])
        if fold.run is not None and not everything:
            assert row["planned"] in (planned, tried)
            assert row["planned"] is None or tried + row["not_done"] == row["planned"] >= (planned or 0)
    for body in bodies:
        if body["type"] == "aggregate" and body["planned"] is not None:
            assert body["scored"] <= body["planned"]


@settings(max_examples=4)
@given(logs(), st.data())
@pytest.mark.slow
def test_two_files_are_one_log(log: list[JsonObject], data: st.DataObject) -> None:
    """A log cut in two at any line says the same as the whole, and so does a log that is given twice."""
    cut = data.draw(st.integers(0, len(log)))
    whole = computed(log)
    assert computed(log[:cut], log[cut:]) == whole
    assert computed(log, log) == whole


@settings(max_examples=4)
@given(st.data())
@pytest.mark.slow
def test_the_order_of_independent_events_does_not_matter(data: st.DataObject) -> None:
    """Tasks run at once, so their events come in any order; only the last digits of a sum may depend on it."""
    made: list[JsonObject] = []
    for condition, name, repetition in itertools.product(CONDITIONS, ("q1", "q2", "q3", "q4", "q5"), (1, 2, 3)):
        response = response_event(name, condition, repetition)
        outcome = data.draw(st.sampled_from(["judged", "judged", "judged", "unjudged", "failed", "untried"]))
        made += {"judged": [response], "unjudged": [response], "failed": [failure_event(response)]}.get(outcome, [])
        if outcome == "judged":
            scores = data.draw(st.lists(st.floats(1, 5), min_size=1, max_size=2))
            made += [judgment_event(response, score, replicate=n) for n, score in enumerate(scores, 1)]
    log = [run_event(CONDITIONS, samples=5, repetitions=3), *made]
    shuffled = data.draw(st.permutations(log))
    assert _alike(computed(shuffled), computed(log))


def _alike(one: object, other: object) -> bool:
    """Return whether two values are equal but for float noise."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-11, abs_tol=1e-11)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    return one == other


MAY_BE_NULL = {"sample_id", "qualification"}
"""What is null where there is nothing to say."""


@pytest.mark.slow
@settings(max_examples=5)
@given(logs())
def test_counts_and_bounds_hold_together(log: list[JsonObject]) -> None:
    """Every planned task is in one state, the headline lies within its bounds, and a null has a reason."""
    for body in computed(log):
        if isinstance(body, dict):
            missing = {name for name, value in body.items() if value is None and name not in MAY_BE_NULL}
            assert body["reasons"].keys() - {"conclusion"} == missing
            if body["type"] == "aggregate":
                _check_counts_and_bounds(body)


def _check_counts_and_bounds(body: JsonObject) -> None:
    done = body["scored"] + body["agent_failed"] + body["not_measured"]
    assert body["planned"] is None or done + body["not_done"] <= body["planned"]
    assert sum(body["failed"].values()) == body["agent_failed"] + body["not_measured"]
    if body["mean_lower"] is not None:
        assert body["min"] <= body["mean_lower"] <= body["mean_upper"] <= body["max"]
    if body["mean"] is not None:
        assert body["mean_lower"] - 1e-9 <= body["mean"] <= body["mean_upper"] + 1e-9
