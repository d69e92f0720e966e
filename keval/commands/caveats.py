"""Tells people on stderr what is to be known of a log before the numbers that a command prints of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from keval.commands.messages import warn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


READ_FOR_SEVERAL = ("run_facts",)
"""The tables that `warn_of_several` asks."""

READ_FOR_MOCK = ("conditions", "cost_sums", "events", "standing")
"""The tables and views that `warn_of_mock` asks."""


def warn_of_ungrouped(connection: DuckDBPyConnection, fields: Sequence[str], asked: str = "--by") -> None:
    """Tell people how many samples are in no group by these fields, which they `asked` for by this word.

    Raises UsageError for a field that no sample has.
    """
    from keval.reports.grouping import check_known
    from keval.stats.groups import ungrouped

    if not (lacking := ungrouped(connection, fields)):
        return
    check_known(connection, fields, asked)
    warn(f"samples in no group, because they lack {' or '.join(fields)} or have nothing there: {lacking}")


def warn_of_several(connection: DuckDBPyConnection) -> None:
    """Tell people that a log has several evaluations, which a report keeps apart and this command does not."""
    from keval.reports.queries import ask

    names = [row["name"] for row in ask(connection, "evaluation_names")]
    if len(names) > 1:
        warn(
            f"{len(names)} evaluations are in there ({', '.join(names)}), and here they stand together: keval report "
            "shows each by itself, and `runs` says which run_id is of which"
        )


def warn_of_mock(connection: DuckDBPyConnection) -> None:
    """Tell people that a stand-in answered or judged, where a command prints nothing in which that has a place."""
    from keval.reports.model import BANNER
    from keval.reports.queries import ask

    if any(True for _ in ask(connection, "mocked")):
        warn(BANNER)


def warn_of_stopped(connection: DuckDBPyConnection) -> None:
    """Tell people that a run which stops when decided has fewer samples than planned: no interval here is one."""
    from keval.stats.stopped_run import has_stopped

    if has_stopped(connection):
        warn(
            "the run stops when decided: intervals of 95 % are true only of a number of samples that was fixed before, "
            "and those that follow are too narrow (docs/stopping-early.md)"
        )
