"""Each page says of which log it is, how far that is, and how it is found again."""

from __future__ import annotations

import re
import shlex
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from keval.reports.model import BANNER
from tests.builders import response_event, run_event, write_log
from tests.suites import slow_but
from tests.viewing import browsing


@pytest.mark.parametrize(
    "page",
    [
        *("/samples", "/samples?find=a+b%22&sort=-score", "/s/q1?condition=other", "/failures"),
        *("/s/a%3Fb?condition=other", "/s/a%23b%2541"),
    ],
)
def test_the_foot_has_the_command_for_this_page(page: str, browser: TestClient) -> None:
    """An address of this machine is of no use to others; a command beside a log is."""
    (foot,) = re.findall(r"<code[^>]*>(keval view .*?)</code>", browser.get(page).text)
    command = shlex.split(unescape(foot))
    assert command[-2:] == ["--open", page]
    assert command[2].endswith("run.jsonl")


def test_the_head_says_how_far_the_log_is(browser: TestClient) -> None:
    """And marks the page that is open."""
    page = browser.get("/samples").text
    assert "11 answers, 1 failed" in page
    assert '<a href="/samples" aria-current="page">Samples</a>' in page


@pytest.mark.parametrize("page", slow_but(["/", "/samples", "/s/q1", "/failures", "/sql"], {"/samples"}))
def test_answers_of_a_mock_are_called_so_on_every_page(page: str, tmp_path: Path) -> None:
    """In the title and above everything else."""
    log = write_log(tmp_path / "run.jsonl", [run_event(mock=True), response_event(mock=True)])
    with browsing(log) as browser:
        while "refresh" in (answered := browser.get(page)).headers:
            pass
    assert "<title>MOCK · " in answered.text
    assert BANNER in unescape(answered.text)


def test_several_evaluations_are_told(tmp_path: Path) -> None:
    """Lists have them together, which no overview does."""
    other = run_event({"baseline": "Guess."}, config_name="other", config={"name": "other"}, run_id="1" * 16)
    log = write_log(tmp_path / "run.jsonl", [
        run_event(["baseline"]), response_event(), other, response_event("q2", prompt="Guess.", run_id="1" * 16),
    ])  # fmt: skip
    with browsing(log) as browser:
        assert "2 evaluations are in there" in browser.get("/samples").text
