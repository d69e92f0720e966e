"""A Parquet file, read through DuckDB.

Dates, times, decimals and UUIDs become their text, which loses nothing. What has no such text
(binary data, intervals, not-a-number) is a problem of its row.
"""

from __future__ import annotations

import datetime as dt
import glob
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from keval.datasets import Dataset, Row
from keval.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

BATCH = 1000
"""Rows in memory beside those already read."""

NANOSECONDS = re.compile(r"\bTIME(STAMP)?_NS\b")
"""DuckDB's types that are finer than Python's."""


@dataclass(frozen=True, kw_only=True)
class Parquet(Dataset):
    """Reads Parquet, a batch of rows at a time."""

    def rows(self, path: Path) -> Iterator[Row]:
        """Yield a row for each record."""
        import duckdb

        try:
            with duckdb.connect() as connection:
                yield from _rows(connection, path)
        except duckdb.Error as error:
            raise InputError(f"not readable as Parquet: {str(error).splitlines()[0]}") from error


def _rows(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterator[Row]:
    connection.execute("SET TimeZone = 'UTC'")  # a sample's hash must not depend on where it is read
    # A path is one file: no pattern, and no columns out of folders called `key=value`.
    source = [glob.escape(str(path))]
    described = connection.execute("DESCRIBE FROM read_parquet(?, hive_partitioning = false)", source).fetchall()
    names = [str(column[0]) for column in described]
    selected = ", ".join(_selected(name, str(column[1])) for name, column in zip(names, described, strict=True))
    result = connection.execute(
        f"SELECT {selected} FROM read_parquet(?, hive_partitioning = false)",  # noqa: S608 - quoted column names
        source,
    )
    while batch := result.fetchmany(BATCH):
        for values in batch:
            yield _row(names, values)


def _selected(name: str, kind: str) -> str:
    """Return one column of the query; Python's times would cut nanoseconds off."""
    quoted = '"' + name.replace('"', '""') + '"'
    if NANOSECONDS.fullmatch(kind):
        return f"CAST({quoted} AS VARCHAR)"
    if NANOSECONDS.search(kind):
        raise InputError(f"{name}: nanoseconds inside {kind} have no JSON form; cast them to text")
    return quoted


def _row(names: list[str], values: tuple[Any, ...]) -> Row:
    record = {}
    for name, value in zip(names, values, strict=True):
        try:
            record[name] = _as_json(value)
        except ValueError as error:
            return Row(None, problem=f"{name}: {error}")
    return Row(None, record)


def _as_json(value: Any) -> Any:  # noqa: ANN401 - any value of DuckDB's
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("a map whose keys are not strings is not JSON")
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ValueError(f"{type(value).__name__} has no JSON form; cast the column to text")
