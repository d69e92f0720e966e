"""Draws pages: each has the same head, which says what log it is of, how far that is, and what is new."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import HTMLResponse

from keval.counted import counted
from keval.exports._templates import environment
from keval.reports.model import BANNER
from keval.reports.overview import Overview
from keval.viewer import addresses
from keval.viewer.snapshot import Snapshot

if TYPE_CHECKING:
    from jinja2 import Environment

MENU = (("Overview", "/"), ("Samples", "/samples"), ("Failures", "/failures"), ("SQL", "/sql"))


class Pages:
    """The pages of some logs."""

    def __init__(self, logs: Sequence[Path], menu: Sequence[tuple[str, str]] = MENU) -> None:
        self._menu = menu
        self._logs = [str(log) for log in logs]

    @cached_property
    def _templates(self) -> Environment:
        return environment("keval.viewer", sample_address=addresses.sample)

    @cached_property
    def style(self) -> str:
        """The style of all pages: that of the report, and what only live pages have."""
        return "\n".join(self._templates.get_template(name).render() for name in ("_page.css", "view.css"))

    def draw(  # noqa: PLR0913 - what every page has
        self,
        template: str,
        request: Request,
        snapshot: Snapshot,
        title: str,
        *,
        status: int = 200,
        banner: bool | None = None,
        **content: object,
    ) -> HTMLResponse:
        """Return a page of a state of the logs. `banner`: whether it says that a mock answered, if not by the logs."""
        page = _address_of(request)
        found = snapshot.overview
        drawn = self._templates.get_template(template).render(
            title=title,
            menu=self._menu,
            here=request.url.path,
            logs=", ".join(self._logs),
            state=_state(found),
            together=len(found.evaluations),
            banner=BANNER if (found.mock if banner is None else banner) else None,
            news=addresses.news(snapshot.number, page),
            command=f"keval view {' '.join(map(quote, self._logs))}"
            + (f" --open {quote(page)}" if page != "/" else ""),
            **content,
        )
        return HTMLResponse(drawn, status)

    def message(self, request: Request, snapshot: Snapshot, title: str, *lines: str, status: int = 200) -> HTMLResponse:
        """Return a page that says something, and has nothing else."""
        return self.draw("message.html", request, snapshot, title, status=status, lines=lines)

    def part(self, template: str, **content: object) -> HTMLResponse:
        """Return what is shown within a page."""
        return HTMLResponse(self._templates.get_template(template).render(**content))


def _state(found: Overview) -> str:
    """Return how far the logs are, in words."""
    return f"{counted(found.answers, 'answer')}, {found.state}"


def _address_of(request: Request) -> str:
    """Return the address of the page that is asked for, as this server writes it: path and query."""
    path, query = addresses.asked(request.scope)
    found = f"{path}?{query}" if query else path
    return found if addresses.is_own(found) else "/"
