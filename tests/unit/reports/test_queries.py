"""Properties of the queries of a report: each is asked once, by whichever of two threads comes first."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import duckdb
import pytest

from keval import projections
from keval.projections.log_file import as_log_file
from keval.reports import builder
from keval.reports.queries import Ahead, Queries, Rows, ask, asked_ahead, query
from tests.builders import judgment_event, response_event, run_event, write_log
from tests.interrupting import endless_query

ASKED = ("models", "event_counts", "newest_run", "judges")


class Noting(Queries):
    """Notes the query of each call."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(connection)
        self.asked: list[str] = []

    def ask(self, name: str, folder: str = "reports", /, **parameters: str) -> Rows:
        self.asked.append(query(name, folder, **parameters))
        return super().ask(name, folder, **parameters)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log of two conditions with an answer each, one of which is judged."""
    answers = [response_event("q1", condition) for condition in ("baseline", "with_docs")]
    return write_log(tmp_path / "run.jsonl", [run_event(), *answers, judgment_event(answers[0])])


@contextmanager
def connected(log: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with projections.connect([log], texts=False) as connection:
        yield connection


def test_both_threads_find_what_one_finds(log: Path) -> None:
    """Whichever asks, the rows are the same; what nobody asked ahead is asked then."""
    with connected(log) as connection, asked_ahead(connection, map(query, ASKED)) as queries:
        for name in (*ASKED, *reversed(ASKED), "read_logs"):
            assert queries.ask(name) == list(ask(connection, name))


def test_a_query_is_asked_once(log: Path) -> None:
    """A second call gives the rows of the first one, unless a parameter is another."""
    with connected(log) as connection:
        queries = Queries(connection)
        assert queries.ask("newest_run") is queries.ask("newest_run")
        changed = queries.ask("changed_scores", most="1")
        assert queries.ask("changed_scores", most="1") is changed
        assert queries.ask("changed_scores", most="2") is not changed


@contextmanager
def asking(*queries: str) -> Iterator[tuple[Ahead, list[int], Event]]:
    """Give another thread that asks; the numbers that `note` was called with there, and what it waits for after 9."""
    noted: list[int] = []
    nine, go_on = Event(), Event()

    def note(number: int) -> int:
        noted.append(number)
        if number == 9:
            nine.set()
            go_on.wait()
        return number

    with duckdb.connect() as connection:
        connection.create_function("note", note, ["BIGINT"], "BIGINT", side_effects=True)
        ahead = Ahead(connection.cursor(), queries)
        ahead.begin()
        try:
            nine.wait()
            yield ahead, noted, go_on
        finally:
            go_on.set()
            ahead.leave()


def test_what_the_second_thread_has_begun_is_waited_for() -> None:
    """A query that it has not begun is asked by whoever wants it, and by nobody else."""
    with asking("select note(1) as n", "select note(9) as n") as (ahead, noted, go_on):
        assert ahead.rows("select note(1) as n") is None
        assert ahead.rows("select 2 as n") is None
        go_on.set()
        assert ahead.rows("select note(9) as n") == [{"n": 9}]
    assert noted == [9]


def test_an_error_of_the_second_thread_is_raised_where_its_rows_are_asked() -> None:
    """It is not lost."""
    failing = "select error('there: ' || note(9))"
    with asking(failing) as (ahead, _, go_on):
        go_on.set()
        with pytest.raises(duckdb.InvalidInputException, match="there: 9"):
            ahead.rows(failing)


def wait_long() -> None:
    """Wait for a minute in short sleeps: a long one would not see an interruption that comes just before it."""
    for _ in range(600):
        time.sleep(0.1)


def test_an_interruption_breaks_off_what_is_asked_ahead() -> None:
    """A Ctrl-C would wait for it for hours otherwise."""
    with duckdb.connect() as connection:
        endless = endless_query(connection)
        with pytest.raises(KeyboardInterrupt), asked_ahead(connection, [endless]):
            wait_long()


def test_what_is_asked_ahead_is_asked_by_every_report(log: Path) -> None:
    """A query that no report asks would cost its time for nothing."""
    with connected(log) as connection:
        queries = Noting(connection)
        builder.composed(queries, None, (), [as_log_file(log)])
    assert set(builder.always_asked()) <= set(queries.asked)
