"""Properties of the views over any log: they are a fold of its lines, and logs merge by `cat`."""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from hypothesis import given, settings
from hypothesis import strategies as st

from keval import projections
from keval.ids import JsonObject
from keval.stats.aggregates import aggregate
from tests.builders import (
    ask,
    failure_event,
    judge_failure_event,
    judgment_event,
    response_event,
    retraction_event,
    run_event,
    write_log,
)

CONDITIONS = ("baseline", "with_docs")
AGENT_FAILED = {"timeout", "mcp_unused"}

Key = tuple[str, str, int]
"""Condition, sample and repetition."""

responses = st.builds(
    response_event,
    st.sampled_from(["q1", "q2"]),
    st.sampled_from(CONDITIONS),
    st.integers(1, 2),
    text=st.sampled_from(["one", "two"]),
    question=st.sampled_from(["Why?", "How?"]),
)
judgments = st.builds(judgment_event, responses, st.sampled_from([1.0, 2.5, 5.0]), replicate=st.integers(1, 2))
failures = st.builds(failure_event, responses, st.sampled_from(["timeout", "mcp_unused", "infra_error"]))
judge_failures = st.builds(judge_failure_event, responses, st.sampled_from(["judge_error", "code_refused"]))
events = st.one_of(responses, responses, judgments, judgments, failures, judge_failures)


@st.composite
def logs(draw: st.DrawFn) -> list[JsonObject]:
    """Return a log in any order, with retractions of what stands anywhere in it."""
    drawn = draw(st.lists(events, max_size=14))
    retracted = draw(st.lists(st.sampled_from(drawn), max_size=3)) if drawn else []
    again = draw(st.lists(st.sampled_from(drawn), max_size=3)) if drawn else []
    lines = [run_event(CONDITIONS, repetitions=2), *drawn, *map(retraction_event, retracted), *again]
    return draw(st.permutations(lines))


class Fold:
    """What the views must say of a log, computed line by line in plain Python."""

    def __init__(self, log: Sequence[JsonObject]) -> None:
        self.live: dict[str, tuple[int, JsonObject]] = {}
        self.retracted: set[str] = set()
        self.rewritten: dict[str, int] = {}
        texts: dict[str, str] = {}
        for position, event in enumerate(log):
            if event["type"] == "retraction":
                self.retracted.add(event["target"])
                self.live.pop(event["target"], None)
                continue
            if event["type"] == "response" and texts.setdefault(event["id"], event["text"]) != event["text"]:
                self.rewritten[event["id"]] = position
                texts[event["id"]] = event["text"]
            self.live[event["id"]] = (position, event)
        self.newest: dict[str, str] = {}
        for _, event in sorted(self.live.values(), key=lambda found: found[0]):
            if event["type"] == "response" or event.get("stage") == "generate":
                self.newest[_key(event)[1]] = event["sample_sha256"]

    def outcomes(self) -> dict[Key, tuple[str, float | None]]:
        """Return state and value of each task that was tried."""
        states: dict[Key, tuple[str, float | None]] = {}
        judge_failed = {_key(event): event["kind"] for event in self._of_judge("failure")}
        given: dict[Key, dict[str, list[float]]] = {}
        for event in self._of_judge("judgment"):
            of_response = given.setdefault(_key(event), {}).setdefault(event["response_id"], [])
            of_response.append(event["scores"]["completeness"]["score"])
        failed = {_key(event): event["kind"] for event in self._current("failure", "generate")}
        answered = {_key(event) for event in self._current("response")} | given.keys() | judge_failed.keys()
        for key in failed.keys() | answered:
            kind = judge_failed.get(key) if key in answered else failed[key]
            if key in given:
                states[key] = ("scored", fmean(map(fmean, given[key].values())))
            elif kind in AGENT_FAILED or kind == "code_refused":
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
            if event["sample_sha256"] == self.newest[_key(event)[1]]
        ]

    def _of_judge(self, event_type: str) -> list[JsonObject]:
        """Return judgments, or failures to judge, of the present texts of responses that count."""
        current = {event["id"] for event in self._current("response")}
        return [
            event
            for at, event in self._events(event_type, "judge" if event_type == "failure" else None)
            if at >= self.rewritten.get(event["response_id"], 0)
            and (
                event["response_id"] in current
                or (event["response_id"] not in self.live and event["response_id"] not in self.retracted)
            )
        ]


def _key(event: JsonObject) -> Key:
    sample_id = event["sample"]["id"] if "sample" in event else event["sample_id"]
    return event["condition"], sample_id, event["repetition"]


def computed(*files: Sequence[JsonObject]) -> list[object]:
    """Return all aggregates and costs of logs, given as the events of each file."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [write_log(Path(folder) / f"{number}.jsonl", file) for number, file in enumerate(files)]
        with projections.connect(paths) as connection:
            bodies = list(aggregate(connection, levels=["condition", "sample"]))
            return [*bodies, *connection.execute("from costs order by all").fetchall()]


@settings(max_examples=10)
@given(logs())
def test_the_state_of_each_task_is_a_fold_of_the_lines(log: list[JsonObject]) -> None:
    """Whatever was repeated, rewritten, edited, failed or retracted in any order, SQL and a plain loop agree."""
    with tempfile.TemporaryDirectory() as folder:
        rows = ask(write_log(Path(folder) / "log.jsonl", log), "from outcomes")
    found = {(row["condition"], row["sample_id"], row["repetition"]): (row["state"], row["value"]) for row in rows}
    assert found == Fold(log).outcomes()
    assert len(found) == len(rows)


@settings(max_examples=4)
@given(logs(), st.data())
def test_two_files_are_one_log(log: list[JsonObject], data: st.DataObject) -> None:
    """A log cut in two at any line says the same as the whole, and so does a log that is given twice."""
    cut = data.draw(st.integers(0, len(log)))
    whole = computed(log)
    assert computed(log[:cut], log[cut:]) == whole
    assert computed(log, log) == whole


@settings(max_examples=4)
@given(st.data())
def test_the_order_of_independent_events_does_not_matter(data: st.DataObject) -> None:
    """Tasks run at once, so their events come in any order; only the last digits of a sum may depend on it."""
    made: list[JsonObject] = []
    for condition, sample, repetition in itertools.product(CONDITIONS, ("q1", "q2", "q3", "q4", "q5"), (1, 2, 3)):
        response = response_event(sample, condition, repetition)
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


@settings(max_examples=5)
@given(logs())
def test_counts_and_bounds_hold_together(log: list[JsonObject]) -> None:
    """Every planned task is in one state, the headline lies within its bounds, and a null has a reason."""
    for body in computed(log):
        if isinstance(body, dict):
            missing = {name for name, value in body.items() if value is None and name != "sample_id"}
            assert body["reasons"].keys() == missing
            if body["type"] == "aggregate":
                _check_counts_and_bounds(body)


def _check_counts_and_bounds(body: JsonObject) -> None:
    done = body["scored"] + body["agent_failed"] + body["not_measured"]
    assert done + body["not_done"] == max(body["planned"], done)
    assert sum(body["failed"].values()) == body["agent_failed"] + body["not_measured"]
    assert body["min"] <= body["mean_lower"] <= body["mean_upper"] <= body["max"]
    if body["mean"] is not None:
        assert body["mean_lower"] - 1e-9 <= body["mean"] <= body["mean_upper"] + 1e-9
