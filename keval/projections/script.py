"""Writes the views over logs as a script that any DuckDB can run, without keval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from keval.projections.loading import bound, lines_query
from keval.projections.log_file import DECLARING, LogFile, as_log_file
from keval.projections.sql_file import literal, load, verbatim
from keval.projections.views import ALL, KINDS, MACROS, VIEWS, apart_views, definition, made, schemas

LINE = "(SELECT line FROM texts AS t WHERE t.position = f.position)"
"""The SQL that gives the line of a row `f` of facts."""


def views_sql(logs: Sequence[LogFile | Path], *, everything: bool = False, apart: bool = False) -> str:
    """Return a script that makes all views over logs of valid lines, for any DuckDB."""
    files = list(map(as_log_file, logs))
    if not apart:
        return "\n".join(_script(files, everything=everything))
    parts: list[str] = []
    for schema, log in zip(schemas(files), files, strict=True):
        parts += [f"CREATE SCHEMA IF NOT EXISTS {schema};\nSET schema = '{schema}';\n"]
        parts += _script([log], everything=everything)
    return "\n".join([*parts, "SET schema = 'main';\n", *apart_views(files, "OR REPLACE VIEW")])


def _script(logs: Sequence[LogFile], *, everything: bool) -> Iterator[str]:
    names = ", ".join(f"({number}, {literal(log.name)})" for number, log in enumerate(logs, start=1))
    yield made("OR REPLACE VIEW", "files", load("projections", "files", files=f"(values {names})"))
    yield "CREATE SCHEMA IF NOT EXISTS session;\n"
    yield from (f"{load('projections', macro).rstrip()};\n" for macro in MACROS)
    lines = (
        lines_query(number, literal(verbatim(log.path)), log.where.longest) for number, log in enumerate(logs, start=1)
    )
    yield made("OR REPLACE TABLE", "lines", _all(lines))
    yield made("OR REPLACE TABLE", "line_offsets", load("projections", "line_offsets"))
    declared = (load("projections", "declarations", **_source(log)) for log in logs)
    yield made(
        "OR REPLACE TABLE",
        "declarations",
        load("projections", "all_declarations", types=", ".join(map(literal, DECLARING)), declarations=_all(declared)),
    )
    whole = (load("projections", "whole_lines", **_source(log)) for log in logs)
    yield made("OR REPLACE VIEW", "texts", load("projections", "texts", lines=_all(whole)))
    for name in ALL:
        kind = "VIEW" if name in VIEWS else KINDS[name]
        yield made(f"OR REPLACE {kind}", name, definition(name, everything=everything, line=LINE))


def _all(queries: Iterable[str]) -> str:
    return "\nunion all\n".join(f"from ({query})" for query in queries)


def _source(log: LogFile) -> dict[str, str]:
    return {"path": literal(verbatim(log.path)), "longest_line": str(bound(log.where.longest))}
