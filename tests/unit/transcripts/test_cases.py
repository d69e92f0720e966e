"""The samples that changed most come with all their answers, ready to be read side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval import projections
from keval.projections.log_file import LogFile
from keval.reports.changed_scores import changed_scores
from keval.reports.details import Case
from keval.reports.queries import Queries
from keval.transcripts.cases import cases
from keval.transcripts.drawing import FIRST_CHARACTERS, LAST_CHARACTERS
from tests.builders import failure_event, judgment_event, response_event, run_event, write_log

STEP = {
    "type": "tool_call", "id": "t1", "name": "mcp__docs__search", "server": "docs", "input": {"q": "why"},
    "result": "found", "error": False, "duration_ms": 5,
}  # fmt: skip


def found_in(tmp_path: Path, *names: str) -> list[Case]:
    """Return the cases of a log with these samples, each worse with `with_docs`, the first one most."""
    events = [run_event(["baseline", "with_docs"], samples=len(names))]
    for place, name in enumerate(names):
        one = response_event(name, text="x" * 9_000)
        other = response_event(name, "with_docs", turns=[STEP, {"type": "text", "text": "Because."}], text="Because.")
        events += [one, judgment_event(one, 5), other, judgment_event(other, 1 + place)]
    events.append(failure_event(response_event(names[0], "with_docs", repetition=2)))
    log = write_log(tmp_path / "log.jsonl", events)
    with projections.connect([log]) as connection:
        return list(cases(connection, [LogFile(log, "log.jsonl")], changed_scores(Queries(connection))))


def test_a_case_has_every_answer_of_both_conditions(tmp_path: Path) -> None:
    """Scores stand first, steps apart, long texts shortened; a failure is an answer, too."""
    case, *_ = found_in(tmp_path, "q1", "q2")
    assert (case.sample_id, case.condition, case.baseline) == ("q1", "with_docs", "baseline")
    assert [title for title, _ in case.question] == ["Question", "Golden answer"]
    assert [(each.condition, each.repetition) for each in case.answers] == [
        ("baseline", 1), ("with_docs", 1), ("with_docs", 2)
    ]  # fmt: skip
    baseline, with_docs, failed = case.answers
    assert [title for title, _ in baseline.texts] == ["Scores", "Answer", "Cost"]
    answer = dict(baseline.texts)["Answer"]
    assert "4,000 characters more" in answer
    assert len(answer) < FIRST_CHARACTERS + LAST_CHARACTERS + 100
    assert [title for title, _ in with_docs.steps] == ["Step 1: tool call"]
    assert dict(failed.texts)["Failure"].startswith("timeout: ")


@pytest.mark.slow
def test_cases_stand_in_the_order_of_the_report(tmp_path: Path) -> None:
    """The largest loss first; a name with signs of a pattern means itself alone."""
    assert [case.sample_id for case in found_in(tmp_path, "q[12]", "q1", "q*")] == ["q[12]", "q1", "q*"]
    assert all(case.answers for case in found_in(tmp_path, "q[12]", "q1", "q*"))
