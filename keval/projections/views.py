"""Which tables and views there are, in which order they are made, and the SQL that makes them.

A table is computed once, when a log is read; a view is computed when it is asked for. Each is one SQL file of its name,
which opens with a comment that says what one row is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from keval import failure_kinds
from keval.passing import SLACK
from keval.projections.log_file import LogFile
from keval.projections.sql_file import literal, load

DERIVED = {
    "events": "VIEW",
    "retracted": "TABLE",
    "event_versions": "TABLE",
    "repeated": "TABLE",
    "marked_events": "VIEW",
    "latest": "VIEW",
    "whole_plans": "TABLE",
    "run_facts": "TABLE",
    "newest_config": "VIEW",
    "plans": "TABLE",
    "replaced_judges": "TABLE",
    "judges_of_earlier_imports": "TABLE",
    "current_judges": "TABLE",
    "sampling": "TABLE",
    "config_conditions": "TABLE",
    "pair_judges": "TABLE",
    "judge_baselines": "TABLE",
    "planned_conditions": "VIEW",
    "condition_repetitions": "VIEW",
    "stopped_conditions": "TABLE",
    "planned_questions": "TABLE",
    "asked_questions": "TABLE",
    "current_samples": "TABLE",
    "changed_answers": "TABLE",
    "changed_samples": "TABLE",
    "partly_planned": "TABLE",
    "outdated_judgments": "TABLE",
    "judgment_standings": "TABLE",
    "open_failures": "TABLE",
    "standing": "TABLE",
    "facts": "VIEW",
    "current_lines": "VIEW",
    "response_facts": "VIEW",
    "judgment_facts": "VIEW",
    "failure_facts": "VIEW",
    "failure_kinds": "VIEW",
    "mentions": "TABLE",
    "conditions": "TABLE",
    "computed_metrics": "TABLE",
    "computed_parts": "VIEW",
    "thresholds": "VIEW",
    "score_facts": "TABLE",
    "computed_scores": "TABLE",
    "metrics": "TABLE",
    "judges_behind": "VIEW",
    "series": "TABLE",
    "not_for": "VIEW",
    "task_parts": "VIEW",
    "tasks": "TABLE",
    "shared_tasks": "TABLE",
    "outcomes": "VIEW",
    "sample_means": "TABLE",
    "newest_samples": "TABLE",
    "compared_series": "TABLE",
    "paired_samples": "TABLE",
    "paid": "VIEW",
    "paid_attempts": "VIEW",
}
"""What is made from `lines`, `line_offsets`, `declarations` and `files`, each after those it reads.

Tables are computed once, because others read them, some many times. As views they would be repeated in whatever reads
them: a view over views over views grows beyond what DuckDB can plan in a second. Few enough are left as views.
"""

TEMPORARY = {
    "event_versions",
    "marked_events",
    "latest",
    "condition_repetitions",
    "asked_questions",
    "current_samples",
    "changed_answers",
    "changed_samples",
    "partly_planned",
    "outdated_judgments",
    "judgment_standings",
    "open_failures",
    "mentions",
    "task_parts",
}
"""What is in no index: only other tables read it."""

SUMMARIES = (
    "label_facts",
    "pass_counts",
    "condition_means",
    "variance_components",
    "cluster_errors",
    "computed_means",
    "pair_bounds",
    "comparisons",
    "answering_models",
    "answer_statistics",
    "cost_sums",
)
"""Tables that are computed over all lines or all samples, so they are always made anew; most have few rows."""

VIEWS = (
    "logs",
    "runs",
    "condition_means",
    "variance_components",
    "cluster_errors",
    "computed_means",
    "sample_scores",
    "condition_scores",
    "condition_aggregates",
    "sample_aggregates",
    "compared_series",
    "paired_samples",
    "comparisons",
    "samples",
    "responses",
    "judgments",
    "failures",
    "scores",
    "tool_calls",
    "costs",
    "missing",
    "left_out",
    "orphaned_processes",
    "labels",
)
"""What queries ask, each after those it reads; what of it is no table is a view."""

KINDS = {**dict.fromkeys(VIEWS, "VIEW"), **dict.fromkeys(SUMMARIES, "TABLE"), **DERIVED}
"""What each of them is, if not few lines make it a table: see `tables.kinds_for`."""

ALL = (*dict.fromkeys((*DERIVED, *SUMMARIES, *VIEWS)),)
"""All tables and views, each after those it reads."""

TEXTS = {"samples", "responses", "judgments", "failures", "scores", "tool_calls", "labels"}
"""Those of them that read texts from the log, by a function of keval's own, which another DuckDB lacks."""

MACROS = ("in_share", "mean_if", "mean_difference")
"""The functions that queries call, of the schema `session`."""

NOISE = 1e-11
"""Numbers that differ by no more than this share of the largest value they are made from do not differ.

Sums of floats depend on their order in the last bits, and saved numbers have 12 digits.
"""


def about(view: str) -> str:
    """Return the comment that a view's file opens with: what one row is."""
    lines = (Path(__file__).parent / f"{view}.sql").read_text(encoding="utf-8").splitlines()
    ends = next(number for number, line in enumerate(lines) if not line.startswith("--"))
    return " ".join(line.removeprefix("--").strip() for line in lines[:ends])


_FIELD = re.compile(r"\bline (->>?) '\$\.(\w+)'")


def definition(name: str, *, everything: bool = False, line: str = "null", file: str | None = None) -> str:
    """Return the query of a table or view.

    `everything` makes current what the newest plan leaves out. `line` is the SQL of the whole line of a row `f`; or
    `file` is the SQL of a row's file for `field_at`, and lines are read field by field.
    """
    kinds = ", ".join(f"({', '.join(map(literal, row))})" for row in failure_kinds.view_rows())
    query = load(
        "projections",
        name,
        noise=str(NOISE),
        everything=str(everything).lower(),
        failure_kinds=kinds,
        line=line,
        samples="sample_means",
        untried="condition_means",
        planned=load("projections", "planned_samples"),
        passed=load("projections", "passed", pass_slack=str(SLACK)),
        turns=load("projections", "turns"),
        failed_attempts=load("projections", "failed_attempts"),
    )
    return query if file is None else _FIELD.sub(rf"field_at({file}, line_offset, '\2') \1 '$'", query)


_NOT_SQL = re.compile(r"--[^\n]*|'[^']*'")
_READ = re.compile(r"\b(?:from|join)\s+(\w+(?:\s+as\s+\w+)?(?:\s*,\s*\w+(?:\s+as\s+\w+)?)*)", re.IGNORECASE)


def named_in(query: str) -> set[str]:
    """Return the tables and views that a query reads itself."""
    found = _READ.findall(_NOT_SQL.sub("", query))
    names = {read.split()[0] for several in found for read in several.split(",")}
    return names & {*ALL}


@cache
def named_in_definition(name: str) -> set[str]:
    """Return the tables and views that one of them reads itself."""
    return named_in(definition(name))


def needed_for(names: Iterable[str]) -> set[str]:
    """Return what has to be made so that these tables and views can be asked: they, and all that they are made from."""
    found, todo = set(), set(names)
    while todo:
        found |= todo
        todo = set().union(*map(named_in_definition, todo)) - found
    return found


def made(kind: str, name: str, sql: str) -> str:
    """Return the statement that makes a table or a view of a query."""
    return f"CREATE {kind} {name} AS\n{sql.rstrip()};\n"


def inserted(name: str, sql: str) -> str:
    """Return the statement that appends what a query finds to a table."""
    return f"INSERT INTO {name} BY NAME\n{sql.rstrip()};\n"


def schemas(logs: Sequence[LogFile]) -> list[str]:
    """Return the names of the schemas in which the tables and views of logs stand that are kept apart."""
    return [f"log_{number}" for number, _ in enumerate(logs, start=1)]


def apart_views(logs: Sequence[LogFile], kind: str = "VIEW", asked: Collection[str] = ALL) -> Iterator[str]:
    """Yield the statements of views that have the rows of all logs, each log having a schema of its own."""
    for view in filter(asked.__contains__, VIEWS):
        parts = (
            load("projections", "one_log", name=literal(log.name), view=f"{schema}.{view}")
            for schema, log in zip(schemas(logs), logs, strict=True)
        )
        yield made(kind, view, "union all\n".join(parts))
