"""Says something on stdout or stderr: first the values of secrets are taken out, then what acts on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from keval.printable import printable, printable_json
from keval.secrets.variables import Secrets

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def say(line: str) -> None:
    """Print a line of text on stdout."""
    click.echo(_safe(line))


def say_json(value: object, option: int = 0) -> None:
    """Print a value as JSON on stdout."""
    import orjson

    click.echo(printable_json(orjson.dumps(value, option=option, default=str)))


def warn(message: str) -> None:
    """Tell people something on stderr, in one line."""
    tell(f"keval: {message}")


def warn_of_ungrouped(connection: DuckDBPyConnection, fields: Sequence[str]) -> None:
    """Tell people how many samples are in no group by these fields. Raises UsageError for one that no sample has."""
    from keval.reports.grouping import check_known
    from keval.stats.groups import ungrouped

    if not (lacking := ungrouped(connection, fields)):
        return
    check_known(connection, fields)
    warn(f"samples in no group, because they lack {' or '.join(fields)} or have null there: {lacking}")


def warn_of_several(connection: DuckDBPyConnection) -> None:
    """Tell people that a log has several evaluations, which a report keeps apart and this command does not."""
    from keval.reports.queries import ask

    names = [row["name"] for row in ask(connection, "evaluation_names")]
    if len(names) > 1:
        warn(
            f"{len(names)} evaluations are in there ({', '.join(names)}), and here they stand together: keval report "
            "shows each by itself, and `runs` says which run_id is of which"
        )


def warn_of_stopped(connection: DuckDBPyConnection) -> None:
    """Tell people that a run which stops when decided has fewer samples than planned: no interval here is one."""
    from keval.stats.stopped_run import has_stopped

    if has_stopped(connection):
        warn(
            "the run stops when decided: intervals of 95 % are true only of a number of samples that was fixed before, "
            "and those that follow are too narrow (docs/stopping-early.md)"
        )


def tell(*lines: str) -> None:
    """Print lines on stderr."""
    for line in lines:
        click.echo(_safe(line), err=True)


def tell_text(text: str) -> None:
    """Print a text on stderr line by line; a secret that goes over several lines is taken out too."""
    tell(*Secrets.redact_all(text).splitlines())


def _safe(line: str) -> str:
    return printable(Secrets.redact_all(line))
