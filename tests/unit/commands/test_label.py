"""Questions that a person is asked in the terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.builders import METRICS, judge_entry, judgment_event, response_event, run_event, write_log
from tests.conftest import Keval
from tests.labelled import judged_log


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


def test_a_score_is_a_number_as_people_write_it(keval: Keval, tmp_path: Path) -> None:
    """`0_4` is four to Python and a slip of the finger to everybody else: it is asked again, as 9 of 5 is."""
    log = write_log(tmp_path / "run.jsonl", [run_event(), answer := response_event(), judgment_event(answer, 5)])
    asked = keval("label", log, "--labeler", "ada", "--scores", "--metric", "completeness", stdin="0_4\n9\n4.5\n\n")
    assert re.findall(r"('\S+') is no number from 1 to 5", asked.stderr) == ["'0_4'", "'9'"]
    label = json.loads(log.read_bytes().splitlines()[-1])
    assert (label["type"], label["scores"]) == ("label", {"completeness": 4.5})


class Terminal:
    """A person at a terminal who labels a log."""

    def __init__(self, log: Path) -> None:
        self._typed, side = pty.openpty()
        options = ["--labeler", "ada", "--include-passes"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "keval", "label", str(log), *options],
            stdin=side, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        os.close(side)

    def types_at(self, question: str, text: str) -> None:
        """Type something once a question is there."""
        self._wait_for(question)
        os.write(self._typed, text.encode())

    def interrupts_at(self, question: str) -> None:
        """Press Ctrl-C once a question is there, as often as it takes: Python hears none just before it reads."""
        self._wait_for(question)
        while self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=1)

    def leaves(self) -> int:
        """Wait for the command to end, and return its status."""
        self._process.communicate(timeout=60)
        os.close(self._typed)
        return self._process.returncode

    def _wait_for(self, question: str) -> None:
        assert self._process.stderr is not None
        said = b""
        while not said.decode(errors="replace").endswith(question):
            said += (read := os.read(self._process.stderr.fileno(), 1))
            assert read, said


def labels(log: Path) -> list[tuple[str, str | None]]:
    """Return what the labels of a log say."""
    events = map(json.loads, log.read_text().splitlines())
    return [(event["verdict"], event["note"]) for event in events if event["type"] == "label"]


QUESTION = "([s]kip, [q]uit) (v, j, a, s, q): "


def test_the_rest_of_a_pasted_note_answers_no_question(tmp_path: Path) -> None:
    """Nobody has read the next answer yet when its lines are typed."""
    log = judged_log(tmp_path, 1, 1)
    person = Terminal(log)
    person.types_at(QUESTION, "j\n")
    person.types_at("note: ", "two faults:\nv\n\nv\n")
    person.types_at(QUESTION, "q\n")
    assert person.leaves() == 0
    assert labels(log) == [("judge_bug", "two faults:")]


def test_what_was_said_before_a_note_was_broken_off_is_kept(tmp_path: Path) -> None:
    """By a Ctrl-C; another one ends the command."""
    log = judged_log(tmp_path, 1, 1)
    person = Terminal(log)
    person.types_at(QUESTION, "j\n")
    person.interrupts_at("note: ")
    assert person.leaves() == 130
    assert labels(log) == [("judge_bug", None)]
