from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from keval import projections
from keval.events import event, now
from keval.ids import JsonObject
from keval.logs.costs import Cost, Spent
from keval.logs.passed_by import PassedBy
from keval.logs.past import ASKED, of_log
from keval.projections.views import named_in
from tests.builders import (
    JUDGE_ID,
    RUN_ID,
    failure_event,
    judge_entry,
    judgment_event,
    plan_event,
    response_event,
    retraction_event,
    run_event,
    unasked_judgment_event,
    write_log,
)
from tests.tasks import past_of

OTHER_RUN = "fedcba9876543210"
ANSWER = response_event("q1")
QUESTIONS = [ANSWER["question_id"], response_event("q2")["question_id"]]


def spent(events: Iterable[JsonObject], *, mock: bool = False) -> Spent:
    """Return what today's events of a log cost."""
    with past_of(events) as past:
        return past.spent_today(mock=mock)


def test_a_log_without_a_line_needs_no_database(tmp_path: Path) -> None:
    """A first run, which has nothing to ask, imports no DuckDB: neither with an empty log nor without one."""
    script = (
        "import sys\nfrom pathlib import Path\nfrom keval.logs.past import of_log\n"
        "for name in ('none.jsonl', 'empty.jsonl'):\n"
        "    with of_log(Path(name), print) as past:\n"
        "        assert past.newest is None and not past.has_plan('p') and past.spent_today(mock=False).usd == 0\n"
        "assert 'duckdb' not in sys.modules"
    )
    (tmp_path / "empty.jsonl").touch()
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_past_can_be_asked_all_that_is_asked() -> None:
    """The tables and views that are made for a past are those that the queries about pasts read, and no more."""
    package = Path(projections.__file__).parent.parent
    files = [
        path for folder in ("logs", "preparation", "executors", "execution") for path in (package / folder).glob("*")
    ]
    read = [named_in(path.read_text(encoding="utf-8")) for path in files if path.suffix in {".py", ".sql"}]
    assert set().union(*read) == set(ASKED)


def test_what_a_log_holds_is_known_of_its_valid_lines(tmp_path: Path) -> None:
    """Lines that are left out are counted, and the places of the others are those of the file that is given."""
    log = write_log(tmp_path / "log.jsonl", [ANSWER, run_event()])
    log.write_bytes(b'{"type": "nonsense"}\n' + log.read_bytes())
    with of_log(log, lambda _: None, skip_invalid=True) as past:
        assert past.skipped == 1
        assert past.newest == run_event()


def test_the_newest_run_of_a_config_names_the_judges() -> None:
    """A `run` event of a command without conditions does not replace the config's judges."""
    first, bare = run_event(judges=[judge_entry(name="one")]), run_event([], judges=[judge_entry(name="other")])
    with past_of([first, bare]) as past:
        assert past.newest is not None
        assert [judge["name"] for judge in past.newest["judges"]] == ["one"]
    with past_of([bare]) as past:
        assert past.newest is None


def test_the_newest_run_is_that_of_a_config_and_of_mock_runs_apart() -> None:
    """What another config or a mock run has recorded says nothing of this one; what is retracted says nothing."""
    run, other = run_event(), run_event(config_name="another")
    mock, gone = run_event(mock=True), run_event(run_id="another")
    with past_of([run, other, mock, gone, retraction_event(gone)]) as past:
        assert past.newest_run("test", mock=False) == run
        assert past.newest_run("test", mock=True) == past.newest == mock
        assert past.newest_run("none", mock=False) is None


def mocked_beside_real() -> list[JsonObject]:
    """Return a log of a real run, and a mock run of another judge behind it."""
    return [run_event(), ANSWER, run_event(judges=[judge_entry(judge_id="e" * 16)], run_id="mock", mock=True)]


def cut_off() -> list[JsonObject]:
    """Return a log of a run with its plan, and one of another judge behind it whose plan a crash cut off."""
    plan = plan_event(QUESTIONS)
    another = run_event(judges=[judge_entry(judge_id="e" * 16)], plan_id="another")
    return [run_event(plan_id=plan["plan_id"]), plan, ANSWER, another]


@pytest.mark.parametrize("events", [mocked_beside_real(), cut_off()], ids=["mock", "cut off"])
def test_the_newest_run_is_the_one_whose_judges_count(events: list[JsonObject]) -> None:
    """What `keval judge LOG` judges with are the judges of which the views say that judgments of theirs are missing."""
    with past_of(events) as past:
        assert past.newest == events[0]
        assert list(past.rows("select judge_id from current_judges")) == [(JUDGE_ID,)]
        assert past.newest_run("test", mock=False) == events[0]
        assert past.replaces_nothing("test", mock=False)


def test_to_record_the_last_run_again_would_replace_nothing() -> None:
    """Also a mock run that real responses keep from being the newest; behind another run it would."""
    real, mock = run_event(), run_event(run_id="mock", mock=True)
    for events, newest in (
        ([real, ANSWER, mock], {False, True}),
        ([mock, real, ANSWER], {False}),
        ([real, mock], {True}),
        ([mock, real], {False}),
        ([real, run_event(config_name="another")], set()),
        ([], set()),
    ):
        with past_of(events) as past:
            assert {kind for kind in (False, True) if past.replaces_nothing("test", mock=kind)} == newest


def end_event(*, mock: bool) -> JsonObject:
    """Return the event that says that a run with a stopping rule has ended."""
    of_rule = {"plan_id": "a" * 16, "rule_id": "b" * 16, "mock": mock}
    how = {"why": "decided", "n": 1, "samples": 2, "asked": {}, "comparisons": []}
    return {"type": "until_end", "v": 1, "id": f"end-{mock}", "time": now(), "run_id": RUN_ID, **of_rule, **how}


def test_how_a_run_ended_stays_true_when_a_mock_run_follows() -> None:
    """It is what the newest run of its kind and config says, by its rule; a real run that follows is another one."""
    real, mock = end_event(mock=False), end_event(mock=True)
    events = [run_event(), ANSWER, real, run_event(run_id="mock", mock=True), mock]
    rules = [{"config_name": "test", "rule_id": "b" * 16, "mock": kind} for kind in (False, True)]
    anothers = {**real, "id": "end-of-another", "rule_id": "c" * 16}
    for more, expected in (
        ([], [real, mock]),
        ([run_event(config_name="another"), anothers], [real, mock]),
        ([run_event(run_id="again", seed=1)], [None, mock]),
    ):
        with past_of([*events, *more]) as past:
            assert [past.newest_end(rule) for rule in rules] == expected


def test_agents_that_do_not_report_their_tool_calls_are_known_by_their_runs() -> None:
    """Whatever else ran in the same log."""
    agent = run_event()["agent"]
    silent = run_event(agent=agent | {"agent_id": "f" * 16, "reports_tool_calls": False})
    with past_of([run_event(), silent, ANSWER]) as past:
        assert past.silent_agents == {"f" * 16}


def test_a_plan_is_there_once_all_its_parts_are() -> None:
    """Whatever their order, and if one stands twice; a run that plans the same needs them no more."""
    whole = plan_event(QUESTIONS)
    first, second, third = (whole | {"id": f"p{number}", "part": number, "parts": 3} for number in (1, 2, 3))
    known = []
    for parts in ([third, first, first], [third, first, first, second]):
        with past_of([run_event(), *parts]) as past:
            known.append(past.has_plan(whole["plan_id"]))
            assert not past.has_plan("another")
            assert not past.has_plan(None)
    assert known == [False, True]


def test_all_that_was_paid_today_counts_and_nothing_else() -> None:
    """Answers, judgments, failures and failed attempts of the day, the mock's apart; no older and no imported ones."""
    failed: JsonObject = {"kind": "timeout", "message": "", "usage": None, "duration_ms": 1}
    attempts = [failed | {"cost_usd": cost} for cost in (0.25, None)]
    today = now()
    events = [
        response_event("q1", cost_usd=1.0, failed_attempts=attempts, time=today),
        judgment_event(ANSWER, cost_usd=2.0, time=today),
        failure_event(response_event("q2"), cost_usd=4.0, time=today),
        response_event("q3", cost_usd=8.0, mock=True, time=today),
        response_event("q4", cost_usd=16.0, time="2020-11-19T23:59:59.999Z"),
        run_event(time=today),
        run_event(run_id="import", command="import", time=today),
        response_event("q5", cost_usd=32.0, run_id="import", time=today),
    ]
    assert (spent(events), spent(events, mock=True)) == (Spent(7.25, 1), Spent(8.0, 0))


def test_a_line_that_a_merged_log_holds_twice_was_paid_once() -> None:
    """The same event again costs nothing; the same task asked again, by another run, does."""
    once = response_event("q1", cost_usd=1.0, time=now())
    assert spent([once, once]).usd == 1.0
    assert spent([once, once | {"run_id": "fresh"}]).usd == 2.0


def test_what_does_not_say_who_made_it_is_as_its_run_is() -> None:
    """What a mock run made without a word of that counts against no real budget, as the view `costs` has it."""
    mock = run_event(run_id="mock", mock=True)
    events = [mock, response_event("q1", cost_usd=1.0, run_id="mock", time=now())]
    assert (spent(events).usd, spent(events, mock=True).usd) == (0.0, 1.0)
    with past_of(events) as past:
        assert past.costs().of_answers(ANSWER["agent_id"], ANSWER["condition_id"]) is None
        assert list(past.rows("select mock from paid")) == [(True,)]


def test_only_real_and_known_costs_are_measured_each_in_its_place() -> None:
    """A mock, another agent, an unknown cost, and what nobody was asked for say nothing of what the next one costs."""
    events = [
        response_event("q1", cost_usd=0.25),
        response_event("q2", cost_usd=0.75),
        response_event("q3", cost_usd=9.0, mock=True),
        response_event("q4", cost_usd=9.0, agent_id="another-agent"),
        response_event("q5", cost_usd=None),
        judgment_event(ANSWER, cost_usd=0.125),
        unasked_judgment_event(response_event("q2")),
        judgment_event(ANSWER, replicate=2, cost_usd=0.0, other_response_id=ANSWER["id"]),
    ]
    with past_of(events) as past:
        costs = past.costs()
    assert costs.of_answers(ANSWER["agent_id"], ANSWER["condition_id"]) == Cost(2, 1.0, 0.75)
    assert costs.of_judgments(JUDGE_ID) == Cost(1, 0.125, 0.125)
    assert costs.of_answers(ANSWER["agent_id"], "another") is None
    assert costs.of_judgments("another") is None


def test_what_a_batch_brought_is_measured_at_the_usual_price() -> None:
    """It cost half of that; only what a run made from batches of its own, of the same judge or agent."""
    asker = {"judge_id": None, "agent_id": ANSWER["agent_id"]}
    batch = event("batch", "e1" * 12, OTHER_RUN, batch_id=None, **asker, requests={"c": "r"}, status="submitting")
    events = [
        batch,
        response_event("q1", cost_usd=0.25, run_id=OTHER_RUN),
        response_event("q2", cost_usd=0.25),
        judgment_event(ANSWER, cost_usd=0.125, run_id=OTHER_RUN),
    ]
    piped = PassedBy()
    for brought in events:
        piped.add(brought)
    with past_of(events) as past:
        for costs in (past.costs(), piped.costs()):
            assert costs.of_answers(ANSWER["agent_id"], ANSWER["condition_id"]) == Cost(2, 0.75, 0.5)
            assert costs.of_judgments(JUDGE_ID) == Cost(1, 0.125, 0.125)


def test_a_line_that_a_merged_log_holds_twice_is_measured_once() -> None:
    """It was paid for once, so it weighs no more than another; the same task asked again weighs for itself."""
    once = response_event("q1", cost_usd=0.25)
    with past_of([once, once, once | {"run_id": "fresh", "cost_usd": 0.75}]) as past:
        assert past.costs().of_answers(ANSWER["agent_id"], ANSWER["condition_id"]) == Cost(2, 1.0, 0.75)


@pytest.mark.parametrize("text", ["é" * 50, "\u2028", "a\\nb"])
def test_a_line_is_found_where_it_begins(text: str) -> None:
    """Places are counted in bytes, whatever stands in the lines before."""
    with past_of([response_event("q1", text=text), run_event()]) as past:
        assert past.newest == run_event()
