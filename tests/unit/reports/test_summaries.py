from __future__ import annotations

import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from keval import projections
from keval.ids import JsonObject
from keval.projections.log_file import ChangedError, as_log_file
from keval.reports.summaries import Summary, cut, summaries
from keval.reports.trials import READ
from tests.builders import METRICS, failure_event, judge_entry, judgment_event, response_event, run_event, write_log
from tests.conftest import Keval
from tests.labelled import judged_log

CALL = {
    "type": "tool_call", "id": "t1", "name": "search", "server": "docs", "input": {"q": 1}, "result": "x",
    "error": False, "duration_ms": 5,
}  # fmt: skip


def summarized(tmp_path: Path, *events: JsonObject) -> list[Summary]:
    judges = [judge_entry([{**METRICS[0], "pass_from": 4}])]
    run = run_event(("baseline",), samples=1, judges=judges)
    log = as_log_file(write_log(tmp_path / "run.jsonl", [run, *events]))
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        return list(summaries(connection, [log], {}))


def test_an_answer_is_one_line(tmp_path: Path) -> None:
    """With its question, verdict, scores, tools and duration, and the beginning of a long answer."""
    answer = response_event(text="word " * 100, turns=[CALL, CALL])
    (found,) = summarized(tmp_path, answer, judgment_event(answer, 2))
    assert found.as_json() == {
        "id": "q1", "condition": "baseline", "repetition": 1, "question": "Why?",
        "answer": ("word " * 40)[:199] + "…", "pass": False, "scores": {"rubric/completeness": 2},
        "tools": ["search", "search"], "duration_ms": 1000, "reason": None,
    }  # fmt: skip


def test_a_log_that_was_edited_meanwhile_is_told_as_that(tmp_path: Path) -> None:
    """Where a text stood there is another event by now: neither a crash nor a summary without the text."""
    log = as_log_file(write_log(tmp_path / "run.jsonl", [run_event(("baseline",), samples=1), response_event()]))
    with projections.connect([log]) as connection:
        written = log.path.read_text()
        for field in ("sample", "turns"):
            log.path.write_text(written.replace(f'"{field}":', f'"{field[::-1]}":'))
            with pytest.raises(ChangedError, match="changed while it was read"):
                list(summaries(connection, [log], {}))


def test_a_failure_is_a_line_too(tmp_path: Path) -> None:
    """A task without an answer is shown with question and kind of failure; that it timed out is a failed trial."""
    (found,) = summarized(tmp_path, failure_event(response_event()))
    assert (found.answer, found.passed, found.why, found.question) == (None, False, "timeout", "Why?")
    assert "**FAILED; timeout**" in found.as_markdown()


def test_a_long_text_is_cut_in_the_middle(tmp_path: Path) -> None:
    """Of a long answer the first eight and the last four lines are shown, each quoted."""
    text = "\n".join(f"line {number} {'x' * 40}" for number in range(30))
    (found,) = summarized(tmp_path, response_event(text=text))
    shown = found.as_markdown()
    assert all(f"> line {number} " in shown for number in (0, 7, 26, 29))
    assert "> … 18 lines …" in shown
    assert "> line 8 " not in shown
    assert (cut("abc", 3), cut("abcd", 3)) == ("abc", "ab…")


def test_text_from_outside_stays_quoted(tmp_path: Path) -> None:
    """A heading in an answer is no heading of the summary, and no character or tag acts."""
    (found,) = summarized(tmp_path, response_event(text="# Mine\r\x1b[31m## Too <script>"))
    assert [line for line in found.as_markdown().splitlines() if line.startswith("#")] == ["## q1, baseline, 1"]
    assert "\x1b" not in found.as_markdown()
    assert "&lt;script>" in found.as_markdown()


def test_nothing_from_outside_loads_an_image_or_leads_elsewhere(tmp_path: Path) -> None:
    """Neither in the title, which has the sample's id, nor in question and answer: they say where they would lead."""
    image, link = "![t](http://evil/i.png)", "[x](javascript:alert(1))"
    (found,) = summarized(tmp_path, response_event(image, text=f"{link}\n\n[x]: http://evil", question=image))
    shown = found.as_markdown()
    tokens = MarkdownIt("commonmark").parse(shown)
    kinds = {each.type for token in tokens for each in (token, *(token.children or ()))}
    assert kinds.isdisjoint({"link_open", "image"})
    assert shown.count("http://evil/i.png") == 2


@pytest.mark.slow
def test_the_command_prints_every_answer(keval: Keval, tmp_path: Path) -> None:
    """From a log or a pipe, as JSON lines or Markdown."""
    log = judged_log(tmp_path, 2, 1)
    lines = keval("summarize", log).stdout.splitlines()
    assert [json.loads(line)["pass"] for line in lines] == [True, True, False]
    piped = keval("summarize", "-f", "markdown", stdin=log.read_text())
    assert (piped.returncode, piped.stdout.count("\n## ")) == (0, 2), piped.stderr
