from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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
JUDGE = {"judge_id": "judge", "replicate": 1}
ENVELOPE = {"run_id": "run", "time": f"{TODAY}T11:00:00.123Z", "cost_usd": None}


def folded(*events: dict[str, Any]) -> History:
    history = History(today=TODAY)
    for number, event in enumerate(events, start=1):
        history.add(Line(number, b"", ENVELOPE | event, offset=100 * number))
    return history


def response(target: str, *, mock: bool = False) -> dict[str, Any]:
    made = {"sample": {"id": "q"}, "sample_sha256": "s", "question_id": "q?", "agent_id": "a", "condition_id": "c"}
    return {"type": "response", "id": target, "mock": mock, **made}


def judgment(target: str, *, mock: bool = False) -> dict[str, Any]:
    made = {"response_id": "a", "sample_id": "q", "sample_fields": ["question", "answer"]} | JUDGE
    return {"type": "judgment", "id": target, "mock": mock, **made}


def failure(target: str, kind: str = "timeout") -> dict[str, Any]:
    about = {"response_id": target, "condition_id": f"of {target}"}
    return {"type": "failure", "id": f"f-{target}", "stage": "generate", "kind": kind, **about}


def names(found: Iterable[str]) -> list[str]:
    return sorted(found)


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
    """Mock answers and verdicts are done for a mock run, and still to do for a real run."""
    history = folded(response("a", mock=True), response("b"), judgment("ja", mock=True), judgment("jb"))
    assert names(history.responses_done(mock=True)) == ["a", "b"]
    assert names(history.responses_done(mock=False)) == ["b"]
    assert names(history.judgments_done(mock=True)) == ["ja", "jb"]
    assert names(history.judgments_done(mock=False)) == ["jb"]
    again = folded(response("a", mock=True), response("a"))
    assert names(again.responses_done(mock=False)) == ["a"]


def test_what_is_retracted_is_to_do_again() -> None:
    """A retraction takes a response and a judgment out of what is done."""
    history = folded(
        response("a"), judgment("j"), {"type": "retraction", "target": "a"}, {"type": "retraction", "target": "j"}
    )
    assert not history.responses
    assert not history.judged
    assert not history.really_judged


def test_the_newest_run_of_a_config_names_the_judges() -> None:
    """A `run` event of a command without conditions does not replace the config's judges."""
    planned = {"config_name": "c", "plan_id": None, "mock": False}
    first: dict[str, Any] = {"type": "run", "conditions": {"a": {}}, "judges": [{"name": "one"}], **planned}
    bare = {"type": "run", "conditions": None, "judges": [{"name": "other"}]}
    assert folded(first, bare).newest_judges == [{"name": "one"}]


def test_all_that_was_paid_today_counts_and_nothing_else() -> None:
    """Answers, verdicts, failures and failed attempts of the day, of the mock apart; yesterday's are not counted."""
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
VERDICT = judgment_event(ANSWER)
CORRECTED = {**sample("q1"), "answer": "Since."}


def test_a_verdict_is_outdated_when_a_field_changes_that_its_judge_was_given() -> None:
    """A corrected golden answer takes it back, a new note does not; a judge of the whole sample was given the note."""
    whole = judgment_event(ANSWER, sample_fields=None, id="whole")
    corrected = folded(ANSWER, VERDICT, whole, sample_change_event(CORRECTED, "answer"))
    assert corrected.judged == corrected.really_judged == set()
    assert folded(ANSWER, VERDICT, whole, sample_change_event(CORRECTED, "note")).judged == {VERDICT["id"]}
    assert folded(ANSWER, VERDICT, sample_change_event({**CORRECTED, "id": "q2"}, "answer")).judged == {VERDICT["id"]}


def test_a_verdict_stays_outdated_until_it_is_made_again() -> None:
    """The old golden answer may come back: what was judged in between was another one. Made again, it counts."""
    there = sample_change_event(CORRECTED, "answer")
    back = sample_change_event(sample("q1"), "answer")
    assert folded(ANSWER, VERDICT, there, back).judged == set()
    assert folded(ANSWER, VERDICT, there, back, VERDICT).judged == {VERDICT["id"]}


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


def is_planned(past: History, response: dict[str, Any]) -> bool:
    """Return whether a response would be planned if it came in now."""
    past.add(Line(9, b"", response))
    return response["id"] in past.planned()


def test_without_a_plan_every_response_is_planned() -> None:
    """A log of other tools, or one cut with grep, says nothing of a plan."""
    assert is_planned(folded(run_event()), ANSWER)


def test_a_response_is_planned_by_question_condition_agent_and_repetition() -> None:
    """What differs in one of the four from the newest run of the config is not in its plan."""
    past = folded(*a_run(QUESTIONS[0]), ANSWER)
    assert is_planned(past, ANSWER)
    others = (
        response_event("q2"),
        response_event("q1", repetition=2),
        response_event("q1", prompt="Another."),
        response_event("q1", agent_id="another"),
    )
    assert not any(is_planned(past, other) for other in others)


def test_the_newest_whole_plan_of_each_config_counts() -> None:
    """A later run of the config replaces its plan, once all parts are there; a run of another config does not."""
    both = a_run(*QUESTIONS)
    fewer = a_run(QUESTIONS[1], samples=1)
    assert not is_planned(folded(*both, *fewer), ANSWER)
    assert is_planned(folded(*both, fewer[0]), ANSWER)
    assert is_planned(folded(*both, *a_run(QUESTIONS[1], config_name="another")), ANSWER)


def test_a_plan_that_an_earlier_run_has_written_is_not_needed_again() -> None:
    """Its parts are content: a run that plans the same refers to them."""
    both, fewer = a_run(*QUESTIONS), a_run(QUESTIONS[1], samples=1)
    past = folded(*both, *fewer, {**both[0], "id": "again"})
    assert is_planned(past, ANSWER)


def test_a_rehearsal_does_not_replace_a_plan() -> None:
    """The plan of a mock run counts only where there is no other."""
    rehearsal = a_run(QUESTIONS[1], mock=True)
    assert is_planned(folded(*a_run(*QUESTIONS), *rehearsal), ANSWER)
    assert not is_planned(folded(*rehearsal), ANSWER)


def test_what_is_retracted_may_have_been_judged_of_a_sample_that_changes() -> None:
    """A change of the record after a retraction finds nothing to take back."""
    assert folded(ANSWER, VERDICT, retraction_event(VERDICT), sample_change_event(CORRECTED, "answer")).judged == set()
