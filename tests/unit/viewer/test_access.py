"""Refusals: who is not the person at this machine reads nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from keval.viewer import addresses
from keval.viewer.access import Access, entrance

URL = "http://127.0.0.1:8123"
TOKEN = "the-token"  # noqa: S105 - one of this test's own


def client(url: str = URL) -> TestClient:
    """Return a browser without a cookie, and a server that nobody was let in to."""

    def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"secret of {request.url.path}")

    app = Starlette(routes=[Route("/news", page), Route("/{path:path}", page)])
    return TestClient(Access(app, TOKEN), base_url=url, follow_redirects=False)


def let_in() -> TestClient:
    """Return a browser that has the cookie."""
    browser = client()
    browser.get(f"/?token={TOKEN}")
    return browser


def test_the_token_opens_once_and_leads_to_a_clean_address() -> None:
    """It becomes a cookie that no script can read and that other sites do not send along."""
    browser = client()
    first = browser.get(f"/samples?find=a+b&token={TOKEN}")
    assert (first.status_code, first.headers["location"]) == (303, "/samples?find=a+b")
    assert re.fullmatch(r"keval-view-8123=[\w-]{43}; HttpOnly; Path=/; SameSite=lax", first.headers["set-cookie"])
    assert browser.get("/samples").text == "secret of /samples"


def test_a_used_token_opens_nothing() -> None:
    """Neither in another browser, nor does a wrong one, whatever its letters; who is in already goes on."""
    browser = let_in()
    assert browser.get(f"/?token={TOKEN}").status_code == 303
    browser.cookies.clear()
    for token in (TOKEN, "", "wrong", "é\x00"):
        refused = browser.get("/", params={"token": token})
        assert refused.status_code == 403
        assert "secret" not in refused.text


def test_a_wrong_token_does_not_use_up_the_right_one() -> None:
    """Nobody keeps the person out by guessing first."""
    browser = client()
    assert browser.get("/?token=guess").status_code == 403
    assert browser.get(f"/?token={TOKEN}").status_code == 303


@pytest.mark.parametrize("path", ["/", "/samples", "/news", "/style.css", "/nothing"])
def test_nothing_is_read_without_the_cookie(path: str) -> None:
    """Neither is it said what there is."""
    refused = client().get(path, headers={"cookie": "keval-view-8123=guess; other=1"})
    assert (refused.status_code, "secret" in refused.text) == (403, False)


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8123", "localhost.", "127.0.0.1@evil.example", ""]
)
def test_another_name_of_this_server_opens_nothing(host: str) -> None:
    """A site that gives its name our address has its pages read ours, so it is refused, with cookie and all."""
    assert let_in().get("/", headers={"host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost:8123", "127.0.0.1", "[::1]:8123", "localhost:9999"])
def test_a_loopback_name_is_ours_at_any_port(host: str) -> None:
    """A tunnel to this machine has a port of its own."""
    assert let_in().get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:8123"])
def test_another_place_opens_nothing(origin: str) -> None:
    """What a page of another place asks for is refused, with cookie and all; our own may ask."""
    assert let_in().get("/", headers={"origin": origin}).status_code == 403
    assert let_in().get("/", headers={"origin": URL}).status_code == 200


def test_a_link_from_elsewhere_opens_and_a_frame_does_not() -> None:
    """A person may follow a link to a page; another site may not put it into its own."""
    elsewhere = {"sec-fetch-site": "cross-site"}
    assert let_in().get("/", headers={**elsewhere, "sec-fetch-mode": "navigate"}).status_code == 200
    assert let_in().get("/", headers={**elsewhere, "sec-fetch-mode": "no-cors"}).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_is_written(method: str) -> None:
    """Pages are read, with cookie and all."""
    refused = let_in().request(method, "/")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


def test_a_head_request_does_not_use_up_the_token() -> None:
    """A program that looks where a link leads does not take it from the person."""
    browser = client()
    assert browser.head(f"/?token={TOKEN}").status_code == 403
    assert browser.get(f"/?token={TOKEN}").status_code == 303


@pytest.mark.parametrize(("path", "within"), [("/", "'none'"), ("/news", "'self'"), ("/news/x", "'none'")])
def test_every_answer_says_what_a_page_may_do(path: str, within: str) -> None:
    """Refusals too: no script at all, nothing from or for another place, nothing kept."""
    for browser in (let_in(), client()):
        headers = browser.get(path).headers
        assert headers["content-security-policy"] == (
            "default-src 'none'; style-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; "
            f"frame-ancestors {within}"
        )
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


def test_the_token_leads_to_no_other_server() -> None:
    """A path of two slashes would be the name of one."""
    assert client().get(f"{URL}//evil.example/?token={TOKEN}").headers["location"] == "/evil.example/"


@pytest.mark.parametrize(
    "page",
    [
        addresses.samples({"find": "a & b", "sort": "-score"}),
        *(addresses.sample(name, condition="a?#%") for name in ("a?b=1", "a#b", "100%", "%41", "é/\n")),
    ],
)
def test_the_entrance_leads_to_the_page(page: str) -> None:
    """Whatever the page is, its address has the token, and without it is the same."""
    browser = client()
    assert browser.get(entrance(URL, page, TOKEN)).headers["location"] == page


@pytest.mark.parametrize("foreign", ["a b=1", 'theme={"dark":true}', "=", 'x="1', "[a]=1; é=2"])
def test_a_foreign_cookie_keeps_nobody_out(foreign: str) -> None:
    """What a server on another port of this machine left in the browser, however odd, does not hide ours."""
    browser = let_in()
    ours = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    browser.cookies.clear()
    for cookies in (f"{foreign}; {ours}", f"{ours}; {foreign}"):
        assert browser.get("/", headers={b"cookie": cookies.encode("latin-1")}).status_code == 200


@given(st.binary(max_size=30))
def test_no_cookie_breaks_the_server(cookie: bytes) -> None:
    """Whatever a browser sends along, it is refused and no error."""
    printable = bytes(byte for byte in cookie if byte not in b"\r\n\x00")
    assert client().get("/", headers={b"cookie": printable}).status_code == 403
