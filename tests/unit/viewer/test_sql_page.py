"""The SQL page answers one SELECT over the views, within limits, and does nothing else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from keval.errors import UsageError
from keval.projections import VIEWS
from keval.viewer import sql_page
from keval.viewer.snapshot import Snapshots
from tests.viewing import rows_of, small_log


def asked(browser: TestClient, query: str) -> tuple[int, str]:
    """Return the status and the page of a query."""
    answered = browser.get("/sql", params={"q": query})
    return answered.status_code, answered.text


def test_a_query_is_answered(browser: TestClient) -> None:
    """Its rows, whatever their types are; the query stands in the address and in the box."""
    query = "select sample_id, count(*) as n, [1, 2] as list, null as nothing from responses group by all order by all;"
    status, page = asked(browser, query)
    assert status == 200
    assert rows_of(page) == [
        ["sample_id", "n", "list", "nothing"],
        ["q1", "6", "[1,2]", "NULL"],
        ["q2", "5", "[1,2]", "NULL"],
    ]
    assert f"{query}</textarea>" in page


def test_without_a_query_the_views_are_named(browser: TestClient) -> None:
    """Each with what a row is and its columns."""
    page = browser.get("/sql").text
    assert all(f"<dt>{view}</dt>" in page for view in VIEWS)
    assert "sample_id" in page


@pytest.mark.parametrize(
    "query",
    [
        "select 1; select 2",
        "copy (select 1) to 'stolen.csv'",
        "with x as (copy (select 1) to 'stolen.csv') select 1",
        "create temp table t as select 1",
        "attach 'other.duckdb'",
        "install httpfs",
        "set memory_limit = '1GB'",
        "pragma database_list",
        "export database 'folder'",
        "select * from read_text('/etc/hostname')",
        "select * from '/etc/hostname'",
        "select * from glob('/*')",
        "select getenv('HOME')",
        "insert into responses select * from responses",
        "selec 1",
        "select * from nothing",
        "select \x00",
        "select " + "(" * 5_000,
    ],
)
def test_what_is_no_query_of_the_log_is_refused(
    query: str, browser: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files, settings, writes, two statements and mistakes: each is told, and none is done."""
    monkeypatch.chdir(tmp_path)
    status, page = asked(browser, query)
    assert status == 400
    assert 'role="alert"' in page
    assert not rows_of(page)
    assert list(tmp_path.iterdir()) == []


def test_a_query_is_broken_off_in_time(tmp_path: Path) -> None:
    """A cross join without an end costs its seconds, and no more."""
    snapshots = Snapshots([small_log(tmp_path / "run.jsonl")], print)
    try:
        with snapshots.newest() as snapshot, snapshot.asked() as connection:
            begun = time.monotonic()
            with pytest.raises(UsageError, match="took more than"):
                sql_page.answer(connection, "select count(*) from range(10000000) a, range(10000000) b", 0.2)
            assert time.monotonic() - begun < 10
            assert sql_page.answer(connection, "select 1 as one").rows == (("1",),)
    finally:
        snapshots.close()


@pytest.mark.parametrize(("site", "runs"), [("cross-site", False), ("same-site", False), ("none", True)])
def test_a_link_elsewhere_starts_no_query(browser: TestClient, site: str, *, runs: bool) -> None:
    """It would take the machine for as long as it likes; what it asks for stands in the box to be read."""
    headers = {"sec-fetch-site": site, "sec-fetch-mode": "navigate"}
    page = browser.get("/sql", params={"q": "select 6 * 7 as n"}, headers=headers)
    assert page.status_code == 200
    assert "select 6 * 7 as n</textarea>" in page.text
    assert (["42"] in rows_of(page.text)) == runs
    assert ("came from another page" in page.text) != runs


def test_while_two_queries_run_a_third_is_told_so(browser: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps no thread that other pages need."""
    monkeypatch.setattr(sql_page, "WAIT_S", 0.01)
    for _ in range(sql_page.AT_ONCE):
        assert sql_page._FREE.acquire(blocking=False)  # noqa: SLF001 - as queries do
    try:
        status, page = asked(browser, "select 1")
    finally:
        for _ in range(sql_page.AT_ONCE):
            sql_page._FREE.release()  # noqa: SLF001 - as queries do
    assert (status, "2 queries are running" in page) == (503, True)
    assert asked(browser, "select 1")[0] == 200


def test_a_long_answer_is_cut(browser: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many rows or characters; the page says how all of it is had."""
    status, page = asked(browser, "select * from range(5000)")
    assert status == 200
    assert len(rows_of(page)) == 1 + sql_page.MOST_ROWS
    assert "there are more, of which this page has 1,000 at most" in page
    assert "keval sql " in page
    monkeypatch.setattr(sql_page, "MOST_TEXT", 10_000)
    page = asked(browser, "select repeat('x', 5000) as long from range(50)")[1]
    assert len(rows_of(page)) < 10
    assert "3,000 more" in page
