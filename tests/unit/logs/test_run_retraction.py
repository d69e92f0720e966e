"""Properties of taking back what runs wrote: the log counts as if they had written nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval import projections
from keval.events import event
from keval.ids import JsonObject, digest
from keval.labels.labels import Said
from keval.logs.run_retraction import OfRuns, written_by
from keval.projections.views import named_in
from tests.builders import (
    JUDGE_ID,
    failure_event,
    judgment_event,
    response_event,
    run_event,
    sample_change_event,
    write_log,
)

RUNS = [run_event(samples=2, id=name, run_id=name) for name in ("r1", "r2", "r3", "r4")]

ASKED = {
    "answers": "select id, run_id, text from responses order by id",
    "scores": "select response_id, run_id, score from scores where current order by all",
    "labels": "select response_id, run_id, note, current from labels where current order by all",
    "failures": "select id, current from failures where current and stage = 'generate' order by id",
}


def numbers(events: Sequence[JsonObject]) -> dict[str, list[tuple[object, ...]]]:
    """Return what counts of these events."""
    with TemporaryDirectory() as folder:
        log = write_log(Path(folder) / "run.jsonl", [*RUNS, *events])
        with projections.connect([log], tools=False, asked=named_in(" ".join(ASKED.values()))) as connection:
            return {name: connection.execute(sql).fetchall() for name, sql in ASKED.items()}


def found(events: Sequence[JsonObject], *runs: str) -> OfRuns:
    """Return what takes back these runs."""
    with TemporaryDirectory() as folder:
        log = write_log(Path(folder) / "run.jsonl", [*RUNS, *events])
        return written_by(log, runs, lambda _: None, skip_invalid=False)


def appended(events: Sequence[JsonObject], *runs: str) -> list[JsonObject]:
    """Return what is appended to take back these runs, in its order."""
    back, own = found(events, *runs), f"back{len(events)}"
    targets = dict.fromkeys(known for _, known in back.retracted)
    made = [
        event("retraction", digest("retraction", each, own), own, target=each, reason="why", author=None)
        for each in targets
    ]
    return [*made, *back.restored]


def without(events: Sequence[JsonObject], *runs: str) -> list[JsonObject]:
    """Return the events that others wrote."""
    return [each for each in events if each["run_id"] not in runs]


def answer(run: str, text: str = "One.", sample: str = "q1") -> JsonObject:
    return response_event(sample, text=text, run_id=run, time=moment())


def judged(run: str, of: JsonObject, score: float) -> JsonObject:
    return judgment_event(of, score, run_id=run, time=moment())


def labelled(run: str, of: JsonObject, note: str) -> JsonObject:
    said = Said((of["id"], JUDGE_ID, "completeness"), "ada", score=3, note=note)
    return said.event(run) | {"time": moment()}


def failed(run: str, of: JsonObject) -> JsonObject:
    return failure_event(of, run_id=run, id=digest("failure", of["id"], run), time=moment())


MOMENTS = iter(range(10**6))


def moment() -> str:
    """Return a time that no other event has."""
    return f"2026-11-20T11:00:00.{next(MOMENTS) % 1000:03}Z"


@st.composite
def logs(draw: st.DrawFn) -> list[JsonObject]:
    """Return what four runs wrote of two samples, one run after the other, as commands do."""
    events: list[JsonObject] = []
    last: dict[str, JsonObject] = {}
    mock = draw(st.sampled_from(["", "r1", "r2", "r3"]))
    for run in ("r1", "r2", "r3", "r4"):
        for sample in ("q1", "q2"):
            step = draw(st.sampled_from(["nothing", "answer", "answer", "failure", "judgment", "label"]))
            if step == "answer":
                made = answer(run, draw(st.sampled_from(["One.", "Two."])), sample)
                if run == mock:
                    events.append(made | {"mock": True})
                    last.setdefault(sample, made)  # it replaces nothing real, so later runs do not judge it
                    continue
                last[sample] = made
                events += [made, *([judged(run, made, 4)] if draw(st.booleans()) else [])]
            elif step == "failure":
                events.append(failed(run, answer(run, sample=sample)))
            elif sample in last and step == "judgment":
                events.append(judged(run, last[sample], draw(st.integers(1, 5))))
            elif sample in last and step == "label":
                events.append(labelled(run, last[sample], draw(st.sampled_from(["a", "b"]))))
    return events


@pytest.mark.slow
@pytest.mark.hypothesis
@settings(max_examples=40, deadline=None)
@given(
    events=logs(),
    runs=st.sets(st.sampled_from(["r1", "r2", "r3", "r4"]), min_size=1, max_size=2),
    written=st.none() | st.integers(0, 12),
)
def test_a_log_counts_as_if_the_runs_had_written_nothing(
    events: list[JsonObject], runs: set[str], written: int | None
) -> None:
    """Whatever was asked, judged, labelled and failed before and after; the same again writes nothing.

    The first command may have been cut off after so many events: the second one does what is left.
    """
    cut_off = [*events, *appended(events, *runs)[:written]]
    after = cut_off if written is None else [*cut_off, *appended(cut_off, *runs)]
    assert numbers(after) == numbers(_heard(events, runs))
    assert found(after, *runs)[1:3] == ([], [])


@pytest.mark.parametrize("is_mock", [False, True])
@pytest.mark.parametrize("number", range(5))
def test_a_label_by_its_place_follows_its_answer_wherever_the_command_was_cut_off(
    number: int, *, is_mock: bool
) -> None:
    """Between the answer and the label, too: it would be of no answer."""
    first, second = answer("r1") | ({"mock": True} if is_mock else {}), answer("r3")
    events = [first, labelled("r2", first, "a"), second, judged("r3", second, 4)]
    cut_off = [*events, *appended(events, "r3")[:number]]
    after = [*cut_off, *appended(cut_off, "r3")]
    assert numbers(after)["labels"] == [(first["id"], "r2", "a", True)]
    assert found(after, "r3")[1:3] == ([], [])


def test_a_real_answer_that_is_taken_back_leaves_the_mocks_and_stays_taken_back() -> None:
    """What the mock made replaces nothing real, so it counts only now; and the real answer is not found once more."""
    events = [answer("r1"), answer("r2") | {"mock": True}]
    after = [*events, *appended(events, "r1")]
    assert numbers(after)["answers"][0][1] == "r2"
    assert found(after, "r1")[1:3] == ([], [])


def _heard(events: Sequence[JsonObject], runs: set[str]) -> list[JsonObject]:
    """Return the events of others, without what they say of texts that none of them answered last."""
    last: dict[str, str] = {}
    for each in without(events, *runs):
        _answer(each, last, events, runs)
    text: dict[str, str] = {}
    heard = []
    for each in events:
        _answer(each, text, events, set())
        of = str(each.get("response_id"))
        if each["run_id"] not in runs and (each["type"] not in {"judgment", "label"} or text[of] == last.get(of)):
            heard.append(each)
    return heard


def _answer(each: JsonObject, texts: dict[str, str], events: Sequence[JsonObject], runs: set[str]) -> None:
    """Take note of an answer's text: what the mock made replaces nothing real that stands before it."""
    if each["type"] != "response":
        return
    before = without(events[: events.index(each)], *runs)
    if not each.get("mock") or not any(one["id"] == each["id"] and not one.get("mock") for one in before):
        texts[each["id"]] = each["text"]


@pytest.mark.slow
@pytest.mark.parametrize("written", range(5))
def test_a_label_of_a_verdict_that_counts_again_counts_again(written: int) -> None:
    """It was given after that verdict, so it comes after it again, also where the first command was cut off."""
    first = answer("r1")
    events = [first, judged("r1", first, 4), labelled("r2", first, "a"), judged("r3", first, 1)]
    cut_off = [*events, *appended(events, "r3")[:written]]
    after = [*cut_off, *appended(cut_off, "r3")]
    assert numbers(after) == numbers(without(events, "r3"))
    assert found(after, "r3")[1:3] == ([], [])


def test_a_label_that_was_stale_without_the_run_stays_so() -> None:
    """It was given before a verdict that stays."""
    first = answer("r1")
    events = [first, labelled("r1", first, "a"), judged("r2", first, 4), judged("r3", first, 1)]
    assert numbers([*events, *appended(events, "r3")]) == numbers(without(events, "r3"))


def test_a_golden_answer_that_was_corrected_stays_corrected() -> None:
    """What is appended again has the record of its time; the correction comes behind it, and what judged by that."""
    old, new = ({"id": "q1", "question": "Why?", "answer": said} for said in ("wrong", "right"))
    first = response_event("q1", sample=old, run_id="r1", time=moment())
    correction = sample_change_event(new, "answer", run_id="r2", time=moment())
    corrected = first | {"sample": new, "sample_sha256": correction["sample_sha256"]}
    events = [first, judged("r1", first, 1), correction, judged("r2", corrected, 5)]
    fresh = corrected | {"text": "Two.", "run_id": "r3", "time": moment()}
    asked_again = [*events, fresh, judged("r3", fresh, 4)]
    made = appended(asked_again, "r3")
    assert numbers([*asked_again, *made]) == numbers(events)
    for written in range(len(made)):
        cut_off = [*asked_again, *made[:written]]
        assert numbers([*cut_off, *appended(cut_off, "r3")]) == numbers(events)
    again = sample_change_event(old, "answer", run_id="r4", time=moment())
    assert not appended([*asked_again, *made, again], "r3"), "a later change is not undone"
    once_more = [*asked_again, *made, fresh | {"time": moment()}]
    assert [each["type"] for each in appended(once_more, "r3")].count("sample_change") == 1, "of copies one is enough"
    merged = [*events, first, fresh, judged("r3", fresh, 4)]
    assert not [each for each in appended(merged[:-2], "r3") if each["type"] == "sample_change"], "nothing was cut off"
    assert [score for _, run_id, score in numbers(events)["scores"]] == [5]
