"""What a log holds, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval import projections
from keval.ids import JsonObject
from keval.reports.overview import READ, Overview, overview
from tests.builders import (
    failure_event,
    judge_entry,
    judge_failure_event,
    judgment_event,
    response_event,
    run_event,
    write_log,
)


def of(tmp_path: Path, *events: JsonObject) -> Overview:
    log = write_log(tmp_path / "run.jsonl", events)
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        return overview(connection)


def test_a_log_that_is_complete_says_so(tmp_path: Path) -> None:
    """Answers, judgments and conditions are those of the newest plan."""
    answer = response_event(mock=True)
    found = of(tmp_path, run_event(("baseline",), samples=1), answer, judgment_event(answer))
    assert found == Overview(1, 1, answer["time"], True, ("baseline",), 0, ("test",), 0, 0, 0)
    assert (found.state, found.as_json()["conditions"]) == ("complete", ["baseline"])
    real = response_event()
    assert of(tmp_path, run_event(("baseline",), samples=1), real, judgment_event(real, mock=True)).mock


@pytest.mark.slow
def test_what_is_missing_is_counted(tmp_path: Path) -> None:
    """Tasks that failed and tasks that were not tried are two things; without a plan nobody knows."""
    answer = response_event()
    run = run_event(("baseline",), samples=3)
    found = of(tmp_path, run, answer, failure_event(response_event("q2")), judgment_event(answer))
    assert found.state == "1 not done, 1 failed"
    assert of(tmp_path, response_event()).state == "no plan"


def test_judgments_that_are_missing_or_failed_are_counted(tmp_path: Path) -> None:
    """A log is not complete before each judge has judged all answers, as often as it is to."""
    first, second = response_event(), response_event("q2")
    run = run_event(("baseline",), samples=2)
    assert of(tmp_path, run, first, second).state == "2 judgments missing"
    assert of(tmp_path, run, first, second, judgment_event(first)).state == "1 judgment missing"
    failed = judge_failure_event(second)
    assert of(tmp_path, run, first, second, judgment_event(first), failed).state == "1 judgment failed"
    another = {**judge_entry(name="another", judge_id="b" * 24), "replicates": 2}
    run = run_event(("baseline",), samples=2, judges=[judge_entry(), another])
    judged = [judgment_event(first), judgment_event(second)]
    assert of(tmp_path, run, first, second, *judged).state == "4 judgments missing"
    assert of(tmp_path, run, first, second, *judged, run_event(("baseline",), samples=2)).state == "complete"


def test_a_replicate_that_failed_is_none_that_nobody_began(tmp_path: Path) -> None:
    """Each judgment of an answer is missing or failed by itself, whatever became of the others."""
    answer = response_event()
    run = run_event(("baseline",), samples=1, judges=[{**judge_entry(), "replicates": 3}])
    events = [run, answer, judgment_event(answer), judge_failure_event(answer, replicate=2)]
    found = of(tmp_path, *events)
    assert (found.missing_judgments, found.failed_judgments) == (1, 1)
    found = of(tmp_path, *events, judgment_event(answer, replicate=2))
    assert (found.missing_judgments, found.failed_judgments) == (1, 0)


@pytest.mark.parametrize("replicates", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_pairs_that_are_to_be_judged_are_counted(tmp_path: Path, replicates: int) -> None:
    """A judge of pairs has each answer to judge that the baseline has one for, as often as it is to; and no other."""
    versus = {**judge_entry(name="versus", judge_id="b" * 24), "type": "pairwise", "replicates": replicates}
    config = {"name": "test", "baseline": "baseline"}
    run = run_event(samples=3, judges=[versus], config=config)
    ours, theirs = response_event(condition="with_docs"), response_event()
    alone, failed = response_event("q2", "with_docs"), failure_event(response_event("q2"))
    events = [run, ours, theirs, alone, failed]
    judged = [
        judgment_event(answer, judge_id="b" * 24, replicate=number + 1, other_response_id=theirs["id"])
        for answer in (ours, theirs)
        for number in range(replicates)
    ]
    missing = [of(tmp_path, *events, *judged[:there]).missing_judgments for there in range(len(judged) + 1)]
    assert missing == [*range(2 * replicates, -1, -1)]
    failing = [judge_failure_event(ours, judge_id="b" * 24, replicate=number + 1) for number in range(replicates)]
    for there in range(replicates + 1):
        found = of(tmp_path, *events, *judged[replicates:], *judged[:there], *failing)
        assert (found.missing_judgments, found.failed_judgments) == (0, replicates - there)


def test_the_judges_of_the_newest_config_count_and_those_that_were_added(tmp_path: Path) -> None:
    """Who judged by `keval judge -j` has something left to do, as a gate says; one of an earlier config has not."""
    answers = [response_event(), response_event("q2")]
    other = judge_entry(name="other", judge_id="b" * 24)
    by_other = judgment_event(answers[0], judge_id="b" * 24)
    config, by_hand = run_event(("baseline",), samples=2, judges=[]), run_event((), judges=[other])
    before = run_event(("baseline",), samples=2, judges=[other])
    assert of(tmp_path, config, *answers).state == "complete"
    assert of(tmp_path, config, *answers, by_hand, by_other).state == "1 judgment missing"
    assert of(tmp_path, before, *answers, by_other, config).state == "complete"


def test_of_several_evaluations_nothing_is_said_together(tmp_path: Path) -> None:
    """What is missing of one is not missing of the other."""
    found = of(tmp_path, run_event(samples=1), run_event(samples=1, config_name="other"), response_event())
    assert found.state == "2 evaluations"
    assert len(found.evaluations) == 2
