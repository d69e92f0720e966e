"""One sample with its answers side by side, one answer by itself, and a text to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

from keval.projections import rows
from keval.projections.sql_file import literal, load
from keval.transcripts.sections import title
from keval.transcripts.transcript import Transcript, of_sample
from keval.viewer import addresses, answers

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from keval.viewer.pages import Pages
    from keval.viewer.snapshot import Snapshot, Snapshots


def show(pages: Pages, snapshots: Snapshots, snapshot: Snapshot, request: Request) -> Response:
    """Return all answers to one sample: the baseline's on the left, those of another condition on the right."""
    del snapshots
    sample_id = request.path_params["sample"] or request.query_params.get("id", "")
    with snapshot.asked() as connection:
        conditions = [row["condition"] for row in rows(connection, load("viewer", "compared"))]
        found = list(of_sample(connection, snapshot.files, sample_id))
    if not found:
        raise HTTPException(404, f"no answer or failure of a sample {sample_id!r} counts in this log")
    wanted = request.query_params.get("condition")
    others = conditions[1:]
    right = wanted if wanted in others else next(iter(others), None)
    asked = next((each for each in found if each.sample is not None), found[0])
    return pages.draw(
        "sample.html",
        request,
        snapshot,
        sample_id or "(no name)",
        sample_id=sample_id,
        question=answers.shown(asked).question,
        sides=[
            (name, [answers.shown(each) for each in found if each.condition == name])
            for name in (*conditions[:1], right)
            if name is not None
        ],
        others=[(name, addresses.sample(sample_id, condition=name)) for name in others],
        right=right,
    )


def show_response(pages: Pages, snapshots: Snapshots, snapshot: Snapshot, request: Request) -> Response:
    """Return one answer or failure with all its steps, be it current or not."""
    del snapshots
    transcript = _transcript(snapshot, request.path_params["event"])
    return pages.draw(
        "response.html",
        request,
        snapshot,
        title(transcript),
        sample_id=transcript.sample_id,
        sample_page=addresses.sample(transcript.sample_id, condition=transcript.condition),
        answer=answers.shown(transcript),
    )


def show_text(pages: Pages, snapshots: Snapshots, snapshot: Snapshot, request: Request) -> Response:
    """Return one text of an answer to its end, as a file that no browser takes for a page."""
    del pages, snapshots
    text = answers.whole(_transcript(snapshot, request.path_params["event"]), request.path_params["number"])
    if text is None:
        raise HTTPException(404, "this answer has no text of that number")
    return PlainTextResponse(text, headers={"content-disposition": 'attachment; filename="text.txt"'})


def _transcript(snapshot: Snapshot, event_id: str) -> Transcript:
    with snapshot.asked() as connection:
        query = load("viewer", "sample_of", id=literal(event_id))
        for row in rows(connection, query):
            for transcript in of_sample(connection, snapshot.files, row["sample_id"], event_id):
                return transcript
    raise HTTPException(404, f"no answer or failure in this log has the id {event_id!r}")
