"""Properties of views over several logs, and over a log that is written to meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval import projections
from keval.errors import InputError
from keval.events import encode
from keval.ids import JsonObject
from keval.logs.collect import collected
from keval.projections.log_file import Lines, LogFile
from tests.builders import judgment_event, response_event, run_event, write_log

FROM_ONE_EVENT = ("events", "runs", "responses", "judgments", "failures", "scores", "tool_calls", "costs")


def judged(score: float, sample_id: str = "q1") -> list[JsonObject]:
    """Return an answer and its judgment."""
    response = response_event(sample_id)
    return [response, judgment_event(response, score)]


@pytest.mark.slow
def test_every_row_of_one_event_says_which_log_and_run_it_is_from(tmp_path: Path) -> None:
    """The log is called as it was given, and a run by its id."""
    for view in FROM_ONE_EVENT:
        with projections.connect([write_log(tmp_path / "log.jsonl", [])]) as connection:
            columns = {row[0] for row in connection.sql(f"DESCRIBE {view}").fetchall()}
        assert {"file" if view == "events" else "log", *(["run_id"] if view != "costs" else [])} <= columns, view
    old = write_log(tmp_path / "old.jsonl", judged(1, sample_id="q1"))
    new = write_log(tmp_path / "new.jsonl", judged(5, sample_id="q2"))
    with projections.connect([LogFile(old, "old.jsonl"), LogFile(new, "-")]) as connection:
        found = list(projections.rows(connection, "select log, score from scores order by score"))
        spent = list(
            projections.rows(connection, "select log, sum(cost_usd) as usd from costs group by log order by log")
        )
        logs = list(projections.rows(connection, "select log, events from logs"))
    assert found == [{"log": "old.jsonl", "score": 1.0}, {"log": "-", "score": 5.0}]
    assert spent == [{"log": "-", "usd": 0.75}, {"log": "old.jsonl", "usd": 0.75}]
    assert logs == [{"log": "old.jsonl", "events": 2}, {"log": "-", "events": 2}]


@pytest.mark.slow
def test_logs_that_are_kept_apart_have_numbers_of_their_own(tmp_path: Path) -> None:
    """Though all ids are equal, each log says what it would say alone; merged, the last one counts."""
    logs = [
        write_log(tmp_path / f"{name}.jsonl", [run_event(["baseline"], samples=1), *judged(score)])
        for name, score in (("old", 1), ("new", 5))
    ]
    query = "select log, mean from condition_scores order by mean"
    with projections.connect(logs, apart=True) as connection:
        assert list(projections.rows(connection, query)) == [
            {"log": str(logs[0]), "mean": 1.0},
            {"log": str(logs[1]), "mean": 5.0},
        ]
        for view in projections.VIEWS:
            assert connection.sql(f"DESCRIBE {view}").fetchall()[0][0] == "log", view
    with projections.connect(logs) as connection:
        assert list(projections.rows(connection, "select mean from condition_scores")) == [{"mean": 5.0}]


def test_positions_count_the_lines_of_all_logs_though_only_some_are_read(tmp_path: Path) -> None:
    """What a writer added to the first log does not shift the lines of the second one."""
    first = write_log(tmp_path / "a.jsonl", [*judged(1, sample_id="q1"), *judged(2, sample_id="q2")])
    second = write_log(tmp_path / "b.jsonl", judged(3, sample_id="q3"))
    with first.open("ab") as writer:
        writer.write(b'{"type":"resp')
    with projections.connect([LogFile(first, "a", 2), LogFile(second, "b", 2)]) as connection:
        found = list(projections.rows(connection, "select position, sample_id, text is null as lost from responses"))
    assert found == [
        {"position": 1, "sample_id": "q1", "lost": False},
        {"position": 3, "sample_id": "q3", "lost": False},
    ]


@pytest.mark.parametrize("cut", [20, -2, None])
def test_a_writer_that_goes_on_changes_nothing(tmp_path: Path, cut: int | None) -> None:
    """Between the check and each reading lines are added, whole, cut off or overlong: no view sees them."""
    log = write_log(tmp_path / "run.jsonl", judged(4))
    late = encode(response_event("late", text="x" * 3_000_000))[:cut]

    def append() -> None:
        with log.open("ab") as writer:
            writer.write(late)

    with collected([log], print) as files:
        append()
        with projections.connect(files) as connection:
            append()
            query = "select (select count(*) from responses) as answers, (select max(score) from scores) as score"
            assert list(projections.rows(connection, query)) == [{"answers": 1, "score": 4.0}]
            assert connection.sql("select sample_id, length(text) from responses").fetchall() == [("q1", 8)]


def test_a_log_that_lost_lines_while_it_was_read_is_named(tmp_path: Path) -> None:
    """Complete lines never change; where they did, no number is given."""
    log = write_log(tmp_path / "run.jsonl", judged(4))
    for lines in (3, 2):
        if lines == 2:
            log.write_bytes(b"\0" * log.stat().st_size)
        with (
            pytest.raises(InputError, match="changed while it was read"),
            projections.connect([LogFile(log, "x", lines)]),
        ):
            pass


def test_a_log_that_is_moved_while_it_is_read_is_named(tmp_path: Path) -> None:
    """It is the log that is missing, and no room on the disk."""
    log = write_log(tmp_path / "log.jsonl", judged(1))
    where = LogFile(log, "mine").where

    def moved() -> Lines:
        log.rename(tmp_path / "other.jsonl")
        return where

    file = LogFile(log, "mine", 2, find_lines=moved, is_checked=False)
    with pytest.raises(InputError, match="mine: was moved or removed"), projections.connect([file]):
        pass
