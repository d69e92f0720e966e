"""The list of samples as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from keval.counted import counted
from keval.failure_kinds import NAMES
from keval.ids import JsonObject
from keval.readable import number
from keval.viewer import addresses
from keval.viewer.sample_list import ANY, SORTS, Filters, Found, Listing, first_answers, listing, page_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from starlette.requests import Request
    from starlette.responses import Response

    from keval.viewer.pages import Pages
    from keval.viewer.snapshot import Snapshot, Snapshots


@dataclass(frozen=True, slots=True)
class Row:
    """One sample as it is shown."""

    sample_id: str
    address: str
    baseline: str
    condition: str
    difference: str
    side: str
    """Whether it got better or worse, as a word; empty if neither."""
    answer: str


def show(pages: Pages, snapshots: Snapshots, snapshot: Snapshot, request: Request) -> Response:
    """Return the page of the list that the address asks for."""
    del snapshots
    filters = Filters.read(request.query_params)
    with snapshot.asked() as connection:
        found = listing(connection, filters)
        page = page_of(connection, found)
        answers = first_answers(connection, found.condition, page.rows)
        said = _said(connection, found, page)
    return pages.draw(
        "samples.html",
        request,
        snapshot,
        "Samples",
        found=found,
        filters=filters,
        kinds=(ANY, *NAMES),
        sorts=SORTS,
        rows=list(_rows(found, page, answers)),
        said=said,
        first=None if filters.after is None else addresses.samples(replace(filters, after=None).query()),
        later=None if page.later is None else addresses.samples(page.later.query()),
        looked_through=page.looked_through,
        as_sql=addresses.sql(found.statement()),
    )


def _said(connection: DuckDBPyConnection, found: Listing, page: Found) -> str:
    """Return in words how long the list is."""
    ((samples,),) = connection.execute(found.counted()).fetchall()
    if found.filters.find is None:
        return counted(samples, "sample")
    if page.looked_through is None:
        return f"{counted(len(page.rows), 'sample')} on this page with “{found.filters.find}”"
    return (
        f"{counted(len(page.rows), 'sample')} with “{found.filters.find}” "
        f"among the {page.looked_through:,} that were looked through, of {samples:,}"
    )


def _rows(found: Listing, page: Found, answers: Mapping[str, str]) -> Iterator[Row]:
    for row in page.rows:
        difference = row["difference"]
        yield Row(
            row["sample_id"],
            addresses.sample(row["sample_id"], condition=found.condition),
            _mean(row, "baseline_score", "baseline_failed"),
            _mean(row, "score", "failed"),
            number(difference, "+").replace("-", "−"),
            "" if not difference else "better" if difference > 0 else "worse",
            answers.get(row["sample_id"], ""),
        )


def _mean(row: JsonObject, score: str, failed: str) -> str:
    """Return a mean, and the kinds of failure beside it."""
    return " · ".join([number(row[score]), *row[failed]])
