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
from keval.projections.making import make
from keval.projections.sql_file import literal, load
from keval.projections.tables import summaries
from keval.projections.tool_use import make_table
from keval.projections.views import ALL, DERIVED, KINDS, TEMPORARY, definition, made, needed_for

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
    "standing": "joined_by_position",
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
    "judges_of_earlier_imports",
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
        _compute(connection, asked)
        if tools:
            connection.execute("SET schema = 'part'")
            make_table(connection, [log])
            connection.execute("SET schema = 'main'")
        _join(connection, {*asked, *(["tool_use"] if tools else [])}, texts=texts)
    else:
        connection.execute("DROP TABLE touched; DROP SCHEMA rest CASCADE; DETACH stored")
    return bool(continues)


def _compute(connection: duckdb.DuckDBPyConnection, asked: Collection[str]) -> None:
    """Make those tables of the touched samples alone that are joined with what is stored, in a schema of their own."""
    needed = needed_for(name for name in JOINED if name in asked)
    connection.execute("CREATE SCHEMA part")
    # Two statements: of a table it is known how few rows it has, so that the columns of other lines are not read.
    connection.execute(made("TEMP TABLE", "chosen_places", load("projections", "chosen_places")))
    connection.execute(made("TABLE", "part.chosen", load("projections", "chosen")))
    connection.execute("SET schema = 'part'")
    for name, query in CHOSEN.items():
        connection.execute(made("TABLE", name, load("projections", query)))
    shared = {name: f"from stored.{name}" for name in SHARED if name in needed}
    names = (name for name in DERIVED if name in needed and name not in {*SHARED, *CHOSEN})
    computed = {name: definition(name) for name in names}
    make(connection, shared | computed, KINDS | dict.fromkeys(SHARED, "VIEW"))
    connection.execute("SET schema = 'main'")


def _join(connection: duckdb.DuckDBPyConnection, asked: Collection[str], *, texts: bool) -> None:
    """Make tables and views over what is stored and what was computed."""
    name_files(connection, 1)
    joined = {name: load("projections", JOINED[name], name=name) for name in JOINED if name in {*asked, *ALWAYS_JOINED}}
    for name, query in joined.items():
        if name not in DERIVED:
            connection.execute(made("VIEW", name, query))
    shared = {name: f"from stored.{name}" for name in SHARED if name in asked}
    lasting = (name for name in DERIVED if name in asked and name not in TEMPORARY)
    derived = {name: definition(name) for name in lasting if DERIVED[name] == "VIEW"}
    views = derived | shared | joined
    in_order = {name: views[name] for name in DERIVED if name in views}
    make(connection, in_order | summaries(texts=texts, asked=asked), KINDS | dict.fromkeys(in_order, "VIEW"))
