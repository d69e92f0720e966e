"""Properties of judges that were edited in a config, or taken out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval import projections
from keval.ids import JsonObject
from keval.projections.log_file import LogFile
from keval.transcripts.selection import Selection
from keval.transcripts.transcript import transcripts
from tests.builders import (
    ask,
    judge_entry,
    judge_failure_event,
    judgment_event,
    response_event,
    run_event,
    write_log,
)

OLD, NEW, ADDED = (
    judge_entry(judge_id=letter * 24, name=name) for letter, name in (("a", "j"), ("b", "j"), ("c", "k"))
)
ANSWER = response_event()


def judged(score: float, judge: JsonObject) -> JsonObject:
    """Return what a judge says of the answer."""
    return judgment_event(ANSWER, score, judge_id=judge["judge_id"])


def run(*judges: JsonObject, config_name: str = "test") -> JsonObject:
    """Return a run of a config with these judges."""
    return run_event(["baseline"], samples=1, judges=judges, config_name=config_name)


def judge_run(*judges: JsonObject) -> JsonObject:
    """Return what `keval judge` writes before it judges."""
    return run_event([], judges=judges, command="judge", config_name=None)


def shown(folder: Path, *events: JsonObject, everything: bool = False) -> dict[str, float | None]:
    """Return the means of a log by the judges that have one."""
    log = write_log(folder / "log.jsonl", events)
    with projections.connect([log], everything=everything) as connection:
        found = list(projections.rows(connection, "from condition_scores where current"))
        current = list(projections.rows(connection, "select judge_id, score from scores where current"))
    assert {row["judge_id"]: row["score"] for row in current} == {row["judge_id"]: row["mean"] for row in found}
    return {row["judge_id"][0]: row["mean"] for row in found}


@pytest.mark.slow
def test_the_newest_version_of_a_judge_counts_alone(tmp_path: Path) -> None:
    """The old one would double the family of comparisons, and fail every gate for good; --all takes both."""
    events = [run(OLD), ANSWER, judged(1, OLD), run(NEW), judged(5, NEW)]
    assert shown(tmp_path, *events) == {"b": 5}
    assert shown(tmp_path, *events, everything=True) == {"a": 1, "b": 5}


def test_what_a_replaced_judge_failed_is_not_open(tmp_path: Path) -> None:
    """Nobody will try that again."""
    failed = judge_failure_event(ANSWER, judge_id=OLD["judge_id"])
    log = write_log(tmp_path / "log.jsonl", [run(OLD), ANSWER, failed, run(NEW), judged(5, NEW)])
    assert ask(log, "select current from failures") == [{"current": False}]


@pytest.mark.slow
def test_a_judge_that_is_as_before_again_counts_again(tmp_path: Path) -> None:
    """Its judgments are still there, and nothing is paid twice."""
    assert shown(tmp_path, run(OLD), ANSWER, judged(1, OLD), run(NEW), judged(5, NEW), run(OLD)) == {"a": 1}


@pytest.mark.slow
def test_a_judge_that_somebody_added_stays(tmp_path: Path) -> None:
    """`keval judge LOG -j` is asked for apart from the config, before or after an edit of it."""
    events = [run(OLD), ANSWER, judged(1, OLD), judge_run(ADDED), judged(3, ADDED), run(NEW), judged(5, NEW)]
    assert shown(tmp_path, *events) == {"b": 5, "c": 3}
    assert shown(tmp_path, *events, judge_run(OLD)) == {"a": 1, "b": 5, "c": 3}


@pytest.mark.slow
def test_a_judge_of_the_config_is_not_added_by_keval_judge(tmp_path: Path) -> None:
    """Without a judge the command takes those of the newest run, as in a pipe."""
    events = [run(OLD), ANSWER, judge_run(OLD), judged(1, OLD), run(NEW), judge_run(NEW), judged(5, NEW)]
    assert shown(tmp_path, *events) == {"b": 5}


@pytest.mark.slow
def test_judges_of_several_configs_stand_side_by_side(tmp_path: Path) -> None:
    """One config's run says nothing of another one's judges."""
    assert shown(tmp_path, run(OLD, config_name="one"), ANSWER, judged(1, OLD), run(NEW), judged(5, NEW)) == {
        "a": 1,
        "b": 5,
    }


@pytest.mark.slow
def test_an_answer_that_only_judgments_tell_of_is_told_by_the_newest_judge(tmp_path: Path) -> None:
    """In a log without the response, cut with grep, the first judgment stands for it; not one that counts no more."""
    log = write_log(tmp_path / "log.jsonl", [run(OLD), judged(1, OLD), run(NEW), judged(5, NEW)])
    with projections.connect([log]) as connection:
        (shown_,) = transcripts(connection, [LogFile(log, "log.jsonl")], Selection())
    assert [judgment["judge_id"] for judgment in shown_.judgments] == [NEW["judge_id"]]
