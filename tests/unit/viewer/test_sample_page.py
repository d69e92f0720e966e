"""A sample is read with all answers side by side, and every text of an answer to its end."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from keval.transcripts.drawing import FIRST_CHARACTERS, LAST_CHARACTERS
from tests.builders import failure_event, judgment_event, response_event, retraction_event, run_event, write_log
from tests.viewing import browsing, call

LONG = "".join(f"<{number}>\n" for number in range(2_000))
RETRACTED = response_event("q1", "with_docs")
LATER = response_event("q2", "with_docs")
FAILED = failure_event(LATER, message="it was too slow")


@pytest.fixture(scope="module")
def long_texts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Give a browser with a long answer, a long result of a tool, and an answer that was retracted."""
    answer = response_event(
        "a/b ü", "with_docs", text=LONG, turns=[call(result=LONG, error=True), {"type": "text", "text": LONG}]
    )
    log = write_log(
        tmp_path_factory.mktemp("long") / "run.jsonl",
        [run_event(), answer, judgment_event(answer, 2), RETRACTED, retraction_event(RETRACTED), FAILED, LATER],
    )
    with browsing(log) as opened:
        yield opened


def headings(page: str, level: int) -> list[str]:
    """Return the headings of a level."""
    return [re.sub("<[^>]+>", "", found) for found in re.findall(rf"<h{level}[ >].*?</h{level}>", page)]


def test_the_baseline_stands_left_and_a_condition_right(browser: TestClient) -> None:
    """All repetitions are on the page, and the other conditions a click away."""
    page = browser.get("/s/q1").text
    sides = ("baseline", "with_docs")
    assert headings(page, 3) == [f"{name}, repetition {n}" for name in sides for n in (1, 2)]
    assert headings(page, 2) == ["Question", "Golden answer", *sides]
    (other,) = re.findall(r'href="([^"]+)"><bdi>other', page)
    assert headings(browser.get(other).text, 3)[2:] == ["other, repetition 1", "other, repetition 2"]


def test_a_failure_stands_in_its_place(browser: TestClient) -> None:
    """Its kind is where a score would be, and its message where an answer would."""
    page = browser.get("/s/q2?condition=with_docs").text
    assert "2: timeout" in page
    assert "timeout: no answer within 300 s" in page


def test_reasons_come_before_the_answer(browser: TestClient) -> None:
    """Why an answer got its scores is what people doubt first."""
    assert headings(browser.get("/s/q1").text, 4)[:3] == ["Scores", "Answer", "Cost"]


def test_a_sample_with_any_name_is_found(long_texts: TestClient) -> None:
    """A slash is part of the name, and a missing answer is told."""
    page = long_texts.get("/s/a%2Fb%20%C3%BC").text
    assert "a/b ü" in headings(page, 1)
    assert "No answer is there yet." in page


def test_a_long_text_is_cut_and_leads_to_all_of_it(long_texts: TestClient) -> None:
    """What is left out is counted; the rest is a file of plain text, so that nothing in it acts."""
    page = long_texts.get("/s/a%2Fb%20%C3%BC").text
    left_out = len(LONG.strip("\n")) - FIRST_CHARACTERS - LAST_CHARACTERS
    assert len(page) < 30_000
    texts = dict(re.findall(r'<a href="(/r/[0-9a-f]+/text/\d+)">([\d,]+) characters more', page))
    assert any(abs(int(more.replace(",", "")) - left_out) <= 1 for more in texts.values())
    for address in texts:
        whole = long_texts.get(address)
        assert LONG in whole.text
        assert whole.headers["content-type"] == "text/plain; charset=utf-8"
        assert whole.headers["content-disposition"].startswith("attachment")
        assert whole.headers["x-content-type-options"] == "nosniff"


def test_an_answer_has_a_page_with_all_steps(long_texts: TestClient) -> None:
    """A call that failed says so; the sample is a click away."""
    page = long_texts.get("/s/a%2Fb%20%C3%BC").text
    address = re.findall(r'href="(/r/[0-9a-f]+)"', page)[0]
    answer = long_texts.get(address).text
    assert "Step 1: tool call" in headings(answer, 2)
    assert "→ failed, " in answer
    assert 'href="/s/a%2Fb%20%C3%BC?condition=with_docs"' in answer


def test_what_an_answer_took_the_place_of_is_read_by_its_id_alone(long_texts: TestClient) -> None:
    """No list has it, but somebody may want to know what it was; what was retracted is nowhere."""
    assert "it was too slow" in long_texts.get(f"/r/{FAILED['id']}").text
    assert "it was too slow" not in long_texts.get("/s/q2").text
    assert long_texts.get(f"/r/{RETRACTED['id']}").status_code == 404
    assert long_texts.get("/s/q1").status_code == 404


@pytest.mark.parametrize("path", ["/s/none", "/s/", "/r/none", "/r/'%20or%201=1", "/r/none/text/0", "/r//text/x"])
def test_what_is_not_there_is_told(path: str, browser: TestClient) -> None:
    """As a page with the menu, and the status says so, too."""
    missing = browser.get(path)
    assert missing.status_code == 404
    assert "There is no such page" in missing.text


def test_a_text_that_is_not_there_is_told(long_texts: TestClient) -> None:
    """An answer has only so many."""
    assert long_texts.get(f"/r/{LATER['id']}/text/99").status_code == 404
