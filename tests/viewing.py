"""Browsers that read logs as `keval view` serves them, and logs for them to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

from starlette.testclient import TestClient

from keval.ids import JsonObject
from keval.viewer.application import application
from keval.viewer.labelling import Labelling
from keval.viewer.snapshot import Snapshots
from tests.builders import failure_event, judgment_event, response_event, run_event, sample, write_log

URL = "http://127.0.0.1:8123"
TOKEN = "the-token"  # noqa: S105 - one of these tests' own


@contextmanager
def browsing(*logs: Path, said: list[str] | None = None, labelling: Labelling | None = None) -> Iterator[TestClient]:
    """Give a browser that was let in; `said` gets what the terminal would say."""
    warn = ([] if said is None else said).append
    snapshots = Snapshots(logs, warn)
    try:
        browser = TestClient(application(snapshots, TOKEN, warn, labelling), URL, raise_server_exceptions=False)
        browser.get(f"/style.css?token={TOKEN}")
        yield browser
    finally:
        snapshots.close()


def call(name: str = "search", **fields: object) -> JsonObject:
    """Return a tool call as a turn of an answer."""
    return {
        "type": "tool_call", "id": "t1", "name": name, "server": "docs", "input": {"q": "why"}, "result": "found",
        "error": False, "duration_ms": 5, **fields,
    }  # fmt: skip


def small_log(path: Path) -> Path:
    """Write a log of two samples, three conditions and two repetitions, of which one failed; return its path."""
    names = ("baseline", "with_docs", "other")
    answers = [
        response_event(
            sample_id, name, repetition, text=f"{name} says {sample_id}.{repetition}", question=f"{sample_id}?"
        )
        for sample_id in ("q1", "q2")
        for name in names
        for repetition in (1, 2)
        if (sample_id, name, repetition) != ("q2", "with_docs", 2)
    ]
    scores = {"baseline": 3.0, "with_docs": 2.0, "other": 5.0}
    gone = response_event("q2", "with_docs", 2, question="q2?")
    return write_log(path, [
        run_event(names, repetitions=2),
        *answers,
        *(judgment_event(each, scores[each["condition"]] - (each["sample"]["id"] == "q2")) for each in answers),
        failure_event(gone, message="no answer within 300 s"),
    ])  # fmt: skip


def log_of_text(path: Path, text: str) -> Path:
    """Write a log in which everything that somebody else may name or say is the given text, and return its path."""
    names, metric = (text, f"{text} 2"), text
    judge = {"name": text, "type": "rubric", "model": text}
    entry = {
        **judge, "judge_id": "the-judge", "replicates": 1, "parameters": {}, "texts": {},
        "metrics": [{"name": metric, "min": 1, "max": 5}],
    }  # fmt: skip
    known: JsonObject = {"sample": {**sample(text, text), "answer": text}}
    turns = [call(text, id=text, server=text, input={text: text}, result=text), {"type": "text", "text": text}]
    answers = [response_event(text, name, text=text, question=text, turns=turns, **known) for name in names]
    given = {"score": 2, "reasoning": text, "min": 1, "max": 5, "passed": None}
    return write_log(path, [
        run_event(names, samples=1, repetitions=2, judges=[entry]),
        *answers,
        *(_judged(each, judge, {metric: {**given, "score": 2 + place}}) for place, each in enumerate(answers)),
        failure_event(response_event(text, names[1], 2, question=text, **known), message=text),
    ])  # fmt: skip


def _judged(response: JsonObject, judge: JsonObject, scores: JsonObject) -> JsonObject:
    return {**judgment_event(response, judge=judge, judge_id="the-judge"), "scores": scores}


class _Cells(HTMLParser):
    """Collects the rows of all tables."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._within = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "tr":
            self.rows.append([])
        elif tag in {"th", "td"}:
            self.rows[-1].append("")
            self._within = True

    def handle_endtag(self, tag: str) -> None:
        self._within = self._within and tag not in {"th", "td"}

    def handle_data(self, data: str) -> None:
        if self._within:
            self.rows[-1][-1] += data


def rows_of(page: str) -> list[list[str]]:
    """Return the rows of the tables of a page, cell by cell."""
    reader = _Cells()
    reader.feed(page)
    return reader.rows
