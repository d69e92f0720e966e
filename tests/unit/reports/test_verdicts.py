from __future__ import annotations

from pathlib import Path

import pytest

from keval import projections
from keval.ids import JsonObject
from keval.projections import rows
from keval.reports.verdicts import READ, deciding, undecided, verdicts
from tests.builders import JUDGE_ID, METRICS, judge_entry, judgment_event, response_event, run_event, write_log

ANSWER = response_event()
PASSING = judge_entry([{**METRICS[0], "pass_from": 4}])


def passed(tmp_path: Path, *events: JsonObject, pass_from: float | None = None) -> list[bool | None]:
    """Return of each response whether it passed, in a log of these events."""
    log = write_log(tmp_path / "run.jsonl", events)
    given = {} if pass_from is None else {"completeness": pass_from}
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        found = [row["passed"] for row in rows(connection, verdicts(connection, given))]
        assert bool(undecided(connection, given)) == (None in found)
        assert bool(deciding(connection, given)) == (set(found) != {None})
        return found


def judged(score: float, *, passed: bool | None = None, replicate: int = 1) -> JsonObject:
    made = judgment_event(ANSWER, score, replicate=replicate)
    made["scores"]["completeness"]["passed"] = passed
    return made


@pytest.mark.slow
def test_the_judge_says_what_passes_else_the_newest_threshold_does(tmp_path: Path) -> None:
    """`passed` goes before `pass_from`, a newer run's threshold before an older one's; without both, nobody knows."""
    run = run_event(judges=[PASSING])
    assert passed(tmp_path, run, ANSWER, judged(3)) == [False]
    assert passed(tmp_path, run, ANSWER, judged(4)) == [True]
    assert passed(tmp_path, run, ANSWER, judged(4, passed=False)) == [False]
    stricter = run_event(judges=[judge_entry([{**METRICS[0], "pass_from": 5}])])
    assert passed(tmp_path, run, stricter, ANSWER, judged(4)) == [False]
    assert passed(tmp_path, run_event(), ANSWER, judged(5)) == [None]
    assert passed(tmp_path, run, run_event(), ANSWER, judged(5)) == [None]


@pytest.mark.slow
def test_the_users_threshold_goes_before_all_others(tmp_path: Path) -> None:
    """What the user names decides, even against the judge."""
    run = run_event(judges=[PASSING])
    assert passed(tmp_path, run, ANSWER, judged(3), pass_from=2.5) == [True]
    assert passed(tmp_path, run_event(), ANSWER, judged(3, passed=True), pass_from=3.5) == [False]


@pytest.mark.slow
def test_judgments_of_one_response_are_one_verdict(tmp_path: Path) -> None:
    """Scores are averaged before the threshold is applied; of verdicts most decide, and a draw does not pass."""
    run = run_event(judges=[PASSING | {"replicates": 3}])
    assert passed(tmp_path, run, ANSWER, *(judged(score, replicate=r) for r, score in enumerate((5, 4, 3), 1))) == [
        True
    ]
    votes = [judged(3, passed=vote, replicate=r) for r, vote in enumerate((True, False, True), 1)]
    assert passed(tmp_path, run, ANSWER, *votes) == [True]
    assert passed(tmp_path, run, ANSWER, *votes[:2]) == [False]


def test_what_decides_nothing_is_named_of_those_that_are_asked_about(tmp_path: Path) -> None:
    """Whoever asks about one metric is not told what the others lack."""
    log = write_log(tmp_path / "run.jsonl", [ANSWER, judgment_event(ANSWER, {"depth": 2, "tone": 3})])
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        asked = undecided(connection, {}, lambda metric, _judge, judge_id: (metric, judge_id) == ("tone", JUDGE_ID))
        assert (undecided(connection, {}), asked) == (["rubric/depth", "rubric/tone"], ["rubric/tone"])
