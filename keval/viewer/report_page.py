"""The report as a live page: the same blocks as those of the file, each sample with a link to all of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import TimeoutError as NotYetError
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.exports._page import Page, page, tab, with_cases
from keval.reports.builder import compose, evaluation_names, saved_aggregates
from keval.transcripts.cases import with_answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection
    from starlette.requests import Request
    from starlette.responses import Response

    from keval.projections.log_file import LogFile
    from keval.reports.model import Report
    from keval.viewer.pages import Pages
    from keval.viewer.snapshot import Snapshot, Snapshots

PATIENCE_S = 0.5
"""How long a reader waits for the report before the page says that it is being computed."""

ASK_AGAIN_S = 1
"""Seconds after which a browser asks again for a report that is being computed."""

ROOM = 2_000_000
"""Bytes for the answers of the samples that changed most; the others are a click away."""


@dataclass(frozen=True, slots=True)
class Reported:
    """The reports of all evaluations of a log."""

    title: str
    pages: tuple[Page, ...]


def show(pages: Pages, snapshots: Snapshots, snapshot: Snapshot, request: Request) -> Response:
    """Return the report, or that it is being computed; a log of a million answers takes some seconds once."""
    try:
        reported = snapshots.once(snapshot, _reported).result(PATIENCE_S)
    except NotYetError:
        said = pages.message(request, snapshot, "The report is being computed", "It is shown here when it is done.")
        said.headers["refresh"] = str(ASK_AGAIN_S)
        return said
    return pages.draw("overview.html", request, snapshot, reported.title, banner=False, pages=reported.pages)


def _reported(snapshot: Snapshot) -> Reported:
    with snapshot.asked() as connection:
        reports = list(_reports(connection, snapshot.files))
    title = " / ".join(map(tab, reports)).removesuffix(" · keval")
    room = ROOM // len(reports)
    return Reported(title, tuple(with_cases(page(report), report, room) for report in reports))


def _reports(connection: DuckDBPyConnection, logs: Sequence[LogFile]) -> Iterator[Report]:
    """Yield the report of each evaluation."""
    from keval import projections
    from keval.logs.evaluations import evaluations

    names = evaluation_names(connection)
    if len(names) <= 1:
        yield _report(connection, logs)
        return
    with evaluations(logs, names) as parts:
        for part in parts:
            with projections.connect(part, texts=False) as own:
                yield _report(own, part)


def _report(connection: DuckDBPyConnection, logs: Sequence[LogFile]) -> Report:
    return with_answers(compose(connection, saved_aggregates(connection, logs), logs=logs), connection, logs)
