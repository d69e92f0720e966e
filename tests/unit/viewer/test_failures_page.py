"""Failures are grouped by what happened, and what is done since is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from keval.viewer import failures_page
from tests.builders import failure_event, judge_failure_event, response_event, run_event, write_log
from tests.viewing import browsing, rows_of


def test_a_kind_says_what_to_do_and_where_it_happened(browser: TestClient) -> None:
    """Each message once, with how often, whose it is, and a sample to look at."""
    page = browser.get("/failures").text
    assert rows_of(page) == [
        ["times", "stage", "conditions", "message", "first sample"],
        ["1", "generate", "with_docs", "no answer within 300 s", "q2"],
    ]
    assert "<bdi>timeout</bdi></h2>" in page
    assert "Next: " in page
    assert 'href="/samples?condition=with_docs&amp;kind=timeout"' in page
    assert 'href="/s/q2?condition=with_docs"' in page


@pytest.mark.slow
def test_only_the_most_frequent_messages_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says so; a failure after which an answer came is not among them, and a judge is named."""
    monkeypatch.setattr(failures_page, "MOST", 1)
    answers = [response_event(f"q{number}") for number in range(5)]
    log = write_log(tmp_path / "run.jsonl", [
        run_event(samples=5), failure_event(answers[4], message="gone"), *answers[2:],
        failure_event(answers[0], message="once"),
        *(judge_failure_event(answer, message="twice") for answer in answers[2:4]),
    ])  # fmt: skip
    with browsing(log) as opened:
        page = opened.get("/failures").text
    assert rows_of(page)[1:] == [["2", "judge rubric", "baseline", "twice", "q2"]]
    assert "These are the 1 most frequent messages" in page
    assert "gone" not in page
