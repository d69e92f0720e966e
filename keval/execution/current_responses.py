"""Which responses of a log count: the views decide it, for the judges as for every report."""

from __future__ import annotations

from pathlib import Path

from keval import projections
from keval.logs.collect import collected
from keval.logs.history import History
from keval.projections.log_file import LogFile
from keval.projections.sql_file import load


def current_responses(log: Path, past: History, *, everything: bool) -> set[str]:
    """Return the ids of the responses that the newest plans ask for; with `everything` all that are current.

    `past` is what was read of the log, each line of which is known to be valid.
    """
    if not past.responses:
        return set()
    if not past.skipped:
        return _current([LogFile(log, str(log), past.lines)], everything=everything)
    with collected([log], lambda _: None, skip_invalid=True) as files:
        return _current(files, everything=everything)


def _current(files: list[LogFile], *, everything: bool) -> set[str]:
    with projections.connect(files, everything=everything) as connection:
        return {found["id"] for found in projections.rows(connection, load("execution", "current_responses"))}
