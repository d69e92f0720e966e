"""The first page is the report, each sample of it with a link to all of it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from keval.viewer import report_page
from keval.viewer.snapshot import Snapshot
from tests.viewing import browsing, small_log


@pytest.mark.slow
def test_it_says_what_the_report_says(tmp_path: Path) -> None:
    """The sentence on top, and samples that changed lead to their answers."""
    with browsing(small_log(tmp_path / "run.jsonl")) as browser:
        while "refresh" in (answered := browser.get("/")).headers:
            pass
    page = answered.text
    assert "2 samples are too few for an interval. The means of completeness are 2.50 and 1.50." in page
    assert '<a href="/s/q1">All of <bdi>q1</bdi></a>' in page


@pytest.mark.slow
def test_a_report_that_takes_long_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser asks again; it is computed once, and other pages are shown meanwhile."""
    may_end, begun = threading.Event(), []
    reported = report_page._reported  # noqa: SLF001 - what takes long

    def slow(snapshot: Snapshot) -> report_page.Reported:
        begun.append(snapshot)
        may_end.wait(30)
        return reported(snapshot)

    monkeypatch.setattr(report_page, "_reported", slow)
    monkeypatch.setattr(report_page, "PATIENCE_S", 0.01)
    with browsing(small_log(tmp_path / "run.jsonl")) as browser:
        for _ in range(2):
            waiting = browser.get("/")
            assert (waiting.status_code, waiting.headers["refresh"]) == (200, "1")
            assert "being computed" in waiting.text
        assert browser.get("/failures").status_code == 200
        may_end.set()
        while "refresh" in browser.get("/").headers:
            pass
    assert len(begun) == 1


def test_an_error_in_the_report_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To everybody who asks for it; the other pages work."""

    def broken(_: Snapshot) -> report_page.Reported:
        raise ZeroDivisionError

    monkeypatch.setattr(report_page, "_reported", broken)
    with browsing(small_log(tmp_path / "run.jsonl")) as browser:
        assert [browser.get("/").status_code for _ in range(2)] == [500, 500]
        assert browser.get("/samples").status_code == 200
