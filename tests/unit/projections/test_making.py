"""Properties of how tables are made: each after those that it reads, in memory as in a file."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from keval.projections.making import make
from keval.projections.views import ALL, KINDS, named_in_definition
from tests.interrupting import endless_query

CHAIN = {"plans": "from run_facts", "run_facts": "select 1 as a", "planned_conditions": "select a + 1 as a from plans"}
"""Queries of a table, of one that it reads, and of a view over it, in no order."""

IN_ORDER = {name: CHAIN[name] for name in ("run_facts", "plans", "planned_conditions")}


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[object, ...]]:
    return connection.execute(query).fetchall()


def test_each_table_and_view_comes_after_those_it_reads() -> None:
    """In a file they are made in this order; one that read itself could be made nowhere."""
    for place, name in enumerate(ALL):
        assert named_in_definition(name) <= {*ALL[:place]}, name


def test_in_memory_the_order_is_that_of_what_is_read() -> None:
    """Whoever adds a table need not say again what it reads; the schema is that of the connection."""
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA part; SET schema = 'part'")
        make(connection, CHAIN, KINDS)
        assert rows(connection, "from part.planned_conditions") == [(2,)]


@pytest.mark.parametrize("name", [":memory:", "log.duckdb"])
def test_what_is_temporary_is_in_no_file(tmp_path: Path, name: str) -> None:
    """An index is not to hold what only other tables read; in memory nothing stays anyway."""
    path = name if name == ":memory:" else str(tmp_path / name)
    queries = IN_ORDER | {"partly_planned": "from plans", "standing": "from partly_planned"}
    with duckdb.connect(path) as connection:
        make(connection, queries, KINDS)
        assert rows(connection, "from standing") == [(1,)]
    if path != ":memory:":
        with duckdb.connect(path) as connection:
            assert {name for (name,) in rows(connection, "SHOW TABLES")} == queries.keys() - {"partly_planned"}


@pytest.mark.parametrize("name", [":memory:", "log.duckdb"])
def test_the_error_of_a_statement_is_raised(tmp_path: Path, name: str) -> None:
    """Whichever thread ran it."""
    with (
        duckdb.connect(name if name == ":memory:" else str(tmp_path / name)) as connection,
        pytest.raises(duckdb.ConversionException, match="abc"),
    ):
        make(connection, IN_ORDER | {"run_facts": "select 'abc'::int as a"}, KINDS)


def test_an_interruption_breaks_off_what_is_being_made() -> None:
    """A statement would go on for hours otherwise, and the command wait for it."""
    with duckdb.connect() as connection:
        endless = endless_query(connection)
        with pytest.raises(KeyboardInterrupt):
            make(connection, IN_ORDER | {"run_facts": endless}, KINDS)
