"""Which address leads to which page."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from duckdb import InvalidInputException
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from keval.errors import KevalError, UsageError, Warn
from keval.projections.log_file import ChangedError
from keval.viewer import addresses, failures_page, label_page, report_page, sample_page, samples_page, sql_page
from keval.viewer.access import Access
from keval.viewer.labelling import Labelling
from keval.viewer.pages import MENU, Pages
from keval.viewer.snapshot import Snapshot, Snapshots

if TYPE_CHECKING:
    from starlette.types import ASGIApp

Page = Callable[[Pages, Snapshots, Snapshot, Request], Response]

LOOK_AGAIN_S = 2
"""Seconds after which a page looks for new answers again."""

PAGES: dict[str, Page] = {
    "/": report_page.show,
    "/samples": samples_page.show,
    "/s/{sample:text}": sample_page.show,
    "/r/{event:text}/text/{number:place}": sample_page.show_text,
    "/r/{event:text}": sample_page.show_response,
    "/failures": failures_page.show,
    "/sql": sql_page.show,
}
"""What draws the page of each address."""


class _Text(Convertor[str]):
    """Any text, which an id may be: one of Starlette's own ends at the end of a line."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _Place(Convertor[int]):
    """A number of no more digits than a place in a list has: Python reads no integer of thousands."""

    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("text", _Text())
register_url_convertor("place", _Place())


def application(snapshots: Snapshots, token: str, warn: Warn, labelling: Labelling | None) -> ASGIApp:
    """Return the pages of logs; the token lets one browser in. `warn` is told what went wrong in the viewer itself.

    Without `labelling` they are only read.
    """
    pages = Pages(snapshots.logs, MENU if labelling is None else (*MENU, ("Label", addresses.LABEL)))

    def style(_: Request) -> Response:
        return Response(pages.style, media_type="text/css")

    def no_picture(_: Request) -> Response:
        return Response(status_code=204)

    routes = [Route(path, partial(_page, pages, snapshots, page)) for path, page in PAGES.items()]
    if labelling is not None:
        routes += [
            Route(addresses.LABEL, partial(_page, pages, snapshots, partial(label_page.show, labelling))),
            Route(addresses.LABEL, partial(label_page.take, labelling), methods=["POST"]),
        ]
    app = Starlette(
        routes=[
            *routes,
            Route("/news", partial(_news, pages, snapshots)),
            Route("/newest", partial(_newest, snapshots)),
            Route("/style.css", style),
            Route("/favicon.ico", no_picture),
        ],
        exception_handlers={
            HTTPException: partial(_not_there, pages, snapshots),
            KevalError: partial(_refused, pages, snapshots),
            InvalidInputException: partial(_changed, pages, snapshots, warn),
            Exception: partial(_broken, warn),
        },
    )
    return Access(app, token, () if labelling is None else (addresses.LABEL,))


def new_token() -> str:
    """Return what nobody can guess."""
    return secrets.token_urlsafe(32)


def _page(pages: Pages, snapshots: Snapshots, page: Page, request: Request) -> Response:
    with snapshots.newest() as snapshot:
        return page(pages, snapshots, snapshot, request)


def _news(pages: Pages, snapshots: Snapshots, request: Request) -> Response:
    """Say what is new since the state that a page shows, and again after some seconds."""
    said = snapshots.look(request.query_params.get("after", ""))
    answer = pages.part("news.html", said=said, newest=addresses.newest(_own(request)))
    answer.headers["refresh"] = str(LOOK_AGAIN_S)
    return answer


def _newest(snapshots: Snapshots, request: Request) -> Response:
    """Read what the logs have by now, and show the page anew."""
    snapshots.renew()
    return RedirectResponse(_own(request), 303)


def _own(request: Request) -> str:
    """Return the page that an address names, which is one of this server."""
    page = request.query_params.get("page", "/")
    return page if addresses.is_own(page) else "/"


def _not_there(pages: Pages, snapshots: Snapshots, request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    said = error.detail if isinstance(error, HTTPException) else ""
    with snapshots.newest() as snapshot:
        return pages.message(request, snapshot, "There is no such page", said, status=status)


def _refused(pages: Pages, snapshots: Snapshots, request: Request, error: Exception) -> Response:
    """Say what is wrong with what was asked for, or with the log."""
    lines = error.problems if isinstance(error, KevalError) else ()
    is_asked_wrong = isinstance(error, UsageError)
    with snapshots.newest() as snapshot:
        title = "This cannot be done" if is_asked_wrong else "The log cannot be used as it is now"
        return pages.message(request, snapshot, title, *lines, status=400 if is_asked_wrong else 503)


def _changed(pages: Pages, snapshots: Snapshots, warn: Warn, request: Request, error: Exception) -> Response:
    """Say that lines are gone from a log that is shown; what else a query cannot do is a bug."""
    names = [str(log) for log in snapshots.logs if str(ChangedError(str(log))) in str(error)]
    return _refused(pages, snapshots, request, ChangedError(names[0])) if names else _broken(warn, request, error)


def _broken(warn: Warn, request: Request, error: Exception) -> Response:
    """Say that there is a bug; what is known of it stands in the terminal."""
    warn(f"{request.url.path}: {type(error).__name__}: {error}; this is a bug in keval: please report it")
    return PlainTextResponse("keval view: this page is broken; the terminal says how\n", 500)
