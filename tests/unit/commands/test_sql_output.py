"""What a terminal gets of a query, and what a file or a pipe gets."""

from __future__ import annotations

import json

import duckdb
import pytest

from keval.commands.sql_output import RENDER, table


@pytest.mark.parametrize("width", [60, 100, 160])
def test_a_terminal_gets_what_fits_and_is_told_of_the_rest(capfd: pytest.CaptureFixture[str], width: int) -> None:
    """The number of rows is said, and how to see all; a small result is all there. DuckDB's tables go down to 80."""
    with duckdb.connect() as connection:
        drawn = b"".join(table(connection, "select repeat('word ', 40) as text from range(500)", width)).decode()
        assert max(map(len, drawn.splitlines())) <= max(width, 80)
        assert len(drawn.splitlines()) < 60
        assert capfd.readouterr().err.startswith("keval: 500 rows; not all is shown: ")
        list(table(connection, "select 1 as a", 60))
        assert capfd.readouterr().err == "keval: 1 row\n"


def test_elsewhere_a_table_has_every_row_and_character(capfd: pytest.CaptureFixture[str]) -> None:
    """A pipe is not cut to the screen of anybody."""
    with duckdb.connect() as connection:
        query = "select repeat('word ', 40) || i as text from range(500) as t(i)"
        drawn = b"".join(RENDER["table"](connection, query)).decode()
    assert all(f"{'word ' * 40}{number} " in drawn for number in (0, 250, 499))
    assert capfd.readouterr().err == ""


def test_json_in_a_column_is_json_in_json() -> None:
    """At any depth, to the last digit; what JSON has no form for stays text."""
    inner = '{"x": 12345678901234567890123}'
    query = (
        f"select '{inner}'::json as a, [{{'b': '[1]'::json}}] as c, map {{'k': 'true'::json}} as d, 'NaN'::json as e"
    )
    with duckdb.connect() as connection:
        (line,) = RENDER["jsonl"](connection, query)
        assert json.loads(line) == {"a": json.loads(inner), "c": [{"b": [1]}], "d": {"k": True}, "e": "NaN"}
        assert inner.encode() in line
