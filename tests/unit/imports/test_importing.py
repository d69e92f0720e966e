"""What an import does when the user ends it, and what becomes of rows without an answer."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from keval import projections
from keval.config.import_mapping import load, of_results
from keval.errors import InterruptError
from keval.ids import JsonObject
from keval.imports.importing import AT_ONCE, AnswerFile, import_answers
from keval.logs.writer import open_log
from tests.builders import ask

ROWS = 5 * AT_ONCE


def imported(folder: Path, on_row: Callable[[int], None] = lambda _: None) -> tuple[int, int]:
    """Import many answers; `on_row` is told the number of each row that is written."""
    path, log = folder / "answers.txt", folder / "log.jsonl"
    path.touch()
    passes: list[None] = []

    def records() -> Iterator[JsonObject]:
        passes.append(None)
        for number in range(ROWS):
            if len(passes) > 1:  # the first one only looks
                on_row(number)
            yield {"question": f"q{number}", "answer": "a", "text": "t"}

    events = AnswerFile(path, load(None, {}, "saved"), records).events()
    with open_log(log, ("generate",), lambda _: None) as sink:
        return import_answers(events, sink, log, lambda _: None)


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [False, True])
def test_the_first_ctrl_c_ends_an_import_and_the_same_one_does_the_rest(tmp_path: Path, *, is_there: bool) -> None:
    """Also where all of it is there already, and nothing is waited for."""
    if is_there:
        imported(tmp_path)
    read: list[int] = []

    def interrupt_first(number: int) -> None:
        read.append(number)
        if not number:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(InterruptError):
        imported(tmp_path, interrupt_first)
    assert len(read) < ROWS
    assert sum(imported(tmp_path)) == ROWS + 2  # a run and its plan


def test_what_failed_counts_and_is_tried_no_second_time(tmp_path: Path) -> None:
    """A failure of the agent is the worst score, one of the machine is not measured; a later answer replaces both."""
    (tmp_path / "answers.txt").touch()
    failures = [None, "crashed", {"kind": "infra_error", "message": "overloaded"}]
    log = tmp_path / "log.jsonl"
    scored = {"judges": [{"name": "g", "metrics": {"ok": {"score": "{ok}", "min": 0, "max": 1, "type": "binary"}}}]}

    def numbers(content: str, failed: Sequence[object]) -> tuple[object, ...]:
        rows = [
            {"question": f"q{n}", "answer": "a", "text": "t", "ok": 1, "failure": why} for n, why in enumerate(failed)
        ]
        (tmp_path / "answers.txt").write_text(content)
        mapping = of_results({"name": "saved", "sample": {}, "response": {}, **scored})
        events = AnswerFile(tmp_path / "answers.txt", mapping, lambda: iter(rows)).events()
        with open_log(log, ("generate",), lambda _: None) as sink:
            import_answers(events, sink, log, lambda _: None)
        sql = "select mean, planned, scored, agent_failed, not_measured from condition_aggregates"
        return tuple(ask(log, sql)[0].values())

    assert numbers("first", failures) == (0.5, 3, 1, 1, 1)
    written = log.read_bytes()
    assert numbers("first", failures) == (0.5, 3, 1, 1, 1)
    assert log.read_bytes() == written
    assert numbers("longer", [*failures, None])[:3] == (2 / 3, 4, 2)
    assert log.read_bytes().count(b'"type":"failure"') == 2
    assert numbers("second", [None, None, None]) == (1.0, 3, 3, 0, 0)


def test_a_score_that_a_row_lacks_is_missing_whatever_else_the_judge_scored(tmp_path: Path) -> None:
    """It is no score that does not apply: nobody knows what it is, and both bounds say so."""
    (tmp_path / "answers.txt").write_text("1")
    metrics = {name: {"score": {"field": name}, "min": 0, "max": 1} for name in ("ok", "other")}
    mapping = of_results({"name": "saved", "sample": {}, "response": {}, "judges": [{"name": "g", "metrics": metrics}]})
    given: Sequence[object] = (1, None, {"not_applicable": "no such thing"})
    rows = [{"question": f"q{n}", "answer": "a", "text": "t", "ok": ok, "other": 1} for n, ok in enumerate(given)]
    log = tmp_path / "log.jsonl"
    with open_log(log, ("generate",), lambda _: None) as sink:
        events = AnswerFile(tmp_path / "answers.txt", mapping, lambda: iter(rows)).events()
        import_answers(events, sink, log, lambda _: None)
    sql = "select metric, scored, not_done, not_applicable, mean_lower, mean_upper from condition_aggregates"
    assert [tuple(row.values()) for row in ask(log, sql)] == [("ok", 1, 1, 1, 0.5, 1.0), ("other", 3, 0, 0, 1.0, 1.0)]


@pytest.mark.parametrize("first", [0, 1])
def test_a_failure_without_a_golden_answer_is_of_the_sample_of_its_id(tmp_path: Path, first: int) -> None:
    """Some tools write none of what failed; it is no other sample, wherever it stands."""
    (tmp_path / "answers.txt").touch()
    rows: list[JsonObject] = [
        {"id": "1", "question": "Q?", "answer": "A", "text": "t", "condition": "x"},
        {"id": "1", "question": "Q?", "answer": None, "failure": "crashed", "condition": "y"},
    ]
    events = AnswerFile(tmp_path / "answers.txt", load(None, {}, "saved"), lambda: iter(rows[first:] + rows[:first]))
    assert len(events.survey().questions) == 1
    log = tmp_path / "log.jsonl"
    with open_log(log, ("generate",), lambda _: None) as sink:
        import_answers(events.events(), sink, log, lambda _: None)
    with projections.connect([log]) as connection:
        asked = "select condition, planned, completed, failed, not_done from missing order by 1"
        assert connection.execute(asked).fetchall() == [("x", 1, 1, 0, 0), ("y", 1, 0, 1, 0)]
        assert connection.execute("select distinct sample_id from samples").fetchall() == [("1",)]
