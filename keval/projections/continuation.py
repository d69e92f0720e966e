"""Brings stored tables up to date with some new lines, without computing all of them again.

What becomes of an event depends on the events of its sample, and on what runs plan. So as long as no new line tells of
a run or takes something back, only the samples that new lines are about are computed anew, by the same SQL, over their
lines alone; all else stays as it is stored. Whether that may be done is asked first: see `continues.sql`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from keval.projections.loading import load_lines, name_files
from keval.projections.log_file import CHANGES_ALL, LogFile
from keval.projections.sql_file import literal, load
from keval.projections.tables import make_summaries
from keval.projections.tool_use import make_table
from keval.projections.views import ALL, DERIVED, definition, made, needed_for

if TYPE_CHECKING:
    import duckdb

CHOSEN = {
    "declarations": "chosen_declarations",
    "line_offsets": "chosen_offsets",
    "lines": "chosen_lines",
    "events": "chosen_events",
}
"""What touched samples are computed from, and the file with its query."""

JOINED = {
    "line_offsets": "joined_lines",
    "declarations": "joined_lines",
    "events": "joined_lines",
    "repeated": "joined_repeated",
    "facts": "joined_by_position",
    "score_facts": "joined_by_position",
    "computed_scores": "joined_by_sample",
    "tasks": "joined_by_sample",
    "shared_tasks": "joined_by_position",
    "sample_means": "joined_by_sample",
    "newest_samples": "joined_by_sample",
    "paired_samples": "joined_by_sample",
    "line_standings": "joined_by_position",
    "tool_use": "joined_by_sample",
}
"""What is partly stored and partly computed, and the file with the query that joins both."""

ALWAYS_JOINED = ("line_offsets", "declarations")
"""What of `loading.READ` is joined whatever is asked; `lines` is not, for what is made from it is joined itself."""

SHARED = (
    "retracted",
    "whole_plans",
    "run_facts",
    "plans",
    "replaced_judges",
    "current_judges",
    "config_conditions",
    "pair_judges",
    "judge_baselines",
    "stopped_conditions",
    "planned_questions",
    "conditions",
    "computed_metrics",
    "metrics",
    "sampling",
    "series",
    "compared_series",
)
"""Tables that new lines do not change."""


def build(
    connection: duckdb.DuckDBPyConnection, log: LogFile, *, texts: bool, tools: bool, asked: Collection[str] = ALL
) -> bool:
    """Make tables and views of a log, part of which is stored; return False if all lines are needed for it.

    `texts` and `tools` as in `connect`. `asked` names what is made, with all that it is made from.
    """
    if log.stored is None:
        return False
    connection.execute(f"ATTACH {literal(str(log.stored.path))} AS stored (READ_ONLY)")
    connection.execute("CREATE SCHEMA rest; SET schema = 'rest'")
    load_lines(connection, [replace(log, stored=None, lines=None)])
    connection.execute("SET schema = 'main'")
    connection.execute(made("TABLE", "touched", load("projections", "touched")))
    ((continues,),) = connection.execute(
        load("projections", "continues", changes_all=", ".join(map(literal, CHANGES_ALL)))
    ).fetchall()
    if continues:
        connection.begin()
        _compute(connection, asked)
        if tools:
            connection.execute("SET schema = 'part'")
            make_table(connection, [log])
            connection.execute("SET schema = 'main'")
        _join(connection, {*asked, *(["tool_use"] if tools else [])}, texts=texts)
        connection.commit()
    else:
        connection.execute("DROP TABLE touched; DROP SCHEMA rest CASCADE; DETACH stored")
    return bool(continues)


def _compute(connection: duckdb.DuckDBPyConnection, asked: Collection[str]) -> None:
    """Make those tables of the touched samples alone that are joined with what is stored, in a schema of their own."""
    needed = needed_for(name for name in JOINED if name in asked)
    connection.execute("CREATE SCHEMA part")
    # Two statements: of a table it is known how few lines it has, and which side of the join is the small one.
    connection.execute(made("TEMP TABLE", "chosen_stored", load("projections", "chosen_stored")))
    connection.execute(made("TABLE", "part.chosen", load("projections", "chosen")))
    connection.execute("SET schema = 'part'")
    for name, query in CHOSEN.items():
        connection.execute(made("TABLE", name, load("projections", query)))
    for name, kind in DERIVED.items():
        if name in SHARED and name in needed:
            connection.execute(made("VIEW", name, f"from stored.{name}"))
        elif name not in CHOSEN and name in needed:
            connection.execute(made(kind, name, definition(name)))
    connection.execute("SET schema = 'main'")


def _join(connection: duckdb.DuckDBPyConnection, asked: Collection[str], *, texts: bool) -> None:
    """Make tables and views over what is stored and what was computed."""
    name_files(connection, 1)
    for name, kind in (*dict.fromkeys(ALWAYS_JOINED, "VIEW").items(), *DERIVED.items(), ("tool_use", "VIEW")):
        if name in JOINED and name in {*asked, *ALWAYS_JOINED}:
            connection.execute(made("VIEW", name, load("projections", JOINED[name], name=name)))
        elif name in SHARED and name in asked:
            connection.execute(made("VIEW", name, f"from stored.{name}"))
        elif kind == "VIEW" and name in asked:
            connection.execute(made(kind, name, definition(name)))
    make_summaries(connection, texts=texts, asked=asked)
