"""One answer after the other to be scored: neither its condition nor what a judge says of it is told."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from keval.errors import UsageError
from keval.readable import written_number
from keval.viewer import addresses
from keval.viewer.access import form

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from keval.labels.draw import Entry
    from keval.viewer.labelling import Labelling
    from keval.viewer.pages import Pages
    from keval.viewer.snapshot import Snapshot, Snapshots

MOST_BUTTONS = 11
"""Scores that have a button each; a longer scale, and one of parts, has a field."""


def show(labelling: Labelling, pages: Pages, snapshots: Snapshots, snapshot: Snapshot, request: Request) -> Response:
    """Return the form for one answer: the one that is asked for, or the next one without a score."""
    del snapshots
    place = _place(labelling, request.query_params.get("n"))
    entry = None if place is None else labelling.entries[place]
    return pages.draw(
        "label.html",
        request,
        snapshot,
        "Label",
        banner=None,
        labelling=labelling,
        entry=entry,
        place=place,
        number=None if place is None else place + 1,
        scored=len(labelling.said),
        given=None if place is None else labelling.said.get(place),
        scores=() if entry is None else _scores(entry),
        skip=None if place is None else addresses.label((place + 1) % len(labelling.entries)),
        before=None if not place else addresses.label(place - 1),
        action=addresses.LABEL,
        log=str(labelling.log),
    )


async def take(labelling: Labelling, request: Request) -> Response:
    """Take a score into the log, and lead to the next answer."""
    given = await form(request)
    place, score = given.get("n", ""), written_number(given.get("score", ""))
    if not place.isdecimal() or score is None:
        raise UsageError("the form lacks a score that is a number")
    note = given.get("note", "").strip() or None
    await run_in_threadpool(partial(labelling.take, given.get("token", ""), int(place), score, note))
    return RedirectResponse(addresses.label(labelling.after(int(place) + 1)), 303)


def _place(labelling: Labelling, given: str | None) -> int | None:
    """Return the answer that is asked for; None if all have a score."""
    if given is None:
        return labelling.after(0)
    known = {str(place): place for place in range(len(labelling.entries))}
    if given not in known:
        raise HTTPException(404, f"there is no answer {given!r} to be scored")
    return known[given]


def _scores(entry: Entry) -> tuple[str, ...]:
    """Return the scores that have a button: none where a score may lie between two."""
    if (
        entry.is_continuous
        or not entry.min.is_integer()
        or not entry.max.is_integer()
        or entry.max - entry.min >= MOST_BUTTONS
    ):
        return ()
    return tuple(map(str, range(int(entry.min), int(entry.max) + 1)))
