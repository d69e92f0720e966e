"""Questions that a person is asked in the terminal."""

from __future__ import annotations

from pathlib import Path

from tests.builders import METRICS, judge_entry, judgment_event, response_event, run_event, write_log
from tests.conftest import Keval


def test_a_question_acts_on_no_terminal(keval: Keval, tmp_path: Path) -> None:
    """The name of a metric comes out of a log, and stands escaped in the question, too."""
    judge = judge_entry([{**METRICS[0], "name": "right\u202e\b\r"}])
    answer = response_event()
    judgment = judgment_event(answer, 5)
    judgment["scores"] = {"right\u202e\b\r": next(iter(judgment["scores"].values()))}
    log = write_log(tmp_path / "run.jsonl", [run_event(judges=[judge]), answer, judgment])
    asked = keval("label", log, "--labeler", "ada", "--scores", stdin="5\n\n")
    assert "right\\u202e\\x08\\r from 1 to 5 ([s]kip, [q]uit)" in asked.stderr
    assert {"\u202e", "\b"}.isdisjoint(asked.stderr)
