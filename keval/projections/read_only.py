"""Keeps a stranger's query to what it is for: one statement that reads the views, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from keval.errors import UsageError
from keval.projections.sql_file import literal, verbatim
from keval.projections.views import ALL

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

READING_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
"""The parts of a query, as DuckDB names them, that read and do nothing else."""

OF_ROWS = {"range", "generate_series", "unnest"}
"""Functions in the place of a table that read no other."""

_EXPLAIN = re.compile(r"\A\s*explain\s+(analyze\s+)?", re.IGNORECASE)


def lock(connection: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> None:
    """Shut a connection off from every file but the logs, from extensions and from its own settings.

    It cannot be opened again. Views read the logs on demand, so these stay allowed, to be written to as well: whoever
    runs a stranger's query asks `writes_nothing` first.
    """
    names = [name for path in paths for name in (str(path.resolve()), verbatim(path))]
    allowed = ", ".join(map(literal, names))
    for setting in (
        "python_enable_replacements = false",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        f"allowed_paths = [{allowed}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def writes_nothing(connection: duckdb.DuckDBPyConnection, query: str) -> bool:
    """Return whether a query is one SELECT, or EXPLAIN of one, and no part of it writes: `WITH x AS (COPY …)` would.

    Raises UsageError if it is nested too deep to be checked.
    """
    explained = _EXPLAIN.sub("", query)
    statements = connection.extract_statements(explained)
    if [statement.type.name for statement in statements] != ["SELECT"]:
        return False
    return set(_nodes(_parsed(connection, explained))) <= READING_NODES


def read_by(connection: duckdb.DuckDBPyConnection, query: str) -> Collection[str]:
    """Return the tables and views that a query reads which `writes_nothing`; all if it may read more than it names."""
    known = {*ALL}
    named, own = set(), set()
    for part in _objects(_parsed(connection, _EXPLAIN.sub("", query))):
        match part:
            case {"type": "BASE_TABLE", "schema_name": "" | "main", "table_name": str(name)}:
                named.add(name.lower())
            case {"type": "BASE_TABLE" | "SHOW_REF"}:
                return known
            case {"type": "TABLE_FUNCTION", "function": {"function_name": str(function)}} if function not in OF_ROWS:
                return known
        own |= {each["key"].lower() for each in part.get("cte_map", {}).get("map", ())}
    return known if named - known - own else named & known


def _parsed(connection: duckdb.DuckDBPyConnection, query: str) -> object:
    ((serialized,),) = connection.execute("SELECT json_serialize_sql(?::varchar)", [query]).fetchall()
    try:
        return orjson.loads(serialized)
    except orjson.JSONDecodeError as error:
        raise UsageError(
            "the query is nested too deep to check that it only reads; --unsafe runs it unchecked"
        ) from error


def bare(query: str) -> str:
    """Return a query without the semicolons and comments at its end, to stand within another one. Raises UsageError."""
    import duckdb

    try:
        data = query.encode()
    except UnicodeEncodeError as error:
        raise UsageError("the query is not UTF-8 text") from error
    end = len(data)
    for offset, kind in reversed(duckdb.tokenize(query)):
        if kind != duckdb.token_type.comment and data[offset : offset + 1] != b";":
            break
        end = offset
    return data[:end].decode()


def _nodes(tree: object) -> Iterator[str]:
    """Yield the types of all query nodes of a parsed query; an error as one of its own."""
    for part in _objects(tree):
        own = str(part.get("type", ""))
        if own.endswith("_NODE"):
            yield own
        if part.get("error") is True:
            yield "ERROR"


def _objects(tree: object) -> Iterator[dict[str, Any]]:
    """Yield all objects of a parsed query."""
    remaining = [tree]
    while remaining:
        part = remaining.pop()
        if isinstance(part, list):
            remaining += part
        elif isinstance(part, dict):
            remaining += part.values()
            yield part
