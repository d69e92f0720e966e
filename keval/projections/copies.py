"""Copies tables of several databases into a new one: a stored database is read only, and each has names of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from keval import projections
from keval.processes import temporary
from keval.projections.sql_file import literal
from keval.projections.views import made

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@contextmanager
def copies(connections: Sequence[DuckDBPyConnection], queries: Mapping[str, str]) -> Iterator[DuckDBPyConnection]:
    """Give a new database in memory with what each of the others says to these queries, by the name of a table.

    The tables of the first stand in the schema `log_1`, those of the second in `log_2`, and so on. Raises
    EnvironmentLacksError where there is no room on the disk or in memory, also for the queries of the block.
    """
    with projections.scratch() as together:
        for number, connection in enumerate(connections, start=1):
            together.execute(f"CREATE SCHEMA log_{number}")
            with temporary.folder() as folder:
                for name, query in queries.items():
                    file = literal(str(folder / f"{name}.parquet"))
                    connection.execute(f"COPY (\n{query}\n) TO {file} (FORMAT parquet)")
                    together.execute(made("TABLE", f"log_{number}.{name}", f"from {file}"))
        yield together
