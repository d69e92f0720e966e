from __future__ import annotations

from keval.events import now
from keval.ids import JsonObject
from keval.logs.passed_by import PassedBy
from tests.builders import (
    JUDGE_ID,
    judge_entry,
    judgment_event,
    response_event,
    retraction_event,
    run_event,
)

ANSWER = response_event("q1")
JUDGMENT = judgment_event(ANSWER)


def passed(*events: JsonObject) -> PassedBy:
    """Return what is known when these events have come."""
    known = PassedBy()
    for event in events:
        known.add(event)
    return known


def test_judgments_that_came_are_not_made_again() -> None:
    """Unless they were retracted since; to a real run one of the mock is none, as long as no real one came."""
    mocked = JUDGMENT | {"mock": True}
    for mock, events, there in (
        (False, [ANSWER, JUDGMENT], True),
        (False, [ANSWER], False),
        (False, [ANSWER, mocked], False),
        (True, [ANSWER, mocked], True),
        (False, [ANSWER, JUDGMENT, mocked], True),
        (False, [ANSWER, JUDGMENT, retraction_event(JUDGMENT)], False),
        (True, [ANSWER, mocked, retraction_event(JUDGMENT)], False),
        (False, [ANSWER, JUDGMENT, retraction_event(JUDGMENT), JUDGMENT], True),
    ):
        assert (JUDGMENT["id"] in passed(*events).judged(mock=mock)) is there


def test_the_last_run_of_a_config_names_the_judges() -> None:
    """A run without conditions is none of a config."""
    known = passed(run_event(judges=[judge_entry(name="one")]), run_event([]))
    assert known.newest is not None
    assert [judge["name"] for judge in known.newest["judges"]] == ["one"]
    assert passed(run_event([])).newest is None


def test_a_mock_run_behind_real_responses_names_no_judges() -> None:
    """It replaces no run, as in the views: what its judges said would be in no number."""
    run, mock = run_event(), run_event(mock=True, judges=[judge_entry(name="other")])
    assert passed(run, mock).newest == mock
    assert passed(run, ANSWER | {"mock": True}, mock).newest == mock
    assert passed(run, ANSWER, mock).newest == run
    assert passed(run, ANSWER, retraction_event(ANSWER), mock).newest == mock


def test_what_a_mock_answers_takes_the_place_of_nothing_real() -> None:
    """As in a log: it counts where no real answer came, or where that one was retracted."""
    mocked = ANSWER | {"mock": True}
    untold = response_event("q1", run_id="mock")
    for events, counts in (
        ([mocked], True),
        ([ANSWER, mocked], False),
        ([run_event(run_id="mock", mock=True), ANSWER, untold], False),
        ([ANSWER, retraction_event(ANSWER), mocked], True),
        ([mocked, ANSWER], True),
    ):
        assert passed(*events).counts(events[-1]) is counts


def test_costs_are_those_of_what_came() -> None:
    """Today's count against a daily budget, each event once and the mock's apart; older ones tell what one costs."""
    today = response_event("q2", cost_usd=1.0, time=now())
    known = passed(today, today, today | {"run_id": "again"}, today | {"mock": True, "run_id": "m"}, JUDGMENT)
    assert (known.spent_today(mock=False).usd, known.spent_today(mock=True).usd) == (2.0, 1.0)
    measured = known.costs().of_judgments(JUDGE_ID)
    assert measured is not None
    assert measured.total_usd == JUDGMENT["cost_usd"]


def test_what_was_imported_was_paid_for_elsewhere() -> None:
    """As in a log: it is nothing that today's budget could have held."""
    run = run_event(run_id="import", command="import")
    known = passed(run, response_event("q1", cost_usd=5.0, run_id="import", time=now()))
    assert known.spent_today(mock=False).usd == 0.0


def test_a_line_that_comes_twice_is_measured_once() -> None:
    """As in a log: it was paid for once, so it weighs no more than another."""
    costs = passed(ANSWER, ANSWER, JUDGMENT, JUDGMENT, ANSWER | {"run_id": "again"}).costs()
    answers, judgments = costs.of_answers(ANSWER["agent_id"], ANSWER["condition_id"]), costs.of_judgments(JUDGE_ID)
    assert answers is not None
    assert judgments is not None
    assert (answers.number, judgments.number) == (2, 1)


def test_what_does_not_say_who_made_it_is_as_its_run_is() -> None:
    """As in a log: what a mock run made without a word of that costs no day anything."""
    mock = run_event(run_id="mock", mock=True)
    known = passed(mock, response_event("q1", cost_usd=1.0, run_id="mock", time=now()))
    assert (known.spent_today(mock=False).usd, known.spent_today(mock=True).usd) == (0.0, 1.0)
    assert known.costs().of_answers(ANSWER["agent_id"], ANSWER["condition_id"]) is None


def test_agents_that_do_not_report_their_tool_calls_are_known_by_their_runs() -> None:
    """As in a log."""
    agent = run_event()["agent"]
    silent = run_event(agent=agent | {"reports_tool_calls": False})
    assert passed(run_event()).silent_agents == set()
    assert passed(silent, ANSWER).silent_agents == {agent["agent_id"]}


def test_of_imports_all_conditions_are_known() -> None:
    """Each brings a part of those of its name; a run of a config has all of its own."""
    imports = [run_event((name,), command="import") for name in ("docs", "baseline")]
    newest = passed(*imports).newest
    assert newest is not None
    assert list(newest["conditions"]) == ["docs", "baseline"]
    another = passed(*imports, run_event(("a",), command="import", config_name="another")).newest
    assert another is not None
    assert list(another["conditions"]) == ["a"]
    assert passed(*imports, run_event(("a", "b"))).newest == run_event(("a", "b"))
