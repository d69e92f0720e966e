"""A query that interrupts the process as a Ctrl-C does, and then goes on for hours."""

from __future__ import annotations

import os
import signal

import duckdb


def endless_query(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the query, which cursors of the connection can run; it has one column, `a`."""

    def interrupt(number: int) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return number

    connection.create_function("interrupt", interrupt, ["BIGINT"], "BIGINT")
    return "select interrupt(count(*)) as a from range(2) union all select count(*) from range(10_000_000_000_000)"
