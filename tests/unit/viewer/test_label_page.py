"""A person scores answers without knowing what a judge says, and nobody else can."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from keval import cli
from keval.ids import JsonObject
from keval.viewer.labelling import Labelling
from tests.builders import METRICS, judge_entry, judgment_event, response_event, run_event, write_log
from tests.labelled import judged_log
from tests.viewing import URL, browsing

ORIGIN = {"origin": URL}


def labels(log: Path) -> list[JsonObject]:
    """Return the labels of a log."""
    return [event for line in log.read_bytes().splitlines() if (event := json.loads(line))["type"] == "label"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return judged_log(tmp_path, 2, 1, conditions=("baseline", "with_docs"))


@pytest.fixture
def browser(log: Path) -> Iterator[TestClient]:
    """Give a browser of somebody who labels."""
    labelling = Labelling.of(log, "ada", 4, print, skip_invalid=False)
    with browsing(log, labelling=labelling) as opened:
        yield opened


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, TestClient]]:
    """Give a log and a browser of somebody who has not said anything yet."""
    log = judged_log(tmp_path_factory.mktemp("unlabelled"), 2, 1, conditions=("baseline", "with_docs"))
    labelling = Labelling.of(log, "ada", 4, print, skip_invalid=False)
    with browsing(log, labelling=labelling) as opened:
        yield log, opened


def fields(page: str) -> dict[str, str]:
    """Return the hidden fields of the form on a page."""
    return {name: unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)}


@pytest.mark.slow
def test_a_score_is_in_the_log_before_the_next_answer(log: Path, browser: TestClient) -> None:
    """As `keval label --scores` writes it: a run that says so comes before the first; a second score replaces it."""
    for number in range(4):
        page = browser.get("/label").text
        assert f"{number + 1} of 4, {number} scored by" in page
        sent = {**fields(page), "score": str(number + 1), "note": " why " if number else ""}
        answered = browser.post("/label", data=sent, headers=ORIGIN, follow_redirects=False)
        assert answered.status_code == 303
        assert [label["scores"] for label in labels(log)][-1] == {"completeness": number + 1}
    assert answered.headers["location"] == "/label"
    assert "All that was drawn is scored." in browser.get("/label").text
    browser.post("/label", data={**sent, "score": "5"}, headers=ORIGIN)
    *_, former, last = labels(log)
    assert former["id"] == last["id"]
    assert (last["labeler"], last["note"], last["draw"]["method"]) == ("ada", "why", "random")
    commands = [
        event["command"] for line in log.read_bytes().splitlines() if (event := json.loads(line))["type"] == "run"
    ]
    assert commands == ["generate", "label"]
    assert cli.run(["validate", str(log)]) == 0


def test_neither_condition_nor_judge_is_told(unlabelled: tuple[Path, TestClient]) -> None:
    """Else the person would say what they say."""
    _, browser = unlabelled
    main = re.findall(r"<main>.*</main>", browser.get("/label").text, re.DOTALL)[0]
    assert "baseline" not in main
    assert "with_docs" not in main
    assert "It says so." not in main
    assert "<button" in main


@pytest.mark.slow
def test_who_starts_again_is_asked_about_the_rest(log: Path, browser: TestClient) -> None:
    """What has a score of this person is not drawn again."""
    browser.post("/label", data={**fields(browser.get("/label").text), "score": "3"}, headers=ORIGIN)
    assert len(Labelling.of(log, "ada", 4, print, skip_invalid=False).entries) == 3
    assert len(Labelling.of(log, "bob", 4, print, skip_invalid=False).entries) == 4


def test_answers_may_be_skipped_and_seen_again(unlabelled: tuple[Path, TestClient]) -> None:
    """Each has its address; there are no others."""
    _, browser = unlabelled
    first = browser.get("/label").text
    assert fields(first)["n"] == "0"
    (skip,) = re.findall(r'href="([^"]+)">skip', first)
    assert fields(browser.get(skip).text)["n"] == "1"
    for wrong in ("4", "-1", "x", "٣", "9" * 5_000):
        assert browser.get("/label", params={"n": wrong}).status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "headers", "status"),
    [
        ({}, {}, 403),
        ({}, {"origin": "null"}, 403),
        ({}, {"origin": "http://evil.example"}, 403),
        ({}, {"origin": "http://127.0.0.1:1"}, 403),
        ({}, {**ORIGIN, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}, 403),
        ({}, {**ORIGIN, "host": "evil.example"}, 400),
        ({}, {**ORIGIN, "cookie": "keval-view-8123=guess"}, 403),
        ({}, {**ORIGIN, "content-type": "text/plain"}, 400),
        ({"token": "guess"}, ORIGIN, 400),
        ({"token": "é"}, ORIGIN, 400),
        ({"token": None}, ORIGIN, 400),
        ({"score": "6"}, ORIGIN, 400),
        ({"score": "nan"}, ORIGIN, 400),
        ({"score": None}, ORIGIN, 400),
        ({"n": "4"}, ORIGIN, 400),
        ({"n": "-1"}, ORIGIN, 400),
        ({"note": "x" * 70_000}, ORIGIN, 400),
    ],
)
def test_what_is_no_form_of_ours_writes_nothing(
    changed: dict[str, str | None], headers: dict[str, str], status: int, unlabelled: tuple[Path, TestClient]
) -> None:
    """Neither what another site sends with the cookie of this browser, nor what is no score."""
    log, browser = unlabelled
    given: dict[str, str | None] = {**fields(browser.get("/label").text), "score": "3", **changed}
    before = log.read_bytes()
    sent = {name: value for name, value in given.items() if value is not None}
    stranger = TestClient(browser.app, URL, raise_server_exceptions=False)
    assert (stranger if "cookie" in headers else browser).post(
        "/label", data=sent, headers=headers
    ).status_code == status
    assert log.read_bytes() == before


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_other_pages_are_only_read(method: str, unlabelled: tuple[Path, TestClient]) -> None:
    """And this one takes forms alone."""
    _, browser = unlabelled
    for page in ("/", "/samples", "/sql?q=select+1", *(() if method == "POST" else ("/label",))):
        assert browser.request(method, page, headers=ORIGIN).status_code == 405


@pytest.mark.slow
@pytest.mark.parametrize(("highest", "kind"), [(1.5, "ordinal"), (1, "continuous")])
def test_a_scale_that_is_no_row_of_buttons_has_a_field(tmp_path: Path, highest: float, kind: str) -> None:
    """One that ends between whole numbers, or one on which scores may lie between them, such as a share."""
    metric = {"name": "share", "min": 0, "max": highest, "type": kind}
    answer = response_event()
    judged = judgment_event(answer)
    judged["scores"] = {"share": {"score": 0.5, "reasoning": "r", "min": 0, "max": highest, "passed": None}}
    log = write_log(tmp_path / "run.jsonl", [run_event(judges=[judge_entry([metric])]), answer, judged])
    with browsing(log, labelling=Labelling.of(log, "ada", 4, print, skip_invalid=False)) as browser:
        page = browser.get("/label").text
        assert f'<input type="number" step="any" name="score" min="0.0" max="{highest:.1f}" required>' in page
        browser.post("/label", data={**fields(page), "score": "0.25"}, headers=ORIGIN)
    assert labels(log)[0]["scores"] == {"share": 0.25}


@pytest.mark.slow
def test_a_score_is_said_of_all_judges_with_this_metric(tmp_path: Path) -> None:
    """A person gives it once."""
    answer, other = response_event(), {"name": "other", "type": "rubric", "model": "m"}
    log = write_log(tmp_path / "run.jsonl", [
        run_event(judges=[judge_entry(METRICS), judge_entry(METRICS, judge_id="other", name="other")]),
        answer, judgment_event(answer), judgment_event(answer, judge=other, judge_id="other"),
    ])  # fmt: skip
    with browsing(log, labelling=Labelling.of(log, "ada", 4, print, skip_invalid=False)) as browser:
        page = browser.get("/label").text
        assert "1 of 1, 0 scored" in page
        browser.post("/label", data={**fields(page), "score": "2"}, headers=ORIGIN)
    assert len({label["judge_id"] for label in labels(log)}) == 2


@pytest.mark.slow
def test_a_log_without_judged_answers_has_nothing_to_be_scored(tmp_path: Path) -> None:
    """The page says so."""
    log = write_log(tmp_path / "run.jsonl", [run_event(), response_event()])
    with browsing(log, labelling=Labelling.of(log, "ada", 4, print, skip_invalid=False)) as browser:
        assert "There is nothing to be scored" in browser.get("/label").text


def test_without_label_there_is_no_such_page(log: Path) -> None:
    """Nor a word of it."""
    with browsing(log) as browser:
        assert browser.get("/label").status_code == 404
        assert browser.post("/label", data={"score": "3"}, headers=ORIGIN).status_code == 405
        assert "Label" not in browser.get("/samples").text


@pytest.mark.parametrize(
    "words", [["-n", "3"], ["--label", " "], ["--label", "ada", "other.jsonl"]], ids=["no name", "empty", "two logs"]
)
def test_who_cannot_label_is_told_at_once(words: list[str], log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is served."""
    monkeypatch.chdir(log.parent)
    write_log(Path("other.jsonl"), [run_event()])
    assert cli.run(["view", str(log), *words]) == 2
