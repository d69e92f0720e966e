"""Properties of the queries of a report: each is asked once, by whichever of two threads comes first."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from keval import projections
from keval.projections.log_file import as_log_file
from keval.reports import builder
from keval.reports.queries import Queries, Rows, ask, asked_ahead, query
from tests.builders import judgment_event, response_event, run_event, write_log

ASKED = ("models", "event_counts", "newest_run", "judges")


class Noting(Queries):
    """Notes the query of each call."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(connection)
        self.asked: list[str] = []

    def ask(self, name: str, **parameters: str) -> Rows:
        self.asked.append(query(name, **parameters))
        return super().ask(name, **parameters)


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


def test_what_the_second_thread_found_is_not_asked_again(log: Path) -> None:
    """Its rows are those of the report; a query that waits yet is asked at once, and by nobody else."""
    found, waiting = Future[Rows](), Future[Rows]()
    found.set_result([{"model": "found ahead"}])
    with connected(log) as connection:
        queries = Queries(connection, {query("models"): found, query("judges"): waiting})
        assert queries.ask("models") == [{"model": "found ahead"}]
        assert queries.ask("judges") == list(ask(connection, "judges"))
    assert waiting.cancelled()


def test_an_error_of_the_second_thread_is_raised_where_its_rows_are_asked(log: Path) -> None:
    """It is not lost."""
    failed = Future[Rows]()
    failed.set_exception(duckdb.CatalogException("in the other thread"))
    with connected(log) as connection, pytest.raises(duckdb.CatalogException, match="in the other thread"):
        Queries(connection, {query("newest_run"): failed}).ask("newest_run")


def test_an_interruption_breaks_off_what_is_asked_ahead() -> None:
    """A Ctrl-C would wait for it for hours otherwise."""

    def interrupt(number: int) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return number

    with duckdb.connect() as connection:
        connection.create_function("interrupt", interrupt, ["BIGINT"], "BIGINT")
        endless = "select interrupt(count(*)) from range(2) union all select count(*) from range(10_000_000_000_000)"
        with pytest.raises(KeyboardInterrupt), asked_ahead(connection, [endless]):
            time.sleep(60)


def test_what_is_asked_ahead_is_asked_by_every_report(log: Path) -> None:
    """A query that no report asks would cost its time for nothing."""
    with connected(log) as connection:
        queries = Noting(connection)
        builder.composed(queries, None, (), [as_log_file(log)])
    assert set(builder.always_asked()) <= set(queries.asked)
