"""What a log holds already: what resuming and judging start from.

It is asked in SQL, of the views that every report is made from. So there is one definition of what counts, and nothing
of a log of millions of lines has to be in Python. A log without a line needs no database.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from keval import projections
from keval.errors import Warn
from keval.events import now
from keval.ids import JsonObject
from keval.logs.collect import collected
from keval.logs.costs import DATE, Cost, MeasuredCosts, Spent
from keval.logs.line_at import event_at
from keval.models.prices import BATCH_SHARE
from keval.projections.sql_file import literal, load

if TYPE_CHECKING:
    import duckdb

ASKED = (
    "config_conditions",
    "current_judges",
    "events",
    "facts",
    "paid",
    "paid_attempts",
    "planned_conditions",
    "plans",
    "run_facts",
    "runs",
    "tasks",
    "whole_plans",
)
"""The tables and views that are asked; to make all would take most of the time in which a command begins."""

ROWS_AT_ONCE = 5_000
"""Rows of small values that are fetched or inserted at once."""


class _NewestRun(NamedTuple):
    """The newest run of a config."""

    line: int
    """Where its line begins."""
    is_last: bool
    """Whether no run of any config came later."""


@dataclass(frozen=True)
class Past:
    """A log as it was when a command began, to be asked until it is closed; an empty one has no answers."""

    log: Path
    """The file whose lines the answers tell of: the log, or a copy of it without its invalid lines."""
    skipped: int = 0
    """Lines that were left out because they are no valid events."""
    connection: duckdb.DuckDBPyConnection | None = field(default=None, repr=False)
    """The views; None for a log without a line."""
    _open: ExitStack = field(default_factory=ExitStack, repr=False)

    def close(self) -> None:
        """Let go of the database: nothing more will be asked. The log's file stays."""
        self._open.close()

    def name(self, name: str, sql: str) -> None:
        """Give a query a name by which later questions can ask it."""
        if self.connection is not None:
            self.connection.execute(f"create or replace temp view {name} as\n{sql}")

    def keep(self, name: str, sql: str) -> int:
        """Keep what a query finds in a temporary table, and return how many rows that is."""
        if self.connection is None:
            return 0
        self.connection.execute(f"create or replace temp table {name} as\n{sql}")
        return sum(rows for (rows,) in self.rows(f"select count(*) from {name}"))  # noqa: S608 - a name of ours

    def table(self, name: str, /, **columns: tuple[str, Sequence[object]]) -> None:
        """Make a temporary table of columns, each with its type; its first column, `place`, counts the rows from 0."""
        if self.connection is None:
            return
        typed = ", ".join(f"{column} {of_type}" for column, (of_type, _) in columns.items())
        unnested = ", ".join(f"unnest(?::{of_type}[])" for of_type, _ in columns.values())
        self.connection.execute(f"create or replace temp table {name} (place bigint, {typed})")
        values = [values for _, values in columns.values()]
        for first in range(0, len(values[0]), ROWS_AT_ONCE):
            rows = [list(column[first : first + ROWS_AT_ONCE]) for column in values]
            places = list(range(first, first + len(rows[0])))
            self.connection.execute(f"insert into {name} select unnest(?), {unnested}", [places, *rows])

    def rows(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Yield what a query finds; nothing else may be asked before its end."""
        if self.connection is None:
            return
        self.connection.execute(sql)
        while found := self.connection.fetchmany(ROWS_AT_ONCE):
            yield from found

    @cached_property
    def _runs(self) -> dict[tuple[str | None, bool], _NewestRun]:
        """A config's newest run, by its name and whether it was a mock run; the newest of all is first."""
        found = self.rows(load("logs", "newest_runs"))
        return {(config_name, mock): _NewestRun(*run) for config_name, mock, *run in found}

    @cached_property
    def newest(self) -> JsonObject | None:
        """The newest `run` event of any config, which says what is planned and who judges, as in every report."""
        return next((event_at(self.log, run.line) for run in self._runs.values()), None)

    def newest_run(self, config_name: str, *, mock: bool) -> JsonObject | None:
        """Return the newest run of a config, or its newest mock run."""
        run = self._runs.get((config_name, mock))
        return None if run is None else event_at(self.log, run.line)

    def replaces_nothing(self, config_name: str, *, mock: bool) -> bool:
        """Return whether a run of a config would replace no other if it were recorded again.

        It is the newest of all, or a mock run that is the last one and that real responses keep from being the newest.
        """
        run = self._runs.get((config_name, mock))
        return run is not None and (run.is_last or run is next(iter(self._runs.values())))

    def stopping_rule(self, config_name: str, *, mock: bool) -> JsonObject | None:
        """Return the newest event that says by which rule the runs of a config, or its mock runs, are to stop."""
        lines = [line for (line,) in self.rows(load("logs", "newest_rules"))]
        found = (event_at(self.log, line) for line in lines)
        return next((each for each in found if (each["config_name"], each["mock"]) == (config_name, mock)), None)

    def newest_end(self, rule: JsonObject) -> JsonObject | None:
        """Return the event that says how the newest run ended that was to stop by the rule of an event, or None."""
        named = {name: literal(rule[name]) for name in ("config_name", "rule_id")}
        lines = [line for (line,) in self.rows(load("logs", "newest_end", mock=str(rule["mock"]), **named))]
        return next((event_at(self.log, line) for line in lines), None)

    def decided(self) -> dict[str, JsonObject]:
        """Return the events that say what was decided, by their ids."""
        lines = [line for (line,) in self.rows("select line_offset from facts where type = 'until_decided'")]
        return {found["id"]: found for found in (event_at(self.log, line) for line in lines)}

    def has_plan(self, plan_id: str | None) -> bool:
        """Return whether the log holds all parts of a plan."""
        return any(self.rows(load("logs", "whole_plan", plan_id=literal(plan_id or ""))))

    @cached_property
    def silent_agents(self) -> set[str]:
        """The ids of the agents that do not report their tool calls."""
        return {agent for (agent,) in self.rows("select agent.agent_id from runs where not agent.reports_tool_calls")}

    def costs(self) -> MeasuredCosts:
        """Return what answers and judgments have cost, at the usual price."""
        found = self.rows(load("logs", "measured_costs", batch_share=str(BATCH_SHARE)))
        return MeasuredCosts({tuple(about): Cost(*cost) for about, *cost in found})

    def spent_today(self, *, mock: bool) -> Spent:
        """Return what today's events (UTC) cost: to a mock run those of the mock, to a real run the others."""
        today = literal(now()[:DATE])
        return next(
            (Spent(*row) for row in self.rows(load("logs", "spent_today", today=today, mock=str(mock)))), Spent()
        )


@contextmanager
def of_log(path: Path, warn: Warn, *, skip_invalid: bool = False) -> Iterator[Past]:
    """Give the past of a log; of a log that does not exist yet, an empty one. Raises InputError for invalid lines."""
    if not path.exists() or not path.stat().st_size:
        yield Past(path)
        return
    with collected([path], warn, skip_invalid=skip_invalid) as (file,), ExitStack() as opened:
        connection = opened.enter_context(projections.connect([file], texts=False, tools=False, asked=ASKED))
        yield Past(file.path, file.skipped, connection, opened)
