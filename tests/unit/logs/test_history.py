from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from keval.ids import answer_sha256, sample_sha256
from keval.logs.history import History
from keval.logs.stream import Line
from tests.builders import (
    judgment_event,
    plan_event,
    response_event,
    retraction_event,
    run_event,
    sample,
    sample_change_event,
)

TODAY = "2026-11-20"
JUDGE = {"judge_id": "judge", "replicate": 1, "sample_sha256": "s", "answer_sha256": answer_sha256("t")}
ENVELOPE = {"run_id": "run", "time": f"{TODAY}T11:00:00.123Z", "cost_usd": None}


def folded(*events: dict[str, Any]) -> History:
    history = History(today=TODAY)
    for number, event in enumerate(events, start=1):
        history.add(Line(number, b"", ENVELOPE | event, offset=100 * number))
    return history


def response(target: str, *, mock: bool = False) -> dict[str, Any]:
    made = {
        "sample": {"id": "q"},
        "sample_sha256": "s",
        "question_id": "q?",
        "agent_id": "a",
        "condition_id": "c",
        "text": "t",
    }
    return {"type": "response", "id": target, "mock": mock, **made}


def judgment(target: str, *, mock: bool = False) -> dict[str, Any]:
    made = {"response_id": "a", "sample_id": "q", "sample_fields": ["question", "answer"]} | JUDGE
    return {"type": "judgment", "id": target, "mock": mock, **made}


def failure(target: str, kind: str = "timeout") -> dict[str, Any]:
    about = {"response_id": target, "condition_id": f"of {target}"}
    return {"type": "failure", "id": f"f-{target}", "stage": "generate", "kind": kind, **about}


def names(found: Iterable[str]) -> list[str]:
    return sorted(found)


def judged(history: History, *, mock: bool = False) -> list[str]:
    """Return which of the judgments that tests make are done."""
    done = history.judgments_done(mock=mock)
    return [target for target in ("j", "ja", "jb", "whole", JUDGMENT["id"]) if target in done]


def test_the_last_event_of_an_id_counts() -> None:
    """A response that the log holds twice is the later line, by where it begins."""
    assert folded(response("a"), response("b"), response("a")).responses == {"a": 300, "b": 200}


def test_a_failure_counts_until_its_task_has_a_response() -> None:
    """A failed task is failed, unless it was done before or since."""
    assert folded(failure("a"), failure("b"), response("a")).failed == {"b"}
    assert folded(response("a"), failure("a")).failed == set()


def test_what_a_gate_refused_is_told_apart() -> None:
    """An answer that did not meet a gate is there; asking until one passes would be a bias."""
    history = folded(failure("a", "mcp_unused"), failure("b"), failure("c", "mcp_all_failed"), response("c"))
    assert (history.failed, history.gated) == ({"a", "b"}, {"a": "of a"})


def test_to_a_real_run_the_mock_did_nothing() -> None:
    """Mock answers and judgments are done for a mock run, and still to do for a real run."""
    history = folded(response("a", mock=True), response("b"), judgment("ja", mock=True), judgment("jb"))
    assert names(history.responses_done(mock=True)) == ["a", "b"]
    assert names(history.responses_done(mock=False)) == ["b"]
    assert judged(history, mock=True) == ["ja", "jb"]
    assert judged(history) == ["jb"]
    again = folded(response("a", mock=True), response("a"))
    assert names(again.responses_done(mock=False)) == ["a"]


def test_what_the_mock_made_replaces_nothing_real() -> None:
    """Neither an answer, nor is a task that only a mock run failed refused to a real run."""
    history = folded(response("a"), response("a", mock=True))
    assert history.responses == {"a": 100}
    assert names(history.responses_done(mock=False)) == ["a"]
    failed = folded(failure("a", "mcp_unused") | {"mock": True}, failure("b") | {"mock": True}, failure("b"))
    assert (failed.failed, failed.failed_in_mock) == ({"a", "b"}, {"a"})


def test_what_is_retracted_is_to_do_again() -> None:
    """A retraction takes a response and a judgment out of what is done."""
    history = folded(
        response("a"), judgment("j"), {"type": "retraction", "target": "a"}, {"type": "retraction", "target": "j"}
    )
    assert not history.responses
    assert judged(history, mock=True) == []


def test_the_newest_run_of_a_config_names_the_judges() -> None:
    """A `run` event of a command without conditions does not replace the config's judges."""
    planned = {"config_name": "c", "plan_id": None, "mock": False}
    first: dict[str, Any] = {"type": "run", "conditions": {"a": {}}, "judges": [{"name": "one"}], **planned}
    bare = {"type": "run", "conditions": None, "judges": [{"name": "other"}]}
    assert folded(first, bare).newest_judges == [{"name": "one"}]


def test_all_that_was_paid_today_counts_and_nothing_else() -> None:
    """Answers, judgments, failures and failed attempts of the day, of the mock apart; yesterday's are not counted."""
    attempts = {"failed_attempts": [{"cost_usd": 0.25}, {"cost_usd": None}]}
    yesterday = {"time": "2026-11-19T23:59:59.999Z"}
    history = folded(
        response("a") | {"cost_usd": 1.0} | attempts,
        judgment("j") | {"cost_usd": 2.0},
        failure("b") | {"cost_usd": 4.0},
        response("c", mock=True) | {"cost_usd": 8.0},
        response("d") | {"cost_usd": 16.0} | yesterday,
        {"type": "run", "conditions": None},
    )
    spent = history.spent_today(mock=False)
    assert (spent.usd, spent.unknown) == (7.25, 1)
    assert history.spent_today(mock=True).usd == 8.0


def test_a_line_that_a_merged_log_holds_twice_was_paid_once() -> None:
    """The same event again costs nothing; the same task asked again, by another run, does."""
    once = response("a") | {"cost_usd": 1.0}
    assert folded(once, once).spent_today(mock=False).usd == 1.0
    assert folded(once, once | {"run_id": "fresh"}).spent_today(mock=False).usd == 2.0


ANSWER = response_event("q1")
JUDGMENT = judgment_event(ANSWER)
CORRECTED = {**sample("q1"), "answer": "Since."}


AGAIN = JUDGMENT | {"sample_sha256": sample_sha256(CORRECTED)}


def test_a_judgment_is_outdated_when_a_field_changes_that_its_judge_was_given() -> None:
    """A corrected golden answer takes it back, a new note does not; a judge of the whole sample was given the note."""
    whole = judgment_event(ANSWER, sample_fields=None, id="whole")
    assert judged(folded(ANSWER, JUDGMENT, whole, sample_change_event(CORRECTED, "answer"))) == []
    assert judged(folded(ANSWER, JUDGMENT, whole, sample_change_event(CORRECTED, "note"))) == [JUDGMENT["id"]]
    another = sample_change_event({**CORRECTED, "id": "q2"}, "answer")
    assert judged(folded(ANSWER, JUDGMENT, another)) == [JUDGMENT["id"]]


def test_a_judgment_counts_by_what_was_judged_wherever_it_stands() -> None:
    """One that was begun before a correction and written after it is outdated; the old record may come back."""
    there = sample_change_event(CORRECTED, "answer")
    back = sample_change_event(sample("q1"), "answer")
    assert judged(folded(ANSWER, there, JUDGMENT)) == []
    assert judged(folded(ANSWER, there, JUDGMENT, AGAIN)) == [JUDGMENT["id"]]
    assert judged(folded(ANSWER, JUDGMENT, there, back)) == [JUDGMENT["id"]]
    assert judged(folded(ANSWER, AGAIN, there, back)) == []


def test_a_judgment_is_of_one_text() -> None:
    """Another answer of the same task needs another judgment, until the judged one is back."""
    other = response_event("q1", text="another text")
    assert judged(folded(ANSWER, other, JUDGMENT)) == []
    assert judged(folded(ANSWER, JUDGMENT, other, ANSWER)) == [JUDGMENT["id"]]


def test_where_nobody_said_what_changed_all_that_was_judged_before_is_outdated() -> None:
    """Two logs may be merged in which a sample of one question has two records."""
    merged = response_event("q1", repetition=2) | {"sample": CORRECTED, "sample_sha256": sample_sha256(CORRECTED)}
    assert judged(folded(ANSWER, JUDGMENT, merged)) == []
    assert judged(folded(merged, ANSWER, JUDGMENT)) == [JUDGMENT["id"]]


def test_the_newest_record_is_the_last_one_told() -> None:
    """By an answer or by a change; which question was answered last is another thing."""
    asked_anew = {**CORRECTED, "question": "Why not?"}
    past = folded(ANSWER, sample_change_event(asked_anew, "question"))
    record = past.newest_records["q1"]
    assert record.answered == ANSWER["question_id"]
    assert record.question_id == response_event("q1", question="Why not?")["question_id"]


QUESTIONS = [ANSWER["question_id"], response_event("q2")["question_id"]]


def a_run(*questions: str, samples: int = 2, **fields: object) -> list[dict[str, Any]]:
    """Return the events of a run that plans these questions."""
    part = plan_event(questions)
    return [run_event(samples=samples) | {"plan_id": part["plan_id"], **fields}, part]


def test_a_plan_is_there_once_all_its_parts_are() -> None:
    """A run that plans the same refers to them, and they are not needed again."""
    run, part = a_run(*QUESTIONS)
    first, second = (part | {"id": f"p{number}", "part": number, "parts": 2} for number in (1, 2))
    assert not folded(run, first).has_plan(run["plan_id"])
    assert folded(run, first, second).has_plan(run["plan_id"])
    assert not folded(run, first, second).has_plan("another")


def test_the_newest_run_is_that_of_a_config_and_of_mock_runs_apart() -> None:
    """What another config or a mock run has recorded says nothing of this one."""
    run, other, mock = (a_run(*QUESTIONS, **fields)[0] for fields in ({}, {"config_name": "another"}, {"mock": True}))
    past = folded(run, other, mock)
    assert past.newest_run("test", mock=False) == ENVELOPE | run
    assert past.newest_run("test", mock=True) == ENVELOPE | mock
    assert past.newest_run("none", mock=False) is None


def test_what_is_retracted_may_have_been_judged_of_a_sample_that_changes() -> None:
    """A change of the record after a retraction finds nothing to take back."""
    changed = sample_change_event(CORRECTED, "answer")
    assert judged(folded(ANSWER, JUDGMENT, retraction_event(JUDGMENT), changed)) == []
