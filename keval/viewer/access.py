"""Who gets a page: the person who was told the token, asking this very server, to read.

A page of another site may lead a browser here, or give this server a name of its own (DNS rebinding). So each request
has to name a loopback host, come from no other place, and carry the cookie that the token was changed for.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keval.errors import UsageError
from keval.viewer import addresses

LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}
"""Names of this machine that nobody else can be reached by."""

TOKEN = "token"  # noqa: S105 - the name of it
"""The field of an address that holds the token."""

READING = {"GET", "HEAD"}

MOST_BYTES = 64 * 1024
"""Bytes of a form that is sent."""

POLICY = (
    "default-src 'none'; style-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors {within}"
)
"""What a page may do: no script, no picture, nothing of another place; `within` is what it may be a part of."""

PART_OF_PAGES = "/news"
"""The only page that stands within others."""

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class Access:
    """Lets through to an application what may be answered, and refuses the rest; every answer gets its headers."""

    def __init__(self, app: ASGIApp, token: str, forms: Collection[str] = ()) -> None:
        """`forms` are the paths to which pages send what a person says."""
        self._app = app
        self._token: str | None = token
        self._forms = forms
        self._session = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        within = "'self'" if scope["path"] == PART_OF_PAGES else "'none'"

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update({**HEADERS, "content-security-policy": POLICY.format(within=within)})
                if scope["path"] in self._forms:  # else a browser does not say where a form comes from
                    headers["referrer-policy"] = "same-origin"
            await send(message)

        refused = self._refused(Request(scope))
        await (self._app if refused is None else refused)(scope, receive, with_headers)

    def _refused(self, request: Request) -> Response | None:
        """Return the answer to what is not let through; None for the rest."""
        if not _is_for_us(request.headers):
            return _no(400, "this server is reached by a loopback name only, such as 127.0.0.1")
        if not _comes_from_us(request.headers):
            return _no(403, "this server answers no other site")
        wrong_method = self._refused_method(request)
        if wrong_method is not None:
            return wrong_method
        cookie = request.cookies.get(self._name(request), "")
        may_enter = secrets.compare_digest(cookie.encode(), self._session.encode())
        given = request.query_params.get(TOKEN)
        if given is not None and request.method == "GET" and (may_enter or self._takes(given)):
            return self._let_in(request)
        if not may_enter:
            return _no(403, "open the address that keval view printed; it works once, in one browser")
        return None

    def _refused_method(self, request: Request) -> Response | None:
        """Return the answer to what is neither read nor a form that one of these pages sends; None for the rest."""
        allowed = READING | {"POST"} if request.scope["path"] in self._forms else READING
        if request.method not in allowed:
            return _no(405, "these pages are only read", {"allow": ", ".join(sorted(allowed))})
        if request.method == "POST" and not request.headers.get("origin"):
            return _no(403, "a form has to come from one of these pages")
        return None

    def _takes(self, given: str) -> bool:
        """Return whether a token is the right one, which then is used up."""
        if self._token is None or not secrets.compare_digest(given.encode(), self._token.encode()):
            return False
        self._token = None
        return True

    def _let_in(self, request: Request) -> Response:
        """Return the answer that hands over the cookie, and leads to the same page without the token."""
        asked, query = addresses.asked(request.scope)
        rest = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != TOKEN]
        path = "/" + asked.lstrip("/")  # two slashes would be the name of another server
        answer = RedirectResponse(f"{path}?{urlencode(rest)}" if rest else path, 303)
        answer.set_cookie(self._name(request), self._session, httponly=True, samesite="lax")
        return answer

    def _name(self, request: Request) -> str:
        """Return the name of the cookie: browsers send those of one port to all others of a host."""
        server = request.scope.get("server") or ("", 0)
        return f"keval-view-{server[1]}"


async def form(request: Request) -> dict[str, str]:
    """Return the fields of a form that was sent. Raises UsageError for what is no form, or too large."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise UsageError("this is no form of these pages")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise UsageError(f"this form has more than {MOST_BYTES:,} bytes")
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict"))
    except UnicodeError as error:
        raise UsageError("this form is not UTF-8 text") from error


def _no(status: int, why: str, headers: Mapping[str, str] | None = None) -> Response:
    return PlainTextResponse(f"keval view: {why}\n", status, headers)


def _is_for_us(headers: Headers) -> bool:
    hosts = headers.getlist("host")
    return len(hosts) == 1 and _host(hosts[0]) in LOOPBACK


def _host(given: str) -> str:
    """Return the name in a `Host` header, without its port."""
    name, colon, port = given.rpartition(":")
    return name if colon and (port.isascii() and port.isdecimal()) else given


def _comes_from_us(headers: Headers) -> bool:
    """Return whether the page that asks, if there is one, is of this server."""
    ours = {f"http://{host}" for host in headers.getlist("host")}
    return set(headers.getlist("origin")) <= ours and not _is_embedded_elsewhere(headers)


def _is_embedded_elsewhere(headers: Headers) -> bool:
    """Return whether a page of another site asks for something to put into itself; a link to us is another thing."""
    return headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate"


def is_from_elsewhere(headers: Headers) -> bool:
    """Return whether a page of another site, or of another port of this machine, brought the browser here."""
    return headers.get("sec-fetch-site") in {"cross-site", "same-site"}


def entrance(url: str, page: str, token: str) -> str:
    """Return the address that lets in once, and leads to a page."""
    parts = urlsplit(page)
    query: Iterable[tuple[str, str]] = [*parse_qsl(parts.query, keep_blank_values=True), (TOKEN, token)]
    return f"{url}{parts.path}?{urlencode(list(query))}"
